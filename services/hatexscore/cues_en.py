"""Words and patterns by which `conclusion_en` tells clauses about a label word apart.

Source: our own. Every pattern meets at most the few hundred characters around one label word.
"""

from __future__ import annotations

import re

BE = (
    r"is|are|was|were|be|been|being|am|isn|aren|wasn|remain(?:s|ed)?|seem(?:s|ed)?|appear(?:s|ed)?"
    r"|sound(?:s|ed)?|becomes?|became"
)
BE_FINITE = r"is|are|was|were|isn|aren|wasn|remains|seem(?:s|ed)|appear(?:s|ed)|sounds|becomes"
AUXILIARY = (
    r"is|are|was|were|am|isn't|aren't|wasn't|does|do|did|doesn't|don't|didn't|has|have|had|should"
    r"|shouldn't|must|can|can't|cannot|could|couldn't|would|wouldn't|will|won't|may|might"
)
FINITE = (
    AUXILIARY + r"|contains|includes|constitutes|qualifies|amounts|counts|falls|crosses|violates"
    r"|becomes|became|breaches|complies|uses|remains|meets|deserves|spreads|promotes|expresses|makes|lacks|fits"
    r"|therefore|thus|hence|clearly|nonetheless|nevertheless|still|also(?=\s+(?:is|not)\b)"
)
SUBJECT_OPENS = (
    r"it|this|these|those|they|there|i|we|he|she|you|nothing|nobody|none|no\s+one|neither(?!\s+(?:as|in|for|by|under|on)\b)|the|what"
    r"|my|our|its|his|her|their|such|all\s+of|that(?=\s+(?:is|\w+\s+is|tips?|tipped|settles?|settled|makes?|made|pushe[sd]|moves?|moved|brings?|puts?|leaves?|takes?)\b|['\u2019]s\b)"
)
JUDGES = (  # finite forms by which a subject sorts a text
    r"(?:classif(?:y|ies)|categori[sz]es?|qualif(?:y|ies)|makes?|plac(?:e|es)|puts?|justif(?:y|ies)"
    r"|supports?|warrants?|merits?|earns?|renders?|means?|indicates|suggests|leads|results|confirms?"
    r"|reinforces?|solidif(?:y|ies)|points|shows?|tips|keeps?|explains?|underscores?|cements?)"
)
TEXT_NOUN = (
    r"texts?|posts?|comments?|tweets?|messages?|statements?|sentences?|contents?|remarks?|captions?"
    r"|headlines?|titles?|reviews?|repl(?:y|ies)|responses?|answers?|outputs?|prompts?|jokes?|memes?"
    r"|conversations?|paragraphs?|passages?|lyrics?|articles?|questions?|wording|language|phrases?"
    r"|phrasing|lines?|inputs?|examples?|utterances?|expressions?|speech|slogans?|notes?|stor(?:y|ies)"
    r"|songs?|letters?|e-?mails?|descriptions?|threads?|submissions?|entr(?:y|ies)|words|excerpts?"
    r"|snippets?|bios?|ads?|advert\w*|petitions?|pieces?|videos?|images?|requests?|material"
)

PARENTHESIS = re.compile(
    r",\s*(?:which|who|whose|where|that(?=\s+(?:the|an?|all|every|no|these|those|people|women|men)\s)|combined|coupled|together|along|paired|with|though|although"
    r"|while|albeit|if|despite|without|in|as|to|on|at|by|for|even|whatever|however|regardless|no\s+matter)\b[^,;:]{0,120},(?=\s)"
)
ADJUNCT = re.compile(
    r"^[^\w\"]*(?:(?:and|so|but|even|also|still|yet)\s+)?(?:without|despite|in\s+spite|instead"
    r"|rather\s+than"
    r"|far\s+from|apart\s+from|besides|lacking|given|in|on|at|by|with|under|for|from|based"
    r"|regardless"
    r"|although|though|while|whereas|even\s+if|even\s+though|as|since|because|after|before|upon"
    r"|granted|of|out\s+of|among|between|considering|admittedly|unlike|no(?=\s*,)|yes"
    r"|not\s+\w+ing)\b[^,;:]{0,300},"
    # without a comma: "Even without the emoji the post would be"
    r"|^\W*(?:in\s+the\s+absence\s+of|even\s+without|without(?=[^,;:]{1,80}?\sstill\b)|even\s+in\s+the\s+absence\s+of|despite"
    r"|in\s+spite\s+of|regardless\s+of|notwithstanding)\s+"
    rf"(?:[\w'\u2019-]+\s+){{1,5}}?(?=(?:the|this|that)\s+(?:\w+\s+)?(?:{TEXT_NOUN}|label"
    rf"|verdict|classification|answer)\s+(?:{AUXILIARY}|remains)\b|it\s+(?:{AUXILIARY}|remains)\b)"
)
# "In the absence of a target I lean towards …": what it lacks is no denial of the verdict.
BEFORE_SELF = re.compile(
    r"^\W*(?:in\s+the\s+absence\s+of|absent|without|lacking|for\s+(?:lack|want)\s+of|because\s+of"
    r"|due\s+to"
    r"|given|despite|in\s+spite\s+of|with\s+no)\s+(?:[\w'\u2019-]+\s+){1,6}?(?=(?:i|we)(?:\s"
    r"|['\u2019]))"
)
BORDER = re.compile(
    r"[;:()\u2014\u2192\u21d2]|\s[-\u2013=]>?\s"
    r"|,?\s*(?<!thing )\bbut\b(?!\s+also\b)|(?<!not\s)\byet\b"
    r"|\b(?:nevertheless|nonetheless|even\s+so|that\s+said|still|all\s+the\s+same|however"
    r"|otherwise)\s*,"
    r"|\b(?:because(?!\s+of)|since|whereas|although|(?:even\s+|(?<!as )(?<!even ))though|while"
    r"|even\s+if|albeit)\b|(?:,\s*)?\b(?:and\s+)?(?:that|this|which)(?:['\u2019]s|\s+is)\s+why\b"
    r"|\bso(?=\s+(?:it|this|the|i|we)\b)"
    r"|\bas(?=\s+(?:it|there|they|he|she|nobody|no\s+one|nothing|we|i)\b)"
    r"|\bas(?=\s+(?:the|its|their|his|her)\s+\w+\s+(?:is|does|has|was|are|do|have|never|only)\b)"
    rf"|(?:,\s*)?\b(?:and|or)\b(?=\s+(?:{SUBJECT_OPENS}|{FINITE})\b)"
    r"|(?=\bnor\s+(?:is|are|does|do|did|has|have|can|should|would|am|was)\b)"
    rf"|,\s*(?:(?:then|so|and|thus|therefore|hence)\s+)?(?=(?:{SUBJECT_OPENS})\b)"
    r"|,?\s*\band\s+(?:so|for\s+(?:that|this|these|those)\s+reasons?|on\s+(?:that|this)\s+basis|as\s+such"
    rf"|as\s+a\s+(?:result|consequence)|(?:in|to)\s+(?:my|our)\s+(?:view|opinion|mind)),?\s+(?=(?:{SUBJECT_OPENS})\b)"
    r"|,\s*(?=(?:which|who|whose)\b)|,\s*(?=no\s*$)|(?:(?<=\w{4})|(?<=n['\u2019]t))[.!]\s+(?=[a-z])"
    r"|,\s*(?:and\s+)?(?:so|hence|thus|therefore|consequently)\s+(?=(?:no|not|non|hardly|an?)\b|(?:(?!possib|potential|probab|alleged|reported)\w+ly\s+){0,2}$)"
    # "Decision overturned, post removed as hateful"
    rf"|,\s*(?:and\s+)?(?=(?:{TEXT_NOUN})\s+(?:(?:was|is|has\s+been)\s+)?(?:removed|deleted|labelled"
    r"|hidden|blocked|taken\s+down)\b)"
    r"|,?\s*\b(?:i\.\s?e\.|that\s+is\s+to\s+say|in\s+other\s+words)[,:]?\s+"
    r"|,\s*(?=(?:(?:further|thereby|thus|hence|also|\w+ly)\s+)?(?:supporting|justifying|warranting"
    r"|reinforcing|solidifying|confirming|making|rendering|earning|leading\s+to|resulting\s+in"
    r"|qualifying|placing|putting|classifying|categori[sz]ing|aligning)\b)"
    r"|,\s*(?=(?:not|just|merely|only|simply|rather)\b)"
    r"|,?\s*\band(?=\s+(?:therefore\s+|thus\s+|hence\s+)?not\s+(?:an?\s+|at\s+all\s+|\w+ly\s+)*$)"
)
# A restrictive relative clause with a verb of its own before the main predicate.
RELATIVE = re.compile(
    rf"\b(?:(?<!\bon )that|which|who)\s+(?:\w+\s+)?(?:{AUXILIARY}|never"
    rf"|(?!(?:his|its|this|was|is|has|hers|us|as)\b)\w+s)\b[^,;:]{{0,160}}?(?=\s(?:{BE_FINITE}"
    rf"|constitutes"
    r"|qualifies|can|could|would|will|should|must)\s)"
)

CONCESSION = re.compile(r"\b(?:although|(?:even\s+)?though|while|whereas|even\s+if|albeit)\s*$")

# "While not hate speech, it is an insult."
CONCEDED = re.compile(r"(?:^|[.,;:])\W*(?:\w+\W+)?(?:although|(?:even\s+)?though|while|albeit)\s*$")
JUDGE = (
    r"classif(?:y|ies|ied|ying)|class(?:es|ed|ing)?|label(?:s|led|ed|ling|ing)?|categori[sz](?:e|es"
    r"|ed|ing)"
    r"|consider(?:s|ed|ing)?|deem(?:s|ed|ing)?|judg(?:e|es|ed|ing)|regard(?:s|ed|ing)?|flag(?:s|ged"
    r"|ging)?"
    r"|mark(?:s|ed|ing)?|rat(?:e|es|ed|ing)|grad(?:e|es|ed|ing)|call(?:s|ed|ing)?|treat(?:s|ed"
    r"|ing)?|see(?:s|n|ing)?|saw|view(?:s|ed|ing)?|find(?:s|ing)?|found|assess(?:es|ed|ing)?"
    r"|describ(?:e|es|ed|ing)|annotat(?:e|es|ed|ing)"
    r"|evaluat(?:e|es|ed|ing)|tag(?:s|ged|ging)?|identif(?:y|ies|ied|ying)|interpret(?:s|ed|ing)?"
    r"|recogni[sz](?:e|es|ed|ing)|determin(?:e|es|ed|ing)|predict(?:s|ed|ing)?|assign(?:s|ed|ing)?"
    r"|characteri[sz](?:e|es|ed|ing)|brand(?:s|ed|ing)?|plac(?:e|es|ed|ing)|put(?:s|ting)?"
    r"|detect(?:s|ed|ing)?"
    r"|scor(?:e|es|ed|ing)|read(?:s|ing)?|think(?:s|ing)?|thought|perceiv(?:e|es|ed|ing)|understood"
    r"|rank(?:s|ed)?|(?:chang|switch|revis|correct|amend|updat)\w+(?=\s+(?:it|this|that"
    r"|(?:my|the|our|its)\s+(?:\w+\s+)?(?:label|rating|verdict|decision|classification|answer|flag"
    r"|outcome|result|status|call|disposition|assessment|ruling|finding|category"
    r"|tag))\s+(?:from\s+[\w-]+\s+)?to\b)"
    r"|count(?:s|ed|ing)?(?=\s+(?:it|this|that|the\s+\w+)\s+as\b)|file[sd]?|filing|sort(?:s|ed|ing)?|report(?:s|ed)?|vot(?:e|es|ed|ing)|declar(?:e|es|ed|ing)"
    r"|pronounc(?:e|es|ed|ing)|return(?:s|ed)|outputs?|outputted"
    r"|(?:remov|approv|reject|delet|hid|block|pass|clear|kept|keep|allow)(?:e|es|ed|den"
    r"|s)?(?=(?:\s+(?:it"
    r"|this|the\s+\w+))?\s+as\b)|let(?:s|ting)?\s+(?:it|this(?:\s+\w+)?|the\s+\w+)\s+(?:through"
    r"|pass|stand)(?=\s+as\b)"
)
SAY = (
    r"say(?:s|ing)?|said|claim(?:s|ed|ing)?|argu(?:e|es|ed|ing)|insist(?:s|ed|ing)?|stat(?:e|es|ed"
    r"|ing)|writ(?:e|es|ing)|wrote|complain(?:s|ed|ing)?|believ(?:e|es|ed|ing)|feel(?:s|ing)?|felt"
    r"|mention(?:s|ed|ing)?|quot(?:e|es|ed|ing)|alleg(?:e|es|ed|ing)|assert(?:s|ed|ing)?|accus(?:e"
    r"|es|ed|ing)"
    r"|ask(?:s|ed|ing)?|wonder(?:s|ed|ing)?|t(?:ell|ells|old|elling)|repl(?:y|ies|ied)|answers"
    r"|answered|respond(?:s|ed)?|suspect(?:s|ed)?"
    r"|den(?:y|ies|ied|ying)(?=\s+(?:that|being|having|any)\b)|conclud(?:e|es|ed|ing)|rul(?:ed|ing)(?!\s+out)|rules?(?=\s+that\b)"
    r"|warn(?:s|ed|ing)?|worr(?:y|ies|ied)|agree[sd]?|pretend(?:s|ed)"
)
# "Distinguishes it from satire as hate speech": what it is told from ends at "as".
SET_APART = re.compile(
    rf"\b(?:distinguish|separat|differentiat)\w*\s+((?:[\w'\u2019-]+\s+){{1,3}}?)from\s+"
    rf"(?:(?!what\b|being\b|such\b|\w+(?:ing|ed)\b|count|qualif"
    rf"|(?:{JUDGE})\b)[\w'\u2019-]+\s+){{1,4}}?"
    r"as\s+(?=(?:(?:an?|being|\w+ly)\s+)*[\s\"]*$)"
)
PREDICATE = re.compile(
    rf"\b(?:{BE}|constitut(?:e|es|ed|ing)|qualif(?:y|ies|ied|ying)|amount(?:s|ed|ing)?|count(?:s|ed"
    rf"|ing)?"
    r"|contain(?:s|ed|ing)?|includ(?:e|es|ed|ing)|me(?:et|ets|t|eting)|cross(?:es|ed|ing)?|ris(?:e"
    r"|es|ing)"
    r"|reach(?:es|ed|ing)?|represents?|us(?:e|es|ed|ing)|express(?:es|ed|ing)?|promot(?:e|es|ed"
    r"|ing)"
    r"|convey(?:s|ed|ing)?|spread(?:s|ing)?|incit(?:e|es|ed|ing)|mak(?:e|es|ing)|made|ha(?:s|ve|d"
    r"|ving)"
    r"|show(?:s|ed|n|ing)?|bears?|carr(?:y|ies|ied|ying)|exhibits?|displays?(?!\s+of)|features?(?!\s+of)|employs?"
    r"|engag(?:e|es|ing)"
    r"|turn(?:s|ed|ing)?|tip(?:s|ped|ping)?|slid(?:e|es|ing)|slip(?:s|ped|ping)?|veer(?:s|ed|ing)?"
    r"|descend(?:s|ed|ing)?|fall(?:s|ing)?|fell|fits?|stay(?:s|ed|ing)?|sits?|becoming|resort(?:s"
    r"|ed|ing)?|goes|go|going|steers?"
    r"|suggests?|suggesting|indicates?|lack(?:s|ed|ing)?|avoid(?:s|ed|ing)?|deserv(?:e|es|ed|ing)"
    r"|merits?|warrants?|earns?|gets?|stops?|falls"
    r"|point(?:s|ed)?\s+(?:\w+ly\s+)?to(?:wards?)?|com(?:es?|ing)|came|strik(?:es?|ing)|struck|proves?|proved|\w+s\s+(?:across\s+|off\s+|over\s+"
    r"|out\s+)?as|render(?:s|ed|ing)?|clears|exceeds?|satisf(?:y|ies)|surpass(?:es)?|pass(?:es|ed)"
    r"|conveys?|holds?|offers?|perpetuat(?:e|es|ing)|encourag(?:e|es|ing)|embod(?:y|ies)|reads?"
    r"|looks?"
    rf"|refrains?|crossed|denotes?|says?|said|full|belongs?|borders?|search(?:es|ed|ing)?|ticks?|checks?"
    rf"|ticked|match(?:es|ed)?|fulfil\w*"
    rf"|(?:settle[ds]?|bets?|votes?|voted)\s+(?:on|for)|opt(?:s|ed|ing)?\s+for|choose|chose|pick|select(?:s|ed)?|went"
    rf"|reflect(?:s|ed|ing)?(?!\s+on\b)|ooz(?:es|ing)|voic(?:es|ed|ing)"
    rf"|reek(?:s|ing)?|brim(?:s|ming)?|spew(?:s|ed|ing)?|fuel(?:s|led|ling)?|normali[sz](?:e|es|ing)"
    rf"|forms?(?!\s+of)|formed|produc(?:e|es|ed|ing)|attains?|(?:presents?|communicates?|disseminat(?:e|es|ing)|propagat(?:e|es|ing)"
    rf"|amplif(?:y|ies)|espous(?:e|es|ing)|supports?|reveals?|demonstrat(?:e|es|ing)|endors(?:e|es|ing)|involves?|reinforc(?:e|es)|advocat(?:e|es|ing))"
    rf"(?=(?:\s+(?:an?|no|any|clear|such|\w+ly))*[\s\"]*$)"
    r"|commit(?:s|ted|ting)?|deliver(?:s|ed)?|utters?|uttered|(?<!to )ends?(?:\s+up)?"
    r"|ended(?:\s+up)?|equals?|distinguish(?:es|ed|ing)?|separates?|differentiates?|mounts?\s+to"
    r"|decide[ds]?\s+(?:for|on|in\s+favou?r\s+of)|runs?|ran|(?:posts?"
    r"|posted|writ\w+|wrote|says?|said|shares?|shared)\s+(?:some|any|no)?things?|push(?:es|ed"
    r"|ing)?|mov(?:e|es|ed|ing)|takes?|lands?|landed|err(?:s|ed)?|drift(?:s|ed)?|brings?"
    rf"|stray(?:s|ed|ing)?|lean(?:s|ed|ing)?|{JUDGE})\b"
    r"|\b(?:it|this|that|there|what|one)['\u2019]s\b|\b(?:isn|aren|wasn|weren|ain)['\u2019]t\b"
)
# "The text you wrote falls into": whose it is says nothing of a report.
WHOSE_TEXT = re.compile(
    rf"\b((?:the|this|that)\s+(?:\w+\s+)?(?:{TEXT_NOUN}))\s+(?:(?:that|which)\s+)?(?:you|they|he"
    rf"|she|somebody"
    r"|someone|(?:the|this|a)\s+(?:user|author|poster|writer))\s+(?:has\s+|have\s+|had\s+"
    r"|just\s+)?(?:wrote"
    r"|written|posted|provided|shared|sent|submitted|tweeted|gave|given|made|typed|quoted|asked"
    r"\s+about|left|published|uploaded)\b"
)
ABOUT_IT = re.compile(  # between predicate and word: the text speaks of it, and is not it
    r"\b(?:about|against|condemn\w*|criti\w*|discuss\w*|counter\w*|anti|regarding|concerning"
    r"|oppos(?:e|es|ed|ing|ition)\b"
    r"|mention\w*|victims?|denounc\w*|fight\w*|combat\w*|tackl\w*|prevent\w*|research|stud(?:y|ies)"
    r"|topic|subject|account(?:s|ed)?\s+for|overlooks?|disregards?"
    r"|problems?|issues?|debates?|history|awareness|warn\w*|analys\w*|describing|report(?:s"
    r"|ing)?\s+on"
    r"|response\s+to|reaction\s+to|how|why|when|who|whom|people|users|those|everyone|reporting"
    r"|example\s+of\s+how"
    r"|(?<!the )(?<!this )(?<!that )(?<!given )(?<!'s )(?<!\u2019s )conversations?|internet"
    r"|world|communit(?:y|ies)|society|label\s+of\s+the|committed|dedicated|opposed)\b"
)
# "Uses humour to", "part of a campaign to": by what means says nothing of what it does.
MEANS = re.compile(
    r"\b(?:us(?:es|ing)|employs?|employing|cit(?:es|ing)|serv(?:es|ing)|tries|tr(?:y|ying)|part\s+of"
    r"|repeats|repeating|asks|urges|calls\s+on|encourages|invites)\s[^,;:.]{1,60}?\bto\s+"
    r"(?=(?:spread|incite|promote|express|convey|justify|fuel|stir|hate|post|write|share)\s)"
)
NO_VERDICT_AFTER = re.compile(
    r"^[\s-]*(?:summar(?:y|ies)|overview|recap|detection|polic(?:y|ies)|laws?|legislation|rules?|guidelines?|definitions?|crimes?"
    r"|groups?"
    r"|prevention|research|moderation|classifiers?|people|persons?|man|men|woman|women|children"
    r"|individuals?"
    r"|citizens?|users?|spaces?|places?|environments?|communit(?:y|ies)|society|life|way"
    # "uses hate speech as an example", "… language in order to condemn it"
    r"|(?:(?:speech|content|language|remarks?|comments?|terms?|posts?)\s+)?(?:as\s+an?\s+(?:example|illustration|topic|subject|theme)"
    r"|(?:in\s+order\s+)?to\s+(?:(?:condemn|criticis|criticiz|denounc|reject|expos|refut|oppos|counter|challeng|discuss|report|document)e?"
    r"\s+(?:it|them|this|that|such)|raise\s+awareness))"
    r"|conditions?"
    r"|circumstances|behaviou?r\s+is|criteria|thresholds?|standards?|categor(?:y|ies)\s+(?:covers"
    r"|means|includes))\b"
)
_WHOEVER = rf"(?:{TEXT_NOUN}|authors?|writers?|users?|speakers?|posters?)"
NO_VERDICT_BEFORE = re.compile(
    # "the text explains why slurs are", "the author asks people to report"
    rf"(?:\b{_WHOEVER}\s+(?:\w+ly\s+|also\s+)?(?:explain|clarif|illustrat|recall|recount|teach|discuss"
    r"|describ|warn|remind)\w*\s+(?:(?:us|readers|people|others|users)\s+)?(?:that|how|why|when|whether)"
    rf"\s+(?!(?:it|this|that|(?:the|its|this)\s+{_WHOEVER})\b)[^,;:.]{{1,60}}"
    rf"|\b{_WHOEVER}\s[^,;:.]{{0,60}}\bto\s+(?:\w+ly\s+)?(?:report|flag|stop|end|remove|delete|ban|block|challenge"
    r"|ignore|recogni[sz]e|spot|avoid|fight|counter|combat|oppose|reduce|prevent)(?:\s+(?:the|any|all|such|these|more|online|your)){0,2}"
    r"|\b(?:more\s+than(?:\s+(?:just|merely|simply))?|beyond(?:\s+(?:the|merely|being|simply"
    r"|just))*|worse\s+than(?:\s+\w+)?|not\s+(?:just|only|merely)\s+in"
    r"|(?:the|a|an)\s+(?:word|term|expression|phrase)|words|definition\s+of\s+what\s+is|anti"
    r"|counter|term|word|called\s+a|stay|staying|feels?|feeling|keep(?:s|ing)?(?:\s+\w+){1,2}"
    r"|cases?\s+of\s+real|concept\s+of|notion\s+of|meaning\s+of|history\s+of"
    r"|(?:task|goal|job|objective|trained|designed|meant|used|supposed|asked|instructed)"
    r"\s+(?:(?:is|was|here|me|us|it)\s+)*to\s+\w+(?:\s+(?:for|a|any|the))?"
    r"|(?:song|book|film|movie|album|band|game|magazine|blog|show|series|podcast|channel"
    r"|chapter|poem)\s+(?:(?:is|was)\s+)?(?:called|named|titled|entitled)"
    r"|topic\s+of|issue\s+of|problem\s+of|victims?\s+of|fight\s+against"
    # "no context justifies the use of such hate": it is presupposed
    r"|(?:(?<!example )(?<!instance )(?<!case )(?<!form )of|to|with|from|against|by|using|use"
    r"|justif(?:y|ies)|excuses?|tolerates?)\s+(?:such|this|these|that\s+kind\s+of)(?:\s+(?:kind"
    r"|type|sort)\s+of)?))[\s-]*$"
)

# "This would be considered hateful": no condition stands before it.
NONE_OF_IT = re.compile(
    r"\b(?:no|nothing|none|nobody|neither|anything|not\s+(?:a|any|one)|n['\u2019]t\s+(?:a|any"
    r"|one)|any|never|lacks?|without|not\s+\w+)\b"
)
# "A violation was found": said of this text, whatever article stands before it.
FOUND = re.compile(
    r"^\s*(?:speech|content|language|material)?\s*(?:is|are|was|were|has\s+been|have\s+been)"
    r"(?:\s+(?:not|never)|n['\u2019]t)?\s+(?:clearly\s+)?(?:present|found|detected|identified)\b"
)
# "It violates none of them."
NO_OBJECT = re.compile(r"\s+(?:none|neither|no|nothing)\b(?!\s+(?:less|fewer|other))")
# What another clause reports may deny what it likes.
CLASSIFICATION = re.compile(rf"\b(?:{JUDGE}|categor(?:y|ies)|label|classification|class)\b")
SKIPPED = (
    r"therefore|thus|so|hence|doubtless|undoubtedly|unquestionably|overall|finally|in|conclusion|summary|final|my|the|a|an|answer|not"
    r"|clearly|definitely"
    r"|plainly|simply|obviously|certainly|explicitly|implicitly|blatantly|openly|outright|pure"
    r"|plain|again|text|post|textbook|classic|blatant|straight(?:-up|forward)?|sheer|full-blown"
    r"|downright|unadulterated|undisguised|racist|sexist|antisemitic|islamophobic|homophobic"
    r"|transphobic|xenophobic|misogynist(?:ic)?|vile|vicious|unmistakable"
    r"|dehumani[sz]ing|policy|guideline|removed|deleted|blocked|rejected|unambiguous|my\s+call"
    r"|yes|no|label|verdict|and|just|very|highly|quite|also|still|merely|nothing|never|neither|nor"
    r"|here|this|that|it"
    r"|short|sum|all|is|it's|deeply|extremely|severely|rather|mildly|completely|entirely|perfectly"
    r"|absolutely|indeed"
    r"|for|reasons?|these|then|result|as|of|at|by\s+no\s+means|hardly|totally|far|from|anything"
    r"|but|short|fully|strongly|really|clear|option|choice|such|[bcd]|tl|dr|tldr|bottom|line"
    r"|yeah|yep|yup|nah|nope|imo|imho|tbh|both|toxic|offensive|abusive|rude|crude|insulting"
    r"|harmful|demeaning|unkind|derogatory|case"
    r"|form|example|kind|evidence|sign|signs|any|step|point|of|with|without|doubt|question|conclude"
    r"|neutral|normal|safe|benign|harmless|acceptable|appropriate|clean|civil|ordinary|hateful"
    r"|i|we|non|nowhere|near|(?!alleged|supposed|reported|seeming|possib|potential|probab"
    r"|famil)\w+ly|even|close|remotely|namely|meaning|than"
)
BARE = re.compile(rf"(?:[^\w]|\b(?:{SKIPPED}|\d+)\b)*")
# A list of adjectives of which the label is the last, as in "short, crude, and hateful".
ADJECTIVES = re.compile(
    r"[\s\"]*(?:(?:[a-z-]{3,20}\s*,\s*){1,4}(?:and|but|yet|or)?|[a-z-]{3,20}\s+and)\s*(?:not\s+)?"
    r"(?:\w+ly\s+)?"
)
ADJECTIVAL = ("ful", "ic", "ive", "ing", "less", "al", "able", "ign", "fe", "ory")
AFTER_BARE = re.compile(
    r"\s*+(?:generali[sz]ation|stereotype|slur|attack|joke|claim|rant|insult|comparison|trope"
    r"|slogan|call|threat"
    rf"|taunt|smear|caricature|{TEXT_NOUN})\s+(?:about|of|that)\b|"
    r"\s*+(?:speech|content|text|language|post|comment|statement|remark|message|here|overall"
    r"|indeed|generali[sz]ation|stereotype|slur|attack|joke|claim|rant|insult|tweet|comparison"
    r"|banter|teasing|fun|humou?r|sarcasm|satire|criticism|opinion|complaint|chatter|chat|advice"
    r"|trope|slogan|call|threat|taunt|tirade|smear|rhetoric|caricature)?\s*+"
    r"(?:$|[.,;:!?()\]\u2014]|[-\u2013]\s|because\b|since\b|as\b|towards?\b|against\b|at\s+all\b"
    r"|(?:imo|imho|tbh|to\s+me|in\s+my\s+(?:opinion|view|book))\b"
    r"|in\s+(?:this|the|any|it|here|itself|nature|tone|intent|character|spirit)\b|per\s+se\b"
    r"|either\b|enough\b"
    r"|about\s+(?:it|this|the)\b|(?:was\s+)?(?:detected|found|identified)\b|and\b|or\b|but\b"
    r"|nor\b|for\b|(?:directed|aimed|targeted|targeting|levell?ed|expressed)\b"
    r"|(?:to\s+see|going\s+on)\b|whatsoever\b|than\b|(?:rather\s+than|instead\s+of|as\s+opposed\s+to)\b|under\b|by\b|due\b|despite\b|even\b|although\b|though\b)"
)
PRESENT = re.compile(
    r"^\s*(?:speech|content|language|intent|meaning|reading|interpretation|motive|purpose"
    r"|attitude|bias|elements?|material|terms?|words?|expressions?|messag\w+"
    r"|rhetoric|tone|nature|character|sentiment|quality|undertones?)?\s*"
    r"(?:of\s+(?:\w+\s+){1,3}|in\s+(?:the|this)\s+\w+\s+)?\s*"
    r"(?:(?:is|are|was|were|can|could|has|have|may|does|do)(?P<no>\s+(?:not|never)"
    r"|n['\u2019]t|not)?\s+(?:be(?:en)?\s+)?(?:clearly\s+)?"
    r"(?:present|found|detected|identified|used|seen|expressed|contained|evident|visible|involved"
    r"|derived|inferred|discerned|drawn|attributed|proven|shown|made\s+out|read\s+into"
    r"|plain|obvious|undeniable|apparent|unmistakable|established"
    r"|said|written|voiced|uttered|occur|appear|at\s+work|read"
    r"|(?P<absent>absent|missing|lacking|nowhere|not\s+to\s+be\s+found))\b|(?:appears|occurs"
    r"|exists|remains?|is\s+left)\b)"
)
EXPLETIVE = re.compile(
    r"\bit\s+(?:is|was|would\s+be|may\s+be|seems|['\u2019]s)\s+(?:\w+\s+){0,2}$"
    r"|\bit['\u2019]s\s+(?:\w+\s+){0,2}$"
)
EXPLETIVE_AFTER = re.compile(r"^\s*(?:to|that|for|when|if(?!\s+(?:it|this|the)\b))\b")

DEFINITE = re.compile(
    r"(?:it|this|that|these|those|they|there|here|such|what|whatever|nothing|none"
    r"|neither(?:\s+\w+)?|nobody|no"
    r"|never|both|each\s+of|all\s+of|everything|any\s+of|the|her|his|their|its|my|our|your"
    r"|given|said|not|in\s+(?:\w+\s+)?(?:violation|breach|contravention)"
    r"|does|do|is|isn|can|cannot|should|must|contains?|includes|constitutes|qualifies|meets"
    r"|falls|crosses"
    r"|amounts|uses|violates|breaches|complies|lacks|remains|classified|labell?ed|rated"
    r"|considered|deemed|judged|marked|flagged|to|i|we|you|he|she|one|nor|hardly|even"
    rf"|(?:{TEXT_NOUN})(?=\s+(?:is|was|does|contains|should|has|qualifies|can)\b))(?!\w)"
    r"|[\w-]+['\u2019]s\b|\""
)
THIS_TEXT = re.compile(
    rf"\b(?:this|that\s+(?:{TEXT_NOUN})|it|these"
    rf"|the\s+(?:[\w'\u2019-]+\s+){{0,3}}(?:{TEXT_NOUN})|(?:her|his|their|user's|author's)\s+\w+)\b"
)
# "To say that they carry disease is hateful": what the text says.
# "Whoever reads it will see a hateful post."
SIGN_OF = re.compile(
    r"\b(?:signs?|hallmarks?|characteristics?|indicators?|features?|elements?|aspects?|traits?"
    r"|marks?|components?|requirements?|criteri(?:on|a)|markers?|typical|conditions?"
    r"|factors?)\b[^,;]{0,40}$"
)
COPULA = re.compile(r"\b(?:is|was|it['\u2019]s|this|are|remains|it)\b")
LEADING = re.compile(
    r"^(?:[^\w\"]|\b(?:and|or|so|then|also|therefore|thus|hence|overall|finally|clearly|still"
    r"|because|since|as|but|yes|no(?=\s*[,.:;!])|however|consequently"
    r"|(?:to|for)\s+(?:me|us)|to\s+(?:my|our)\s+(?:mind|eyes?|ears?)|in\s+(?:my|our)\s+(?:view"
    r"|opinion|reading|eyes|book|judge?ment|assessment)|as\s+(?:i|we)\s+see\s+it"
    r"|(?:which|that|this)\s+is\s+(?:why|the\s+reason)"
    r"|ultimately|nonetheless|nevertheless|although|though|while|\w+ly|step|\d+|again|yet|just|here"
    r"|in\s+(?:conclusion|summary|short|sum|fact|the\s+end)|even|neither(?!\s+\w+\s+(?:is|was"
    r"|contains|does))|of\s+course|all\s+in\s+all|to\s+(?:conclude|sum\s+up))\b(?!['\u2019-]))*"
    # "On balance I lean towards …"
    r"(?:(?:on|in|with|given|after|for|at|by|from|under"
    r"|despite)\b(?:\s+[\w'\u2019-]+){1,6}?\s+(?=(?:i|we)(?:\s|['\u2019])))?"
)


SPECIFIC = re.compile(
    rf"\b(?:(?<!like )(?<!such as )(?:it|this"
    rf"|the\s+(?:[\w'\u2019-]+\s+){{0,2}}(?:{TEXT_NOUN}))\s+(?:\w+\s+){{0,2}}?(?:{BE}"
    rf"|constitutes?|qualif(?:y|ies)|contains?|meets?|falls?)|(?:it|this|that)['\u2019]s)\b"
)


JUDGED_AS = re.compile(rf"\b(?:{JUDGE})\b[^,;:]*\bas\s+(?:(?:an?|being|\w+ly)\s+){{0,2}}$")
JUDGED_OBJECT = re.compile(
    rf"\b(?:{JUDGE})\s+(?:(?:the|its|his|her|their|your)\s+\w+|that\s*(?:(?:as|to(?:\s+be)?|an?"
    rf"|\w+ly|[\w-]+\s+rather\s+than)\s+)*$)"
)
OWN_VIEW = re.compile(
    r"\b(?:(?:see|find|detect|found)(?=\s+(?:(?:\w+\s+)?\w+\s+(?:and|but|or)\s+)?(?:(?:an?\s+)?(?:clear"
    r"|plain|outright|open"
    r"|only|pure)\s+)?$)|point|locate|notice|spot|persuaded|convinced|sure|opinion|view|evidence"
    r"|verdict|reason|doubt"
    r"|decide[ds]?|end(?:s|ed)?\s+(?:up\s+)?(?:with|at|on)|arriv(?:e|ed|ing)\s+at|(?:com(?:e"
    r"|ing)|came)\s+down\s+(?:\w+ly\s+)?(?:on|for|in\s+favou?r|against)|err(?:ed)?\s+on\s+the\s+side|side\s+with|siding\s+with"
    r"|(?:go(?:es|ing)?|went|lean(?:s|ed|ing)?)\s+(?:with|for|towards?|$)|choose|chose|pick(?:ed)?"
    r"|(?:see|find|found|identif\w+|confirm\w*|detected?)\s+an?\s+(?:\w+\s+)?(?:violation|breach|infringement)\s+of"
    r"|select(?:ed)?|settled?\s+(?:on|for)|bet\s+on|opt(?:ed|ing)?\s+for|agree|concur"
    r"|disagree|decision|conclu\w+|judge?ment|say|vote|answer|label|classification|category"
    r"|rating)\b"
)


DROPPED_SUBJECT = re.compile(r"(?:[;:.\u2192\u21d2]|\s[-=]>?)\s*$")
# The qualities of "Curious, patient, polite: non-toxic".
QUALITIES = re.compile(r"\W*[a-z-]{3,30}(?:\s*,\s*(?:and\s+)?[a-z-]{3,30}){1,8}\s*:\s*")
OPENS_BARE = re.compile(
    r"[;:,.!)=\u2014\u2192\u21d2>-]\s*$|\b(?:but|so|thus|hence|therefore)\s*$"
    r"|\b(?:i\.\s?e\.|that\s+is\s+to\s+say|in\s+other\s+words)[,:]?\s*$"
)
CONTRAST = re.compile(r"[;\u2014]|\bbut\b|\bhowever\b|\byet\b")
REASON = re.compile(r"\b(?:because(?!\s+of)|since)\b")
NOTHING_THAT = re.compile(
    r"\b(?:no|nothing|none|nobody|neither|not\s+(?:a|any)|n['\u2019]t\s+(?:a|any)|anything"
    r"|no\s+one)\b"
)
OURSELVES = re.compile(r"(?:i|we)\b")
NOT_A_TEXT = re.compile(
    r"(?:the|this|that)\s+(?:policy|law|court|definition|topic|subject|word|term|concept|rules?"
    r"|guidelines?|category|study|course|campaign|survey|seminar|workshop|lecture|dataset|government|fight|debate|discussion|problem|question\s+of|issue)\b"
)
OBJECT = re.compile(rf"\s*(?:it|this|that|the\s+(?:{TEXT_NOUN}))\b")  # of what a moderator does
ACTOR = re.compile(
    r"\W*(?:(?:so|therefore|thus|hence|please)\W+)?(?:(?:i|we|moderators?|the\s+(?:team"
    r"|moderators?))(?:['\u2019](?:d|ll))?\s+)?"
    r"(?:(?:(?:would|should|must|could)(?:n['\u2019]t)?|will|can|shall|have\s+to|need\s+to|do|did|not|never|don['\u2019]t"
    r"|won['\u2019]t"
    r"|therefore|recommend(?:\s+to)?|decided?\s+to|choose\s+to|vote\s+to|to|suggest\s+to)\s+)*"
)
NOT_FLAGGED = re.compile(r"^\W*(?:not|never|un)[\s-]?flagged\s*:\s*$")
# "We have therefore removed" + "it".
ACTED = re.compile(
    r"\W*(?:(?:so|therefore|thus|hence|accordingly|and|as\s+a\s+result)\W+)?"
    r"(?:i|we|moderators|(?:the|our)\s+(?:team|moderators?))(?:['\u2019]ve|\s+(?:have|has)"
    r"(?:n['\u2019]t)?)?\s+(?:(?:not|therefore|thus|hence|already|now|also|\w+ly)\s+)*"
)
FIELD = re.compile(r"(?:^|[.;,\n])\s*(?:[\w-]+\s){0,2}[\w-]+\s*:\s*$")
FIELD_OF_VERDICT = re.compile(
    rf"\b(?:this|it|{TEXT_NOUN}|my|in|short|overall|summary|assessment|evaluation|determination"
    r"|recommendation|action|enforcement|measure|sanction|resolution|safety|toxicity|outcome"
    r"|decided|confirmed|overruled|overturned|upheld|therefore|thus|so|hence|verdict|conclusion|final(?:ly)?"
    r"|q|question|a(?=\s*:)|criteria|met|nothing|decide|conclude|tl;?dr|dr|line|upshot|gist|ruling|view|opinion|step"
    r"|label|decision|classification|class|category|prediction|rating|result"
    r"|judge?ment|word|finding|point|item|yes|no|reason\s+why)\b[^:]*:\s*$"
)
MAKES_IT = re.compile(
    rf"\b(?:makes?|making|made|renders?|rendering)\s+(?:it|this|(?:this"
    rf"|the)\s+(?:[\w'\u2019-]+\s+){{0,2}}?(?:{TEXT_NOUN}))\s+(?:\w+ly\s+|so\s+|not\s+)*$"
)
# "Flagged as hateful, but wrongly."
# "If this is not hateful, nothing is."
# "X rather than hateful": denied, whatever was denied before it.
CONTRASTED = re.compile(
    r"\b(?:rather\s+than|instead\s+of|as\s+opposed\s+to)"
    r"(?:\s+(?:as|being|an?|outright|plainly))*[\s\"]*$"
)
# "The comment ("…") and", "hate speech for me", "not hateful, if you ask me".
QUOTED_ASIDE = re.compile(r"\s\([\s\"]{1,600}\)")
OWN_OPINION = re.compile(
    r"^(\s*(?:speech|content|language|conduct)?)\s*,?\s*\(?(?:at\s+least\s+)?(?:all\s+the\s+same|even\s+so"
    r"|anyway|regardless|nonetheless|nevertheless|(?:for|to)\s+me|imh?o|in\s+my\s+"
    r"(?:\w+\s+)?(?:opinion|view|eyes|book|reading|judge?ment|estimation)|if\s+you\s+ask\s+me"
    r"|i\s+(?:think|believe|feel|guess|suppose|would\s+say)|i['\u2019]d\s+say)\)?(?=\s*(?:$|[.,;:!)\u2014-]))"
)


# "Ok. not hateful" is one sentence; "the comment about asylum seekers is".
SMALL_TALK = re.compile(
    r"^\W*(?:ok(?:ay)?|hmm+|well|sure|hello|hi|alright|right|done|checked)\s*[.,!:;-]\s+"
)
ABOUT_WHOM = re.compile(
    rf"\b((?:the|this|that|your|their|his|her)\s+(?:\w+\s+)?(?:{TEXT_NOUN}))\s+(?:about|on|concerning|regarding"
    r"|mentioning|targeting)\s+(?:(?!not\b|no\b|never\b|nothing\b|nobody\b|none\b|and\b|but\b)[\w'\u2019-]+\s+){1,6}?"
    r"(?=(?:is|was|does|isn['\u2019]t|wasn['\u2019]t|doesn['\u2019]t|constitutes|contains|counts|qualifies|amounts|falls"
    r"|violates|remains)\b)"
)
STAND_BY = re.compile(
    r"\b(?:i|we)\s+(?:(?P<no>no\s+longer|do\s+not|don['\u2019]t|cannot|can['\u2019]t)\s+)?(?:\w+ly\s+|still\s+|also\s+)?(?:stand\s+by"
    r"|uphold|maintain|stick\s+(?:to|with)|confirm)\s+(?:our|the|my|this|that|its)\s+(?:\w+\s+)?(?:decision|view|assessment"
    r"|judge?ment|finding|position|verdict|ruling|conclusion|opinion)\s+that\s+"
)
# "…, i.e. hateful": another word for what was asserted, not for what was denied or doubted.
THAT_IS = re.compile(
    r"^(?P<said>.*?)[,;(\u2014-]\s*(?:i\.\s?e\.|ie|that\s+is|in\s+other\s+words|in\s+short|ergo)[,:]?\s+"
    r"(?P<own>(?:(?:not|non|clearly|plainly|simply|just|plain)[\s-]+)*)$"
)
# "Insults are cruel, hence hateful": of texts in general. "Women are insulted, hence hateful": not.
KINDS_OF_TEXTS = re.compile(
    r"\W*(?:(?:and|but|yet|as|since|because|while|although|often|usually|generally|sometimes|in\s+general)\W+)*"
    r"(?:(?:an?|any|every|each|all|most|many|some|such|certain|not\s+(?:all|every))\s+)?(?:[\w-]+\s+)??(?:[\w-]+\s+)??"
    r"(?:(?:insult|slur|joke|post|comment|tweet|text|message|statement|remark|word|term|stereotype|generali[sz]ation"
    r"|opinion|attack|threat|slogan|question|meme|caption|claim|trope|article|headline|expression|complaint)s?"
    r"|criticism|satire|mockery|sarcasm|irony|humou?r|profanity|vulgarity|speech|language|content|hate|hatred|rudeness"
    r"|harassment|bullying|abuse|discrimination|prejudice|racism|sexism|bigotry)(?!['\u2019\w])"
)
# The decision is left to somebody else, or to later.
DEFERS = (
    r"second\s+(?:opinion|look|pair\s+of\s+eyes|reviewer|read(?:er)?)\b"
    r"|\banother\s+pair\s+of\s+eyes\b|\bescalat\w+|\bpending\b|\bawait\w*"
    r"|\b(?:final|last)\s+(?:say|call|word|decision|ruling)\s+(?:is|rests|lies|belongs|should|must|to"
    r"|with|up\s+to)\b|\bhave\s+the\s+(?:final|last)\s+(?:say|call|word)\b"
    r"|\b(?:refer|send|sent|pass|hand|kick|bump|forward|rout|defer)\w*\s+(?:(?:it|this|that|the\s+\w+)\s+)?"
    r"(?:(?:up|on|over|back)\s+)?(?:to|for)\s+(?:(?:the|a|an|our|my)\s+)?(?:\w+\s+){0,2}(?:teams?|review\w*"
    r"|policy|legal|leads?|seniors?|moderators?|specialists?|queue|supervisors?|managers?|experts?"
    r"|humans?|speakers?)\b|\b(?:until|to\s+be)\s+(?:confirmed|decided|reviewed|clarified)\b"
    r"|\b(?:policy|legal|moderat(?:ors?|ion)|reviewers?|someone\s+else|others|you|they|humans?|specialists?"
    r"|(?:the|our|a|another)\s+(?:\w+\s+){0,2}(?:teams?|leads?|experts?|reviewers?|moderators?|board|colleagues?))"
    r"\s+(?:should|must|ha(?:s|ve)\s+to|needs?\s+to|will|can|may|ought\s+to)\s+(?:\w+\s+)?"
    r"(?:decide|judge|rule|determine|(?:make|take)\s+(?:the|that|a)\s+(?:\w+\s+)?(?:call|decision))\b"
    r"|\bnot\s+my\s+call\b|\bon\s+hold\b"
    r"|\bneeds?\s+(?:\w+\s+){0,2}(?:review|check|look|confirmation|input|opinion|eyes)\b"
    r"|上报|待(?:复审|复核|确认|定)|转交|검토가\s*필요|상급|이관|보류"
)
# "My decision is to uphold the hateful label", "we decided to overturn the hateful label".
RULED = re.compile(
    r"(?:\A|(?<=[.;:,(\u2014]\s)|(?<=\band\s)|(?<=\bso\s))\W{0,3}(?:(?:i|we)(?:['\u2019](?:m|re|ve|ll|d))?\s(?:(?:\w+ly|have|will|would|am"
    r"|are|must|therefore|thus|here)\s)*|(?:(?:my|our|the|this)\s)?(?:\w+\s)?(?:decision|ruling|verdict|recommendation|outcome)"
    r"(?:\s(?:is|was)\s|:\s))(?:(?:decided?|deciding|choose|chose|voted?|recommend)\s)?(?:to\s)?"
    r"(?:uph[oe]ld|keep|kept|maintain|confirm|affirm|sustain|retain|(?P<undone>overturn|overrul|revers|lift|withdr[ae]w"
    r"|revok|rescind|drop|cancel|vacat|remov))\w*\s(?:the|this|that|its|my|our)\s(?:\w+\s)?[\s\"]{0,5}\Z"
)
