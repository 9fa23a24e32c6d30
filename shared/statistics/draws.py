"""Draws without replacement from placements, and how many of them a test takes.

The rule of two stages: a tail is settled by the first block of draws where enough of them reach
it; else the draws go on to the most. It is the sequential p-value of Besag & Clifford (1991),
Biometrika 78, looked at twice; the proof asks for exchangeability only, so it holds for draws
without replacement. The win rate rests on the first block alone, so that the stop does not bias it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from shared.statistics.placements import (
    MOST_COUNTED,
    MOST_RUNS,
    Placements,
    Places,
    Runs,
    Subsets,
)

Bools = NDArray[np.bool_]

PERMUTED = 20_000  # so many or fewer placements: a permutation of all ranks is drawn
BLOCK = 64  # rankings drawn at a time; part of the definition of the draws


@dataclass(frozen=True)
class TwoStages:
    """first: draws that everything begins with. most: where they end. exceedances: draws at least
    as extreme as the observed that settle a tail within the first block."""

    first: int = 199
    most: int = 999
    exceedances: int = 10

    def __post_init__(self) -> None:
        if not 1 <= self.first <= self.most or self.exceedances < 1:
            raise ValueError("draws go from `first` up to `most`, exceedances from 1")

    def settled(self, extreme: Bools) -> bool:
        """extreme: (l,) whether each draw so far, in their order, reaches the tail."""
        return int(np.count_nonzero(extreme[: self.first])) >= self.exceedances

    def p_value(self, extreme: Bools) -> float:
        """Of one tail, with the +1, (0, 1]; of the first block where that settles it.

        extreme: (l,) whether each draw is at least as extreme as the observed, in their order.
        """
        read = extreme[: self.first] if self.settled(extreme) else extreme
        return float((1 + np.count_nonzero(read)) / (1 + read.size))


def others(
    space: Placements, observed: Places, random: np.random.Generator, first: int
) -> Iterator[Places]:
    """All placements but the observed one, in uniform order; a longer draw only adds.

    first: where there are no more than so many, they are listed by rank.
    """
    for rank in ranks_of(space.count, random, first):
        found = space.at(rank)
        if found != observed:
            yield found


def other_runs(
    space: Runs, observed: Places, random: np.random.Generator, first: int
) -> Iterator[Places]:
    """As `others`. Where there are too many to rank, runs and gaps are shuffled instead."""
    if len(space.lengths) <= MOST_RUNS and space.count <= MOST_COUNTED:
        yield from others(space, observed, random, first)
        return
    gaps = space.units - sum(space.lengths) + 1
    seen = {observed}
    while True:
        order = random.permutation(space.lengths).tolist()
        chosen = np.sort(random.choice(gaps, size=len(order), replace=False)).tolist()
        found = space.placed(order, chosen)
        if found not in seen:
            seen.add(found)
            yield found


def ranks_of(count: int, random: np.random.Generator, first: int) -> Iterator[int]:
    """All ranks below `count`, each once, in uniform order; ascending where there are no more than
    `first` besides one."""
    if count - 1 <= first:
        yield from range(count)
    elif count <= PERMUTED:
        yield from random.permutation(count).tolist()
    else:
        yield from distinct_below(count, random)


def distinct_below(count: int, random: np.random.Generator) -> Iterator[int]:
    """Uniform integers below `count`, of any size, each once: without end unless all are drawn."""
    bits = (count - 1).bit_length()
    width = (bits + 7) // 8
    seen: set[int] = set()
    while len(seen) < count:
        found = int.from_bytes(random.bytes(width), "little") >> (8 * width - bits)
        if found < count and found not in seen:
            seen.add(found)
            yield found


class Rankings:
    """Uniform rankings of one text's units: the subset at each size is a ranking's first units.

    One stream a text, not one a size: the random subsets of two sizes are nested, so that all
    budgets of one explanation meet the same random explanations.
    """

    def __init__(self, random: np.random.Generator, units: int) -> None:
        self._random = random
        self._units = units
        self._rankings: list[Places] = []

    def __getitem__(self, place: int) -> Places:
        """The ranking at this place, the units from the first to the last."""
        while place >= len(self._rankings):
            keys = self._random.random((BLOCK, self._units))
            self._rankings += map(tuple, np.argsort(keys, axis=1, kind="stable").tolist())
        return self._rankings[place]

    def subset(self, place: int, size: int) -> Places:
        return tuple(sorted(self[place][:size]))

    def others(self, size: int, observed: Places, first: int, most: int) -> Iterator[Places]:
        """Distinct subsets of this size but the observed, in the order of the rankings.

        Where there are no more than `first`: all, by rank; no more than `most`: behind the first
        block the rest by rank, since rankings repeat ever more.
        """
        space = Subsets(self._units, size)
        if space.count - 1 <= first:
            yield from (one for one in map(space.at, range(space.count)) if one != observed)
            return
        head = list(islice(self._distinct(size, observed), first))
        yield from head
        if space.count - 1 <= most:
            seen = {*head, observed}
            yield from (one for one in map(space.at, range(space.count)) if one not in seen)
            return
        yield from islice(self._distinct(size, observed), first, None)

    def _distinct(self, size: int, observed: Places) -> Iterator[Places]:
        seen = {observed}
        place = 0
        while True:
            found = self.subset(place, size)
            if found not in seen:
                seen.add(found)
                yield found
            place += 1


def draws_of(space: Placements, most: int) -> int:
    """How many draws there can be: at most so many, and no more than other placements."""
    return min(most, space.count - 1)


def two_sided_p(design: TwoStages, above: Bools, below: Bools) -> float:
    """Twice the smaller of both tails' p, at most 1."""
    return min(1.0, 2 * min(design.p_value(above), design.p_value(below)))


def goes_on(design: TwoStages, tails: Sequence[Bools]) -> bool:
    """Whether some tail is not settled by the first block."""
    return not all(design.settled(tail) for tail in tails)
