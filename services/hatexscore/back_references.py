"""Verdicts that name no label and point back to one: "but it is not", "that is a mistake".

The label is the one named last: in a question that the explanation answers, a doubt or an objection
that it settles, another's verdict that it rejects.

Source: our own. Every pattern meets at most the few hundred characters of one sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from services.hatexscore.vocabulary import Clause, Reading
from shared.readers.decision_words import CROSS, TICK

Span = tuple[int, int]  # half-open character offsets
DEFINING = ("general", "hypothetical", "asked")  # moods in which conditions are told
NEAR = 16  # characters behind an answer that hold its verb
REACH = 100  # characters before a word that may tell whose verdict it is
AHEAD = 200  # characters of the next sentence that may reject a label
MOST = 90  # characters at either end of a sentence that may point back

_YES_NO = re.compile(
    r"[\s\"]*(?:(?:a|answer|答案?|回答|답변?|대답)\s*[:.\uff1a]\s*)?(?:(?:unfortunately|sadly|clearly|simply|obviously|plainly"
    r"|in (?:short|my (?:view|opinion|reading))|to my mind|(?:my|the) (?:\w+ )?answer(?: is)?:?"
    r"|(?:i|we) (?:find|found|conclude|hold|decided?|say)(?: that)?|also|again"
    r"|likewise|similarly|once\s+more|here\s+too|then|well|and|still)[\s,]+)*"
    r"(?:(?P<yes>yes|yeah|affirmative|(?:certainly|definitely|absolutely|indeed|of course)(?! not)"
    r"|by (?:any|every|all) (?:measure|standard)s?|(?:and how|plenty|everything)(?=[.!])"
    r"|(?:without (?:(?:a|any) )?|beyond (?:(?:a|any|all) )?|no )(?:doubt|question)"
    r"|undoubtedly|unquestionably"
    r"|(?:i|we) (?:would|do|should)(?=\s*(?:[.,;!]|$))|i(?: (?:think|believe|would say)"
    r"|['\u2019]d say)"
    r" (?:so|it (?:is|does)(?!\s*n['\u2019]t|\s+not)|yes)"
    r"|i(?:['\u2019]m| am) (?:afraid|sure) (?:so|it (?:is|does))|i (?:suppose|fear)"
    r" (?:so|it (?:is|does))"
    r"|it (?:certainly |clearly |definitely |indeed |sure )?(?:is|does|was)"
    r"(?!\s*n['\u2019]t|\s+not)|(?:我(?:认为|觉得)|答案是|显然)(?:是|算|构成|属于)"
    r"|是的|(?:当然|确实|肯定)(?:是|算|构成|属于)|(?:是|算|构成|属于|算是)[。.！!]|有[，。,]|对|当然(?!不)|네|예|그렇(?!지\s?않)"
    rf"|{TICK})|(?P<no>{CROSS}|no|none|negative|far from it"
    r"|(?:certainly|definitely|absolutely|of course|clearly|obviously) not"
    r"|not (?:by any (?:measure|standard|account|means|stretch)|in my book"
    r"|at all|in the (?:slightest|least)|even close|remotely|in any way)"
    r"|nothing(?: whatsoever| at all)?(?=[.!])"
    r"|i(?: (?:think|believe|would say)|['\u2019]d say) (?:no|it (?:is|does))"
    r"|i(?:['\u2019]d| would) (?:stop (?:well )?short|not go (?:so|that) far)"
    r"|i(?:['\u2019]m| am) (?:afraid|sure) not|i (?:suppose|think|believe|would say) not"
    r"|there (?:is|are) (?:none|no\b)|there is(?: not|n['\u2019]t)|i (?:do not|don['\u2019]t"
    r"|would not|wouldn['\u2019]t)"
    r" (?:think|believe|say|find)|i doubt|not really|hardly|it is not"
    r"|it['\u2019]s not|it isn['\u2019]t"
    r"|it does not|it doesn['\u2019]t|by no means|never"
    r"|(?:我(?:认为|觉得|看)|在我看来[，,]?|答案是|显然)?(?:(?:当然|肯定|绝对)?(?:并?不是|并?不算|并?不构成|并?不属于|并非))|不[，。,.!！]|否|没有|아니|아닙|없|그렇지\s?않))(?![a-z]|-[a-z])"
)
# "Is it hateful? I looked for a target. There is none. So no."
_CONCLUDED = re.compile(
    r"\W{0,4}(?:(?:so|thus|hence|therefore|then|overall|consequently|accordingly"
    r"|in\s(?:short|sum|conclusion)|(?:my|the)\sanswer(?:\sis)?)[\s,:]{1,3}){1,3}(?:yes|(?P<no>no))(?=\s*(?:[.,;:!\u2014]|$))"
)
# "Not hateful? Of course it is": with a verb of its own it answers no denial.
_WITH_VERB = re.compile(
    r"\b(?:it|this|that)(?:['\u2019]s\s+not|\s+(?:\w{1,20}ly\s+)?(?:is|does|was))|(?:当然|确实|肯定)(?:是|算|构成|属于)"
)
# "Is this harassment? One unanswered message isn't."
_ANSWERED_OF = re.compile(
    r"\W{0,8}(?:[\w'\u2019-]{1,30}\s{1,3}){1,6}?(?:is|are|was|does|do)(?P<no>n['\u2019]t|\s{1,3}not)?\s{0,3}[.!]?\s{0,3}$"
)
OPEN = (
    "asked",
    "earlier",
    "hypothetical",
    "hedged",
    "reported",
    "general",
    "partial",
)  # moods that a few words may settle
_ELLIPSIS = re.compile(
    r"(?:^|[,;.]\s*|\b(?:but|yet|and|so|hence|thus|therefore|(?:review|reading|inspection|reflection|examination)"
    r"|as\s+it\s+(?:stands|is|reads))\s+)(?:which\s+)?(?:it|that|they|s?he|(?:this"
    r"|the|her|his|their)(?:\s+\w+)?(?:\s+itself)?)\s+(?:(?:really|clearly|certainly|simply)\s+)?"
    r"(?:is|was|does|are|do|did)(?P<no>n['\u2019]t|\s+not)?\s*(?:indeed\s*|(?:exactly|just|precisely)?\s*(?:that|this|so)\s*"
    r"|(?:such\s+)?(?:a|an|one)\s+(?:\w+\s+)?(?:case|example|instance)(?:\s+of\s+(?:it|that|this))?\s*"
    r"|one(?:\s+of\s+(?:them|these|those))?\s*)?[,.!]?\s*$"
)
# "… so it does not meet the bar", "it qualifies", "this falls short of it".
_BACK = (
    r"(?:that|the|this|either|our)\s+(?:\w+\s+)?(?:bar|threshold|definition|standard|line|test"
    r"|mark|level|criteri(?:a|on)|bill)|that\s+far|it|so\s+far"
)
_POINTS_BACK = re.compile(
    r"(?:^|[,;:.]\s*|\b(?:but|yet|and|so|hence|thus|therefore)\s+)(?:(?:as\s+it\s+stands|here"
    r"|(?:up)?on\s+(?:closer\s+)?(?:review|reading|inspection|reflection|examination)"
    r"|\w+ly)[\s,]+)?(?:which|it|that|they|(?:this|the)(?:\s+[\w'\u2019-]+){0,6}?)\s+(?:\w+ly\s+)?"
    r"(?:(?P<no>(?:does|do|did)(?:\s+not|n['\u2019]t)|never|fails\s+to|cannot)\s+(?:\w+ly\s+|quite\s+)?)?"
    rf"(?:(?:breaks?|violates?|breach(?:es)?|meets?|reach(?:es)?|clears?|cross(?:es)?|pass(?:es)?|fits?|satisf(?:y|ies)|goes|go"
    rf"|fulfil\w*)\s+(?:{_BACK})|(?:(?:is|lies|falls|stays|remains|lands)\s+)?(?:firmly\s+|just\s+|well\s+)?on\s+the\s+"
    rf"(?:wrong|(?P<right>right|safe|acceptable|permissible))\s+side(?:\s+of\s+(?:{_BACK}))?|qualif(?:y|ies)|counts?(?:\s+as\s+(?:such|one))?"
    rf"|(?P<short>(?:falls?|stops?|remains?|stays?)\s+(?:well\s+|far\s+|just\s+)?(?:short|below|under"
    rf"|outside)(?:\s+(?:of\s+)?(?:{_BACK}))?))\s*[.!]?\s*$"
)
# "At first it seemed hateful, but then I changed my mind."
_CHANGED = re.compile(
    r"\buntil\s+(?:i|we)\s+(?:saw|read|noticed|reali[sz]ed|learn(?:ed|t)|understood|found|got|checked"
    r"|looked|heard)\b|\b(?:chang\w+\s+my\s+mind|(?:revers|revis|chang|withdr[ae]w|dropp)\w*\s+(?:that|this|my)\s+(?:\w+\s+)?"
    r"(?:view|judge?ment|opinion|impression|reading|verdict|assessment|label)|i\s+(?:was|had\s+been)\s+"
    r"(?:wrong|mistaken|too\s+(?:quick|hasty))|(?:that|this|the)\s+(?:\w+\s+)?(?:impression|reading|view)\s+"
    r"(?:is|was|proved|turned\s+out(?:\s+to\s+be)?|proves|turns\s+out(?:\s+to\s+be)?)\s+(?:wrong|false|mistaken"
    r"|misleading|incorrect)|(?:that|this|the)\s+(?:\w+\s+)?(?:impression|reading|view)\s+(?:does\s+not"
    r"|doesn['\u2019]t|did\s+not|didn['\u2019]t)\s+(?:hold|last|survive))\b"
)
# "It would take a target, and there is none"; "…, which is missing here".
_MISSING = re.compile(
    r"\b(?:and|but|yet|which)\s+(?:(?:there\s+(?:is|are)(?:n['\u2019]t|\s+not)\s+(?:one|any)"
    r"|there\s+(?:is|are)\s+(?:none|no\s+such\b)|none\s+(?:is|are|of\s+(?:them|these)\s+(?:is|are))\s+\w+"
    r"|(?:that|this|it)?\s*(?:is|are)\s+(?:missing|absent|lacking))\b)"
)
# "Not everything rude is hateful, and this is a case in point": as the general statement has it.
_EXAMPLE = re.compile(
    r"\b(?:and|;)\s+(?:this|that|the)\s+\w+\s+does\s+(?:no\s+more\s+than|nothing\s+(?:but|more\s+than)|precisely|exactly|just)\s+(?:that|this|so)\b|"
    r"(?:\band|[,;.]|^)\s*(?:this|that|it|(?:this|the)\s+\w+)\s+(?:\w+\s+)?is\s+(?:a\s+(?:good\s+"
    r"|clear\s+"
    r"|perfect\s+)?case\s+in\s+point|no\s+exception|a\s+(?:good|clear|perfect"
    r"|textbook)\s+example)\b"
)
# "If a post says so it is hateful. This one says precisely that", "… says no such thing".
_AS_SUPPOSED = re.compile(
    r"\b(?:does|says?|is|has|did|claims?|do)\s+(?:precisely|exactly|just)\s+(?:that|this|so)\b"
    r"|(?P<no>\bno\s+such\s+thing\b|\bnothing\s+of\s+the\s+(?:kind|sort)\b)"
)
# "One could call it hateful, but that would be a misreading."
_REBUTTED = re.compile(
    r"\b(?:but|yet|though|however)\b[^.;!?]{0,40}?\b(?:that|this|it)(?:['\u2019]d"
    r"|\s+would)\s+be\s+(?:\w+ly\s+)?"
    r"(?:an?\s+(?:\w+\s+)?)?(?:misreading|mistake|error|stretch|exaggeration|overreaction"
    r"|overstatement|wrong"
    r"|mistaken|unfair|incorrect|inaccurate|far-fetched|too\s+\w+|going\s+too\s+far)\b"
)
# "If this were hateful, so would be every cookbook. It isn't."
_SUPPOSED = re.compile(
    r"\bif\s+(?:this|it|that|(?:this|the|that)\s+\w+)\s+(?:were|was|is)(?:n['\u2019]t|\s+not)?\s+"
    r"(?:\w+ly\s+|an?\s+)?$"
)
_SOME = re.compile(r"\b(?:some|many|others|one|people|critics|readers|somebody|someone)\b")
# Of a doubt or an objection that stands before: "I disagree: …".
_DISPUTED = re.compile(
    r"\W*(?:(?:but|yet|however|still|well|here)\W+)?(?:(?:i|we)\s+(?:\w+ly\s+)?(?:(?P<no>disagree"
    r"|do"
    r"\s+not\s+(?:agree|think\s+so|share)|don['\u2019]t\s+(?:agree|think\s+so|share)"
    r"|would\s+not\s+go"
    r"\s+(?:that|so)\s+far|wouldn['\u2019]t\s+go\s+(?:that|so)\s+far"
    r"|(?:would|do)(?:\s+not|n['\u2019]t)(?=\s*[:;.,\u2014])|object|see\s+it\s+differently"
    r"|beg\s+to\s+differ)|agree\b(?!\s+(?:that|with|it))|concur)|(?P<not_so>not\s+(?:so|quite"
    r"|really)\b"
    r"|(?:that|this)(?:['\u2019]s|\s+is|\s+would\s+be)\s+(?:not\s+(?:the\s+case|so|right|true"
    r"|correct)"
    r"|wrong|mistaken|incorrect|a\s+(?:mistake|misreading|stretch)|going\s+too\s+far))"
    r"|(?:rightly|and\s+rightly)\s+so|(?:that|this)(?:['\u2019]s|\s+is)\s+(?:right|correct|true"
    r"|exactly\s+right))"
)
_ELLIPSIS_CJK = re.compile(
    r"(?:(?<![不非])但|不过|其实|实际上?|然而|后来|再[读看]|重[读看]|细[读看]|发现|却)[^，。]{0,14}?(?:，(?:它|这|其|该\w{2}|这句话)?)?"
    r"(?:(?P<no>并不是|不是|并不|并非(?:如此)?|不算|不构成|不属于|并不如此)|(?:确实|的确)是)[。.！!]?$"
    r"|(?:하지만|그러나|다시|실제로는?|읽어\s?보니|보니까?)[^,.]{0,16}?"
    r"(?:(?P<no_ko>아니다|아닙니다|아니었다|그렇지\s?않다|그렇지\s?않습니다)|그렇다|맞다)[.!]?$"
    r"|[，,](?:而|但)?(?:这|该|此|它)[^，。]{0,6}?(?:(?:就|也|却|则)(?P<no_this>不是|不算|不属于|不构成)|(?:正|就)是)[。.！!]?$"
    # a consequence: "and so it is not", "it does not apply"
    r"|[，,][^，。]{0,6}(?:所以|因此|因而|故而?)(?:我(?:也)?(?:认为|觉得|看))?(?:它|这|其)?(?P<no_so>并?不是|并非|并?不算|并?不构成|并?不属于)[。.！!]?$"
    r"|(?P<no_ground>그렇게\s?볼\s?(?:근거|이유|수)(?:가|는)?\s?없[가-힣]{1,3})[.]?$"
    r"|(?P<no_case>(?:여기에\s?)?해당(?:하지|되지)\s?(?:는\s?)?않(?:는다|습니다|음))[.!]?$"
)
# "It was reported as hateful, but it is not."
TAKEN_BACK = re.compile(
    r"\b(?:but|yet|however)\s{0,3},?\s{1,3}(?:(?:(?:up)?on|after|in)\s{1,3}(?:\w{1,20}\s{1,3}){0,2}?"
    r"(?:review|reading|inspection|reflection|examination|look|context|fact|reality|truth)\s{0,3},?\s{1,3})?"
    r"(?:it|this|that|(?:the|this)\s{1,3}\w{1,20})\s{1,3}(?:is|does|was)(?:n['\u2019]t|\s{1,3}not)"
)
# "… it does not meet the bar: the word is a name", "it is not, because it quotes".
_REASON = re.compile(r"\s?[:;\u2014]|,?\s(?:because|since|as\s(?:it|the|there|this))\b")
FAR = 600  # characters behind a label that may tell its condition
# "That requirement is not met", "none of these criteria is fulfilled".
_CONDITION = re.compile(
    r"\b(?:(?P<none>none\s+of|neither(?:\s+of)?|no)|both(?:\s+of)?|all(?:\s+of)?"
    r"|every(?:\s+one\s+of)?"
    r"|each(?:\s+of)?|that|this|the|its|these|those)\s+(?:(?:the|these|those|this|our)\s+)?"
    r"(?:(?:\w+|first|second|two|three|\w+ing)\s+)?(?:requirements?|conditions?|criteri(?:a|on)"
    r"|definitions?|thresholds?|bars?|standards?|tests?|elements?)\s+(?:of\s+\w+\s+)?"
    r"(?:is|are|was|were|has\s+been|have\s+been)(?P<no>\s+not|n['\u2019]t"
    r"|\s+never)?\s+(?:\w+ly\s+|all\s+"
    r"|both\s+|therefore\s+|thus\s+)?(?P<un>un)?(?:met|satisfied|fulfilled|reached|given|present"
    r"|crossed|passed)\b"
)
_ASKS = re.compile(r"\?|\bif\b|\bwhether\b")
# "The filter calls it hateful, but that is a mistake": the label named before is rejected. An
# adjective may be said of what is done ("…, which is wrong"), unless it is said of the label or
# ends a contrast.
_ERROR = r"(?:error|mistake|misreading|misclassification|misjudge?ment|false\s+positive)"
_WRONG = (
    r"(?:mistaken|wrong|incorrect|inaccurate|unfair|unjustified|not\s+(?:justified|warranted"
    r"|correct|right|fair|accurate)|unwarranted|unfounded|too\s+harsh)"
)
_LOOKS = r"(?:seem|look|appear|sound|feel)(?:s|ed)?(?:\s+to\s+(?:me|us))?(?:\s+to\s+be|\s+like)?"
_SEEMS = (
    rf"(?:['\u2019]s|\s+(?:is|was|{_LOOKS}))\s+(?:\w+ly\s+|(?:just|therefore|thus|hence|an?)\s+)*"
)
_LABEL_IT_GAVE = (
    r"(?:this|that|the|its|their)\s+(?:\w+\s+)?(?:label|classification|prediction|verdict|call|reading"
    r"|assessment|decision|removal|approval|flag|report|complaint|ruling|judge?ment|accusation|charge"
    r"|score|tag|rating)"
)
_MISTAKEN = re.compile(
    rf"(?:^|[,;.\u2014-]|\b(?:but|yet|and|though)\b|\b(?<!n['\u2019]t\x20)(?<!not\x20)"
    rf"(?:find|think|believe|hold|conclude|consider|agree|rule|say|(?<=i\x20)see)\b(?:\s+that)?)\s*(?:(?:however|and|so|thus|hence|therefore|(?:in|to)\s+(?:my|our)\s+\w+)\W+)?"
    rf"(?:(?:this|that|it|which){_SEEMS}{_ERROR}\b(?!\s+(?:to(?!\s+(?:me|us)\b)|that)\b)"
    rf"|{_LABEL_IT_GAVE}{_SEEMS}(?:{_ERROR}|{_WRONG})\b)"
    rf"|\b(?:but|yet|though|however)\W+(?:this|that|it){_SEEMS}{_WRONG}(?=\s*(?:$|[.;,:!?]))"
    r"|\b(?:but|yet|though|however)\b[^.;]{0,20}?\b(?:no|little|without)\s+(?:basis|grounds?|evidence"
    r"|support|justification)\s+(?:for|of)\s+(?:it|that|this)\b"
    r"|(?<!no )(?<!not a )\bfalse\s+(?:positive|alarm)"
    r"|\b(?:must|may|seems?\s+to|appears?\s+to)\s+have\s+(?:overlooked|missed|misread"
    r"|misunderstood|ignored"
    r"|misjudged)\b"
    r"|(?:这|此|该)(?:个|一|种)?(?:判断|分类|标签|结论|判定|决定|处理)?(?:显然|其实|明显)?(?:是|属于)?"
    r"(?:一个|一次|一种)?(?:误判|误会|误报)"
    r"|(?:这|此|该)(?:个|一|种)?(?:判断|分类|标签|结论|判定|决定|处理)(?:显然|其实|明显)?(?:是|属于)?"
    r"(?:错误|有误|不对|不准确|不正确|错的|不妥)"
    r"|(?:(?<![不非])但是?|然而|不过|可是)[，,]?(?:这|此)(?:个|种)?(?:显然|其实|明显)?(?:是|属于)?"
    r"(?:错误|有误|不对|不准确|不正确|错|不妥)的?(?=\s*(?:$|[。.，,；;！!]))"
    r"|(?:이는|그것은|이것은|이건|(?:이|그|해당)\s*(?:판단|분류|라벨|판정|결정|조치)(?:은|는))\s*"
    r"(?:명백한\s*|분명한\s*)?(?:오류|오판|오분류)"
    r"|(?:이|그|해당)\s*(?:판단|분류|라벨|판정|결정|조치)(?:은|는)\s*(?:명백히\s*|분명히\s*)?"
    r"(?:잘못|실수|틀[렸린]|옳지\s*않|부정확|정확하지\s*않)"
    r"|(?:지만|그러나)[\s,]*(?:이는|그것은|이것은|이건)\s*(?:명백한\s*|분명한\s*)?"
    r"(?:잘못(?:이|입|되었|됐|된\s*(?:판단|분류))|실수|틀[렸린]|옳지\s*않|부정확|정확하지\s*않)"
)
# "The first annotator marked it as hateful; I am overturning that."
_OVERRULES = re.compile(
    r"(?:^|[,;.:\u2014-]|\b(?:but|yet|and|so|though|which))\s*(?:i|we)(?:['\u2019](?:m|re|ve|d|ll))?"
    r"\s+(?:(?:am|are|have|do|did|would|must|had\s+to|will|can|could|therefore|\w+ly)\s+){0,2}"
    r"(?:(?:overturn|revers|overrul|reject|revis|correct|disput|disagre)(?:e|es|ed|ing|ling|ed|d)?\b"
    r"|(?:not|n['\u2019]t)\s+(?:agree|share|follow|support|endorse|convinced|persuaded)\b"
    r"|unconvinced\b|unpersuaded\b|beg\s+to\s+differ\b|see\s+(?:it|this)\s+differently\b)"
    r"|\bon\s+appeal\b[^.;!?]{0,40}\b(?:overturned|reversed|set\s+aside|lifted)\b"
    r"|(?:我|笔者|本人)(?:却|并|对此|不|难以|无法){0,2}(?:不敢苟同|不(?:同意|认同|赞同|认可)|难以认同|持不同意见)"
    r"|(?:나는|저는|필자는|내가|제가)\s*(?:이에\s*|그에\s*)?(?:동의(?:하지\s*않|할\s*수\s*없)|생각이\s*다르|다르게\s*본)"
)
# "A colleague marked it as hateful. That is wrong: …": of the explanation's own verdict a moral.
_WRONG_ALONE = re.compile(rf"\W*(?:this|that){_SEEMS}{_WRONG}\s*[.:]")
# "It was labelled hateful. I think that is wrong", "That looks wrong to me": of whoever's label.
_THINKS = (
    r"(?:(?:i|we)\s+(?:\w+ly\s+)?(?:think|believe|find|feel|hold|consider|would\s+say)"
    r"|(?:in|to)\s+(?:my|our)\s+\w+,?)"
)
_SEEN_AS_WRONG = re.compile(
    rf"\W*(?:(?:but|yet|however)\W+)?(?:{_THINKS}\s+(?:that\s+)?(?:this|that|it)(?:{_SEEMS}|\s+)"
    rf"|(?:this|that)\s+{_LOOKS}\s+(?:\w+ly\s+)?){_WRONG}(?:\s+to\s+(?:me|us))?\s*(?:$|[.:;!])"
)
_OTHER_JUDGE = re.compile(
    r"\b(?:colleagues?|filters?|models?|systems?|classifiers?|detectors?|algorithms?|tools?|bots?"
    r"|moderators?|annotators?|reviewers?|raters?|teams?|users?|readers?|someone|somebody"
    r"|people|others)\b|系统|模型|审核|标注|分类器|过滤器|算法|管理员|版主|同事|用户|网友"
    r"|시스템|모델|필터|분류기|검토자|관리자|신고자|이용자|동료|알고리즘"
)
_OWN_JUDGE = re.compile(r"\b(?:i|we)\b")
_REASONED = re.compile(r"\b(?:because|since|as|for|due|which|given|after)\b|[:;\u2014]")
# "This one is, because …": the same before its reason.
_ELLIPSIS_FIRST = re.compile(
    r"\s*(?:(?:but|yet|however)\W+)?(?:it|that|they|this(?:\s+one)?|(?:this"
    r"|the)\s+\w+)\s+(?:is|does|are|do)"
    r"(?P<no>n['\u2019]t|\s+not)?\s*,?\s+(?:because|since|as\s+(?:it|the)|for\s+it|given)\b"
)
# "Such remarks are often hateful. This one, addressed to a computer, is not."
_THIS_ONE = re.compile(
    r"\W{0,8}(?:but\s{1,3})?this\s{1,3}one(?:,[^,.]{1,80},)?\s{1,3}(?:\w{1,20}ly\s{1,3})?(?:is|does|was)(?P<no>n['\u2019]t"
    r"|\s{1,3}not)?\s{0,3}[.!]?\s{0,3}$"
)
# "He calls it hateful. We looked into it and cannot confirm that."
_CONFIRMED = re.compile(
    r"\b(?:i|we)\b[^.;]{0,60}?\b(?:(?P<no>can(?:\s{0,3}not|n?['\u2019]t)|could\s{0,3}(?:not|n['\u2019]t)|do\s{0,3}(?:not"
    r"|n['\u2019]t)|did\s{0,3}(?:not|n['\u2019]t))|can|could|do|did)\s{1,3}(?:\w{1,20}ly\s{1,3})?(?:confirm|substantiate|verify)"
    r"\s{1,3}(?:that|this|it)\s{0,3}[.!]?\s{0,3}$"
)
# After "if it named a people, it would be hateful" only what is said of the facts counts.
_IN_FACT = re.compile(
    r"\b(?:as\s+it\s+(?:stands|is|reads)|as\s+(?:written|posted)|but|however|yet|in\s+fact"
    r"|actually|in\s+reality"
    r"|here|this\s+one|and\s+(?:it|this|that|s?he|they|the\s+\w+)\s+(?:does|is|has|do|are|have"
    r"|did|was)(?:\s+not"
    r"|n['\u2019]t)?|which\s+(?:it|this|the\s+\w+)|in\s+its\s+(?:present|current)"
    r"|in\s+this\s+case|since\s+it\s+(?:does|is)(?:\s+not|n['\u2019]t))\b"
    r"|(?<![不非])但|然而|不过|实际|(?:지만|그러나|는데)[\s,]"
)


# "It would be hateful if it named a group, but it does not": the condition, and the fact.
_CONDITIONAL = re.compile(
    r"\b(?:(?P<unless>unless)|(?<!even )if|had|were)\s(?!to\b|not\b)(?P<what>[^,;:.]{3,120})"
)
_DENIES = re.compile(r"\b(?:not|no|none|never|nobody|nothing|without)\b|n['\u2019]t\b")
_OF_THE_LABEL = re.compile(
    r"\b(?:as\s+(?:it|things)\s+(?:stands?|is|are|reads)|as\s+(?:written|posted)|in\s+fact|actually"
    r"|in\s+reality|here|this\s+one)\b"
)
_FACT = re.compile(
    r"(?:(?P<and>\band\s)|\b(?:but|yet)\s|[;.\u2014]|^)\s{0,3}(?:it|this|they|there|(?:the|this)\s\w{1,20})\s"
    r"(?:\w{1,20}ly\s)?(?:(?:is|was|does|did|do|are|were|has|had)(?P<no>n['\u2019]t|\snot)?"
    r"|\w{2,20}s\s(?P<none>none|nobody|nothing|no\sone))[\s.!]*$"
)


class NamedLabels:
    """The labels that later sentences may point back to, sentence by sentence.

    unsettled: of the sentence before, where its mood leaves it open. last: of the sentence before.
    defined:   the last word of which conditions were told. question: the last one that is asked,
    up to the next label.
    """

    def __init__(self, plain: str) -> None:
        self.plain = plain
        self.unsettled: Reading | None = None
        self.last: Reading | None = None
        self.defined: Reading | None = None
        self.question: Reading | None = None

    def before(self, span: Span, found: Sequence[Reading]) -> Iterator[Reading]:
        """Verdicts of this sentence on labels of those before it. found: its own readings."""
        if not any(one.clause.mood == "asserted" for one in found):
            if self.unsettled is not None:
                yield from answered(self.plain, span, self.unsettled)
            elif self.question is not None and not found:
                yield from _answer(span, self.question, _CONCLUDED.match(self.plain, *span))
            ahead = (span[0], min(span[1], span[0] + AHEAD))
            yield from mistaken(self.plain, ahead, span, self.last)
        if self.defined is not None and not found:
            yield from fulfilled(self.plain, span, self.defined)

    def after(self, span: Span, found: Sequence[Reading]) -> Iterator[Reading]:
        """Verdicts that this sentence's end passes on its own labels."""
        self.defined = next((one for one in found if one.clause.mood in DEFINING), self.defined)
        self.last = last = found[-1] if found else None
        self.unsettled = last if last is not None and last.clause.mood in OPEN else None
        if last is None:
            return
        self.question = last if last.clause.mood == "asked" else None
        rest = (last.word.end, span[1])
        yield from mistaken(self.plain, rest, span, last)
        if self.unsettled is not None or TAKEN_BACK.search(self.plain, *rest):
            yield from elliptical(self.plain, rest, span, last)


def answered(plain: str, span: Span, asked: Reading) -> Iterator[Reading]:
    """The explanation's answer to its own question."""
    if asked.label is None:
        return
    if asked.clause.mood != "asked":
        yield from elliptical(plain, span, span, asked)
        return
    answer = _YES_NO.match(plain, *span) or _ANSWERED_OF.match(plain, *span)
    told = answer and _WITH_VERB.search(plain, span[0], min(span[1], answer.end() + NEAR))
    yield from _answer(span, asked, answer, with_verb=told is not None)


def _answer(
    span: Span, asked: Reading, answer: re.Match[str] | None, *, with_verb: bool = False
) -> Iterator[Reading]:
    """with_verb: it says what it affirms, whatever the question denies."""
    held = 0 if with_verb else asked.clause.denials
    if answer is None or held % 2:
        return  # "Not hateful? No."
    clause = Clause("bare", denials=held + (answer["no"] is not None), rejected=True)
    yield Reading(*span, asked.word, clause, asked.word.label(clause.denials), turns=True)


def fulfilled(plain: str, span: Span, defined: Reading) -> Iterator[Reading]:
    """ "Hate speech requires a target. … That requirement is not met": of a word defined."""
    said = _CONDITION.search(plain, *span)
    if said is None or defined.clause.denials % 2 or _ASKS.search(plain, *span):
        return
    denials = sum(said[name] is not None for name in ("none", "no", "un"))
    clause = Clause("predication", denials=denials, rejected=True)
    yield Reading(*span, defined.word, clause, defined.word.label(denials), turns=True)


def mistaken(plain: str, part: Span, span: Span, named: Reading | None) -> Iterator[Reading]:
    """ "… as hateful, but that is a mistake": the other side is inferred."""
    clause = None if named is None else named.clause
    if named is None or clause is None or clause.form != "classification" or clause.rejected:
        return  # "It is hateful. That is wrong": of what is done
    if clause.mood not in ("asserted", "reported", "earlier"):
        return
    said = plain[part[0] : part[1]]
    alone = _WRONG_ALONE.match(said) if part[0] == span[0] else None
    by_hand = alone or _OVERRULES.search(said)
    seen = _SEEN_AS_WRONG.match(said) and part[0] == span[0] and _is_last_word(plain, named)
    if not (_MISTAKEN.search(said) or seen or (by_hand and _of_another(plain, named))):
        return
    denials = clause.denials + 1
    mistaken = Clause("bare", denials=denials, rejected=True)
    yield Reading(*span, named.word, mistaken, named.word.label(denials), turns=True)


def _of_another(plain: str, named: Reading) -> bool:
    """Is it another's verdict, and not that of the explanation?"""
    if named.clause.mood == "reported":
        return True
    before = plain[max(named.start, named.word.start - REACH) : named.word.start]
    return bool(_OTHER_JUDGE.search(before)) and _OWN_JUDGE.search(before) is None


def _is_last_word(plain: str, named: Reading) -> bool:
    """Does its sentence end with the label, which the explanation does not give by itself?"""
    before = plain[max(named.start, named.word.start - REACH) : named.word.start]
    behind = plain[named.word.end : min(named.end, named.word.end + REACH)]
    return _OWN_JUDGE.search(before) is None and _REASONED.search(behind) is None


def _flip_count(plain: str, part: Span, named: Reading) -> int | None:
    """Denials of a label whose statement is withdrawn, exemplified, or lacks its condition."""
    mood, denials = named.clause.mood, named.clause.denials
    if mood == "earlier" and _CHANGED.search(plain, *part):
        return denials + 1
    if mood == "hypothetical" and _MISSING.search(plain, *part):
        return denials + 1
    supposed = _AS_SUPPOSED.search(plain, *part) if mood == "hypothetical" else None
    if supposed is not None:
        return denials + (supposed["no"] is not None)
    if mood in ("hedged", "reported", "hypothetical") and _REBUTTED.search(plain, *part):
        return denials + 1
    if mood == "general" and _EXAMPLE.search(plain, *part):
        return denials
    return None


def _is_disputable(plain: str, named: Reading) -> bool:
    """A doubt or an objection, or what some would say."""
    if named.clause.mood == "hypothetical":
        return _SOME.search(plain, named.start, named.word.start) is not None
    return named.clause.mood in ("hedged", "reported", "earlier")


def _as_it_is(plain: str, part: Span, named: Reading) -> tuple[int | None, bool]:
    """Denials of a label whose condition is told to hold or not; open where that may be the label:
    "Had it not been a joke, it would be hateful; it is not"."""
    last = part[1]
    tail = plain[max(part[0], last - MOST) : last]
    fact = None if _OF_THE_LABEL.search(tail) else _FACT.search(tail)
    told = _CONDITIONAL.finditer(plain, named.start, min(last, named.start + FAR))
    condition = next((one for one in told if named.word.start not in range(*one.span())), None)
    if fact is None or condition is None:
        return None, False
    denied = len(_DENIES.findall(condition["what"])) + (condition["unless"] is not None)
    lacks = bool(fact["no"] or fact["none"])
    if denied % 2 and not condition["unless"] and (lacks or fact["and"]):
        return None, True
    return named.clause.denials + denied + lacks, False


def _turned(plain: str, part: Span, named: Reading) -> tuple[int | None, bool]:
    """(denials of what is said of the label, None: nothing is; whether that leaves it open)."""
    turned = _flip_count(plain, part, named)
    if turned is not None or named.clause.mood != "hypothetical":
        return turned, False
    return _as_it_is(plain, part, named)


def _tail(plain: str, part: Span) -> str:
    """The end of a part, without the reasons of what is taken back there."""
    first, last = part
    taken_back = TAKEN_BACK.search(plain, first, last)
    told = _REASON.search(plain, taken_back.end(), last) if taken_back else None
    ends = told.start() if told else last
    return plain[max(first, ends - MOST) : ends].rstrip()


def elliptical(plain: str, part: Span, span: Span, named: Reading) -> Iterator[Reading]:
    """ "Some would call it hateful, but it is not": the label is the one named before."""
    first, last = part
    tail = _tail(plain, part)
    opening = plain[first : min(last, first + MOST)]
    turned, is_open = _turned(plain, part, named)
    if is_open:
        return
    if turned is not None:
        clause = Clause("bare", denials=turned, rejected=True)
        yield Reading(*span, named.word, clause, named.word.label(turned), turns=True)
        return
    disputed = _DISPUTED.match(opening) if _is_disputable(plain, named) else None
    before = plain[max(named.start, named.word.start - REACH) : named.word.start]
    supposed = first >= named.end and _SUPPOSED.search(before)
    fact = named.clause.mood != "hypothetical" or supposed or _IN_FACT.search(plain, first, last)
    if not (fact or disputed):
        return
    said = (
        disputed
        or (named.clause.mood == "reported" and _CONFIRMED.search(tail))
        or _THIS_ONE.match(opening)
        or _ELLIPSIS_FIRST.match(opening)
        or _ELLIPSIS.search(tail)
        or _POINTS_BACK.search(tail)
        or _ELLIPSIS_CJK.search(tail)
    )
    if said is not None:
        denials = sum(held is not None for held in said.groups())
        denials += named.clause.denials if disputed or said.re is _CONFIRMED else 0
        clause = Clause("bare", denials=denials, rejected=True)
        yield Reading(*span, named.word, clause, named.word.label(clause.denials), turns=True)
