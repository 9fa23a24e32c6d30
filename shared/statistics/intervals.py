"""Percentile bootstrap intervals over the results of a batch, and what every batch report says.

Source: Efron & Tibshirani (1993), An Introduction to the Bootstrap, section 13.3. Paired: what
belongs to one result is drawn together.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from shared.contracts import (
    BatchReportRequest,
    Histogram,
    Interval,
    LanguageScores,
    MetricContract,
    Scored,
)
from shared.job_context import checking
from shared.settings import SERVICE_VERSION

Floats = NDArray[np.float64]
Statistic = Callable[[Floats], Floats]  # (R, N, K) drawn observations → (R,) values, NaN: undefined
BatchRequest = TypeVar("BatchRequest", bound=BatchReportRequest)

DRAWS_AT_ONCE = 4_000_000  # indices in memory: 32 MB


def of_sums(statistic: Callable[[Floats], Floats]) -> Statistic:
    """A function of the K sums over observations (shares, pooled errors, R²) as a statistic."""
    return lambda drawn: statistic(drawn.sum(axis=1))


@dataclass(frozen=True)
class BatchStatistics(Generic[BatchRequest]):
    """Counts and intervals over some results, under one request's seed, resamples and level.

    Each quantity has a name, and under it draws of its own.
    """

    contract: MetricContract
    rows: Sequence[Scored[Any, Any]]
    request: BatchRequest

    def envelope(self) -> dict[str, Any]:
        """What every batch report has: `MyBatchReport(**over.envelope(), …)`."""
        scores = [row.report.score for row in self.rows]
        undefined = sum(score is None for score in scores)
        return {
            "metric": self.contract.name,
            "scored": len(scores),
            "undefined": undefined,
            "score": self.mean("score", scores),
            "reasons": self._reasons(),
            "by_language": self._by_language(),
            "warnings": () if len(scores) > undefined else ("no result has a score",),
            "seed": self.request.seed,
            "resamples": self.request.resamples,
            "confidence": self.request.confidence,
            "service_version": SERVICE_VERSION,
        }

    def _reasons(self) -> dict[str, int]:
        """Why scores are null, the most frequent reason first."""
        of_scores = (
            {reason.code for reason in row.report.reasons if reason.component == "score"}
            for row in self.rows
        )
        return dict(Counter(chain.from_iterable(map(sorted, of_scores))).most_common())

    def _by_language(self) -> dict[str, LanguageScores]:
        found: dict[str, list[float | None]] = {}
        for row in self.rows:
            if row.report.languages is not None:
                found.setdefault(row.report.languages.text.code, []).append(row.report.score)
        return {
            code: LanguageScores(
                results=len(scores),
                undefined=scores.count(None),
                score=self.mean(f"score in {code}", scores),
            )
            for code, scores in sorted(found.items())
        }

    def mean(self, name: str, values: Iterable[float | None]) -> Interval:
        """The mean of what is defined. values: one a result; None: left out of mean and count.

        The ends are null for fewer than two observations: one result has no spread.
        """
        observed = np.array([value for value in values if value is not None], dtype=np.float64)
        if observed.size == 0:
            return _nothing(0)
        mean = float(np.mean(observed))
        if observed.size == 1:
            return Interval(value=mean, low=None, high=None, of=1)
        drawn = self._drawn(self._generator(name), observed, lambda rows: rows.mean(axis=1))
        return self._interval(mean, drawn, observed.size)

    def macro(self, name: str, groups: Sequence[Floats]) -> Interval:
        """The mean of the groups' means, each resampled by itself; empty groups are left out."""
        filled = [group for group in groups if group.size]
        count = sum(group.size for group in filled)
        if not filled:
            return _nothing(0)
        value = float(np.mean([group.mean() for group in filled]))
        if count < 2:
            return Interval(value=value, low=None, high=None, of=count)
        generator = self._generator(name)
        means = [self._drawn(generator, group, lambda rows: rows.mean(axis=1)) for group in filled]
        return self._interval(value, np.mean(means, axis=0), count)

    def statistic(self, name: str, parts: Floats, of: Statistic) -> Interval:
        """Any statistic of (N, K) observations.

        The ends are null for fewer than two, and where a draw leaves the statistic undefined.
        """
        count = len(parts)
        value = float(of(parts[None])[0]) if count else float("nan")
        if not np.isfinite(value):
            return _nothing(count)
        if count == 1:
            return Interval(value=value, low=None, high=None, of=1)
        return self._interval(value, self._drawn(self._generator(name), parts, of), count)

    def _generator(self, name: str) -> np.random.Generator:
        return np.random.default_rng([self.request.seed, zlib.crc32(name.encode())])

    def _drawn(self, generator: np.random.Generator, rows: Floats, of: Statistic) -> Floats:
        """(resamples,) values over observations drawn with replacement, some at a time."""
        at_once = max(1, DRAWS_AT_ONCE // rows.size)
        found = []
        for start in checking(range(0, self.request.resamples, at_once)):
            count = min(at_once, self.request.resamples - start)
            found.append(of(rows[generator.integers(len(rows), size=(count, len(rows)))]))
        return np.concatenate(found)

    def _interval(self, value: float, drawn: Floats, count: int) -> Interval:
        if not np.isfinite(drawn).all():
            return Interval(value=value, low=None, high=None, of=count)
        tail = (1 - self.request.confidence) / 2
        low, high = np.quantile(drawn, [tail, 1 - tail])
        return Interval(value=value, low=float(low), high=float(high), of=count)


def _nothing(count: int) -> Interval:
    return Interval(value=None, low=None, high=None, of=count)


BINS = 20


def histogram_of(values: NDArray[np.float64], bins: int = BINS) -> Histogram | None:
    """Counts of (M,) finite values in equal bins over their range; None for no values.

    Bins are half open, [a, b), but the last, which holds the greatest value. Where all values are
    the same there is one bin of no width. NumPy's own histogram refuses ranges of a few floats'
    width, which the scores of a saturated model have.
    """
    if values.size == 0:
        return None
    low, high = float(np.min(values)), float(np.max(values))
    if low == high:
        return Histogram(low=low, high=high, counts=(values.size,))
    places = ((values - low) / (high - low) * bins).astype(np.int64)
    counts = np.bincount(places.clip(max=bins - 1), minlength=bins)
    return Histogram(low=low, high=high, counts=tuple(counts.tolist()))
