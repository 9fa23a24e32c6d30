"""How a Chinese sentence says that a text is hateful (仇恨) or not.

A label counts after a mark ("结论：仇恨") or where a verb predicates it ("不构成仇恨言论"); Chinese
drops its subjects, so none is asked for. Negation stands before the verb or before the label.
"""

from __future__ import annotations

import re

LABELS = 20  # of a sentence that are looked at, from its end
REACH = 200  # characters before a label that may belong to its clause

_TERM = re.compile(r"仇恨(?:言论|性|内容|表达|情绪|语言|信息)*(?!犯罪|政策|检测|法|定义)")
_MARK = re.compile(r"(?:结论|判断|判定|标签|分类|答案|结果|判决|预测)\s*(?:[:：=]|是|为)")
_BREAK = re.compile(r"[，,；;：:、]|但是?|然而|不过|虽然|尽管|因为|所以|因此|而是")
_PREDICATE = re.compile(
    r"是|属于?|构成|包含|含有|含|带有|视为|认为|归类|归为|判为|判定|具有|存在|表达|达到|有|涉及|传播|宣扬|算"
)
_HEDGE = re.compile(
    r"可能|也许|或许|是否|如果|若|倘若|难以|无法(?:判断|确定|决定)|不确定|不清楚|吗|[?？]$"
)
_IDIOM = re.compile(
    r"不仅仅?|不但|不只|不光|毫无疑问|无疑|不可否认|毋庸置疑|不得不|非常|不同|不满|不幸|无论|不管"
)
_NEGATION = re.compile(r"没有?|不|未|无|并非|绝非|而非|(?<![并绝而])非")
_AGAINST = re.compile(r"反对|谴责|批评|抵制|关于|讨论|针对|打击|受害|引用")
_BARE = re.compile(r"(?:\W|因此|所以|总之|综上所述|综上|最终|为|是|该?文本|非|不是|并非|属于?)*")


def stated(sentence: str) -> bool | None:
    """True: hateful, False: non-hateful, None: no conclusion."""
    for term in reversed(list(_TERM.finditer(sentence))[-LABELS:]):
        clause = _clause(sentence, term)
        if clause is not None and not _HEDGE.search(clause + sentence[term.end() :][-1:]):
            return len(_NEGATION.findall(clause)) % 2 == 0
    return None


def _clause(sentence: str, term: re.Match[str]) -> str | None:
    """What stands before the label in its verdict; None where it is no verdict."""
    before = sentence[max(0, term.start() - REACH) : term.start()]
    marks = list(_MARK.finditer(before))
    verdict = _IDIOM.sub("", before[marks[-1].end() :] if marks else before)
    clause = _BREAK.split(verdict)[-1]
    if _AGAINST.search(clause):
        return None
    if marks or _PREDICATE.search(clause):
        return clause
    rest = sentence[term.end() :].strip(" 。.!！的")
    return verdict if _BARE.fullmatch(verdict) and not rest else None
