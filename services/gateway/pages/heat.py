"""A text as a heat map of its tokens: stretches of one warmth, and those of a rationale outlined.

Neighbours of the same warmth are one stretch, so that a thousand tokens stay a light page.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

LEVELS = 9


@dataclass(frozen=True, slots=True)
class Warm:
    """A token. start, end: character offsets (code points), end exclusive. level: -9 to 9."""

    start: int
    end: int
    level: int = 0
    outlined: bool = False


@dataclass(frozen=True, slots=True)
class Stretch:
    """Characters of one warmth."""

    text: str
    level: int

    @property
    def heat(self) -> str:
        """Its CSS class; empty where it is neither warm nor cold."""
        if not self.level:
            return ""
        return f"heat-{'p' if self.level > 0 else 'n'}{abs(self.level)}"


@dataclass(frozen=True, slots=True)
class Run:
    """Stretches that are outlined together, or not at all."""

    stretches: tuple[Stretch, ...]
    outlined: bool


def level(value: float | None, largest: float) -> int:
    """The value as a share of the largest magnitude, in ninths: -9 to 9."""
    if value is None or largest <= 0:
        return 0
    return round(LEVELS * (value / largest))


def runs(text: str, tokens: Iterable[Warm]) -> tuple[Run, ...]:
    """The text in order, whole: joined, the stretches are the text."""
    covering = _covering(len(text), _disjoint(tokens, len(text)))
    return tuple(
        Run(tuple(_stretches(text, list(group))), outlined)
        for outlined, group in groupby(covering, key=lambda token: token.outlined)
    )


def stretches(found: Iterable[Run]) -> int:
    """How many elements a page needs for these: what they weigh."""
    return sum(run.outlined + sum(1 for stretch in run.stretches if stretch.level) for run in found)


def _stretches(text: str, tokens: Sequence[Warm]) -> Iterator[Stretch]:
    for warmth, group in groupby(tokens, key=lambda token: token.level):
        same = list(group)
        yield Stretch(text[same[0].start : same[-1].end], warmth)


def _disjoint(tokens: Iterable[Warm], length: int) -> list[Warm]:
    """In order, without overlaps: of tokens that are parts of one character the warmest counts."""
    found: list[Warm] = []
    for token in sorted(tokens, key=lambda token: (token.start, token.end)):
        reached = found[-1].end if found else 0
        start, end = max(token.start, reached), min(token.end, length)
        if start < end:
            found.append(replace(token, start=start, end=end))
        elif found and token.start < token.end <= reached:
            found[-1] = _both(found[-1], token)
    return found


def _both(first: Warm, second: Warm) -> Warm:
    warmth = max(first.level, second.level, key=abs)
    return replace(first, level=warmth, outlined=first.outlined or second.outlined)


def _covering(length: int, tokens: Sequence[Warm]) -> Iterator[Warm]:
    """The tokens and what lies between them: as its neighbours are where these are alike."""
    before = Warm(0, 0)
    for token in tokens:
        if before.end < token.start:
            same = token.level if token.level == before.level else 0
            outlined = token.outlined and before.outlined
            yield Warm(before.end, token.start, same, outlined)
        yield token
        before = token
    if before.end < length:
        yield Warm(before.end, length)
