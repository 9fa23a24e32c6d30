"""Quotations of an explanation as its quotation marks have them, and a text with spans masked.

Source: Hu & Lee, arXiv:2601.13547, section 3.2 (quoted spans, "[MASK]").
Deviates: a quotation is what stands in quotation marks; the released code takes every token that
text and explanation share, "the" included, so that no explanation is ever without a quotation. It
also masks token by token, inside words and inside earlier masks; here merged spans are masked in
one pass.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

Span = tuple[int, int]  # half-open character offsets
MASK = "[MASK]"

# With all the blanks around it.
_ELLIPSIS = re.compile(r"(?:(?<!\s)\s++|(?!\s))(?:\[\s*(?:\.{3,}|\u2026)\s*\]|\.{3,}|\u2026+)\s*")
_EDGES = " \t\r\n\u3000*_~`.,;:!?\u3002\uff0c\u3001\uff1b\uff1a\uff01\uff1f-"


@dataclass(frozen=True, slots=True)
class Quotation:
    """The inside of quotation marks: `text == explanation[start:end]`."""

    start: int
    end: int
    text: str


def quotations(explanation: str) -> list[Quotation]:
    """What is quoted, in order; an ellipsis separates two quotations; punctuation only is none."""
    return [
        quotation
        for start, end in quoted_spans(explanation)
        for quotation in _parts(explanation, start + 1, end - 1)
    ]


def _parts(explanation: str, start: int, end: int) -> Iterator[Quotation]:
    """The stretches between ellipses, without punctuation and mark-up at their edges."""
    borders = [match.span() for match in _ELLIPSIS.finditer(explanation, start, end)]
    starts = [start, *(after for _, after in borders)]
    ends = [*(before for before, _ in borders), end]
    for left, right in zip(starts, ends, strict=True):
        part = explanation[left:right]
        text = part.strip(_EDGES)
        if text:
            offset = left + len(part) - len(part.lstrip(_EDGES))
            yield Quotation(offset, offset + len(text), text)


_MARK_LETTER = r"A-Za-z0-9\u00c0-\u024f"  # Chinese and Korean letters may touch a mark
_BLANK_LINE = r"\n[^\S\n]*\n"

_OPENING_MARK = re.compile(
    rf"(?<![{_MARK_LETTER}])[\"\uff02]|[\u201c\u201e\u201f\u00ab\u300c\u300e\u300a]"
    r"|(?<!\w)[\u2018\u201b]|(?<![\w'])'(?=[^\s'])"
)
_CLOSING_MARK = {
    mark: re.compile(f"{closing}|{_BLANK_LINE}")
    for marks, closing in (
        ('"\uff02', rf"[\"\uff02](?![{_MARK_LETTER}])"),
        ("\u201c\u201e\u201f", "[\u201c\u201d]"),
        ("\u00ab", "\u00bb"),
        ("\u300c", "\u300d"),
        ("\u300e", "\u300f"),
        ("\u300a", "\u300b"),
        ("\u2018\u201b", rf"\u2019(?![{_MARK_LETTER}])"),
        ("'", rf"(?<=[^\s'])'(?![{_MARK_LETTER}'])"),
    )
    for mark in marks
}


def quoted_spans(text: str) -> list[Span]:
    """Spans of the quotations, marks included; marks around the whole text quote nothing.

    Straight marks are told apart by their neighbours: an opening mark follows no letter, a closing
    one precedes none (an apostrophe is neither), and a straight single mark also hugs what it
    quotes. Marks of other kinds inside a quotation belong to it, and none runs over a blank line.
    """
    spans = _spans(text)
    stripped = text.strip()
    lead = len(text) - len(text.lstrip())
    if spans != [(lead, lead + len(stripped))]:
        return spans
    return [(start + lead + 1, end + lead + 1) for start, end in _spans(stripped[1:-1])]


def _spans(text: str) -> list[Span]:
    """From left to right; an opening mark without its closing one opens nothing."""
    spans: list[Span] = []
    unclosed: set[str] = set()  # no closing mark is left in the text
    position = 0
    while opening := _OPENING_MARK.search(text, position):
        position = opening.end()
        mark = opening.group()
        closing = None if mark in unclosed else _CLOSING_MARK[mark].search(text, position)
        if closing is None:
            unclosed.add(mark)
        elif not closing.group().isspace():
            position = closing.end()
            spans.append((opening.start(), position))
    return spans


def merge_spans(spans: Iterable[Span]) -> list[Span]:
    """The same characters, as ordered spans without overlap; spans that only touch stay two."""
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def mask_spans(text: str, spans: Iterable[Span]) -> str:
    """`text` with each merged span replaced; every other character stays as it is."""
    pieces: list[str] = []
    position = 0
    for start, end in merge_spans(spans):
        pieces += [text[position:start], MASK]
        position = end
    return "".join([*pieces, text[position:]])


HAN_CLASS = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_UNIT = re.compile(rf"[{HAN_CLASS}]|[^\W{HAN_CLASS}]+(?:['\u2019][^\W{HAN_CLASS}]+)*|[^\w\s]")


def count_units(text: str) -> list[Span]:
    """Words with their inner apostrophes, single Han characters, single emoji; no punctuation."""
    found = _UNIT.finditer(text)
    return [match.span() for match in found if _counts(match.group())]


def _counts(unit: str) -> bool:
    """A word character, or a pictograph."""
    return unit[0].isalnum() or unit[0] == "_" or unicodedata.category(unit[0]) == "So"


def touched_words(counted: Sequence[Span], spans: Sequence[Span]) -> list[Span]:
    """Index ranges (first, last + 1) of the units that the spans touch, merged and in order."""
    starts = [start for start, _ in counted]
    ends = [end for _, end in counted]
    ranges = ((bisect_right(ends, start), bisect_right(starts, end - 1)) for start, end in spans)
    return merge_spans((first, last) for first, last in ranges if first < last)
