"""Quotations of an explanation, and where they occur in the text.

Source: Hu & Lee, arXiv:2601.13547, section 3.2 (quoted spans, exact and fuzzy matching).
Deviates: a quotation is what stands in quotation marks; the released code takes every token that
text and explanation share, "the" included, so that no explanation is ever without a quotation.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from services.hatexscore.folding import fold
from services.hatexscore.fuzzy import nearest
from services.hatexscore.haystack import Haystack
from services.hatexscore.languages import Language, Span, words
from services.hatexscore.quotation_marks import quoted_spans
from shared.job_context import check, checking

# With all the blanks around it.
_ELLIPSIS = re.compile(r"(?:(?<!\s)\s++|(?!\s))(?:\[\s*(?:\.{3,}|\u2026)\s*\]|\.{3,}|\u2026+)\s*")
_LONGEST_WORD = 20  # characters of a function word, generously
_EDGES = " \t\r\n\u3000*_~`.,;:!?\u3002\uff0c\u3001\uff1b\uff1a\uff01\uff1f-"


@dataclass(frozen=True, slots=True)
class Quotation:
    """The inside of quotation marks: `text == explanation[start:end]`."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Quote:
    """Where a quotation occurs in the text: `text == original[start:end]`.

    similarity: 1 - edit distance / longer length, [0, 1]; 1 for an exact match.
    """

    start: int
    end: int
    text: str
    quoted_as: str
    match: Literal["exact", "fuzzy"]
    similarity: float


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


def is_trivial(quotation: Quotation, language: Language) -> bool:
    """Is it a function word alone? Quoting "the" points at nothing (section 3.2, "non-trivial")."""
    if len(quotation.text) > _LONGEST_WORD:
        return False
    found = [word for word in words(quotation.text, language) if word.is_word]
    return len(found) == 1 and found[0].is_stop


def locate(text: str, quoted: Sequence[Quotation]) -> tuple[list[Quote], list[Quotation]]:
    """Every occurrence of each quotation in the text, and the quotations that have none.

    Exact after folding and at word borders; else the nearest passage within 15 % edits.
    """
    haystack = Haystack(text)
    found: dict[str, list[Quote]] = {}
    missing: list[Quotation] = []
    for quotation in checking(quoted):
        needle = fold(quotation.text).text
        if needle not in found:
            found[needle] = _occurrences(haystack, needle, quotation.text)
        if not found[needle]:
            missing.append(quotation)
    quotes = {(q.start, q.end): q for hits in reversed(found.values()) for q in hits}
    return [quotes[span] for span in sorted(quotes)], missing


def _occurrences(haystack: Haystack, needle: str, quoted_as: str) -> list[Quote]:
    check()
    text = haystack.text
    exact = [
        Quote(start, end, text[start:end], quoted_as, "exact", 1.0)
        for start, end in exact_spans(haystack, needle)
    ]
    near = None if exact else nearest(haystack, needle)
    if near is None:
        return exact
    (start, end), similarity = near
    return [Quote(start, end, text[start:end], quoted_as, "fuzzy", similarity)]


def exact_spans(haystack: Haystack, needle: str) -> list[Span]:
    """Occurrences of a folded needle that begin and end at word borders of the text.

    One that begins inside a word is passed over to the next border, not to the next character:
    "aaa" in twenty thousand "a" is looked at once.
    """
    if not needle:
        return []
    folded, begins, ends = haystack.folded, haystack.begins, haystack.ends
    spans: list[Span] = []
    position = folded.text.find(needle)
    while position >= 0:
        after, end = position, position + len(needle)
        if _holds(begins, position) and _holds(ends, end):
            spans.append(folded.span(position, end))
            after = end - 1
        following = bisect_right(begins, after)
        if following == len(begins):
            break
        position = folded.text.find(needle, begins[following])
    return spans


def _holds(ascending: Sequence[int], value: int) -> bool:
    place = bisect_left(ascending, value)
    return place < len(ascending) and ascending[place] == value
