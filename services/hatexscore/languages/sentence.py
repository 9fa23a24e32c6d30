"""Where sentences end: rules on marks and line breaks, the same for every installation.

A model is not asked, because borders decide whether a group is named together with an attack, and
that must not depend on which spaCy package a machine has. Language models write lists, "1. …",
abbreviations, ellipses and full stops before closing quotes; the rules below are for those.
"""

from __future__ import annotations

import re

from services.hatexscore.languages.word import Language, Span

_CLOSING = r"(?:\[(?:\.\.\.|…)\]|[\"'”’»)\]」』》〉】］）*_])*+"
# `inner`: something follows at once, so that this ends nothing, and no mark within it does.
_LATIN_END = rf"(?<![.!?…])[.!?…]++{_CLOSING}(?:(?=\s|$)|(?P<inner>))"
_CJK_END = rf"(?<![。！？｡])[。！？｡]++[。！？｡!?]*+{_CLOSING}"
_CJK_INNER = r"(?<![。！？｡])[。！？｡]++(?:[!?]++[。！？｡]++)*+(?P<cjk_inner>)"
_LINE_END = r"(?:\r\n|[\n\r\u2028\u2029\x85\x0b\x0c])"

_BORDERS = {
    "en": re.compile(rf"{_LATIN_END}|{_CJK_END}(?=\s|$)|{_CJK_INNER}|{_LINE_END}"),
    "ko": re.compile(rf"{_LATIN_END}|{_CJK_END}|{_LINE_END}"),
    "zh": re.compile(rf"{_LATIN_END}|{_CJK_END}|{_LINE_END}"),
}
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\"'“‘])(?:(?:[A-Za-z]\.)+[A-Za-z]|[A-Z]|eg|ie|vs|cf|mr|mrs|ms|dr|prof)\.$",
    re.IGNORECASE,
)
_LIST_MARK = re.compile(r"(?:^\W*|[:;,]\s+)(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,4})\.$")  # "1." opens one
_LINE_MARKS = "\n\r\u2028\u2029\x85\x0b\x0c"
_CJK_MARKS = "。！？｡"
_TAIL = 24  # characters around a mark that decide about it


def sentences(text: str, language: Language) -> list[Span]:
    """Spans of the sentences, in order, without white space at their ends.

    Every character that is not white space lies in exactly one of them.
    """
    spans: list[Span] = []
    start = 0
    for border in _BORDERS[language].finditer(text):
        if border.lastgroup is None and _ends_here(text, start, border):
            spans.append((start, border.end()))
            start = border.end()
    spans.append((start, len(text)))
    trimmed = (_trim(text, span) for span in spans)
    return [span for span in trimmed if span[0] < span[1]]


def _ends_here(text: str, start: int, border: re.Match[str]) -> bool:
    """Is this mark the end of a sentence that began at `start`?"""
    mark = border.group()
    if mark[0] in _LINE_MARKS:
        return True
    if mark[0] in _CJK_MARKS:  # a quotation that ends in a mark inside a longer sentence
        return mark[-1] in _CJK_MARKS or not text[border.end() : border.end() + 1].isalnum()
    if mark == ".":
        tail = text[max(start, border.end() - _TAIL) : border.end()]
        if _LIST_MARK.search(tail) or _ABBREVIATION.search(tail):
            return False
    return not _next_character(text, border.end()).islower()


def _next_character(text: str, position: int) -> str:
    """The next character that is no space; empty at the end. A quotation may open a sentence."""
    return text[position : position + _TAIL].lstrip(" \t\u00a0")[:1]


def _trim(text: str, span: Span) -> Span:
    """The span without white space at its ends."""
    cut = text[span[0] : span[1]]
    lead = len(cut) - len(cut.lstrip())
    return span[0] + lead, span[0] + max(lead, len(cut.rstrip()))
