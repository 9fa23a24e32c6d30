"""Label lines, in three languages, and English clauses that speak of a label.

"Label: x", "**Verdict:** x", {"label": "x"}, "Hateful: no", "Toxicity: 0.9": a line is read around
one label word, its key before it, its answer after. "The classification as normal is wrong", "toxic
is the right label"; "the bar for hate speech is not met", "violates the hate speech policy":
whether a label is confirmed, a threshold met or a rule kept decides, not the word.

Source: our own. Every pattern meets at most the few hundred characters around one label word.
"""

from __future__ import annotations

import re

from services.hatexscore.cues_en import JUDGE, JUDGES
from shared.readers.decision_words import CROSS, HIGH, KEY_NOUNS, LOW, NO, OPEN, YES

MOST_IN_CELL = 3  # blanks of a label in a cell
MOST_ROWS = 40  # of a table, between a cell and its head
MOST_WIDE = 400  # characters of a row
REACH = 120  # characters before a word that hold its key
BEYOND = 80

WHOSE = (
    r"final|overall|current|present|new|qa|l[23]|senior|lead|expert|auditor|team|human|my|the|our|predicted|assigned|correct|step|point|model|text|post|content|safety"
    r"|toxicity|policy|moderation"
    r"|hate|speech|sentiment|output|summary|classification|assessment|moderation|evaluation"
    r"|analysis|review|so|and|item|处理|处置|审核|처리|조치|검토|最终|总体|综合|整体|我的|最后|总的|三|二|一|四|五|六|最終|최종|종합|전체|나의|모델|전반적인|종합적인|정답"
)
EARLIER = (
    "agent|l1|bot|automat(?:ic|ed)|initial|first|previous|earlier|old|preliminary|gold|original"
    "|初步|最初|原|初始|처음|초기|이전"
)
KEY = (
    rf"{KEY_NOUNS}s?|removed?|deleted?|reject(?:ed)?|approved?|allow(?:ed)?|kept|keep"
    r"|(?:classified|labell?ed|rated|marked|judged|tagged|categori[sz]ed)(?:\s+as)?|score|grade"
    r"|revised|updated|amended|corrected|mine|final|ruling|tag|status|disposition|resolution"
    r"|evaluation|outcome|finding|overall|预测|评定|裁定|决定|예측|평가"
)
VALUE = (
    r"removed?|deleted?|reject(?:ed)?|block(?:ed)?|bann?(?:ed)?|allow(?:ed)?|approved?|keep|kept"
    r"|flag(?:ged)?|it|is|the|this|that|text|post|comment"
    r"|message|a|an|not|no|non|clearly|very|highly|mildly|as"
    r"|likely|definitely|yes|explicit|implicit"
    r"|삭제|제거|차단|숨김|유지|복구|删除|移除|下架|屏蔽|封禁|保留|恢复"
    r"|该?文本|该|这是?|是|为|属于?|不是|并非|不构成|构成|不属于|不含|含有?|没有?|无|不|明显|명백한|이\s*글은|이것은|매우"
)
LINE = re.compile(
    rf"(?:^|[\n\r,;.。；、，!?(\u2014|-]|\d[.)]?)[\s\"']*(?:(?:(?P<earlier>{EARLIER})|{WHOSE}"
    rf"|\d{{1,3}}[.):]?|[一二三四五六七八九十]+[、.])[\s_:：]*){{0,4}}(?:{KEY})"
    rf"\s*(?:\([^()]{{0,40}}\)\s*)?[\"']?\s*(?:[:：=|\u2192\u21d2\u27a1]\ufe0f?|[-=]>"
    rf"|[-\u2013\u2014](?=\s)|(?:is|was)\b\s*[:：]?)"
    rf"(?P<value>(?:[\s\"'\[(“‘【「=（]|(?P<points>\d{{1,3}})(?:\s*(?:/|out\s+of|of)\s*(?P<most>\d{{1,3}}))?(?=\s*[(\[=])|\b[a-e][).]|(?:{VALUE})(?![a-z])"
    r"|(?:removed?|deleted?|rejected|blocked|keep|kept|allowed|approved),)*)$"
)
CROSSED = re.compile(rf"[\s\"']*{CROSS}")
KEYED = re.compile(  # "Label 1", "I assign a 0"
    rf"\b(?:{KEY}|assign(?:ed|ing)?(?:\s+(?:it|this))?|(?:label|mark|rat|scor"
    rf"|tagg)\w*(?:\s+(?:it|this))?(?:\s+as)?"
    r"|(?:choose|pick|select|give|go\s+(?:with|for)))\s+(?:an?\s+|the\s+|of\s+|value\s+"
    r"|class\s+|label\s+)*$"
)
# Before a label that its owner writes in capitals: "Code: ATTACK".
ANY_KEY = re.compile(
    rf"(?:^|[\n\r.;])[\s\"'*-]*(?!{EARLIER})[a-z][\w -]{{0,24}}[:=\uff1a]\s*[\"'(\[]?$"
)
KEY_ALONE = re.compile(rf"(?:{KEY})")
ASKING = re.compile(r"(?:is|contains|has)\s+")  # of a key that asks: "is_hateful"
DENIAL = re.compile(r"\bnot\b|\bno\b|\bnon\b|不|没|无|并非")
ENDS = re.compile(
    r"\s*(?:speech|content|language|text|post|comment|conduct|言论|内容|的|表현|표현|발언|적|글|콘텐츠)?\s*"
    r"(?P<ko>(?:이|은|가)?\s*(?:아님|아닙니다|아니다|아닌\s*것|없음|없다))?(?:임|입니다|이다|함)?"
    r"[\s\"'\])”’】」\u2600-\u27bf\U0001f300-\U0001faff\ufe0f]*(?:$|[\n\r.,;!。，；！(（\[{|\u2014-]"
    r"|because\b|since\b|as\b|towards?\b"
    r"|of\s+(?:the|our|its|any|this|these|your|section|rule|policy|clause|article)\b"
    r"|against\b|about\b|due\b|under\b|(?:this|the|it)\b|for\b|with\b|in\b|因为|由于|때문)"
)
_LEVEL = r"(?:level|rating|degree|score)"
ANSWER = re.compile(
    rf"\s*+(?:speech|content|text|言论|内容|性|표현|발언|적)?\s*+(?:(?:{_LEVEL})?\s*+(?:여부)?[\s\"']*+"
    r"(?:detected|present|found|identified|score"
    r"|flag)?(?:[?？]?\s*(?:[:：=|\u2192\u21d2\u27a1]\ufe0f?|[-=]>|[-\u2013\u2014](?=\s))|[?？]"
    r"|\((?=\s*(?:yes|no|none|true|false|[tfyn]|present|absent|not\s(?:present|detected|found|flagged)|是|否|有|无|예|네|아니[요오]|없음)\s*\)))"
    rf"|{_LEVEL}\s+(?:is|was|remains|seems)\s+(?:\w+ly\s+|rather\s+)?)[\s\"'\[(]*+"
    # a key within the label's value, as in JSON: "hateful", "present", no
    r"(?:(?:is[\s_])?(?:present|detected|found|flag(?:ged)?|value|answer|result|label|applies|violation|match)"
    r"[\"']?\s{0,9}[:=][\s\"']{0,9})?"
    rf"(?:(?P<yes>{YES}|{HIGH}|detected|present)|(?P<no>{NO}|{LOW}|not))(?!\w|-\w)"
)
JSON_VALUE = re.compile(r"[\s\"']*:\s*(?:true|false)\b")
# "Toxicity score: 0.91", "Hatefulness: 4 out of 5", "Rating: 1/5 (not hateful)".
SCORE = re.compile(
    rf"\s*+(?:speech|content|text)?\s*+(?:{_LEVEL}|probability|likelihood|scale|index)?[\s\"']*+"
    r"(?:\([^()\n]{0,30}\))?\s*+(?:[:：=|\u2192]|is|of"
    r"|at)\s*+[\s\"'(]*+(?P<points>\d{1,3}(?:\.\d{1,4})?)"
    r"\s*+(?:(?P<percent>%)|(?:/|out\s+of|of)\s*+(?P<most>\d{1,3}))?(?![\w/]|\.\d)"
)
ANSWERED = re.compile(
    r"(?:^|[\n\r,;.。；，{(-]|\d[.)]|\b(?:therefore|thus|hence|overall|conclusion|verdict|answer|final"
    r"|decision|result|summary|short|sum|line|q|question|assessment)\s?:)[\s\"']*(?:(?:is|contains|the|text|this|post|it|a|an"
    r"|probability|likelihood|chance|score|of|being"
    r"|explicitly|是否|属于|为|含|构成)[\s_]*){0,5}$"
)
ALONE = re.compile(r"[\s\"'\[\]().!。“”‘’:：=]*")
_COLUMN = re.compile(rf"[\s\"']*(?:(?:{WHOSE})[\s_]*){{0,3}}(?:{KEY})[\s\"']*")
_CELL = re.compile(r"\s*\|")
_RULE = re.compile(r"[\s|:-]*")


# "Hateful: null", "hateful: unclear".
_UNANSWERED = re.compile(
    rf"\s*+(?:speech|content)?[\s\"']*+[:=]\s*+[\"']?(?:{OPEN}|-+(?=\s*(?:$|[,;\n]))|\?)(?!\w)"
)


def is_unanswered(after: str) -> bool:
    """Is what follows a label in its line no answer: "hateful: null"?"""
    return _UNANSWERED.match(after) is not None


def is_low_grade(key: re.Match[str]) -> bool:
    """Is less than half of the most given before a label: "Rating: 1/5 (hateful)"?"""
    return key["most"] is not None and 2 * int(key["points"]) < int(key["most"])


def is_asked(before: str, after: str) -> bool:
    """May what follows a label answer it: "Hateful: no", {"x": {"hateful": false}}?"""
    nested = JSON_VALUE.match(after) and before.rstrip().endswith((":", "："))
    return bool(nested or ANSWERED.search(before))


def is_low_score(after: str) -> bool | None:
    """Is a label's score in its line, as "0.1" or "2/10", on the lower side? None without one."""
    score = SCORE.match(after)
    return None if score is None else _is_low(score)


def is_even_score(after: str) -> bool:
    """Is a label's score in its line half of the most, as "50 %" or "0.5"?"""
    score = SCORE.match(after)
    return score is not None and _share(score) == 0.5


def _is_low(score: re.Match[str]) -> bool | None:
    share = _share(score)
    return None if share is None or share == 0.5 or share > 1 else share < 0.5


def _share(score: re.Match[str]) -> float | None:
    """Of the most; None where nothing says what that is."""
    points, most = float(score["points"]), float(score["most"] or 1)
    most = 100.0 if score["percent"] else most
    known = score["percent"] or score["most"] or "." in score["points"]
    return points / most if known and most else None


def in_column(plain: str, start: int, end: int) -> bool:
    """Is plain[start:end] all of a table's cell, in a column headed "label" or the like?"""
    first = plain.rfind("\n", max(0, start - MOST_WIDE), start) + 1
    before = plain[first:start]
    if any(_in_csv(plain, first, end, mark) for mark in ",;\t" if mark in before):
        return True
    if "|" not in before or before.rstrip()[-1:] != "|" or not _CELL.match(plain, end):
        return False
    for _ in range(MOST_ROWS):
        above, last = plain.rfind("\n", 0, max(0, first - 1)) + 1, first - 1
        if last <= 0 or last - above > MOST_WIDE or "|" not in plain[above:last]:
            return False
        if "--" in plain[above:last] and _RULE.fullmatch(plain, above, last):
            column = before.strip().strip("|").count("|") + bool(before.strip("| "))
            return _heads(plain[max(0, above - MOST_WIDE) : above], column)
        first = above
    return False


def _in_csv(plain: str, first: int, end: int, mark: str) -> bool:
    """As `in_column`, of values parted by a mark, whose first line names the columns."""
    before, after = plain[first:end], plain[end : end + BEYOND].lstrip(' "')
    if after and after[0] not in (mark, "\n"):
        return False
    header = ""
    for _ in range(MOST_ROWS):
        last = first - 1
        above = plain.rfind("\n", max(0, last - MOST_WIDE), max(0, last)) + 1
        if last <= 0 or mark not in plain[above:last]:
            break
        header, first = plain[above:last], above
    names = header.split(mark)
    place = before.count(mark)
    named = place < len(names) and _COLUMN.fullmatch(names[place]) is not None
    return named and before.rpartition(mark)[2].strip(' "').count(" ") < MOST_IN_CELL


def _heads(plain: str, column: int) -> bool:
    """Is this column of the last line a label's? Counted from 0, without the marks at the edges."""
    head = plain[plain.rstrip().rfind("\n") + 1 :].strip().strip("|").split("|")
    return column < len(head) and _COLUMN.fullmatch(head[column]) is not None


_DECISION = (
    r"(?:label|verdict|answer|classification|category|decision|choice|rating|conclusion|call|class"
    r"|judge?ment|assessment|tag|fit|description)"
)
# "Toxic is the right label", "I am left with toxic as the label".
TOO_STRONG = re.compile(
    r"^[\s\"]*(?:is|was|would\s+be|seems|may\s+be)(?P<no>\s+not"
    r"|n['\u2019]t)?\s+(?:\w+\s+)?too\s+(?:strong|harsh|big|heavy|loaded|severe)\b"
)
PREFERRED = re.compile(
    rf"^[\"\s]*(?:(?:is|was|seems|remains|would\s+be|does|do|did)(?P<no>\s+not|n['\u2019]t)?\s+)?"
    rf"(?:(?<=\s)(?:the|my|our)\s+(?:\w+\s+){{0,2}}{_DECISION}\b|(?<=\s)an?\s+(?:fitting|apt"
    rf"|accurate|fair"
    rf"|suitable|appropriate|correct|good)\s+(?:{_DECISION}|term|word)\b|(?:best\s+)?(?:fits?"
    rf"|appl(?:y|ies))\b(?!\s+to\b)"
    # "… is the one that fits"
    rf"|(?<=\s)one\s+of\s+(?:them|those|these)\b"
    rf"|(?:(?<=\s)(?:exactly|just|precisely)\s+)?(?<=\s)the\s+(?:(?!last\b|wrong\b|least\b)\w+\s+)?(?:one|option|word"
    rf"|term)\s+(?:(?:that|which)\s+)?(?:best\s+)?"
    rf"(?:fits?|applies|i)\b|(?:is\s+)?(?:clos(?:e|er)|near(?:er)?)\s+to\s+the\s+(?:mark|truth)\b"
    r"|(?:comes|came)\s+closer\b|hits?\s+the\s+mark\b)"
    rf"|^[\"\s]*(?:as|for)\s+(?:the|my|our|its)\s+(?:\w+\s+){{0,2}}{_DECISION}\b"
)
# "The right label would be hateful."
LABEL_WOULD_BE = re.compile(
    rf"\b{_DECISION}\s+(?:here\s+)?would\s+(?:\w+ly\s+|then\s+|have\s+to\s+)*be\b"
)
# "A more fitting label for it might be offensive": another one is rejected by it, no hedge.
BETTER_LABEL = re.compile(
    rf"\b(?:an?|the)\s+(?:\w+\s+)?(?:more\s+\w+|better|fairer|truer)\s+{_DECISION}\s+"
    rf"(?:for\s+(?:this|it|the)(?:\s+\w+){{0,2}}\s+)?(?:would|might|may|could|should|is)\s+"
    rf"(?:\w+ly\s+)?(?:be\s+)?"
)
# "The slur justifies its classification as hateful."
EARNS_LABEL = re.compile(
    rf"\b(?:{JUDGES}|justifying|supporting|warranting|reinforcing|solidifying|confirming|earning"
    rf"|(?:lead|point|result|speak|argu|contribut)\w*\s+(?:to|towards|in|for"
    rf"|in\s+favou?r\s+of))\s+(?:its|the|this|that|an?)\s+(?:\w+\s+)?(?:classification"
    rf"|categori[sz]ation|designation"
    rf"|labell?ing|classifying)\s+(?:of\s+(?:it|this|the)(?:\s+\w+)?\s+)?(?:as|of)\s+(?:an?\s+"
    rf"|the\s+|not\s+|being\s+|label\s+|form\s+of\s+|\w+ly\s+)*[\s\"]*$"
)
# "It attacks nobody, which supports its classification as normal": of all that stands before.
WHICH_EARNS = re.compile(
    rf"\bwhich\s+(?:(?:also|further|\w+ly)\s+)*(?=(?:{JUDGES})\s+(?:its|the|this)\s+(?:\w+\s+)?"
    r"(?:classif|categori|designat|label))"
)
# "The label of hate speech signifies …", "based on the label of hate": named, and nothing is said.
NAMED_LABEL = re.compile(
    rf"^\W*(?:(?:given|with|from|about|by|under|on|for|of)\s+)?(?:the|its|a|this)\s+"
    rf"(?:[\w'\u2019-]+\s+){{0,2}}{_DECISION}\s+(?:of|as)\s+[\s\"]*$"
)
# "Evidence for not hateful: no group is named": what may be said for a label.
ARGUED = re.compile(
    r"\W*(?:(?:the|some|any|possible|main)\s+)?(?:evidence|arguments?|reasons?|points?|signals?|signs?"
    r"|indicators?|factors?|case)\s+(?:for|against|of|in\s+favou?r\s+of|speaking\s+for|that\s+support)"
    r"\s+(?:it\s+)?(?:being\s+)?(?:not\s+)?[\s\"]*"
)
# "The model's prediction of hateful is driven by one word": reported, and perhaps rejected later.
PREDICTED = re.compile(
    r"^\W*(?:the|this|its)\s+(?:[\w'\u2019-]+\s+){0,2}(?:prediction|output)\s+of\s+[\s\"]*$"
)
# "I agree with the non-hateful label."
ENDORSES = re.compile(
    r"\b(?:agree[sd]?|concur(?:s|red)?|disagree[sd]?)\s+with\s+(?:the|this|that|its)\s+(?:\w+\s+)?$"
    r"|\b(?:argu|speak|spoke|count|weigh|point|tell|plead|tip)\w*\s+(?:\w+ly\s+)?(?:against"
    r"|for|in\s+favou?r\s+of|to(?:wards)?|away\s+from)\s+(?:an?|the|any)\s+(?:\w+\s+)?$"
    r"|\b(?:support|favou?r|justif|suggest|indicat)\w*\s+an?\s+(?:\w+\s+)?$"
    r"|\b(?:confirm|support|uphold|endors|share|reject|disput|contest|justif|affirm|bear\w*\s+out"
    r"|bore\s+out"
    r"|warrant|reinforc|strengthen|explain)\w*\s+(?:the|this|that|its|his|her)\s+(?:\w+\s+)?$"
)
BRACKETED = re.compile(rf"\b{_DECISION}\s*\((?=[\s\"]*$)")
CLOSED = re.compile(r"^([\s\"]*)\)")
CHEAPENS = (
    *("cheapens", "trivialises", "trivializes", "dilutes", "devalues", "distorts", "stretches"),
)
# "The normal label does not account for the slur", "fails to reflect": what a label must do.
FAILS_AFTER = re.compile(
    r"^[\s\"]*(?:label|classification|verdict|rating|tag|category|assessment|judge?ment|prediction"
    r"|reading)?\s*(?:(?P<no>does\s+not|doesn['\u2019]t|did\s+not|cannot|can\s+not|fails?\s+to"
    r"|is\s+unable"
    r"\s+to)\s+(?:\w+ly\s+)?(?:account|reflect|capture|consider|represent|convey|describe|do"
    r"|express"
    r"|acknowledge|match|suit|recogni[sz]e|address|align|fit|take|hold|apply|stand|seem|appear"
    r"|make)"
    r"|(?:rests?|relies|rely|is\s+based|was\s+based)\s+on\s+(?:an?\s+)?(?:mis\w+|error|confusion"
    r"|false|wrong)"
    r"|(?:ignores|overlooks|misses|disregards|contradicts|downplays|understates|overstates))\b"
)
# "The decision \"hateful\" can be explained by the slur": it stands.
EXPLAINED_AFTER = re.compile(
    r"^[\s\"']*(?:label\s|classification\s|verdict\s|decision\s)?(?:(?:can|could|may)\s+be|is|was)\s+(?:\w+ly\s+)?"
    r"(?:explained\s+by|accounted\s+for\s+by|due\s+to|based\s+on|supported\s+by|motivated\s+by|the\s+result\s+of)\s"
    r"(?!(?:an?\s+)?(?:\w+\s+)?(?:mis\w+|errors?|confusion|false|wrong)\b)"
)
_DECIDED = re.compile(
    r"\b(?:labels?|decision|classification|verdict|rating|conclusion)(?:\s+(?:of|as|to\s+be))?[\s\"]*$"
)
# Who says so stands behind it: "Hateful, says the neighbour".
SAID_BY = re.compile(
    r"^[\s\"]*(?:speech\s?)?,[\s\"]*(?:(?:says?|said|claims?|claimed|writes?|wrote|thinks?|argues?|insists?|complains?)\s+(?!(?:i|we)\b)\w"
    r"|(?!(?:i|we|it|this|that)\b)(?:(?:the|an?|some|one|his|her|my|our|your|many)\s+)?\w+\s+(?:says?|said|claims?|claimed|writes?|wrote|argues?|insists?|complains?)(?=\s*(?:$|[.,;:!])))"
)
AS_ONE = re.compile(r"\s*(?:(?:either\s+)?as\s+(?:an?\s+)?)?")  # "two readings are possible: as …"
FAILS = ("fails", "misses", "makes no sense", *CHEAPENS)
SUFFICES = ("makes sense", "fits", "applies", "holds", *FAILS)  # that need no adjective
_REJECTING = (
    r"wrong|incorrect|mistaken|false|inaccurate|unjustified|unwarranted|misplaced|error"
    r"|mistake|far|harsh"
    r"|strong|unfair|overstated|overstatement|exaggerated|exaggeration|unfounded|misleading|stretch"
    r"|inappropriate|untenable|rejected|withdrawn|removed|dropped|lifted|reversed|overturned|ignore"
    r"|overlook|misread|misunderstand|inconsistent|questionable|problematic|doubtful|dubious"
    r"|flawed|debatable|inadequate|insufficient|unsuitable|misguided|erroneous|contradictory"
    r"|contradicted|surprising|puzzling|off|untrue|disputable|absurd|ridiculous|dishonest|naive"
    r"|foolish|unreasonable|nonsense|silly|preposterous|baseless|groundless|unsubstantiated"
)
REJECTING = frozenset(_REJECTING.split("|"))
VERDICT_AFTER = re.compile(
    r"^[^.;!?]{0,80}?\b(?P<verb>(?:can|could)(?:\s*not|n?['\u2019]t)?\s+be|is|are|was|were|seems"
    r"|appears|looks|sounds|(?:would|should|must|has\s+to|needs\s+to|ought\s+to)(?:\s+not|n['\u2019]t)?\s+be|does|do|did|isn['\u2019]t"
    r"|doesn['\u2019]t|goes|makes\s+(?:no\s+)?sense|fits|applies|holds|fails|misses|cheapens|trivialises|trivializes"
    r"|dilutes|devalues|distorts|stretches)\b"
    r"\s*(?P<no>not\s+|n['\u2019]t\s+)?(?:\w+ly\s+|therefore\s+|thus\s+|hence\s+|quite\s+|a\s+"
    r"|an\s+|the\s+|too\s+|to\s+|be\s+|like\s+|well\s+"
    r"|fully\s+)*(?P<judged>correct|right|justified|accurate|appropriate"
    r"|founded|grounded|reasonable|plausible|convincing|understandable|defensible"
    r"|fitting|apt|fair|warranted|true|valid|sound|tenable|supported|case|fit|apply|hold|stand"
    r"|here|word|term|upheld|sustained|maintained|confirmed|defended|endorsed|accepted"
    rf"|{_REJECTING})?"
)
# "… as hateful because the claims are false": the reason rejects no label. A closed ", which …,"
# does not end what is said of it.
BEHIND_THE_LABEL = re.compile(
    r"\b(?:because(?!\s+of\b)|since\b|as\s+(?:it|the|this|that)\b"
    r"|which\b(?![^,;:]{0,80},\s+(?:is|was|seems|does|would|has)\b))"
)
LABEL_SUBJECT = re.compile(
    rf"\b(?:labels?|predictions?|assessments?|decisions?|classifications?|categor(?:y|ies)"
    rf"|(?:findings?|rulings?)(?=\s+of\b)|verdicts?|ratings?|tags?|readings?"
    rf"|judge?ments?|descriptions?|conclusions?|claims?|accusations?|allegations?|charges?"
    rf"|suspicion|idea|suggestion|calling|classing"
    rf"|classifying|labell?ing|marking|flagging|passing|removing|tagging|branding|approving"
    rf"|filing|keeping|describing|considering|rating|treating|to\s+(?:{JUDGE}|deny|insist|pretend"
    rf"|claim|say|argue|maintain))\b"
)
LABEL_NOUN_AFTER = re.compile(
    r"^[\s\"']*(?:label|flag|tag|rating|classification|verdict|prediction|reading)s?\b"
)

# "A thin line between mockery and hate": named, and not yet said on which side this text is.
BETWEEN = re.compile(
    r"\b(?:line|difference|distinction|boundary|border"
    r"|divide)\s+between\s+(?:[\w'\u2019-]+\s+){1,5}?and(?:\s+\w+)?\s*$"
)
_LABEL_NOUN = (
    r"(?:label|classification|verdict|decision|rating|removal|category|tag|description|term|word)"
)
# "I consider the hateful label appropriate": what is judged is the label.
JUDGED_LABEL = re.compile(
    rf"^[\s\"']*{_LABEL_NOUN}\s+(?:to\s+be\s+"
    rf"|as\s+)?(?P<no>not\s+)?(?:\w+ly\s+)?(?:(?P<right>correct|right|justified"
    rf"|accurate|appropriate|reasonable|fitting|apt|fair|warranted|valid|sound|convincing)"
    rf"|{_REJECTING})\b"
)
# "Hate speech is the wrong label here", and "the wrong label would be hateful".
_IS_A = r"(?:is|was|are|were|seems|looks|(?:would|must|might|may|can|could)\s+(?:not\s+)?be)"
LABEL_IS = re.compile(
    rf"^[\s\"']{{0,3}}(?:speech\b|content\b|language\b)?[\s\"']{{0,3}}{_IS_A}\s+(?P<no>not\s+)?"
    rf"(?:\w+ly\s+)?(?:the|a|an|any)\s+(?:\w+ly\s+)?(?:(?P<right>right|correct|proper|appropriate"
    rf"|accurate|fitting|apt)|{_REJECTING})\s+{_LABEL_NOUN}\b"
)
# "Hateful would be an overstatement", "an understatement".
STRENGTH = re.compile(
    r"^[\s\"']{0,3}(?:is|was|would\s+be|seems)\s+(?:\w+ly\s+)?an?\s+(?:\w+\s+)?(?:overstatement|exaggeration"
    r"|stretch|misnomer|misreading|overreaction|(?P<under>understatement|euphemism))\b"
)
# "The classifier's \"hateful\" does not hold up."
GIVEN_LABEL = re.compile(
    r"\b(?:classifier|model|system|annotator|filter|moderator|reviewer|user|author|report|complaint"
    r"|tool|bot)(?:['\u2019]s|s['\u2019])[\s\"]*$"
)
WRONG_LABEL_IS = re.compile(
    rf"\b(?:{_REJECTING})\s+{_LABEL_NOUN}\s+(?:here\s+)?{_IS_A}\s+(?:an?\s+)?[\s\"']{{0,3}}$"
)
# "Hateful is the last word I'd use for this."
LAST_WORD = re.compile(
    r"^[\s\"']*(?:is|was|would\s+be)\s+(?:(?:about\s+)?the\s+(?:very\s+)?(?:last|wrong)\s+(?:word|term|label|thing"
    r"|adjective|description)\b|(?:\w+ly\s+)?not\s+(?:what|how|the\s+(?:word|term|label|name))\s+(?:i|we)\b)"
)
JUDGING = re.compile(r"\b(?:consider|find|found|deem|judge|think|regard|believe|call)\w*\b")
OF_A_LABEL = re.compile(
    rf"\b{_LABEL_NOUN}\s+(?:(?:is|was|seems|as|to\s+be|would\s+be)\s+)?(?:not\s+|\w+ly\s+)*[\s\"]*$"
)
FITTING = ("appropriate", "acceptable", "inappropriate")
# "I would rate the toxicity as severe", "the toxicity is minimal".
LEVEL_AFTER = re.compile(
    r"^\s*(?:level|score|rating)?\s*(?:as|is|at|to\s+be)\s+(?:very\s+|rather\s+|fairly\s+"
    r"|extremely\s+)?"
    r"(?:(?:high|severe|extreme|considerable|substantial)|(?P<low>low|minimal|negligible|none"
    r"|zero|nil))\b"
)
# "I'd score this 0.05 for toxicity", "a rating of 2 out of 10 on harmful content".
_SCORED = re.compile(
    r"\b(?:scor|rat|giv|gave|assign|mark)\w*\s[^.;:]{0,40}?(?P<points>\d{1,3}(?:\.\d{1,4})?)\s*"
    r"(?:(?P<percent>%)|(?:/|out\s+of|of)\s*(?P<most>\d{1,3}))?\s+(?:for|on|in)\s+(?:the\s+)?$"
)


def judged_label(own: str, after: str) -> bool | None:
    """Is a label word said to be the wrong label, or what it names to be low? None: neither."""
    if (low := level(own, after)) is not None:
        return low
    if (strength := STRENGTH.match(after)) is not None and not any(map(str.isalnum, own)):
        return strength["under"] is None
    if (said := LABEL_IS.match(after)) is not None:
        return (said["right"] is None) != (" not " in said.group())
    if _DECIDED.search(own) and EXPLAINED_AFTER.match(after):
        return False
    return True if WRONG_LABEL_IS.search(own) or LAST_WORD.match(after) else None


def level(own: str, after: str) -> bool | None:
    """Is what a label word names said to be low? None where no level stands beside it."""
    behind = LEVEL_AFTER.match(after)
    return level_before(own) if behind is None else behind["low"] is not None


def level_before(own: str) -> bool | None:
    """Is what a label word names said to be low? None where no level stands before it."""
    if level := LEVEL_BEFORE.search(own):
        return bool(level["low"] or level["little"])
    score = _SCORED.search(own)
    return None if score is None else _is_low(score)


# "It scores low on toxicity", "a high degree of toxicity".
LEVEL_BEFORE = re.compile(
    r"\b(?:(?:scor|rank|rat)\w+\s+(?:\w+ly\s+)?(?:high|(?P<low>low|(?:near|close\s+to|around|at)[\s-]+(?:zero|nil|the\s+bottom)|zero))\s+(?:on|in|for)"
    r"|(?:high|considerable|(?P<little>low|minimal|negligible))\s+(?:level|degree|score|rating"
    r"|amount)s?\s+(?:of|for|on|in))\s+(?:the\s+)?$"
)
# "Calling the text hateful would trivialise real hate."
TRIVIALISES = re.compile(
    r"^[\s\"']*would\s+(?:\w+ly\s+)?(?:cheapen|trivialise|trivialize|dilute|devalue|distort"
    r"|stretch|miss|misread|ignore|overlook|disregard|downplay|understate|contradict|fail"
    r"|overstate|exaggerate|misrepresent|empty|rob|water\s+(?:the\s+)?\w+\s+down"
    r"|do\s+(?:\w+\s+){1,4}(?:disservice|injustice|harm)|be\s+(?:to\s+)?misus)\w*\b"
)
# "Hate speech requires …", "to be hateful, a text must …": its conditions are told.
DEFINES = re.compile(
    r"^[\s\"]*(?:speech|content)?\s*(?:requires?|needs|presupposes|demands|involves|consists"
    r"|has\s+to|must|means|has\s+(?:two|three|four|several))\b"
)
# "The threshold for hate speech is not met": what is met or crossed, and whether it is.
THRESHOLD = (
    r"(?:threshold|bar|line|level|standard|definition|criteri(?:a|on)|requirements?"
    r"|conditions?|test|tests|thresholds|standards|mark)"
)
THRESHOLD_BEFORE = re.compile(
    rf"\b{THRESHOLD}\s+(?:\w+\s+){{0,2}}?(?:for|of|to\s+be|to\s+count\s+as"
    rf"|into)\s+(?:being\s+)?(?:\w+\s+)?$"
)
MET_AFTER = re.compile(
    rf"^[\s-]*(?P<noun>{THRESHOLD}\s+)?(?:here\s+)?(?:is|are|was|were|has"
    rf"|have)(?:\s+\w+ly)?(?P<no>n['\u2019]t"
    r"|\s+(?:not|never|hardly))?\s+(?:yet\s+|clearly\s+|been\s+|being\s+|fully\s+|therefore\s+)*"
    r"(?P<un>un)?(?:met|reached|satisfied|fulfilled|crossed|passed|exceeded|surpassed)\b"
)
# "Violates the hate speech policy", "in breach of the rules on hateful conduct".
VIOLATES = re.compile(
    r"\b(?:violat\w+|fail(?:s|ed|ing)?|flunk\w*|breach\w*|contraven\w+|infring\w+|break(?:s|ing)?|broke|against|afoul"
    r"|foul|outside"
    r"|counter\s+to|contrary\s+to|at\s+odds|conflict\w*\s+with|in(?:consistent|compatible)\s+with"
    r"|prohibited|banned|forbidden|barred|disallowed|removed|actionable)\b[^,;:]{0,60}$"
)
RESPECTS = re.compile(
    r"\b(?:compl(?:y|ies|iant)|pass(?:es|ed|ing)?|consistent|in\s+line|within|adher\w+|abid\w+|conforms?|follows?"
    r"|respects?|allowed|permitted)\b[^,;:]{0,60}$"
)
RULES = (
    r"(?:polic(?:y|ies)|rules?|guidelines?|standards?|terms|laws?|provisions?|clauses?|sections?"
    r"|code)"
)
RULES_AFTER = re.compile(
    rf"^[\s-]*(?:and\s+\w+\s+)?(?:content\s+|conduct\s+|speech\s+)?(?:{RULES}|checks?|screening)"
    r"\b(?!\s+(?:is|are|was|does|prohibits?|bans?))"
)
RULES_BEFORE = re.compile(
    rf"\b{RULES}\s+(?:on|against|about|regarding|concerning|prohibiting|banning|for|covering"
    rf"|around)"
    r"\s+(?:the\s+)?(?:use\s+of\s+)?(?:\w+\s+(?:and|or)\s+)?$"
)


def unmet(own: str, after: str) -> bool | None:
    """Of a threshold or a rule whose name holds the word: is it not met, or respected?

    None where none is spoken of. "The bar for hate speech is not met": True; "violates the hate
    speech policy": False.
    """
    met = MET_AFTER.match(after)
    if met is not None and (met["noun"] or THRESHOLD_BEFORE.search(own)):
        return bool(met["no"]) != bool(met["un"])
    rules = RULES_BEFORE.search(own)
    if not (rules or RULES_AFTER.match(after)):
        return None
    towards = own[: rules.start()] if rules else own  # "a law against" goes against nothing
    if VIOLATES.search(towards):
        return False
    return True if RESPECTS.search(towards) else None
