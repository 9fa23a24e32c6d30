"""Words and patterns by which `conclusion_en` tells clauses about a label word apart.

Source: our own. Every pattern meets at most the few hundred characters around one label word.
"""

from __future__ import annotations

import re

BE = r"is|are|was|were|be|been|being|am|isn|aren|wasn|remains?|seems?|appears?|sounds?|becomes?"
AUXILIARY = (
    r"is|are|was|were|am|isn't|aren't|wasn't|does|do|did|doesn't|don't|didn't|has|have|had|should"
    r"|shouldn't|must|can|can't|cannot|could|couldn't|would|wouldn't|will|won't|may|might"
)
FINITE = (
    AUXILIARY + r"|contains|includes|constitutes|qualifies|amounts|counts|falls|crosses|violates"
    r"|breaches|complies|uses|remains|meets|deserves|spreads|promotes|expresses|makes|lacks|fits"
    r"|therefore|thus|hence|clearly|nonetheless|nevertheless|still|also(?=\s+(?:is|not)\b)"
)
SUBJECT_OPENS = (
    r"it|this|these|those|they|there|i|we|he|she|you|nothing|nobody|none|no\s+one|neither|the|what"
    r"|my|our|its|his|her|their|such|all\s+of|that(?=\s+(?:is|\w+\s+is)\b)"
)
TEXT_NOUN = (
    r"texts?|posts?|comments?|tweets?|messages?|statements?|sentences?|contents?|remarks?|captions?"
    r"|headlines?|titles?|reviews?|repl(?:y|ies)|responses?|answers?|outputs?|prompts?|jokes?"
    r"|memes?"
    r"|conversations?|paragraphs?|passages?|lyrics?|articles?|questions?|wording|language|phrases?"
    r"|phrasing|lines?|inputs?|examples?|utterances?|expressions?|speech|slogans?|notes?|stor(?:y"
    r"|ies)"
    r"|songs?|letters?|e-?mails?|descriptions?|threads?|submissions?|entr(?:y|ies)|words|excerpts?"
    r"|snippets?|bios?|ads?|advert\w*|petitions?|pieces?|videos?|images?|requests?|material"
)

# Words that look like a denial and are none, and what a reader may skip.
IDIOM = re.compile(
    r"\bnot\s+(?:only|just|merely|simply|solely)\b"
    r"|\b(?:no|without|little|beyond|any)\s+(?:(?:a|any"
    r"|the)\s+)?(?:reasonable\s+)?(?:shadow\s+of\s+a\s+)?"
    r"(?:doubt|question|ambiguity|denying|mistaking|hesitation|arguing|reservations?|exception)\b"
    r"|\bno\s+\w+\s+other\s+than\b|\bno\s+less\b|\bno\s+matter\b|\bno\s+way\s+around\b"
    r"|\bno\s+choice\s+but\b"
    r"|\bnothing\s+(?:but|other\s+than|less\s+than|short\s+of)\b|\bnothing\s+if\s+not\b"
    r"|\b(?:cannot|can\s*not|can['\u2019]t)\s+(?:help\s+but|be\s+(?:denied|disputed|ignored"
    r"|overlooked))\b"
    r"|\b(?:not|n['\u2019]t)\s+(?:be\s+)?(?:hesitate|hesitant|hesitating|hard|difficult)\s+to\b"
    r"|\bundeniabl[ey]\b"
    r"|\bmore\s+often\s+than\s+not\b|\bif\s+not\b|\bwhether\s+or\s+not\s+(?:it\s+was\s+)?intended\b"
    r"|\b(?:un)?intentionally\s+or\s+not\b|\bjoke\s+or\s+not\b|\bnot\s+to\s+mention\b"
    r"|\b(?:nobody|no\s+one|no\s+\w+|(?:can|could)(?:not|n['\u2019]t|\s+not)|hard\s+to"
    r"|impossible\s+to)\b[^,;:]{0,80}?\bmistak\w+\s+(?:it|this|(?:this|the)\s+\w+)\s+for"
    r"\s+anything\s+(?:but|other\s+than)\b"
    r"|\b(?:no|nobody|no\s+one|cannot|can['\u2019]t)\s+(?:\w+\s+)?(?:den(?:y|ies|ied)|disput(?:e|es"
    r"|ed))\b"
)
NO_LIST = re.compile(
    r"\bno\s+[\w'-]+(?:\s+[\w'-]+){0,3}\s*(?:,|\band\b|\bor\b|,\s*(?:and|or)\b)\s*(?=no\b)"
)
NEGATION = re.compile(
    r"\b(?:not|never|no|none|nothing|nobody|neither|nor|cannot|without|hardly|scarcely|barely"
    r"|lack(?:s|ed|ing)?|absen(?:ce|t)|devoid|(?:free|clear|short|shy)\s+(?:of|from)|fail(?:s|ed"
    r"|ing)?\s+to"
    r"|rather\s+than|instead\s+of|as\s+opposed\s+to|anything\s+(?:but|other\s+than)|(?:far|miles)\s+from"
    r"|(?:false|untrue|wrong|incorrect|inaccurate|mistaken|unfair|unjustified|misleading|mistake"
    r"|error"
    r"|exaggeration|overstatement|stretch|misreading|inappropriate)\s+(?:to|that)"
    r"|den(?:y|ies|ied|ying)|doubts?|doubted|disagrees?|rejects?|rejected|rul(?:e|es|ed|ing)\s+out"
    r"|exclud(?:e|es|ed|ing)|refus(?:e|es|ed|ing)|avoid(?:s|ed|ing)?|steers?\s+clear|refrain(?:s|ed"
    r"|ing)?"
    r"|too\s+\w+\s+(?:\w+\s+){0,2}to\s+(?:be|count|qualify|amount|constitute|deserve)|below|isnt"
    r"|doesnt)\b"
    r"|n['\u2019]t\b"
)
# Of a text, and no verb of what it does to people ("denies them a right").
PLAIN_NEGATION = re.compile(
    r"\b(?:not|never|no|none|nothing|nobody|neither|nor|cannot|without|hardly|lack(?:s|ed|ing)?|absence"
    r"|devoid|free\s+(?:of|from))\b|n['\u2019]t\b"
)
PARENTHESIS = re.compile(
    r",\s*(?:which|who|whose|where|though|although|while|albeit|if|despite|without|in|as|to|on|at"
    r"|by|for|even)"
    r"\b[^,;:]{0,120},(?=\s)"
)
ADJUNCT = re.compile(
    r"^[^\w\"]*(?:(?:and|so|but|even|also|still|yet)\s+)?(?:without|despite|in\s+spite|instead"
    r"|rather\s+than"
    r"|far\s+from|apart\s+from|besides|lacking|given|in|on|at|by|with|under|for|from|based"
    r"|regardless"
    r"|although|though|while|whereas|even\s+if|even\s+though|as|since|because|after|before|upon"
    r"|granted"
    r"|of|out\s+of|among|between|considering|admittedly|unlike|no(?=\s*,)|yes|not\s+\w+ing)\b[^,;:]{0,300},"
)
BORDER = re.compile(
    r"[;:()\u2014]|\s[-\u2013]\s"
    r"|,?\s*(?<!anything )(?<!nothing )\bbut\b(?!\s+also\b)|(?<!not\s)\byet\b"
    r"|\b(?:nevertheless|nonetheless|even\s+so|that\s+said|still|all\s+the\s+same|however"
    r"|otherwise)\s*,"
    r"|\b(?:because(?!\s+of)|since|whereas|although|(?:even\s+)?though|while|even\s+if|albeit)\b"
    r"|\bso(?=\s+(?:it|this|the|i|we)\b)"
    r"|\bas(?=\s+(?:it|there|they|he|she|nobody|no\s+one|nothing|we|i)\b)"
    r"|\bas(?=\s+(?:the|its|their|his|her)\s+\w+\s+(?:is|does|has|was|are|do|have|never|only)\b)"
    rf"|(?:,\s*)?\b(?:and|or)\b(?=\s+(?:{SUBJECT_OPENS}|{FINITE})\b)"
    r"|(?=\bnor\s+(?:is|are|does|do|did|has|have|can|should|would|am|was)\b)"
    rf"|,\s*(?:(?:then|so|and|thus|therefore|hence)\s+)?(?=(?:{SUBJECT_OPENS})\b)"
    r"|,\s*(?=which\b)"
    r"|,\s*(?=(?:not|just|merely|only|simply|rather)\b)"
)
# A restrictive relative clause with a verb of its own before the main predicate.
RELATIVE = re.compile(
    rf"\b(?:that|which|who)\s+(?:\w+\s+)?(?:{AUXILIARY}|never|(?!(?:his|its|this|was|is|has|hers|us"
    rf"|as)\b)\w+s)\b[^,;:]{{0,160}}?(?=\s(?:{BE}|constitutes|qualifies)\s)"
)

CONCESSION = re.compile(r"\b(?:although|(?:even\s+)?though|while|whereas|even\s+if|albeit)\s*$")

JUDGE = (
    r"classif(?:y|ies|ied|ying)|class(?:es|ed|ing)?|label(?:s|led|ed|ling|ing)?|categori[sz](?:e|es"
    r"|ed|ing)"
    r"|consider(?:s|ed|ing)?|deem(?:s|ed|ing)?|judg(?:e|es|ed|ing)|regard(?:s|ed|ing)?|flag(?:s|ged"
    r"|ging)?"
    r"|mark(?:s|ed|ing)?|rat(?:e|es|ed|ing)|grad(?:e|es|ed|ing)|call(?:s|ed|ing)?|treat(?:s|ed"
    r"|ing)?"
    r"|see(?:s|n|ing)?|view(?:s|ed|ing)?|find(?:s|ing)?|found|assess(?:es|ed|ing)?|describ(?:e|es"
    r"|ed|ing)"
    r"|evaluat(?:e|es|ed|ing)|tag(?:s|ged|ging)?|identif(?:y|ies|ied|ying)|interpret(?:s|ed|ing)?"
    r"|recogni[sz](?:e|es|ed|ing)|determin(?:e|es|ed|ing)|predict(?:s|ed|ing)?|assign(?:s|ed|ing)?"
    r"|characteri[sz](?:e|es|ed|ing)|brand(?:s|ed|ing)?|plac(?:e|es|ed|ing)|put(?:s|ting)?"
    r"|detect(?:s|ed|ing)?"
    r"|scor(?:e|es|ed|ing)|read(?:s|ing)?|think(?:s|ing)?|thought|perceiv(?:e|es|ed|ing)|understood"
    r"|rank(?:s|ed)?"
    r"|file[sd]?|filing|sort(?:s|ed|ing)?|report(?:s|ed)?|vot(?:e|es|ed|ing)|declar(?:e|es|ed|ing)"
    r"|pronounc(?:e|es|ed|ing)"
)
SAY = (
    r"say(?:s|ing)?|said|claim(?:s|ed|ing)?|argu(?:e|es|ed|ing)|insist(?:s|ed|ing)?|stat(?:e|es|ed"
    r"|ing)"
    r"|writ(?:e|es|ing)|wrote|complain(?:s|ed|ing)?|believ(?:e|es|ed|ing)|feel(?:s|ing)?|felt"
    r"|mention(?:s|ed|ing)?|quot(?:e|es|ed|ing)|alleg(?:e|es|ed|ing)|assert(?:s|ed|ing)?|accus(?:e"
    r"|es|ed|ing)"
    r"|ask(?:s|ed|ing)?|wonder(?:s|ed|ing)?|t(?:ell|ells|old|elling)|repl(?:y|ies|ied)|answers"
    r"|answered|respond(?:s|ed)?|suspect(?:s|ed)?"
    r"|den(?:y|ies|ied|ying)(?=\s+that\b)|conclud(?:e|es|ed|ing)|rul(?:e|es|ed|ing)(?!\s+out)|warn(?:s|ed|ing)?|worr(?:y|ies|ied)"
    r"|agree[sd]?"
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
    r"|show(?:s|ed|n|ing)?|bears?|carr(?:y|ies|ied|ying)|exhibits?|displays?|features?|employs?"
    r"|engag(?:e|es|ing)"
    r"|turn(?:s|ed|ing)?|tip(?:s|ped|ping)?|slid(?:e|es|ing)|slip(?:s|ped|ping)?|veer(?:s|ed|ing)?"
    r"|descend(?:s|ed|ing)?|fall(?:s|ing)?|fell|fits?|stay(?:s|ed|ing)?|sits?|becoming|resort(?:s"
    r"|ed|ing)?|goes|go|going|steers?"
    r"|lack(?:s|ed|ing)?|avoid(?:s|ed|ing)?|deserv(?:e|es|ed|ing)|merits?|warrants?|earns?|gets?"
    r"|stops?|falls"
    r"|com(?:es?|ing)|came|strik(?:es|ing)|struck|proves?|proved|\w+s\s+(?:across\s+|off\s+|over\s+"
    r"|out\s+)?as|render(?:s|ed|ing)?|clears|exceeds?|satisf(?:y|ies)|surpass(?:es)?|pass(?:es|ed)"
    r"|conveys?|holds?|offers?|perpetuat(?:e|es|ing)|encourag(?:e|es|ing)|embod(?:y|ies)|reads?"
    r"|looks?"
    rf"|refrains?|crossed|denotes?|says?|said|full|ticks?|ticked|match(?:es|ed)?|fulfil\w*"
    rf"|settle[ds]?\s+on|opt(?:s|ed|ing)?\s+for|choose|chose|pick|select(?:s|ed)?|went|lean(?:s|ed|ing)?"
    rf"|{JUDGE})\b"
    r"|\b(?:it|this|that|there|what)['\u2019]s\b|\b(?:isn|aren|wasn|weren)['\u2019]t\b"
)
ABOUT_IT = re.compile(  # between predicate and word: the text speaks of it, and is not it
    r"\b(?:about|against|condemn\w*|criti\w*|discuss\w*|counter\w*|anti|regarding|concerning"
    r"|oppos\w*"
    r"|mention\w*|victims?|denounc\w*|fight\w*|combat\w*|tackl\w*|prevent\w*|research|stud(?:y|ies)"
    r"|topic|subject"
    r"|problems?|issues?|debates?|history|awareness|warn\w*|analys\w*|describing|report(?:s"
    r"|ing)?\s+on"
    r"|response\s+to|reaction\s+to|how|why|when|who|whom|people|users|those|everyone|reporting"
    r"|example\s+of\s+how"
    r"|conversations?|internet|world|communit(?:y|ies)|society|label\s+of\s+the|committed|dedicated"
    r"|opposed)\b"
)
NO_VERDICT_AFTER = re.compile(
    r"^[\s-]*(?:detection|polic(?:y|ies)|laws?|legislation|rules?|guidelines?|definitions?|crimes?"
    r"|groups?"
    r"|prevention|research|moderation|classifiers?|people|persons?|man|men|woman|women|children"
    r"|individuals?"
    r"|citizens?|users?|spaces?|places?|environments?|communit(?:y|ies)|society|life|way"
    r"|conditions?"
    r"|circumstances|behaviou?r\s+is|criteria|thresholds?|standards?|categor(?:y|ies)\s+(?:covers"
    r"|means|includes))\b"
)
NO_VERDICT_BEFORE = re.compile(
    r"(?:\b(?:more\s+than(?:\s+(?:just|merely|simply))?|beyond(?:\s+(?:the|merely|being|simply"
    r"|just))*"
    r"|worse\s+than(?:\s+\w+)?|not\s+(?:just|only|merely)\s+in"
    r"|(?:the|a|an)\s+(?:word|term|expression|phrase)|words|definition\s+of\s+what\s+is|anti"
    r"|counter"
    r"|term|word|called\s+a|stay|staying|feels?|feeling|keep(?:s|ing)?(?:\s+\w+){1,2}|cases?\s+of\s+real|concept\s+of|notion\s+of|meaning\s+of|history\s+of"
    r"|topic\s+of|issue\s+of|problem\s+of|victims?\s+of|fight\s+against))[\s-]*$"
)

ASKED = re.compile(
    r"\bwhether\b|\b(?:know|see|say|tell|determine|decide|ask|judge|asked|unclear|check|wonder"
    r"|sure)\s+if\b"
    r"|\b(?:hateful|safe|toxic|offensive|normal)?\s*or\s+not\s*$"
)
HEDGE = re.compile(
    r"\b(?:may|might|could(?!\s*n['\u2019]t|\s+not)|possibly|perhaps|potentially|maybe|unclear"
    r"|unsure|uncertain|ambiguous"
    r"|not\s+(?:entirely\s+|quite\s+|completely\s+|fully\s+)?(?:sure|certain|clear|obvious"
    r"|necessarily)|undecided"
    r"|hard\s+to\s+(?:say|tell|decide)|difficult\s+to\s+(?:say|tell|decide|determine)"
    r"|impossible\s+to"
    r"|borders?\s+on|bordering\s+on|verg(?:es?|ing)\s+on|borderline|close\s+to|on\s+the\s+(?:edge"
    r"|verge|brink)"
    r"|almost|nearly|approach(?:es|ing)|debatable|open\s+to|up\s+for\s+debate|in\s+some\s+(?:eyes"
    r"|readings?)"
    r"|(?:cannot|can['\u2019]t|can\s+not|unable\s+to)\s+(?:say|tell|decide|determine|know"
    r"|judge)(?!\s+that)"
    r"|to\s+(?:determine|decide)|risks?|chance|possibility|likelihood|suspicion|in\s+danger\s+of"
    r"|some\s+(?:\w+\s+)?(?:would|will|may|might|could))\b"
)
FIRST_SIGHT = re.compile(
    r"\bat\s+first\b|\bat\s+(?:a\s+)?(?:quick\s+|first\s+)?glance\b|\bon\s+the\s+(?:surface|face)\b"
    r"|\binitially\b"
    r"|\boriginally\b|\b(?:my|i)\s+(?:first|initial)(?:ly)?\b|\bat\s+the\s+beginning\b"
    r"|\bprima\s+facie\b|\bused\s+to\b|\bearlier,?\s+(?:i|we)\b|\bpreviously\b"
)
DEPENDS = re.compile(r"\bdepend(?:s|ing|ent)\b|\bif\s+(?:and\s+)?only\s+if\b")
IF = re.compile(
    r"(?<!even )(?<!as )\bif\b(?!\s+(?:anything|any|at\s+all|not|you\s+(?:ask|will)|one\s+reads"
    r"|(?:i|we)\s+(?:had|have)\s+to|we\s+(?:look|read|take)))|\bunless\b"
    r"|\b(?:provided\s+that|assuming|supposing|suppose|imagine)\b|^\W*(?:had|were|should|replace|swap|insert)\s+\S"
    r"|\b(?:only|had)\s+(?:it|the\s+\w+|this|they|he|she)\s+been\b|\bin\s+place\s+of\b"
    r"|\ba\s+version\b"
)
WOULD = re.compile(
    r"\bwould\b(?!\s*$|\s*(?:not\s+)?be\s+(?:wrong|incorrect|a\s+mistake|an\s+error|fair|unfair|right"
    r"|inaccurate|accurate|mistaken|misleading|a\s+stretch|an\s+exaggeration))|['\u2019]d\b"
)
WOULD_JUDGE = re.compile(
    rf"\b(?:(?:i|we|one|moderators?|annotators?|reviewers?)(?:\s+would(?:n['\u2019]t)?|['\u2019]d)|would\s+(?:i|we"
    rf"|one))\s+(?:\w+\s+){{0,3}}?(?:{JUDGE}|say|argue|conclude|go\s+(?:with"
    rf"|for)|choose|pick|select|settle\s+on|opt\s+for)\b"
    rf"|\b(?:readers?|persons?|observers?|members?|audience)\b[^,;:]{{0,60}}?\bwould\s+"
    rf"(?:\w+ly\s+)?(?:{JUDGE})\b"
)
# "This would be considered hateful": no condition stands before it.
WOULD_OF_TEXT = re.compile(
    rf"(?:^\s*|[^\w\s]\s*)(?:(?:so|thus|therefore|hence|and|overall)\W+)?(?:this|that|it|which|these"
    rf"|(?:this|the|that)\s+(?:[\w'\u2019-]+\s+){{0,3}}(?:{TEXT_NOUN}))\s+would\s+(?:\w+ly\s+|also\s+"
    r"|therefore\s+|thus\s+|not\s+)*(?!have\b)\w+"
)
BECAUSE = re.compile(
    r"\W*(?:even\s+(?:if|though)|regardless|no\s+matter|whatever|with\s+or\s+without|given|because|since|as|based|considering|due|owing|thus|therefore|overall|hence|so|in\s+(?:conclusion"
    r"|short|summary|sum|view|light|all)|taken|under\s+(?:the|this|our|these)|all|on\s+balance|for|by\s+(?:this"
    r"|that|these))\b"
)
NONE_OF_IT = re.compile(
    r"\b(?:no|nothing|none|nobody|neither|anything|not\s+(?:a|any|one)|n['\u2019]t\s+(?:a|any|one)|any|never"
    r"|lacks?|without|not\s+\w+)\b"
)
GENERAL = re.compile(
    r"\b(?:is|are|was|be)\s+defined\s+as\b|\b(?:means|refers\s+to|denotes|is\s+speech\s+that"
    r"|by\s+definition)\b"
    r"|\bnot\s+(?:every|all|always|everything)\b|\b(?:insults|posts|comments|words"
    r"|things)\s+like\s+(?:this|these|that)\b"
    r"|\b(?:often|usually|typically|generally|sometimes|in\s+general|as\s+a\s+rule)\b"
)
APPEAL = re.compile(
    r"\b(?:never|not)\s+(?:\w+ly\s+)?(?:ok(?:ay)?|acceptable|right|fine|alright|cool|justified"
    r"|justifiable|appropriate|funny)\s+(?:to|for)\b|\bno\s+(?:excuse|room|justification|tolerance)\s+for\b"
    r"|\b(?:important|essential|crucial|vital|necessary|imperative|critical|paramount)\s+(?:that|we)\b"
    r"|\b(?:everyone|everybody|all\s+people|nobody|no\s+one|people)\s+deserves?\b"
    r"|"
    r"\btolerat\w+|\bstand(?:s|ing)?\s+up\b|\bspeak(?:s|ing)?\s+(?:out|up)\b|\blet\s+(?:us|'s)\b"
    r"|\blet['\u2019]s\b"
    r"|\bzero[\s-]tolerance\b|\bno\s+place\s+(?:in|on|for)\b|\bremember\b|\bplease\b"
    r"|\bnever\s+acceptable\b"
    r"|\b(?:committed|strive|striving|dedicated)\s+to\b|\b(?:important|essential|crucial|vital|critical"
    r"|necessary|imperative|paramount|better|best|right|wise)\s+(?:for\s+\w+\s+)?to\b"
    r"|\bmake\s+sure\b|\bensur(?:e|es|ing)\b|\bfoster\w*|\bkeep(?:ing)?\b[^,;]{0,40}\b(?:free|clear"
    r"|safe)\b"
    r"|\bwork(?:ing)?\s+(?:together|towards?)\b|\bcombat(?:s|ing)?\b|\bfight(?:s|ing)?\b"
    r"|\bavoid\s+using\b"
    r"|\b(?:we|you|one|everyone|everybody|people|platforms?|communit(?:y|ies)|society|users|all"
    r"|each\s+of\s+us|nobody|no\s+one|anyone|sites?|companies|moderators)"
    r"\s+(?:\w+\s+){0,2}?(?:must|should|ought|need|needs|have\s+to|has\s+to|can\s+all"
    r"|cannot\s+accept|will\s+not|do(?:es)?\s+not\s+(?:allow|accept|permit|want|condone))\b"
)
APPEAL_ASKS = re.compile(
    r"\b(?:ask|urge|encourage|remind|invite|expect|call\s+on|request|want)\s+(?:everyone|everybody|users"
    r"|people|all|members|you|readers|each|authors)\b"
)
APPEAL_EXCEPT = re.compile(
    rf"\b(?:must|should|ought\s+to|need\s+to|have\s+to|has\s+to|important\s+to"
    rf"|remember)\s+(?:\w+\s+){{0,2}}?(?:be\s+)?(?:{JUDGE}|conclude|say|note|admit|acknowledge"
    rf"|stress|emphasi[sz]e|that\s+(?:it|this|the|these))\b"
)
PARTIAL = re.compile(
    r"(?<!no )(?<!any )\bparts?\s+of\b|\b(?:first|second|last|latter|former|other|opening|closing"
    r"|final|third)\s+(?:half|part|word|line|sentence|clause|paragraph|section|phrase)\b"
    r"|\b(?:by|in)\s+(?:itself|themselves|isolation)\b|\bon\s+its\s+own\b|\btaken\s+alone\b"
    r"|\b(?:word|title|phrase|hashtag|emoji|ending|opening)\s+alone\b"
    r"|\bin\s+(?:other|another|different|some|certain)\s+(?:\w+\s+)?(?:settings?|contexts?|cases?"
    r"|places|circumstances)\b|\belsewhere\b"
    r"|\b(?:beginning|opening|ending|end|start)\s+of\s+(?:the|this)\b|\bat\s+times\b"
    r"|\bin\s+places\b|\bpartly\b|\bin\s+part\b"
    r"|\b(?:repl(?:y|ies)|comments?|posts?|thread|message|responses?)\s+(?:below|underneath|beneath"
    r"|it\s+answers|above\s+it)\b"
    r"|\b(?:another|other|the\s+original|the\s+previous|the\s+earlier|a\s+different"
    r"|a\s+second)\s+(?:post|comment|tweet|text|message|reply|article|user|caption|version)\b"
)
FINAL = re.compile(
    r"^\W*(?:(?:step\s+|point\s+)?\d{1,3}\W+)?(?:(?:so|and|but|well)\b\W*)?(?:in\s+(?:conclusion"
    r"|summary|short|sum|brief|the\s+end)"
    r"|overall|therefore|thus|hence|consequently|accordingly|conclusion|verdict|final(?:ly)?"
    r"|(?:decision|answer|classification|label|prediction|judge?ment)(?=\s*[:=])|all\s+in\s+all"
    r"|to\s+(?:sum\s+up|conclude|summari[sz]e)|on\s+balance|ultimately|taken\s+together|altogether"
    r"|all\s+told"
    r"|on\s+(?:closer|second)\s+(?:reading|inspection|look|thought)|all\s+things\s+considered"
    r"|for\s+(?:these|this|that)\s+reasons?)\b"
    r"|\b(?:correct|right|final|proper|appropriate|overall|true|best)\s+(?:label|verdict|answer"
    r"|classification|category|decision|rating|conclusion|judge?ment|assessment|class)\b"
    r"|\bmy\s+(?:verdict|conclusion|decision|judge?ment|answer|assessment)\b|\bwe\s+conclude\b"
    r"|\bi\s+conclude\b"
    rf"|\b(?:should|must|has\s+to|have\s+to|needs\s+to"
    rf"|ought\s+to)\s+(?:\w+\s+)?(?:not\s+)?(?:therefore\s+)?be\s+(?:{JUDGE})\b"
)
# "A violation was found": said of this text, whatever article stands before it.
FOUND = re.compile(
    r"^\s*(?:speech|content|language|material)?\s*(?:is|are|was|were|has\s+been|have\s+been)"
    r"(?:\s+(?:not|never)|n['\u2019]t)?\s+(?:clearly\s+)?(?:present|found|detected|identified)\b"
)
# What another clause reports may deny what it likes.
REPORTS = re.compile(
    r"\b(?:say|claim|argu|suggest|impl|demand|insist|stat|call|tell|think|believ|wish|want)\w*\b"
)
CLASSIFICATION = re.compile(rf"\b(?:{JUDGE}|categor(?:y|ies)|label|classification|class)\b")
SKIPPED = (
    r"therefore|thus|so|hence|overall|finally|in|conclusion|summary|final|my|the|a|an|answer|not"
    r"|clearly|definitely"
    r"|plainly|simply|obviously|certainly|explicitly|implicitly|blatantly|openly|outright|pure"
    r"|plain|again|text|post"
    r"|yes|no|label|verdict|and|just|very|highly|quite|also|still|merely|nothing|never|neither|nor"
    r"|here|this|that|it"
    r"|short|sum|all|is|it's|deeply|extremely|severely|rather|mildly|completely|entirely|perfectly"
    r"|absolutely|indeed"
    r"|for|reasons?|these|then|result|as|of|at|hardly|totally|far|from|anything|but|short|fully"
    r"|strongly|really|clear"
    r"|option|choice|such|[bcd]|tl|dr|tldr|bottom|line"
    r"|both|toxic|offensive|abusive|rude|crude|insulting|harmful|demeaning|unkind|derogatory|case"
    r"|form|example|kind|evidence|sign|signs|any|step|point|of|with|without|doubt|question|conclude"
    r"|neutral|normal|safe|benign|harmless|acceptable|appropriate|clean|civil|ordinary|hateful"
    r"|i|we|non"
)
BARE = re.compile(rf"(?:[^\w]|\b(?:{SKIPPED}|\d+)\b)*")
AFTER_BARE = re.compile(
    r"\s*+(?:speech|content|text|language|post|comment|statement|remark|message|here|overall"
    r"|indeed)?\s*+"
    r"(?:$|[.,;:!?()\]\u2014]|[-\u2013]\s|because\b|since\b|as\b|towards?\b|against\b|at\s+all\b"
    r"|in\s+(?:this|the|any|itself|nature|tone|intent|character|spirit)\b|per\s+se\b|either\b|enough\b"
    r"|about\s+(?:it|this|the)\b|(?:was\s+)?(?:detected|found|identified)\b|and\b|or\b|but\b|nor\b|for\b"
    r"|under\b|by\b|due\b|despite\b|even\b"
    r"|although\b|though\b)"
)
PRESENT = re.compile(
    r"^\s*(?:speech|content|language|intent|elements?|material|terms?|words?|expressions?|messag\w+"
    r"|rhetoric|tone|nature|character|sentiment|quality|undertones?)?\s*"
    r"(?:of\s+(?:\w+\s+){1,3}|in\s+(?:the|this)\s+\w+\s+)?\s*"
    r"(?:(?:is|are|was|were|can|could|has|have|may|does|do)(?P<no>\s+(?:not|never)"
    r"|n['\u2019]t)?\s+(?:be(?:en)?\s+)?(?:clearly\s+)?"
    r"(?:present|found|detected|identified|used|seen|expressed|contained|evident|visible|involved"
    r"|plain|obvious|undeniable|apparent|unmistakable|established"
    r"|said|written|voiced|uttered|occur|appear|at\s+work|read)\b|(?:appears|occurs|exists)\b)"
)
EXPLETIVE = re.compile(
    r"\bit\s+(?:is|was|would\s+be|may\s+be|seems|['\u2019]s)\s+(?:\w+\s+){0,2}$"
    r"|\bit['\u2019]s\s+(?:\w+\s+){0,2}$"
)
EXPLETIVE_AFTER = re.compile(r"^\s*(?:to|that|for|when|if)\b")

AGENT = re.compile(
    r"(?:\b(?:i|we|me|us|nobody|nothing|could|may|might|neither|model|system|classifier|detector"
    r"|filter|moderators?|annotators?|reviewers?|raters?|judges"
    r"|team|analysis|assessment|explanation|evaluation|one|algorithm|tool|ai|assistant|engine"
    r"|software|policy"
    r"|guidelines?|it|this|that|which|evidence|reason|context|(?<!\w)to|must|should|can|cannot"
    r"|would|will|not|n['\u2019]t|never"
    r"|is|are|was|were|be|been|being|has|have|had|gets?|got|it's|'d|\u2019d|(?:an?|the|any|some|such|its|their|his|her|every|bold|false|certain|final"
    r"|correct|right|overall|no|this|first|second)"
    r"|and|or|hence|therefore|thus|so|for|by|of|on|without|in)\b|^|[,;:]|[\"])"
    r"(?:\s*\b(?:therefore|thus|also|clearly|further|rightly|correctly|still|then|hereby|\w+ly|not"
    r"|do|does|did|have|has|would|should|must|can|cannot|will|am|'ve|be|been|both|all)\b){0,4}\s*$"
)
OTHERS = re.compile(
    r"\b(?:author|writer|user|speaker|poster|he|she|they|people|some|many|critics|others|somebody"
    r"|someone|reader"
    r"|readers|neighbou?rs?|court|judge|lawyers?|friends?|reply|sign|article|users|commenters?"
    r"|opponents|everyone|everybody|else|post|text|comment|news|report|story|paper|government"
    r"|police|minister|teacher|law)"
    r"\s+(?:\w+\s+){0,3}$"
)
VERBS = re.compile(
    rf"\b(?P<say>{SAY})\b(?!\s+(?:nothing|no|is|are|was|were|here|does|remains)\b)"
    rf"|\b(?P<judge>{JUDGE})\b"
)

DEFINITE = re.compile(
    r"(?:it|this|that|these|those|they|there|here|such|what|whatever|nothing|none|neither|nobody|no"
    r"|never|both|each\s+of|all\s+of|everything|any\s+of|the|her|his|their|its|my|our|your|given|said|not"
    r"|does|do|is|isn|can|cannot|should|must|contains?|includes|constitutes|qualifies|meets|falls|crosses"
    r"|amounts|uses|violates|breaches|complies|lacks|remains|classified|labell?ed|rated|considered|deemed"
    r"|judged|marked|flagged|to|i|we|you|he|she|one|nor|hardly|even"
    rf"|(?:{TEXT_NOUN})(?=\s+(?:is|was|does|contains|should|has|qualifies|can)\b))(?!\w)"
    r"|[\w-]+['\u2019]s\b|\""
)
THIS_TEXT = re.compile(
    rf"\b(?:this|that\s+(?:{TEXT_NOUN})|it|these|the\s+(?:[\w'\u2019-]+\s+){{0,3}}(?:{TEXT_NOUN})|(?:her|his|their"
    rf"|user's|author's)\s+\w+)\b"
)
INDEFINITE = re.compile(
    r"^(?:an?|any|every|each|some|many|most|not\s+every|not\s+all|all|few|certain|one(?=\s+must"
    r"|\s+should)|several|people|everyone|anyone)\b"
)
GERUND = re.compile(r"^(?:not\s+)?(?!being|nothing|anything|everything|according)\w{2,}ing\b|^to\s")
ONE_IN_GENERAL = re.compile(
    r"^(?:being|to\s+be|what\s+(?:counts?|qualifies|constitutes|is|was|makes))(?:\s+\w+){0,3}\s*$"
)
OTHER_THING = re.compile(
    r"\b(?:people|persons?|those|anyone|everyone|someone|users|men|women|others|speakers"
    r"|authors)\s+(?:who|that|whose)\b[^,;]*$"
    r"|\b(?:that|which|who)\s+(?:(?:is|are|was|were|may|can|could|might|will|does|do|not"
    r"|be)\s+)+(?:\w+\s+){0,2}$"
)
SIGN_OF = re.compile(
    r"\b(?:signs?|hallmarks?|characteristics?|indicators?|features?|elements?|aspects?|traits?"
    r"|marks?"
    r"|components?|requirements?|criteri(?:on|a)|markers?|typical|conditions?"
    r"|factors?)\b[^,;]{0,40}$"
)
COPULA = re.compile(r"\b(?:is|was|it['\u2019]s|this|are|remains|it)\b")
LEADING = re.compile(
    r"^(?:[^\w\"]|\b(?:and|or|so|then|also|therefore|thus|hence|overall|finally|clearly|still"
    r"|because|since|as|but|yes|no(?=\s*[,.:;!])|however|consequently"
    r"|(?:to|for)\s+(?:me|us)|to\s+(?:my|our)\s+(?:mind|eyes?|ears?)|in\s+(?:my|our)\s+(?:view|opinion"
    r"|reading|eyes|book|judge?ment|assessment)|as\s+(?:i|we)\s+see\s+it"
    r"|(?:which|that|this)\s+is\s+(?:why|the\s+reason)"
    r"|ultimately|nonetheless|nevertheless|although|though|while|\w+ly|step|\d+|again|yet|just|here"
    r"|in\s+(?:conclusion|summary|short|sum|fact|the\s+end)|even|neither|of\s+course|all\s+in\s+all"
    r"|to\s+(?:conclude|sum\s+up))\b(?!['\u2019-]))*"
)


SPECIFIC = re.compile(
    rf"\b(?:(?:it|this|the\s+(?:[\w'\u2019-]+\s+){{0,2}}(?:{TEXT_NOUN}))\s+(?:\w+\s+){{0,2}}?(?:{BE}"
    rf"|constitutes|qualifies|contains)|(?:it|this|that)['\u2019]s)\b"
)


JUDGED_OBJECT = re.compile(rf"\b(?:{JUDGE})\s+(?:the|its|his|her|their|your)\s+\w+")
OWN_VIEW = re.compile(
    r"\b(?:point|locate|notice|spot|persuaded|convinced|sure|opinion|view|evidence|verdict|reason"
    r"|doubt"
    r"|(?:go(?:es|ing)?|went|lean(?:s|ed|ing)?)\s+(?:with|for|towards?)|choose|chose|pick(?:ed)?"
    r"|select(?:ed)?|settled?\s+on|opt(?:ed|ing)?\s+for|agree|concur"
    r"|disagree|decision|conclu\w+|judge?ment|say|vote|answer|label|classification|category|rating)\b"
)


DROPPED_SUBJECT = re.compile(r"[;:.]\s*$")
OPENS_BARE = re.compile(r"[;:,)\u2014-]\s*$|\bbut\s*$")
CONTRAST = re.compile(r"[;\u2014]|\bbut\b|\bhowever\b|\byet\b")
NEGATIVE_QUESTION = re.compile(
    r"\W*(?:(?:so|but|and|now|well)\W+)?(?:is|are|was|does|do|did|would|should|could|can)n['\u2019]t\b"
)
OR_NOT = re.compile(r"\s*or\s+not\b")
NOTHING_THAT = re.compile(
    r"\b(?:no|nothing|none|nobody|neither|not\s+(?:a|any)|n['\u2019]t\s+(?:a|any)|anything"
    r"|no\s+one)\b"
)
WHAT = re.compile(r"\bwhat\b")
OURSELVES = re.compile(r"(?:i|we)\b")
NOT_A_TEXT = re.compile(
    r"(?:the|this|that)\s+(?:policy|law|court|definition|topic|subject|word|term|concept|rules?"
    r"|guidelines?"
    r"|category|fight|debate|discussion|problem|question\s+of|issue)\b"
)
OBJECT = re.compile(rf"\s*(?:it|this|that|the\s+(?:{TEXT_NOUN}))\b")  # of what a moderator does
ACTOR = re.compile(
    r"\W*(?:(?:so|therefore|thus|hence|please)\W+)?(?:(?:i|we|moderators?|the\s+(?:team|moderators?))\s+)?"
    r"(?:(?:would|should|must|will|can|shall|have\s+to|need\s+to|do|did|not|don['\u2019]t|won['\u2019]t"
    r"|therefore|recommend(?:\s+to)?|decided?\s+to|choose\s+to|vote\s+to|to|suggest\s+to)\s+)*"
)
FIELD = re.compile(r"(?:^|[.;,\n])\s*(?:[\w-]+\s){0,2}[\w-]+\s*:\s*$")
FIELD_OF_VERDICT = re.compile(
    rf"\b(?:this|it|{TEXT_NOUN}|my|in|short|overall|summary|assessment|evaluation|determination"
    r"|recommendation|action|safety|toxicity|outcome|therefore|thus|so|hence|verdict|conclusion|final(?:ly)?"
    r"|view|opinion|step|label|decision|classification|class|category|prediction|rating|result"
    r"|judge?ment|word|finding|point|item|yes|no|reason\s+why)\b[^:]*:\s*$"
)
MAKES_IT = re.compile(
    rf"\b(?:makes?|making|made|renders?|rendering)\s+(?:it|this|(?:this|the)\s+(?:[\w'\u2019-]+\s+){{0,2}}?"
    rf"(?:{TEXT_NOUN}))\s+(?:\w+ly\s+|so\s+)*$"
)
# "X rather than hateful": denied, whatever was denied before it.
CONTRASTED = re.compile(
    r"\b(?:rather\s+than|instead\s+of|as\s+opposed\s+to)"
    r"(?:\s+(?:as|being|an?|outright|plainly))*[\s\"]*$"
)
