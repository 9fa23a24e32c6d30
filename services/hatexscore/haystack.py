"""A text made ready for many searches: its folded characters, its word borders, its short pieces.

Everything that a search needs of the text is made once; a search then costs what the needle costs,
not what the text costs.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from services.hatexscore.folding import fold
from services.hatexscore.units import may_begin, may_end
from shared.cached import cached_property

HITS = 200  # places of one piece that are remembered, the first ones


class Haystack:
    """A text as the searches look at it; indices are those of the folded text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.folded = fold(text)
        self._pieces: dict[int, dict[str, list[int]]] = {}  # length → piece → its places

    @cached_property
    def begins(self) -> list[int]:
        """Where a quoted span may begin, ascending."""
        origin = self.folded.origin
        return [place for place in range(len(origin)) if may_begin(self.text, origin[place][0])]

    @cached_property
    def ends(self) -> list[int]:
        """Where it may end (exclusive), ascending."""
        origin = self.folded.origin
        last = range(1, len(origin) + 1)
        return [place for place in last if may_end(self.text, origin[place - 1][1])]

    def places(self, piece: str) -> Sequence[int]:
        """The first places where a short piece stands, overlapping ones too."""
        length = len(piece)
        if length not in self._pieces:
            self._pieces[length] = self._index(length)
        return self._pieces[length].get(piece, ())

    def _index(self, length: int) -> dict[str, list[int]]:
        text = self.folded.text
        found: dict[str, list[int]] = {}
        for place in range(len(text) - length + 1):
            places = found.setdefault(text[place : place + length], [])
            if len(places) < HITS:
                places.append(place)
        return found


def around(borders: Sequence[int], position: int, reach: int, most: int) -> list[int]:
    """The borders (ascending) within reach of a position, the nearest first, at most so many.

    Of two as near, the lower one comes first.
    """
    right = bisect_left(borders, position)
    left = right - 1
    found: list[int] = []
    while len(found) < most:
        below = position - borders[left] if left >= 0 else reach + 1
        above = borders[right] - position if right < len(borders) else reach + 1
        if min(below, above) > reach:
            break
        if below <= above:
            found.append(borders[left])
            left -= 1
        else:
            found.append(borders[right])
            right += 1
    return found
