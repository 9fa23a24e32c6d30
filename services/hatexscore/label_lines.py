"""Label lines: "Label: x", "**Verdict:** x", {"label": "x"}, "Hateful: no", in three languages.

Source: our own. A line is read around one label word: its key before it, its answer after.
"""

from __future__ import annotations

import re

REACH = 120  # characters before a word that hold its key
BEYOND = 80

WHOSE = (
    r"final|overall|my|the|our|predicted|assigned|correct|step|point|model|text|post|content|safety"
    r"|toxicity|policy|moderation"
    r"|hate|speech|sentiment|output|summary|classification|assessment|moderation|evaluation|analysis|review|so|and|item|最终|总体|综合|整体|我的|最后|总的|三|二|一"
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
    rf"\s*(?:\([^()]{{0,40}}\)\s*)?[\"']?\s*(?:[:：=]|[-\u2013\u2014](?=\s)|(?:is|was)\b\s*[:：]?)"
    rf"(?P<value>(?:[\s\"'\[(“‘【「=]|\d{{1,2}}(?=\s*[(\[=])|(?:{VALUE})(?![a-z]))*)$"
)
KEYED = re.compile(rf"\b(?:{KEY})\s+$")  # "Label 1"
KEY_ALONE = re.compile(rf"(?:{KEY})")
ASKING = re.compile(r"(?:is|contains|has)\s+")  # of a key that asks: "is_hateful"
DENIAL = re.compile(r"\bnot\b|\bno\b|\bnon\b|不|没|无|并非")
ENDS = re.compile(
    r"\s*(?:speech|content|language|text|post|comment|conduct|言论|内容|的|表현|표현|발언|적|글"
    r"|콘텐츠)?\s*"
    r"(?P<ko>(?:이|은|가)?\s*(?:아님|아닙니다|아니다|아닌\s*것|없음|없다))?(?:임|입니다|이다|함)?"
    r"[\s\"'\])”’】」\u2600-\u27bf\U0001f300-\U0001faff\ufe0f]*(?:$|[\n\r.,;!。，；！(（\[{|\u2014-]|because\b|since\b|as\b|towards?\b"
    r"|against\b|due\b|under\b|(?:this|the|it)\b|for\b|with\b|in\b|因为|由于|때문)"
)
ANSWER = re.compile(
    r"\s*(?:speech|content|text|言论|内容|性|표현|발언|적)?\s*(?:여부)?[\s\"']*[?？]?\s*(?:[:：=]"
    r"|[-\u2013\u2014](?=\s))[\s\"'\[(]*"
    r"(?:(?P<yes>yes|true|1|y|是的?|有|对|예|네|그렇다|있음|해당)|(?P<no>no|none|false|0|n|not|不是"
    r"|否|无|没有|아니요|아니오|아님|없음|아니다|해당\s*없음))"
    r"(?![\w])"
)
ANSWERED = re.compile(
    r"(?:^|[\n\r,;.。；，{(-]|\d[.)])[\s\"']*(?:(?:is|contains|the|text|this|post|it|a|an"
    r"|explicitly|是否|属于|为|含|构成)[\s_]*){0,5}$"
)
ALONE = re.compile(r"[\s\"'\[\]().!。“”‘’:：=]*")
