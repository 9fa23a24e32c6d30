"""A correlation as a column of a paper's table: Pearson's r of two numbers of each observation.

As in ICE's batch report, p is that of a t test over the means of each text, because rows of one
text are not independent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bench.papers.columns import ColumnTest, Observation, ObservedPair, Value
from bench.papers.exchange_test import exchange_difference
from services.ice.batch_report import correlation as tested
from shared.statistics import intervals
from shared.statistics.bootstrap import Resampling
from shared.statistics.clusters import Floats
from shared.statistics.intervals import IntervalEstimate


@dataclass(frozen=True)
class CorrelationColumn:
    """Pearson's r of two numbers, [-1, 1]. None if one of them is constant, or for fewer than 3
    rows."""

    name: str
    title: str
    x: Value
    y: Value

    def has(self, one: Observation) -> bool:
        return self._pair(one) is not None

    def estimate(self, some: Sequence[Observation], how: Resampling) -> IntervalEstimate:
        pairs, keys = self._known(some)
        return intervals.correlation("correlation", pairs, keys, how)

    def compare(self, pairs: Sequence[ObservedPair], how: Resampling) -> ColumnTest:
        both = [pair for pair in pairs if self.has(pair[0]) and self.has(pair[1])]
        sides = [self._known([pair[side] for pair in both]) for side in (0, 1)]
        (first, keys), (second, _) = sides
        if len(both) < 3 or not all(np.ptp(one, axis=0).all() for one in (first, second)):
            return ColumnTest(IntervalEstimate(None, rows=len(both)), None)
        ours, others = np.split(intervals.moments(np.concatenate([first, second])), 2)
        name = "difference of correlations"
        found = exchange_difference(name, (ours, others), intervals.pearson, keys, how)
        return ColumnTest(*found)

    def against_chance(self, some: Sequence[Observation], how: Resampling) -> float | None:
        pairs, keys = self._known(some)
        return tested(pairs[:, 0], pairs[:, 1], keys).p_pearson

    def _pair(self, one: Observation) -> tuple[float, float] | None:
        x, y = self.x(one), self.y(one)
        return None if x is None or y is None else (x, y)

    def _known(self, some: Sequence[Observation]) -> tuple[Floats, list[str]]:
        found = [(pair, one.row.cluster) for one in some if (pair := self._pair(one)) is not None]
        pairs = np.array([pair for pair, _ in found], dtype=np.float64).reshape(-1, 2)
        return pairs, [key for _, key in found]
