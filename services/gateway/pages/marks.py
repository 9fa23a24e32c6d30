"""A text cut at the borders of its marks: what a template can print piece by piece."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True, slots=True)
class Mark:
    """A marked stretch of a text.

    start, end: character offsets (code points), end exclusive.
    kind: the CSS class is `mark-<kind>`. label: said to whoever cannot see the colour.
    """

    start: int
    end: int
    kind: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text between two borders, and every mark that covers it."""

    text: str
    marks: tuple[Mark, ...] = ()

    @property
    def classes(self) -> str:
        """The CSS classes of all its marks."""
        return " ".join(dict.fromkeys(f"mark-{mark.kind}" for mark in self.marks))

    @property
    def label(self) -> str:
        """What all its marks say."""
        return "; ".join(dict.fromkeys(mark.label for mark in self.marks if mark.label))


def pieces(text: str, marks: Iterable[Mark]) -> list[Piece]:
    """The text in order, whole: joined, the pieces are the text. Marks may overlap.

    A mark that reaches beyond the text is cut off at its end; an empty one marks nothing.
    """
    inside = [mark for mark in marks if mark.start < min(mark.end, len(text))]
    cuts = {0, len(text), *(cut for m in inside for cut in (m.start, min(m.end, len(text))))}
    opening = sorted(inside, key=lambda mark: mark.start)
    covering: list[Mark] = []
    found: list[Piece] = []
    upcoming = 0
    for start, end in pairwise(sorted(cuts)):
        covering = [mark for mark in covering if mark.end > start]
        while upcoming < len(opening) and opening[upcoming].start <= start:
            covering.append(opening[upcoming])
            upcoming += 1
        found.append(Piece(text[start:end], tuple(covering)))
    return found
