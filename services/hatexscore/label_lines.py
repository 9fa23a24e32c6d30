"""Label lines: "Label: x", "**Verdict:** x", {"label": "x"}, "Hateful: no", in three languages.

Source: our own. A line is read around one label word: its key before it, its answer after.
"""

from __future__ import annotations

import re

MOST_ROWS = 40  # of a table, between a cell and its head
MOST_WIDE = 400  # characters of a row
REACH = 120  # characters before a word that hold its key
BEYOND = 80

WHOSE = (
    r"final|overall|my|the|our|predicted|assigned|correct|step|point|model|text|post|content|safety"
    r"|toxicity|policy|moderation"
    r"|hate|speech|sentiment|output|summary|classification|assessment|moderation|evaluation"
    r"|analysis|review|so|and|item|最终|总体|综合|整体|我的|最后|总的|三|二|一"
    r"|四|五|六|最終"
    r"|최종|종합|전체|나의|모델|전반적인|종합적인|정답"
)
EARLIER = (
    r"initial|first|previous|earlier|old|preliminary|gold|original|初步|最初|原|初始|처음|초기|이전"
)
KEY = (
    r"labels?|verdict|conclusions?|decision|classification|class|category|prediction|answer|rating"
    r"|result|judge?ment|assessment"
    r"|determination|evaluation|output|outcome|finding|标签|结论|判断|判定|分类|类别|答案|结果|预测|评定|裁定|决定|라벨"
    r"|레이블|결론|판단|판정|분류|정답|답변?|결과|예측|평가"
)
VALUE = (
    r"it|is|the|this|that|text|post|comment|message|a|an|not|no|non|clearly|very|highly|mildly|as"
    r"|likely|definitely|yes|explicit|implicit"
    r"|该?文本|该|这是?|是|为|属于?|不是|并非|不构成|构成|不属于|不含|含有?|没有?|无|不|明显|명백한"
    r"|이\s*글은|이것은|매우"
)
LINE = re.compile(
    rf"(?:^|[\n\r,;.。；、，!?(\u2014|-]|\d[.)]?)[\s\"']*(?:(?:(?P<earlier>{EARLIER})|{WHOSE}"
    rf"|\d{{1,3}}[.):]?|[一二三四五六七八九十]+[、.])[\s_:：]*){{0,4}}(?:{KEY})"
    rf"\s*(?:\([^()]{{0,40}}\)\s*)?[\"']?\s*(?:[:：=|\u2192\u21d2\u27a1]\ufe0f?|[-=]>"
    rf"|[-\u2013\u2014](?=\s)|(?:is|was)\b\s*[:：]?)"
    rf"(?P<value>(?:[\s\"'\[(“‘【「=]|\d{{1,2}}(?=\s*[(\[=])|(?:{VALUE})(?![a-z]))*)$"
)
KEYED = re.compile(  # "Label 1", "I assign a 0"
    rf"\b(?:{KEY}|assign(?:ed|ing)?(?:\s+(?:it|this))?|(?:label|mark|rat|scor"
    rf"|tagg)\w*(?:\s+(?:it|this))?(?:\s+as)?"
    r"|(?:choose|pick|select|give|go\s+(?:with|for)))\s+(?:an?\s+|the\s+|of\s+|value\s+"
    r"|class\s+|label\s+)*$"
)
KEY_ALONE = re.compile(rf"(?:{KEY})")
ASKING = re.compile(r"(?:is|contains|has)\s+")  # of a key that asks: "is_hateful"
DENIAL = re.compile(r"\bnot\b|\bno\b|\bnon\b|不|没|无|并非")
ENDS = re.compile(
    r"\s*(?:speech|content|language|text|post|comment|conduct|言论|内容|的|表현|표현|발언|적|글"
    r"|콘텐츠)?\s*"
    r"(?P<ko>(?:이|은|가)?\s*(?:아님|아닙니다|아니다|아닌\s*것|없음|없다))?(?:임|입니다|이다|함)?"
    r"[\s\"'\])”’】」\u2600-\u27bf\U0001f300-\U0001faff\ufe0f]*(?:$|[\n\r.,;!。，；！(（\[{|\u2014-]"
    r"|because\b|since\b|as\b|towards?\b"
    r"|against\b|due\b|under\b|(?:this|the|it)\b|for\b|with\b|in\b|因为|由于|때문)"
)
_LEVEL = r"(?:level|rating|degree|score)"
ANSWER = re.compile(
    rf"\s*+(?:speech|content|text|言论|内容|性|표현|발언|적)?\s*+(?:(?:{_LEVEL})?\s*+(?:여부)?[\s\"']*+"
    r"(?:detected|present|found|identified|score"
    r"|flag)?(?:[?？]?\s*(?:[:：=|\u2192\u21d2\u27a1]\ufe0f?|[-=]>|[-\u2013\u2014](?=\s))|[?？])"
    rf"|{_LEVEL}\s+(?:is|was|remains|seems)\s+(?:\w+ly\s+|rather\s+)?)[\s\"'\[(]*+"
    r"(?:(?P<yes>yes|true|1|y|(?:very\s+)?high|severe|strong|moderate|detected|present|是的?|有|对|高|예"
    r"|네|그렇다|있음|해당|높음|[\u2705\u2713\u2714\u2611])|(?P<no>[\u274c\u2717\u2718\u2716]|no|none"
    r"|false|0(?!\.?\d)|n|not|(?:very\s+)?low|minimal|negligible|absent"
    r"|不是|否|无|没有|低|아니요|아니오|아님|없음|아니다|낮음|해당\s*없음))"
    r"(?![\w])"
)
# "Toxicity score: 0.91", "Hatefulness: 4 out of 5", "Rating: 1/5 (not hateful)".
SCORE = re.compile(
    rf"\s*+(?:speech|content|text)?\s*+(?:{_LEVEL}|probability|likelihood|scale|index)?[\s\"']*+"
    r"(?:\([^()\n]{0,30}\))?\s*+(?:[:：=|\u2192]|is|of|at)\s*+[\s\"'(]*+(?P<points>\d{1,3}(?:\.\d{1,4})?)"
    r"\s*+(?:(?P<percent>%)|(?:/|out\s+of|of)\s*+(?P<most>\d{1,3}))?(?![\w/]|\.\d)"
)
ANSWERED = re.compile(
    r"(?:^|[\n\r,;.。；，{(-]|\d[.)])[\s\"']*(?:(?:is|contains|the|text|this|post|it|a|an"
    r"|explicitly|是否|属于|为|含|构成)[\s_]*){0,5}$"
)
ALONE = re.compile(r"[\s\"'\[\]().!。“”‘’:：=]*")
_COLUMN = re.compile(rf"[\s\"']*(?:(?:{WHOSE})[\s_]*){{0,3}}(?:{KEY})[\s\"']*")
_CELL = re.compile(r"\s*\|")
_RULE = re.compile(r"[\s|:-]*")


def score_denies(after: str) -> bool | None:
    """Is a label's score in its line, as "0.1" or "2/10", on the lower side? None without one."""
    score = SCORE.match(after)
    if score is None:
        return None
    points, most = float(score["points"]), float(score["most"] or 1)
    most = 100.0 if score["percent"] else most
    known = score["percent"] or score["most"] or "." in score["points"]
    share = points / most if known and most else 0.5
    return None if share == 0.5 or share > 1 else share < 0.5


def in_column(plain: str, start: int, end: int) -> bool:
    """Is plain[start:end] all of a table's cell, in a column headed "label" or the like?"""
    first = plain.rfind("\n", max(0, start - MOST_WIDE), start) + 1
    before = plain[first:start]
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


def _heads(plain: str, column: int) -> bool:
    """Is this column of the last line a label's? Counted from 0, without the marks at the edges."""
    head = plain[plain.rstrip().rfind("\n") + 1 :].strip().strip("|").split("|")
    return column < len(head) and _COLUMN.fullmatch(head[column]) is not None
