"""Spans of a text, and their trimming."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import pairwise

MOST_CUTS = 20

Span = tuple[int, int]  # start, end (exclusive): characters

# "1. ", "(2) ", "- ", "* ", "## ", "A) " and the marks of bold type at the beginning of a line
MARKER = re.compile(r"(?:[-*•#>]+\s+|\(?(?:\d{1,3}|[A-Za-z])[.)]\s+|\*\*+|__+)+(?=\S)")


def trimmed(text: str, start: int, end: int) -> Span:
    """Without white space at both ends."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def pieces(text: str, span: Span, cuts: Iterable[int]) -> list[Span]:
    """The span cut at these places; trimmed, and without empty pieces."""
    start, end = span
    inside = sorted({cut for cut in cuts if start < cut < end})
    made = [trimmed(text, *piece) for piece in pairwise([start, *inside, end])]
    return [piece for piece in made if piece[0] < piece[1]]


def settled(text: str, span: Span, cut: Callable[[str], list[Span]]) -> list[Span]:
    """Cut, and cut the pieces, until each piece, read by itself, is one; in order.

    A piece that was cut out of `MOST_CUTS` others stays: marks alone may lose a little each time.
    """
    waiting, done = [(span, 0)], list[Span]()
    while waiting:
        (start, end), cuts = waiting.pop()
        parts = [(start + a, start + b) for a, b in cut(text[start:end])]
        if len(parts) > 1 and cuts < MOST_CUTS:
            waiting += [(part, cuts + 1) for part in reversed(parts)]
        else:
            done += parts
    return done


def without_marker(text: str, span: Span) -> Span:
    """Without list markers at its beginning and marks of bold type at both ends."""
    start, end = span
    found = MARKER.match(text, start, end)
    start = found.end() if found else start
    while end - start > 2 and text.endswith(("**", "__"), start, end):
        end -= 2
    return trimmed(text, start, end)
