"""Means with percentile bootstrap intervals over results.

Source: Efron & Tibshirani (1993), An Introduction to the Bootstrap, section 13.3. Pure functions.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shared.batch_reports import BatchReportRequest, Interval
from shared.job_context import checking
from shared.worker.bootstrap import mean_interval

Floats = NDArray[np.float64]
DRAWS_AT_ONCE = 4_000_000  # indices in memory: 32 MB


@dataclass(frozen=True, slots=True)
class Resampling:
    """Intervals under one request's seed, level and number of resamples."""

    request: BatchReportRequest

    def mean(self, name: str, values: Iterable[float | None]) -> Interval:
        """The mean of what is defined. name: of the quantity; each has draws of its own."""
        return mean_interval(name, values, self.request)

    def macro(self, name: str, groups: Sequence[Floats]) -> Interval:
        """The mean of the groups' means, each resampled by itself; empty groups are left out."""
        filled = [group for group in groups if group.size]
        count = sum(group.size for group in filled)
        if not filled:
            return Interval(value=None, low=None, high=None, of=0)
        value = float(np.mean([group.mean() for group in filled]))
        if count < 2:
            return Interval(value=value, low=None, high=None, of=count)
        generator = self._generator(name)
        means = [self._drawn(generator, group, lambda rows: rows.mean(axis=1)) for group in filled]
        return self._interval(value, np.mean(means, axis=0), count)

    def statistic(self, name: str, rows: Floats, of: Callable[[Floats], Floats]) -> Interval:
        """Of (N, C) observations any statistic: `of` maps (R, N, C) to (R,)."""
        value = float(of(rows[None])[0])
        if len(rows) < 2:
            return Interval(value=value, low=None, high=None, of=len(rows))
        return self._interval(value, self._drawn(self._generator(name), rows, of), len(rows))

    def _drawn(
        self, generator: np.random.Generator, rows: Floats, of: Callable[[Floats], Floats]
    ) -> Floats:
        at_once = max(1, DRAWS_AT_ONCE // rows.size)
        found = []
        for start in checking(range(0, self.request.resamples, at_once)):
            count = min(at_once, self.request.resamples - start)
            found.append(of(rows[generator.integers(len(rows), size=(count, len(rows)))]))
        return np.concatenate(found)

    def _interval(self, value: float, drawn: Floats, count: int) -> Interval:
        tail = (1 - self.request.confidence) / 2
        low, high = np.quantile(drawn, [tail, 1 - tail])
        return Interval(value=value, low=float(low), high=float(high), of=count)

    def _generator(self, name: str) -> np.random.Generator:
        return np.random.default_rng([self.request.seed, zlib.crc32(name.encode())])
