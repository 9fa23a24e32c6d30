"""The sets of a text's units (tokens or words) that an explanation could have marked instead.

A `Placements` object counts these sets exactly and returns the set at each rank. Uniform random
ranks give uniform random sets. Units are numbered from 0, and a set is an ascending list of unit
numbers. Ranks use the combinatorial number system: Knuth, The Art of Computer Programming 4A,
7.2.1.3."""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, groupby
from math import comb, factorial, prod

Places = tuple[int, ...]
MOST_RUNS = 64
MOST_COUNTED = 10**300


class Placements(ABC):
    """All possible placements of an explanation: sets of a text's units. `count` is exact and may
    have any size."""

    @property
    @abstractmethod
    def count(self) -> int:
        """Return the number of placements (sets of unit numbers), including the observed one,
        >= 1."""

    @abstractmethod
    def at(self, rank: int) -> Places:
        """Return the placement (a set of unit numbers) at this rank, 0 <= rank < count."""


@dataclass(frozen=True)
class Subsets(Placements):
    """All choices of `size` out of `units` units."""

    units: int
    size: int

    def __post_init__(self) -> None:
        if not 0 <= self.size <= self.units:
            raise ValueError(f"`size` is {self.size}, but must be from 0 to {self.units}")

    @property
    def count(self) -> int:
        return comb(self.units, self.size)

    def at(self, rank: int) -> Places:
        return _combination(rank, self.units, self.size)


@dataclass(frozen=True)
class Words(Placements):
    """All sets of `words` whole words with `tokens` tokens in total. `sizes` holds the number of
    tokens, >= 1, of each word of the text."""

    sizes: tuple[int, ...]
    words: int
    tokens: int

    def __post_init__(self) -> None:
        if not self.count:
            raise ValueError(
                f"no {self.words} words of the text have {self.tokens} tokens in total"
            )

    @cached_property
    def count(self) -> int:
        return self._count_combinations(0, self.words, self.tokens)

    @cached_property
    def _groups(self) -> list[tuple[int, list[int]]]:
        """Return the words grouped by their number of tokens, ascending."""
        by_size: dict[int, list[int]] = {}
        for index, size in enumerate(self.sizes):
            by_size.setdefault(size, []).append(index)
        return sorted(by_size.items())

    @cached_property
    def _counts(self) -> dict[tuple[int, int, int], int]:
        return {}

    def _count_combinations(self, group: int, words: int, tokens: int) -> int:
        """Count the sets of `words` words with `tokens` tokens in total, from this and later
        groups. A group holds the words with the same number of tokens."""
        if group == len(self._groups):
            return int(words == 0 and tokens == 0)
        key = (group, words, tokens)
        if key not in self._counts:
            self._counts[key] = sum(
                comb(len(self._groups[group][1]), count)
                * self._count_combinations(
                    group + 1, words - count, tokens - count * self._groups[group][0]
                )
                for count in self._valid_range(group, words, tokens)
            )
        return self._counts[key]

    def _valid_range(self, group: int, words: int, tokens: int) -> range:
        size, members = self._groups[group]
        return range(min(len(members), words, tokens // size) + 1)

    def at(self, rank: int) -> Places:
        _check(rank, self.count)
        words, tokens, indices = self.words, self.tokens, list[int]()
        for group, (size, members) in enumerate(self._groups):
            for count in self._valid_range(group, words, tokens):
                inside = comb(len(members), count)
                later = self._count_combinations(group + 1, words - count, tokens - count * size)
                if rank < inside * later:
                    break
                rank -= inside * later
            here, rank = divmod(rank, later)
            indices += [members[index] for index in _combination(here, len(members), count)]
            words, tokens = words - count, tokens - count * size
        return tuple(sorted(indices))


@dataclass(frozen=True)
class Runs(Placements):
    """All arrangements of runs (consecutive units) with these lengths in any order, separated by at
    least one free unit. Each set of units is counted once."""

    units: int
    lengths: tuple[int, ...]

    def __post_init__(self) -> None:
        if min(self.lengths, default=1) < 1 or self._free + 1 < len(self.lengths):
            raise ValueError(f"runs of the lengths {self.lengths} do not fit in {self.units} units")

    @cached_property
    def _free(self) -> int:
        return self.units - sum(self.lengths)

    @cached_property
    def _gaps(self) -> int:
        return comb(self._free + 1, len(self.lengths))

    @cached_property
    def count(self) -> int:
        return _orders(Counter(self.lengths)) * self._gaps

    def at(self, rank: int) -> Places:
        _check(rank, self.count)
        order, gaps = divmod(rank, self._gaps)
        combination = _combination(gaps, self._free + 1, len(self.lengths))
        return self.place(_ordering(order, Counter(self.lengths)), combination)

    def place(self, lengths: Sequence[int], gaps: Sequence[int]) -> Places:
        """Return the positions of all units in the runs. `gaps` holds the total number of free
        units before each run, in ascending order."""
        before = [0, *accumulate(lengths)]
        starts = [gap + before[index] for index, gap in enumerate(gaps)]
        return _units(starts, lengths)


@dataclass(frozen=True)
class RunsWithGaps(Placements):
    """All arrangements of runs (consecutive units) with these lengths and gaps, each in any order,
    at any position. `gaps` holds the numbers of free units between neighbouring runs, each >= 1."""

    units: int
    lengths: tuple[int, ...]
    gaps: tuple[int, ...]

    def __post_init__(self) -> None:
        wrong = len(self.gaps) != max(0, len(self.lengths) - 1)
        if wrong or min((*self.lengths, *self.gaps), default=1) < 1 or self._max_shift < 1:
            raise ValueError(
                f"runs of the lengths {self.lengths} with the gaps {self.gaps} do not fit "
                f"in {self.units} units"
            )

    @cached_property
    def _max_shift(self) -> int:
        return self.units - sum(self.lengths) - sum(self.gaps) + 1

    @cached_property
    def count(self) -> int:
        return _orders(Counter(self.lengths)) * _orders(Counter(self.gaps)) * self._max_shift

    def at(self, rank: int) -> Places:
        _check(rank, self.count)
        rank, start = divmod(rank, self._max_shift)
        order, between = divmod(rank, _orders(Counter(self.gaps)))
        lengths = _ordering(order, Counter(self.lengths))
        gaps = _ordering(between, Counter(self.gaps))
        steps = [length + gap for length, gap in zip(lengths[:-1], gaps, strict=True)]
        return _units(list(accumulate(steps, initial=start)) if lengths else [], lengths)


@dataclass(frozen=True)
class Product(Placements):
    """Combinations of one placement (set of units) in each of several parts of a text.
    `members` holds the units of each part."""

    parts: tuple[Placements, ...]
    members: tuple[Places, ...]

    @cached_property
    def count(self) -> int:
        return prod(part.count for part in self.parts)

    def at(self, rank: int) -> Places:
        _check(rank, self.count)
        units: list[int] = []
        for part, members in zip(reversed(self.parts), reversed(self.members), strict=True):
            rank, part_rank = divmod(rank, part.count)
            units += [members[index] for index in part.at(part_rank)]
        return tuple(sorted(units))


def strata(labels: Sequence[str], observed: Places) -> Product:
    """Return all sets with as many units of each group (stratum) as the observed set. `labels`
    holds the group of each unit."""
    counts = Counter(labels[index] for index in observed)
    members = {
        name: tuple(index for index, label in enumerate(labels) if label == name)
        for name in sorted(set(labels))
    }
    parts = tuple(Subsets(len(indices), counts[name]) for name, indices in members.items())
    return Product(parts, tuple(members.values()))


def runs_of(places: Places) -> list[tuple[int, int]]:
    """Return the maximal runs of consecutive units, each as (first, last + 1)."""
    runs = []
    for _, group in groupby(enumerate(places), key=lambda pair: pair[1] - pair[0]):
        run = [index for _, index in group]
        runs.append((run[0], run[-1] + 1))
    return runs


def overlap(first: Places, second: Places) -> float:
    """Return the Jaccard overlap: shared units divided by all units of both, [0, 1]. It is 0 for
    two empty sets."""
    return overlaps(first, [second])[0]


def overlaps(observed: Places, placements: Iterable[Places]) -> list[float]:
    ours, size = frozenset(observed), len(observed)
    shared = ((len(ours.intersection(theirs)), len(theirs)) for theirs in placements)
    return [both / (size + their - both) if size or their else 0.0 for both, their in shared]


def _units(starts: Sequence[int], lengths: Sequence[int]) -> Places:
    pairs = zip(starts, lengths, strict=True)
    return tuple(unit for start, length in pairs for unit in range(start, start + length))


def _check(rank: int, count: int) -> None:
    if not 0 <= rank < count:
        raise ValueError(f"`rank` is {rank}, but must be from 0 to {count - 1}")


def _combination(rank: int, available: int, size: int) -> Places:
    """Return the subset of `size` units out of `available` that has the index `rank` in
    lexicographic order."""
    _check(rank, comb(available, size))
    units: list[int] = []
    unit, ways = 0, comb(available, size)  # choices of the missing units from `unit` on
    while len(units) < size:
        left, still = available - unit, size - len(units)
        starting_here = ways * still // left
        if rank < starting_here:
            units.append(unit)
            ways = starting_here
        else:
            rank -= starting_here
            ways -= starting_here
        unit += 1
    return tuple(units)


def _orders(counted: Mapping[int, int]) -> int:
    """Return the number of distinct orders of a multiset, given the count of each element."""
    repeats = prod(factorial(count) for count in counted.values())
    return factorial(sum(counted.values())) // repeats


def _ordering(rank: int, counted: Counter[int]) -> tuple[int, ...]:
    """Return the ordering at this rank, where smaller values come first."""
    left = Counter(counted)
    order = []
    ways = _orders(left)
    for still in range(sum(left.values()), 0, -1):
        values = sorted(value for value in left if left[value])
        ends = list(accumulate(ways * left[value] // still for value in values))
        index = bisect_right(ends, rank)
        rank -= ends[index - 1] if index else 0
        ways = ways * left[values[index]] // still
        left[values[index]] -= 1
        order.append(values[index])
    return tuple(order)
