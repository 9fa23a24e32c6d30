"""Whether a verdict is read with confidence, or better left unread.

A verdict is believed only if every word that governs its label is one whose effect the rules know.
An unknown verb between subject and label ("would trivialise it as hateful"), another judge whom
the explanation goes on to answer, an appearance that a "but" follows, or two statements of the same
strength that contradict one another may each turn it round: such a verdict is left unread. A
general statement is believed of this text where it resumes what was said of it.

Source: our own. An inverted verdict is worse than a missing one, for it blames the explanation.
Every pattern meets at most the few hundred characters around one label word.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from services.hatexscore import cues_en as cues
from services.hatexscore import label_patterns as labels
from services.hatexscore import moods_en as moods
from services.hatexscore.conclusion_en import WordContext, rejects_label
from services.hatexscore.paraphrases import STATED
from services.hatexscore.vocabulary import Clause, Reading, Vocabulary

# Words that neither turn nor weaken a verdict, beside those of the patterns of the clause.
_NEUTRAL = (
    r"thereby|a|an|the|this|that|these|those|it|its|there|here|i|we|you|me|us|my|our|his|her|their"
    r"|your|he|she|they|one|some|any|anything|all|whole|entire|every|each|who|which|what|whose|as"
    r"|to|be|of|for|in|into|on|upon|under|by|with|from|within|toward|towards|at|about|and|or|so"
    r"|how|why|also|thus|hence|because|would|does|do|did|was|were|been|being|have|has|had|having"
    r"|is|are|am|author'?s?|user'?s?|speaker'?s?|writer'?s?|poster'?s?|model'?s?|assistant'?s?"
    r"|system|classifier|annotators?|moderators?|reviewers?|raters?|categor(?:y|ies)|definition"
    r"|criteri(?:a|on)|threshold|level|bar|standard|line|label|class|classification|verdict|answer"
    r"|conclusion|decision|rating|option|policy|rules?|guidelines?|section|reasons?|grounds?|basis"
    r"|indication|evidence|evident|proof|hallmarks?|elements?|signs?|hints?|traces?|form|example"
    r"|instance|case|kind|type|sort|way|sense|textbook|classic|prime|typical|clear|clear-cut|shred"
    r"|scrap|ounce|iota|modicum|direct|explicit|actual|real|overt|straightforward|obvious|plain"
    r"|single|sole|purpose|word|words|slurs?|itself|themselves|own|opinion|view|judge?ment"
    r"|assessment|say|saying|said|think|believe|feel|argue|agree|conclude\w*|lean|settle[ds]?|opt"
    r"|choose|pick|decide[ds]?|go|goes|going|come|came|rises?|true|sure|certain|confident"
    r"|comfortable|persuaded|convinced|inclined|best|better|fair|safe|right|correct|justified|able"
    r"|dealing|meant|intended|enough|sufficient|suffices?|down|up|far|let|alone|leave|passed|take"
    r"|taken|changing|fits?|suited|motivated|driven|scales|tips?|arrive[ds]?|truth|torn|between"
    r"|fact|last|first|second|time|times|only|clearly|everything|something|else|itself|even"
    r"|explanation|language|tone|intent|group|groups|constitut\w+|contain\w*|qualif\w+|amount\w*"
    r"|count\w*|meet\w*|cross\w*|fall\w*|promot\w*|express\w*|convey\w*|impl(?:y|ies)|invites?"
    r"|incit\w+|display\w*|carr(?:y|ies)|demonstrat\w+|endors\w+|employs?|advocat\w+|encourag\w+"
    r"|perpetuat\w+|reflects?|represents?|embod\w+|show\w*|spread\w*|us(?:e|es|ed|ing)|lack\w*"
    r"|free|exhibit\w*|dehumani[sz]ing|demeaning|derogatory|racist|sexist|insulting|vulgar|rude"
    r"|crude|harassment|stereotype|nonetheless|nevertheless|stands?|names?|fitting|comes|across"
    r"|went|ends?|ended|recommend(?:ed)?|checked|looked|reviewed|examined|weighed|analy[sz]ed"
    r"|doesnot|mind|targets?|original|idea|notion|belongs?|says|leads?|well|construed|interpreted"
    r"|claims|violat\w+|breach\w*|break\w*|broken?|suggests?|full|filled|replete|riddled"
    r"|prediction|written|like|needed|people|reasonable|more|now|lot|plenty|deal|great|start\w*"
    r"|engag\w*|push\w*|rooted|grounded|steeped|laced|(?:tick|check)(?:s|ed)?|box(?:es)?|resort\w*"
    r"|descend\w*|strik(?:es?|ing)|struck|needs|runs?|ran|turn(?:s|ed)?|becom\w*|became|attitudes?"
    r"|sentiments?|views?|afraid|glad|pleased|left|relieved|good|territory|gets?|got|begin\w*"
    r"|keep\w*|prevent\w*|chang\w+|bets?|ample|several|numerous|multiple|abundant|considerable"
    r"|bounds|limits|stay\w*|them|him|revis\w+|switch\w*|correct\w*|amend\w*|updat\w*|three|two"
    r"|indicators?|markers?|features?|characteristics?|attributes?|components?|aspects?|manifestations?|expressions?|instances|cases|forms|kinds|signs|indications|echo\w*|properties|patterns?|symptoms?|traits?|undertones?|overtones?|connotations?|displays?|pieces?|reach\w*|exceed\w*|satisf\w+|fulfil\w*|surpass\w*|attain\w*|pass(?:es)?|clears?|includ\w+|reinforc\w+|present(?:s|ed|ing)?|communicat\w+|disseminat\w+|propagat\w+|amplif\w+|normali[sz]\w+"
    r"|espous\w+|reveal\w*|involv\w+|requirements?|conditions?|whatsoever|readers?|observers?|persons?|audience|viewers?|maintain|contend|seriously|honestly|credibly|both|sits?|sides|lands?|landed|err(?:s|ed)?|status|pending|outcome|deserv\w*"
)
# What hateful texts do: beside a verdict they are more of the same.
_HOSTILE = (
    r"(?:mock|ridicul|violen|dehumani|degrad|aggress|hostil|threat|insult|verbal|abus|bull(?:y|ie)"
    r"|stereotyp|prejudic|discriminat|contempt|profan|derog|hat(?:e|red)|offens|incit|attack"
    r"|demean|humiliat|belittl|disrespect|vulgar|obscen|harass|racis|sexis|bigot|xenophob|homophob"
    r"|vilif|demoni|intoleran|cruel|malic|sexual|personal|direct|escalat|worsen|intensif|reinforc"
    r"|amplif)\w*|further|adding|adds|strong|ethnic|racial|religious|gender|targeted|against"
    r"|individuals?|groups?"
)
# Words that turn a verdict, whose effect is counted where the clause is read.
_COUNTED = (
    r"not|never|no|none|nothing|nobody|neither|nor|cannot|without|hardly|scarcely|barely|absence"
    r"|devoid|short|shy|stops?|ceas(?:e|es|ed)|fails?|failed|rather|instead|than|wrong|mistake|mistaken|false"
    r"|untrue|below|too|possibly|serious|grave|above|incorrect|inaccurate|stretch|unfair|naive"
    r"|hard|difficult|impossible|insufficient|other|but|den(?:y|ies|ied)|doubts?|disagrees?"
    r"|rejects?|against|outside|hesitate|claim|few|wrongly|harsh|generous|paranoid|petty|dishonest"
    r"|absurd|ridiculous|odd|strange|silly|foolish|premature|unreasonable|excessive|hasty|unwise"
    r"|disingenuous|irresponsible|longer"
)
_KNOWN = re.compile(
    rf"(?<!\w)(?:{_NEUTRAL}|{_HOSTILE}|{_COUNTED}|{cues.TEXT_NOUN}|{cues.BE}|{cues.AUXILIARY}|{cues.JUDGE}"
    rf"|{cues.JUDGES}|{cues.SKIPPED}|\d+|\w*['\u2019](?:d|m|s|re|ve|ll|t)?|\w+n['\u2019]t)"
)
NEAR = 200  # characters behind the label word that may answer it
FAR = 300  # and of the sentences that follow
REST = 600  # of a sentence that may leave the decision to others, from its end
_DETERMINER = re.compile(r"(?:the|this|that|these|those|its|his|her|their|entire|whole|too)")
_TOKEN = re.compile(r"[\w'\u2019-]+")
_FINITE = re.compile(
    rf"(?<!\w)(?:{cues.AUXILIARY}|{cues.BE}|{cues.JUDGE}|{cues.JUDGES}|\w+n['\u2019]t|(?:it|that|this"
    rf"|there|what|here|who|one|s?he)['\u2019]s"
    r"|\w+['\u2019](?:d|m|re|ve)|contains?|includes?|constitutes?|qualif\w+|amounts?|counts?"
    r"|falls?|crosses|violates|uses"
    r"|meets|reach(?:es)?|presents|reveals|involves|demonstrates|covers|lists|cites|spreads?|promotes?|expresses|makes?|lacks?|fits?|goes|takes?|leads?|says?|said|calls?)"
)
_STARTS = re.compile(
    rf"(?<!\w)(?:i|we|you|it|they|s?he|there|nobody|nothing|none|{_FINITE.pattern})"
)
# Adjectives and verbs of a list that the label ends: "vulgar and", "imply, invite or".
_LISTED = re.compile(
    r"(?:\b[a-z-]{3,20}(?:\s*,\s*(?:and|or)\s+|\s*,\s*|\s+(?:and|or|nor|but|yet)\s+)){1,5}"
    r"(?:(?:\w{1,20}ly|an?|not|without\s+\w{1,20}ing|just|even|contain\w*|spread\w*"
    r"|promot\w*)\s+){0,3}[\s\"]{0,5}$"
)
# "Witty rather than".
_PREFERRED = re.compile(r"\b[\w-]{1,30}(?=\s+(?:rather\s+than|instead\s+of)\s)")
# "Angry without being".
_WITHOUT_BEING = re.compile(r"\b[\w-]{1,30}(?=\s+without\s+being\s+(?:\w+ly\s+)?$)")
# Subjects that are no text and no judge of it: what is said of a claim is not said of the text.
_OPINION = re.compile(
    r"\b(?:claims?|idea|notion|suggestion|allegation|accusation|misconception|myth|assumption"
    r"|impression|reports?|complaints?|objection|argument|temptation|probability|likelihood|score"
    r"|difference|distinction|reporting|rejecting|denying|accusing|suspecting|pretending|topic"
    r"|subject|theme|title|name|focus|previous|earlier|former|original|other|another|different"
    r"|theory|charge|contention|assertion|suspicion|excuse|defen[cs]e|plea)\b"
)
# "The charge that it is hateful fails": unless a rule knows what is said of it.
_OPINION_THAT = re.compile(
    r"\W*(?:\w+ly\W+)?(?:the|this|that|any|every|your|his|her|their)\s+(?:\w+\s+)?(?:claim|idea|notion|suggestion"
    r"|allegation|accusation|assumption|impression|objection|argument|charge|defen[cs]e|excuse|plea|theory"
    r"|contention|assertion|explanation|suspicion|view|belief|fear|worry)\s+that\b(?!\s*\")"
)
_POSTED = r"(?:post|text|comment|tweet|message|statement|caption)"
# "The reply is hateful; the post is not": which of them is this text?
_THE_OTHER_NOT = re.compile(
    rf"\s{{0,3}}[,;.]\s{{0,3}}(?:(?:and|but|while)\s)?(?:the|this)\s(?:\w+\s)?{_POSTED}\s"
    r"(?:itself\s)?(?:is|was|does)(?:n['\u2019]t|\s(?:certainly\s|clearly\s)?not)\s{0,3}(?:$|[.;!])"
)
_OTHER_JUDGE = re.compile(
    r"\b(?:colleagues?|filters?|models?|systems?|classifiers?|detectors?|algorithms?|tools?|bots?"
    r"|moderators?|annotators?|reviewers?|raters?|teams?|users?|readers?|someone|somebody|whoever"
    r"|people|others|many|some|most|everyone|critics|he|she|they)\b"
)
# "Flagged as hateful by the system, but …", "… by two annotators".
_BY_A_JUDGE = re.compile(
    rf"[\s\"]{{0,3}}(?:speech\s|content\s)?by\s(?:\w{{1,20}}\s){{0,3}}?(?:{_OTHER_JUDGE.pattern})"
)
# "It was flagged as hateful, but upon review it does not …": a verdict of the past, and a turn.
_PAST_VERDICT = re.compile(
    r"\b(?:was|were|been)\s(?:\w{1,20}ly\s)?(?:flagged|reported|labell?ed|marked|classified|tagged|removed|rated"
    r"|categori[sz]ed|predicted|deemed|judged)\s(?:as\s)?(?:an?\s)?[\s\"]{0,3}$"
)
_TURNED_AGAIN = re.compile(
    r"\b(?:but|yet|however|though|although)\b[^.;]{0,80}?(?:\b(?:not|never|no|nothing|none|nobody|neither|hardly)\b"
    r"|n['\u2019]t\b|\b(?:review|reading|inspection|reflection|examination|context|reality)\b)"
)
# "The model predicted hateful because …": the explanation gives the reasons of that verdict.
_EXPLAINED = re.compile(
    r"[\s\"]{0,3}(?:speech\s|content\s)?,?\s?(?:because|since|due\sto|based\son|as\s(?:it|the|there))\b"
)
_OWN_JUDGE = re.compile(r"\b(?:i|we|my|our)\b")
_AGREES = re.compile(
    r"\b(?:so\s+do\s+(?:i|we)|(?:neither|nor)\s+(?:do|did|would|can)\s+(?:i|we)|(?:i|we)\s+(?:\w+ly\s+|also\s+)?(?:agree|concur|share|support"
    r"|endorse))\b"
)
# Words by which an explanation goes back on a verdict, or on another's.
_TAKEN_BACK = re.compile(
    r"n['\u2019]t\s*(?:[.;:!]|$)|\b(?:is|does|do|will|would|should)\s+not\s*(?:[.;:!]|$)"
    r"|\b(?:overturn\w*|overrul\w*|disagree\w*|dissent\w*|(?:i|we)\s+object|objected|mistak(?:e|en)|errors?"
    r"|erroneous\w*|incorrect\w*|wrong(?:ly)?|revers(?:e|ed|ing)|withdr[ae]w\w*|retract\w*"
    r"|revis(?:e|ed|ing)"
    r"|reconsider\w*|correction|scratch\s+that|take\s+(?:that|it)\s+back|chang\w+\s+my\s+mind"
    r"|unwarranted|unjustified|unfounded|false\s+(?:positive|alarm)|mis(?:read|class|judg"
    r"|understand|understood)\w*"
    r"|on\s+(?:reflection|second\s+thoughts?|closer)|restor\w+|reinstat\w+|appeal"
    r"|(?:no|little|without)\s+(?:basis|grounds?|evidence|support|justification)\b"
    r"|not\s+(?:justified|warranted"
    r"|convinced|persuaded|agree|share|see\s+it)|n['\u2019]t\s+(?:agree|share|see\s+it|hold\s+up)"
    r"|overlook\w*|far-?fetched|exaggerat\w*|overreact\w*|too\s+(?:harsh|far|strong))\b"
)
_APPEARS = re.compile(
    r"\b(?:seem(?:s|ed)?|appear(?:s|ed)?|sound(?:s|ed)?|looks?|looked|reads?|feels?|felt"
    r"|comes?\s+across|came\s+across|strikes?|struck|taken|called|mistak\w+)\b"
)
_TURNS = re.compile(
    r"\b(?:but|yet|however|though|although|only|until|actually|in\s+fact|in\s+context)\b"
)
_CONTRASTED = re.compile(r"\b(?:but|yet|however)\b")
_CONTRASTED_NEXT = re.compile(
    r"\W*(?:but|yet|however|nevertheless|nonetheless|in\s+fact|actually)\b"
)
_CONTRASTED_ZH = re.compile("(?<![不非])但|然而|不过|可是|却")
_CONTRASTED_KO = re.compile(r"\W*(?:그러나|하지만|그렇지만)")
# A label word that is itself part of a subject: "calling it hateful would trivialise …".
_PREDICATED = re.compile(
    r"[\s\"']{0,3}(?:speech|content|language|label|text|here)?[\s\"']{0,3}(?:would|must|rests?|relies"
    r"|needs?"
    r"|requires?|can|could|might|should|will|goes|takes?|makes?|leads?|has|had|(?:ignor|overlook"
    r"|miss"
    r"|stretch|trivialis|trivializ|cheapen|dilut|contradict|confus|distort|underestimat|overestimat"
    r"|understat|overstat|depend|seem|sound|appear)\w*)\b"
)
_SAID = re.compile(
    r"\s*(?:speech\s|content\s)?(?:has|have|had|is|was|does|did|do|can|could|will|would|should|must"
    r"|may|might|remains?|stays?|seems?|rests?|goes|lacks?|fails?|isn|wasn|doesn|didn|hasn|cannot)\b"
)
# "What keeps me from calling it hateful is that …".
_WHAT_DECIDES = re.compile(
    r"\W*(?:\w+\W+)?what\s+(?:keeps?|kept|prevents?|prevented|stops?|stopped|makes?|made|tips?|tipped"
    r"|leads?|led|settles?|settled|convinces?|convinced|persuades?|persuaded|saves?|saved)\b"
)
# "That it is loud does not make it hateful": whatever it is that does not.
_MAKES_NOT = re.compile(
    r"(?:\b(?:does|do|did|will|would|can|could)(?:\s+not|n['\u2019]t)|\bcannot|\bnever)\s+"
    r"(?:\w+ly\s+)?(?:makes?|renders?)\s+(?:it|this|the\s+\w+|this\s+\w+)\s+(?:an?\s+)?$"
)
# "A joke among friends and not".
_JOINED = re.compile(r"(?:(?<=\ba )|(?<=\ban ))[\w\s'\u2019-]{1,60}?\s(?:and|but)(?=\s+not\s*$)")
# "The reason I classify it as hateful is that …": the judgement is presupposed.
_REASON_FOR = re.compile(
    r"\W*(?:(?:so|thus|and)\s+)?(?:the|my|our|one|another)\s+(?:\w+\s+)?(?:reasons?|basis|grounds?)\s+"
    r"(?:why\s+|that\s+|(?:on|for)\s+which\s+)?(?:i|we)\s"
)
# "Expresses frustration with traffic rather than": whatever it expresses.
_PLAIN_CONTRAST = re.compile(
    rf"\W*(?:(?:so|thus|overall|but)\W+)?(?:it|this|(?:the|this)\s+(?:\w+\s+)?(?:{cues.TEXT_NOUN}))\s+"
    r"(?:\w+ly\s+)?(?:is|expresses|shows|conveys|reflects|contains|voices|displays|criticises"
    r"|criticizes|describes)\s"
)
_GERUND = re.compile(
    rf"\W*(?:(?:and|but|so|also|even|just|merely)\s+)?(?:to\s+)?(?:not\s+)?(?=\w+ing\b"
    rf"|(?<=to\s))(?:{cues.JUDGE})\b"
)
_HAS_VERB = re.compile(rf"\b(?:{cues.AUXILIARY})\b")
_IS = re.compile(r"[\s\"']{0,3}(?:speech|content|label)?[\s\"']{0,3}(?:is|are|was|were|remains?)\b")
_COMPARED = re.compile(
    r"(?<!not )\bas\s+(?:if|though)\b"
    r"|(?<!rather )(?<!other )(?<!less )\bthan\s+(?:an?\s+)?[\s\"]{0,5}$|\b(?:less|so\s+much"
    r"|as\s+much|closer\s+to|further\s+from|almost|nearly|half|hardly\s+more)"
    r"\s+(?:an?\s+)?[\s\"]{0,5}$"
)
_JUDGES_ZH = re.compile(
    r"系统|模型|审核|标注|同事|用户|网友|分类器|过滤器|算法|管理员|版主|有人|之前|原先|原来|评审|举报"
)
_TAKEN_BACK_ZH = re.compile(
    r"不(?:同意|认同|赞同|成立|对|妥|准确|正确|是这样)|推翻|撤销|误判|误会|误解|误读|错误|有误|改判|恢复|纠正"
    r"|(?:找不到|没有|毫无|缺乏)(?:任何)?(?:依据|根据|证据|理由)|我(?:认为|觉得|看|判|不)|笔者|复审|申诉|冤枉|牵强|夸大|言过其实"
)
# Evaluations of a label that stand behind it, and turns before it that are not counted.
_JUDGED_ZH = re.compile(
    "不(?!相[干关])|[没非未难过太欠误错偏]|为时|牵强|勉强|夸|言重|无(?!关)|有(?:些|点|失)"
)
_OBJECTS_ZH = re.compile(
    "[误错]|驳|撤销|推翻|质疑|冤枉|牵强|夸大|何尝|岂|难道|怎么|哪里|何来|才(?:是|算|叫|称|构成|属"
    "|怪)"
)
_NOUNS_ZH = re.compile(
    r"^(?:的|性|言论|内容|文本|评论|表达|表述|语言|色彩|意味|成分|信息|了|任何|一条|社区|平台|我们|规定|规范|准则|政策|关于仇恨言论)+"
)
_PAUSE_ZH = re.compile("[，,。；;！!：:（(\n]")
_JUDGES_KO = re.compile(
    "모델|시스템|필터|분류기|동료|검토자|관리자|신고|이용자|사람들|알고리즘|평가자|주석자|처음|기존"
)
_TAKEN_BACK_KO = re.compile(
    r"동의(?:하지|할\s*수)|잘못|오류|오판|실수|착오|오해|무리|과하|지나치|성급|억지|비약|부당|틀[렸린리]|번복"
    r"|(?:근거|증거|이유)(?:를|가|는)?\s*(?:찾을\s*수\s*없|없)"
    r"|취소|철회|뒤집|반박|복구|이의|(?:나는|저는|내가|제가)\s|그렇지\s*않|아니다|아닙니다"
)
_OBJECTS_KO = re.compile("오류|오판|실수|착오|오해|오독|성급|억지|비약|번복|취소|뒤집|반박|복구")
# A label word that opens a clause, as in "It's crude. Hateful it …".
_OPENS = re.compile(r"(?:[.;!?\n\u2014]|\bas\s+for|\bbut)\W*$")
_OTHER_QUALITY = re.compile(
    r"\s+than\s+(?!(?:the|its|his|her|their|my|our|your|others?|most|many|some|last|previous|that"
    r"|those|these|this|it|we|i|you|what|usual|before|ever|expected|in|on|at)\b)\w"
)
_PLAIN = re.compile(
    rf"\W*(?:(?:so|then|thus|hence|therefore|and|but|still|overall|finally|in\s+(?:short"
    rf"|conclusion|sum)|\w+ly)\W+)*"
    rf"(?:it|this|(?:the|this|that)\s+(?:\w+\s+)?(?:{cues.TEXT_NOUN})|(?:i"
    rf"|we)\s+(?:\w+\s+)?(?:{cues.JUDGE})\s+(?:it|this|the\s+\w+)(?:\s+(?:as|to\s+be))?)"
    rf"(?:['\u2019]s|\s+(?:{cues.BE}|contains?|constitutes?|qualifies\s+as|amounts?\s+to|does"
    rf"|do))?(?:n['\u2019]t)?"
    rf"(?:\s+(?:not|no|an?|any|contain|constitute|qualify\s+as|amount\s+to|\w+ly))*[\s\"]*"
)
# "The explanation should quote the words that make it hateful", "a score of 3 for toxic".
_MORE = re.compile(r"(?<!\bno )(?<!hardly )\bmore\s*$")  # "not more hateful than another"
_ASKS_FOR = re.compile(r"\b(?:should|must|needs?\s+to|has\s+to|have\s+to|please|asked|explain)\b")
_NUMBER = re.compile(r"\d[.,]\d|\d\s*%|\d\s*/\s*\d|\bout\s+of\b|\bpercent\b")
_MORE_THAN = re.compile(rf"\b{moods.MORE_THAN}")  # counted as a negation
# "No intent", "no ground": of other things that are absent ("no hesitation") no rule knows.
# "혐오라고 하기에는 근거가 약하다": what speaks against it is said next.
_TOO_KO = re.compile(r"(?:하|보|부르)기(?:에는|엔)\s(?!\s*(?:어렵|힘들)|[^.]{0,12}없)")
_WITHOUT_KO = re.compile("(?<=\\s)([가-힣]{2,12}?)(?:이|가|은|는|도|조차)?\\s*없")
_MISSING_KO = re.compile(
    ".{0,12}?(?:해당|설득력|타당성|의도|내용|요소|표현|발언|근거|이유|대상|증거|흔적|수|관련|관계|바|것|점|필요|사람"
    "|말"
    "|문장|단어|부분|구석|데|곳|적|혐오|성"
    "|하나|전혀|조금|아무|여지|상관)"
)
# Last words of a Korean clause whose effect on its label the rules know.
_KNOWN_KO = re.compile(
    "그렇|이다|이[지고며라니]|입니|인[데지]?|임|아니|아닙|아닌|아님|없|않|있|한[다데]|합니"
    "|하[다고며지여므나]|함|확인|밝혀|삭제|차단|복구|해[서야당]|된|됩|됨"
    "|되[어며고지므]|돼|분류|판단|간주|판정|평가|표시|규정|인정|본다|봅|보[아이기지겠]|봐|볼|어렵"
    "|힘들|여[겨긴]|가[깝까]|타당|지나치|맞|옳"
    "|틀[렸리린]|잘못|생각|담|포함|드러|나타|이르|이른|미치|발견|조장|충족|속하|속한|읽|위반|부족"
    "|충분|무관|공정|뚜렷|마땅|동의"
    "|멀|멉|먼|안|못|예|네|아니[오요]|했[다습지]|였[다습지]|되었|이유|이었|바꾸|바꿨|변경|정정|까닭|근거|결론|때문|므로"
    "|지만|으나|뿐|글|댓글|게시물|표현|발언|여부"
)
BEFORE = 600  # characters before a general statement that may speak of the same
STEM = 5  # letters that two forms of a word share
_LONG_WORD = re.compile(r"[a-z]{5,}")
# Beginnings of words that every explanation has.
_COMMON = re.compile(
    r"hatef|speec|posts|comme|state|langu|conte|words|peopl|about|someo|their|those|these|there"
    r"|which"
    r"|other|merel|simpl|group|toxic|offen|messa|sente|texts|tweet|attac|prote|using|becau|witho"
    r"|where"
)
_IN_ITSELF = re.compile(r"^\s*\w+ing\b.*\b(?:in\s+itself|by\s+itself|on\s+its\s+own)\b")
_NEW_CLAUSE = re.compile(r"[.;:\u2014]|,\s+(?:and|but|so|yet)\b")
_COPULA = re.compile(
    r"\b(?:is|are|was|were|does|do|isn|aren|doesn|don|can|cannot|should|constitutes?|counts?"
    r"|qualif(?:y|ies)|amounts?|makes?|remains?)\b"
)


def resumed(plain: str, general: Reading) -> Reading | None:
    """A general statement on what the text was said before to do: "it reports a statistic, and
    reporting a statistic is not hateful". None where its subject is new."""
    before = plain[max(general.start, general.word.start - BEFORE) : general.word.start]
    clause = _NEW_CLAUSE.split(before)[-1]
    if general.clause.mood == "partial" and not _IN_ITSELF.search(clause):
        return None
    subject = _COPULA.split(clause)[0]
    earlier = plain[max(0, general.word.start - BEFORE) : general.word.start - len(clause)]
    stems = {word[:STEM] for word in _LONG_WORD.findall(subject) if not _COMMON.match(word)}
    if general.word.word.text == "hatred" or stems.isdisjoint(
        word[:STEM] for word in _LONG_WORD.findall(earlier)
    ):
        return None
    said = replace(general.clause, mood="asserted", rejected=True, form="predication")
    return replace(general, clause=said)


def is_uncertain_zh(own: str, after: str, clause: Clause, later: str) -> bool:
    """own: the clause before the label word, without idioms. after: the sentence behind it."""
    if clause.rejected:
        return False
    behind = _PAUSE_ZH.split(after, maxsplit=1)[0]
    said = f"{after[:NEAR]} {later[:FAR]}"
    answered = _JUDGES_ZH.search(own) and (
        _TAKEN_BACK_ZH.search(said) or _CONTRASTED_ZH.search(after[:NEAR])
    )
    judged = _JUDGED_ZH.search(_NOUNS_ZH.sub("", behind.strip(' "”')))
    return bool(answered or judged or _OBJECTS_ZH.search(own) or clause.denials > 2)


def is_uncertain_ko(before: str, own: str, rest: str, clause: Clause, later: str) -> bool:
    """own: the clause behind the label word, without idioms. rest: the sentence behind that."""
    if clause.rejected:
        return False
    said = f"{rest} {later[:FAR]}"
    contrasted = own.rstrip(" ,").endswith(("지만", "으나")) or _CONTRASTED_KO.match(said)
    answered = _JUDGES_KO.search(before) and (contrasted or _TAKEN_BACK_KO.search(said))
    words = own.replace("\x00", " ").split("(")[0].rstrip(" .,!\"'”’)").split()
    missing = any(not _MISSING_KO.fullmatch(noun) for noun in _WITHOUT_KO.findall(own))
    if missing or _TOO_KO.search(own):
        return True
    known = not words or len(words[-1]) < 2 or _KNOWN_KO.search(words[-1])
    return bool(answered or not known or _OBJECTS_KO.search(own) or clause.denials > 2)


def is_uncertain(around: WordContext, clause: Clause, later: str) -> bool:
    """May the verdict of a clause be the opposite of what was read?

    around: the label word's sentence, lower case, as `conclusion_en` cuts it. later: what follows
    the sentence. A label that the explanation rejects itself was read together with its rejection.
    """
    if clause.rejected:
        return False
    said = f"{around.after[:NEAR]} {later[:FAR]}"
    turned = moods.TURNED.search(around.own) and moods.INTO.match(around.after)
    refuted = turned or moods.REFUTED.match(around.after) or moods.UNDONE.search(said)
    return bool(
        (refuted and clause.denials == 0)
        or _is_answered(around, later)
        or _only_appears(around, clause)
        or _is_subject(around.own, around.after)
        or _THE_OTHER_NOT.match(around.after)
        or (_OPINION_THAT.match(around.own) and clause.form != "final")
        or (clause.denials and _MORE.search(around.own) and moods.THAN.match(around.after))
        or (_COMPARED.search(_MORE_THAN.sub(" ", around.own)) and not _is_lesser(around))
        or _has_unknown_governor(around.own, clause)
    )


def _is_lesser(around: WordContext) -> bool:
    """ "Less hatred than frustration": than another quality, and no other text."""
    return around.own.rstrip().endswith("less") and _OTHER_QUALITY.match(around.after) is not None


def is_outranked_unread(plain: str, vocabulary: Vocabulary, chosen: Reading) -> bool:
    """ "It's offensive. Hateful it …": does a word of the first rank follow in an own clause?"""
    if chosen.label != "hateful" or chosen.word.word.is_decisive:
        return False
    after = plain[chosen.word.end : chosen.word.end + NEAR]
    return any(
        found.word.kind == "first" and _OPENS.search(after[: found.start])
        for found in vocabulary.find(after, after)
    )


def is_plain(around: WordContext) -> bool:
    """Is nothing but this text and a verb before the label, or nothing: "the post is not"?"""
    return (_PLAIN.fullmatch(around.own) or cues.BARE.fullmatch(around.own)) is not None


def _is_answered(around: WordContext, later: str) -> bool:
    """Is it another's verdict, and does the explanation go on to judge by itself?"""
    behind = around.after[:NEAR]
    if _PAST_VERDICT.search(around.own) and _TURNED_AGAIN.search(behind):
        return True
    named = _OTHER_JUDGE.search(around.own)
    if _OWN_JUDGE.search(around.own) or not (named or _BY_A_JUDGE.match(behind)):
        return False
    if moods.IN_ERROR.match(around.after):
        return False
    said = f"{behind} {later[:FAR]}"
    if _CONTRASTED_NEXT.match(later) or _TAKEN_BACK.search(said):
        return True
    if _EXPLAINED.match(behind):
        return False
    judges = named and _OWN_JUDGE.search(_AGREES.sub(" ", said))
    return bool(judges or _CONTRASTED.search(behind))


def _only_appears(around: WordContext, clause: Clause) -> bool:
    """ "It sounds hateful, but it quotes a song." """
    turns = clause.form != "final" and _APPEARS.search(around.own)
    return bool(turns and _TURNS.search(around.after[:NEAR]))


def _is_subject(own: str, after: str) -> bool:
    """Is the label part of a subject, and no rule knows what is said of that?"""
    if STATED.match(own) and _SAID.match(after):
        return rejects_label(own, after) is None
    if labels.PREFERRED.match(after) or cues.PRESENT.match(after) or _WHAT_DECIDES.match(own):
        return False
    if _REASON_FOR.match(own):
        return False
    if rejects_label(own, after) is not None or labels.unmet(own, after) is not None:
        return False
    if _GERUND.match(own) and not _HAS_VERB.search(own):
        return True
    return bool(
        _PREDICATED.match(after)
        or (_IS.match(after) and _TOKEN.search(own) and not cues.MAKES_IT.search(own))
    )


def _has_unknown_governor(own: str, clause: Clause) -> bool:
    """Does a word stand between the verb and the label whose effect no rule knows?"""
    if clause.denials == 0 and cues.MAKES_IT.search(own):
        return _ASKS_FOR.search(own) is not None  # whatever else stands before "makes it"
    if clause.denials == 1 and _MAKES_NOT.search(own):
        return False
    contrast = cues.CONTRASTED.search(own) if _PLAIN_CONTRAST.match(own) else None
    if contrast is not None and not moods.NEGATION.search(own[: contrast.start()]):
        return False
    if labels.level_before(own) is not None:
        return False
    if _NUMBER.search(own):
        return True
    if moods.SAYING.match(own.strip()) and (has := _COPULA.search(own, own.rfind('"') + 1)):
        own = own[has.start() :]  # 'calling the neighbours "lazy" is hateful'
    said = _WITHOUT_BEING.sub(" ", _JOINED.sub(" ", _MORE_THAN.sub(" not ", own)))
    said = _LISTED.sub(" ", _PREFERRED.sub(" ", cues.MEANS.sub(" ", said)))
    words = [*_TOKEN.findall(said), ""]
    verb = next((place for place, one in enumerate(words) if _STARTS.fullmatch(one)), len(words))
    if clause.denials == 0 and _OPINION.search(" ".join(words[:verb])):
        return True
    return any(
        not _KNOWN.fullmatch(words[place]) and not _is_inert(words, place)
        for place in range(verb + 1, len(words) - 1)
    )


def _is_inert(words: Sequence[str], place: int) -> bool:
    """ "The lullaby", "a political opinion", but no "a parody of" and no "the claim"."""
    if _OPINION.fullmatch(words[place]):
        return False
    before, after = words[place - 1], words[place + 1]
    if words[place] == "little":
        return after in ("in", "of", "about", "here")
    if before in ("about", "against", "toward", "towards", "among") and after not in ("of", "to"):
        return True
    named = _DETERMINER.fullmatch(before) is not None
    return named or (before in ("a", "an") and after not in ("of", "to", ""))


_DEFERS = re.compile(cues.DEFERS)
_LEANS = re.compile(
    r"\b(?:lean\w*|inclin\w+|probabl[ey]|likely|tentativ\w+|provisional\w*|suspect|guess|borderline"
    r"|first\s+impression|at\s+first|preliminar\w+|tend)\b|倾向|可能|아마|기울|쪽에\s*가"
)


def is_deferred(plain: str, reading: Reading) -> bool:
    """Is it a mere leaning, and somebody else to decide: "likely hateful, needs a second look"?"""
    sentence = plain[max(reading.start, reading.end - REST) : reading.end]
    leans = _LEANS.search(sentence)
    return (
        leans is not None
        and _DEFERS.search(plain[reading.start : reading.start + REST]) is not None
    )
