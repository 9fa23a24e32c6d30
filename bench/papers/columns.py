"""The columns of the papers' tables. A column summarises a number over observations, with an
interval, and compares two models on the rows that both answered.

Random draws depend only on the kind of number, so equal rows have equal intervals and p-values in
every table. Sharing draws affects neither intervals nor Holm's test.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np

from bench.papers.data_rows import DataRow
from bench.papers.macro_f1 import Decided, macro_f1_difference, macro_f1_estimate
from shared.reports.score_splits import split_test
from shared.statistics import intervals
from shared.statistics.bootstrap import Resampling
from shared.statistics.clusters import Floats, clustered
from shared.statistics.comparison import mean_test, paired
from shared.statistics.intervals import Bounds, IntervalEstimate

Outcome = Literal["answered", "refused", "unparsable", "failed"]
UNIT: Bounds = (0.0, 1.0)


@dataclass(frozen=True)
class Observation:
    """The outcome of one row with one model. `setting` is the prompt, or the source of
    explanations.

    `result` is the metric's result in the paper's form, or None.
    """

    model: str
    setting: str
    row: DataRow
    outcome: Outcome
    jobs: tuple[str, ...]
    decision: str | None = None
    result: Any = None
    error: str | None = None

    @property
    def dataset(self) -> str:
        return self.row.dataset


Value = Callable[[Observation], float | None]
ObservedPair = tuple[Observation, Observation]


@dataclass(frozen=True)
class ColumnTest:
    """The difference first - second on the rows where both have a value. `p` is in (0, 1], or None
    without such rows."""

    difference: IntervalEstimate
    p: float | None


class TableColumn(Protocol):
    """A column of a table."""

    @property
    def name(self) -> str: ...

    @property
    def title(self) -> str: ...

    def has(self, one: Observation) -> bool: ...

    def estimate(self, some: Sequence[Observation], how: Resampling) -> IntervalEstimate: ...

    def compare(self, pairs: Sequence[ObservedPair], how: Resampling) -> ColumnTest:
        """Compare two models on the pairs in which both observations count."""
        ...

    def against_chance(self, some: Sequence[Observation], how: Resampling) -> float | None:
        """Return the p-value of the mean against chance, (0, 1], or None if the chance level is
        unknown."""
        ...


@dataclass(frozen=True)
class MeanColumn:
    """The mean of a number. `chance` is its value for a random explanation."""

    name: str
    title: str
    value: Value
    bounds: Bounds = UNIT
    chance: float | None = None

    def has(self, one: Observation) -> bool:
        return self.value(one) is not None

    def estimate(self, some: Sequence[Observation], how: Resampling) -> IntervalEstimate:
        values, keys = self._known(some)
        return intervals.mean("mean", values, keys, self.bounds, how)

    def compare(self, pairs: Sequence[ObservedPair], how: Resampling) -> ColumnTest:
        differences, keys = self._differences(pairs)
        found = paired("difference", differences, keys, self._of_differences, how)
        return ColumnTest(found.difference, found.test.p_value)

    def contrast(
        self, first: Sequence[Observation], second: Sequence[Observation], how: Resampling
    ) -> ColumnTest:
        """Return the difference of the means of two lines without common rows. The test permutes
        rows between the lines."""
        (one, own_keys), (other, other_keys) = self._known(first), self._known(second)
        keys = [*own_keys, *other_keys]
        if not one or not other:
            return ColumnTest(IntervalEstimate(None), None)
        values = np.array([*one, *other])
        places = np.array([0] * len(one) + [1] * len(other), dtype=np.int64)
        sides = np.stack([places == 0, places == 1], axis=1).astype(np.float64)
        rows = np.concatenate([sides * values[:, None], sides], axis=1)
        test = split_test("contrast", values, places, keys, how)
        p = None if test is None else test.p_value
        return ColumnTest(intervals.ratio("contrast", rows, _gap_of_means, keys, how), p)

    def against_chance(self, some: Sequence[Observation], how: Resampling) -> float | None:
        if self.chance is None:
            return None
        rows = clustered(*self._known(some))
        return mean_test(rows, self.chance, how.seed).p_value

    @property
    def _of_differences(self) -> Bounds:
        least, most = self.bounds
        if least is None or most is None:
            return intervals.UNBOUNDED
        return least - most, most - least

    def _known(self, some: Sequence[Observation]) -> tuple[list[float], list[str]]:
        found = [(self.value(one), one.row.cluster) for one in some]
        known = [(value, key) for value, key in found if value is not None]
        return [value for value, _ in known], [key for _, key in known]

    def _differences(self, pairs: Sequence[ObservedPair]) -> tuple[list[float], list[str]]:
        found = [(self.value(a), self.value(b), a.row.cluster) for a, b in pairs]
        known = [(a - b, key) for a, b, key in found if a is not None and b is not None]
        return [difference for difference, _ in known], [key for _, key in known]


def _gap_of_means(sums: Floats) -> Floats:
    """Return the differences of the two lines' means for R permutations, or NaN if a line has no
    value."""
    empty = np.minimum(sums[:, 2], sums[:, 3]) < 1
    counts = np.maximum(sums[:, 2:], 1.0)
    means = sums[:, :2] / counts
    return np.where(empty, np.nan, means[:, 0] - means[:, 1])


@dataclass(frozen=True)
class ShareColumn(MeanColumn):
    def estimate(self, some: Sequence[Observation], how: Resampling) -> IntervalEstimate:
        values, keys = self._known(some)
        return intervals.share(values, keys, how)


@dataclass(frozen=True)
class MacroF1Column:
    """Macro-F1 of decisions against gold labels."""

    name: str
    title: str
    decided: Callable[[Observation], Decided | None]

    def has(self, one: Observation) -> bool:
        return self.decided(one) is not None

    def estimate(self, some: Sequence[Observation], how: Resampling) -> IntervalEstimate:
        found = [(self.decided(one), one.row.cluster) for one in some]
        known = [(decided, key) for decided, key in found if decided is not None]
        keys = [key for _, key in known]
        return macro_f1_estimate([one for one, _ in known], keys, how)

    def compare(self, pairs: Sequence[ObservedPair], how: Resampling) -> ColumnTest:
        known: list[tuple[Decided, Decided]] = []
        keys: list[str] = []
        for first, second in pairs:
            a, b = self.decided(first), self.decided(second)
            if a is not None and b is not None:
                known.append((a, b))
                keys.append(first.row.cluster)
        return ColumnTest(*macro_f1_difference(known, keys, how))

    def against_chance(self, some: Sequence[Observation], how: Resampling) -> float | None:
        return None
