"""Random samples, without replacement, of the other passages of a text that an explanation could
have marked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count, repeat

import numpy as np
from numpy.typing import NDArray

from shared.statistics.placements import (
    MOST_COUNTED,
    MOST_RUNS,
    Placements,
    Places,
    Product,
    Runs,
)

PERMUTED = 20_000  # up to this many placements a permutation of all ranks is drawn
BLOCK = 64  # rankings drawn at a time; part of the definition of the draws


def placed(space: Placements, random: np.random.Generator, first: int) -> Iterator[Places]:
    """Yield each placement (set of a text's units) once, in uniform random order. More draws
    continue the same sequence. If there are at most `first` placements besides the observed one,
    they are yielded in ascending rank. If there are too many to rank, the iterator does not end."""
    parts = space.parts if isinstance(space, Product) else (space,)
    runs = [part for part in parts if isinstance(part, Runs)]
    few = all(len(part.lengths) <= MOST_RUNS for part in runs)
    if few and (not runs or space.count <= MOST_COUNTED):
        yield from map(space.at, ranks_of(space.count, random, first))
    else:
        yield from _once((_shuffled(space, random) for _ in repeat(None)), set())


def others(
    space: Placements, observed: Places, random: np.random.Generator, first: int
) -> Iterator[Places]:
    return (places for places in placed(space, random, first) if places != observed)


def _shuffled(space: Placements, random: np.random.Generator) -> Places:
    if isinstance(space, Product):
        pairs = zip(space.parts, space.members, strict=True)
        return tuple(sorted(members[p] for part, members in pairs for p in _shuffled(part, random)))
    if not isinstance(space, Runs):
        return space.at(next(distinct_below(space.count, random)))
    gaps = space.units - sum(space.lengths) + 1
    order = random.permutation(space.lengths).tolist()
    return space.place(order, np.sort(random.choice(gaps, size=len(order), replace=False)).tolist())


def ranks_of(count: int, random: np.random.Generator, first: int) -> Iterator[int]:
    """Yield all ranks below `count` once. The order is uniform random, or ascending if there are at
    most `first` + 1 ranks."""
    if count - 1 <= first:
        yield from range(count)
    elif count <= PERMUTED:
        yield from random.permutation(count).tolist()
    else:
        yield from distinct_below(count, random)


def distinct_below(count: int, random: np.random.Generator) -> Iterator[int]:
    """Yield distinct random integers below `count` until all are drawn. `count` may have any
    size."""
    bits = (count - 1).bit_length()
    width = (bits + 7) // 8
    drawn: set[int] = set()
    while len(drawn) < count:
        number = int.from_bytes(random.bytes(width), "little") >> (8 * width - bits)
        if number < count and number not in drawn:
            drawn.add(number)
            yield number


Choice = Callable[[Sequence[int]], Places]  # a ranking → its subset, ascending


class Rankings:
    """Random rankings of a text's units (tokens or words). A random subset of size k is the first k
    units of a ranking. All sizes use the same rankings, so that all budgets of an explanation are
    compared with the same random explanations."""

    def __init__(self, random: np.random.Generator, units: int) -> None:
        self._random = random
        self._units = units
        self._blocks: list[NDArray[np.uint32]] = []  # (BLOCK, units) each

    def __getitem__(self, index: int) -> Places:
        """Return the ranking at this index: the units from first to last."""
        number, row = divmod(index, BLOCK)
        while number >= len(self._blocks):
            keys = self._random.random((BLOCK, self._units))
            self._blocks.append(np.argsort(keys, axis=1, kind="stable").astype(np.uint32))
        return tuple(self._blocks[number][row].tolist())

    def distinct(self, space: Placements, choice: Choice, most: int) -> Iterator[Places]:
        """Yield distinct random subsets, in the order of the rankings. If there are at most `most`
        subsets besides the observed one, yield all of them. `space` holds all subsets."""
        if space.count - 1 <= most:
            return map(space.at, range(space.count))
        return _once((choice(self[index]) for index in count()), set())


def first_units(size: int) -> Choice:
    """Return a function that chooses the first `size` units (tokens or words) of a ranking, in text
    order."""
    return lambda ranking: tuple(sorted(ranking[:size]))


def first_of_strata(labels: Sequence[str], sizes: Mapping[str, int]) -> Choice:
    """Return a function that chooses the highest-ranked units of each group. `labels` holds the
    group of each unit, `sizes` the number to choose from each group."""

    def choose(ranking: Sequence[int]) -> Places:
        left, units = dict(sizes), list[int]()
        for unit in ranking:
            if left.get(labels[unit], 0):
                left[labels[unit]] -= 1
                units.append(unit)
        return tuple(sorted(units))

    return choose


def _once(placed: Iterable[Places], seen: set[Places]) -> Iterator[Places]:
    """Yield each placement (set of positions) once, without those already in `seen`."""
    for places in placed:
        if places not in seen:
            seen.add(places)
            yield places
