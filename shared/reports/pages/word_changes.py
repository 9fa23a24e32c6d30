"""Finds the words that changed from one text to another. Highlights (marks) of the two texts are
kept.

Differences are those of `difflib.SequenceMatcher` (Ratcliff & Obershelp, 1988)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import Literal

from shared.reports.pages.page_text import Mark, MarkedText, pieces

How = Literal["same", "deleted", "added"]
Span = tuple[int, int]

MOST_WORDS = 500  # per side of the changed middle; a longer one is one deletion and one insertion
_WORD = re.compile(r"\s+|\w+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class WordChange:
    """A passage that is unchanged, deleted or added."""

    how: How
    pieces: tuple[MarkedText, ...]

    @property
    def text(self) -> str:
        """Return the text of the passage without highlighting."""
        return "".join(piece.text for piece in self.pieces)


def changes(
    before: str, after: str, old: Sequence[Mark] = (), new: Sequence[Mark] = ()
) -> tuple[WordChange, ...]:
    """Return the word changes from `before` to `after`. `old` and `new` are passages to mark in the
    two texts. An unchanged passage has the marks of both. Unchanged and deleted passages together
    are `before`; unchanged and added passages are `after`."""
    result = []
    for how, of_before, of_after in _word_changes(before, after):
        if how != "added":
            marks = [*_inside(old, of_before), *(_inside(new, of_after) if how == "same" else ())]
            text = before[slice(*of_before)]
        else:
            marks, text = _inside(new, of_after), after[slice(*of_after)]
        result.append(WordChange(how, tuple(pieces(text, marks))))
    return tuple(result)


def _word_changes(before: str, after: str) -> Iterator[tuple[How, Span, Span]]:
    """Yield, in order, each unchanged, deleted or added passage with its offsets in both texts.
    Deletions come before additions."""
    a, b = _words(before), _words(after)
    for i, j, k, m in _blocks([before[s:e] for s, e in a], [after[s:e] for s, e in b]):
        old, new = _span(a, i, j), _span(b, k, m)
        if before[slice(*old)] == after[slice(*new)]:
            yield "same", old, new
            continue
        if j > i:
            yield "deleted", old, new
        if m > k:
            yield "added", old, new


def _blocks(a: list[str], b: list[str]) -> Iterator[tuple[int, int, int, int]]:
    """Yield (i, j, k, m) for each block of the comparison: `a[i:j]` became `b[k:m]`. Equal white
    space alone does not separate two changes."""
    head = _common_prefix(a, b)
    tail = _common_prefix(a[head:][::-1], b[head:][::-1])
    ends = len(a) - tail, len(b) - tail
    if head:
        yield 0, head, 0, head
    middle = a[head : ends[0]], b[head : ends[1]]
    if max(map(len, middle)) > MOST_WORDS:
        yield head, ends[0], head, ends[1]
    else:
        matcher = SequenceMatcher(str.isspace, *middle, autojunk=False)
        for _, i, j, k, m in matcher.get_opcodes():
            yield head + i, head + j, head + k, head + m
    if tail:
        yield ends[0], len(a), ends[1], len(b)


def _common_prefix(a: list[str], b: list[str]) -> int:
    for index, (x, y) in enumerate(zip(a, b, strict=False)):
        if x != y:
            return index
    return min(len(a), len(b))


def _words(text: str) -> list[Span]:
    return [match.span() for match in _WORD.finditer(text)]


def _span(words: list[Span], first: int, end: int) -> Span:
    if first < end:
        return words[first][0], words[end - 1][1]
    at = words[first][0] if first < len(words) else (words[-1][1] if words else 0)
    return at, at


def _inside(marks: Sequence[Mark], span: Span) -> list[Mark]:
    start, end = span
    return [
        replace(mark, start=max(mark.start, start) - start, end=min(mark.end, end) - start)
        for mark in marks
        if mark.start < end and mark.end > start
    ]
