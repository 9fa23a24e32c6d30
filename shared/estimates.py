"""What every batch report says: counts, means with their intervals, and what to doubt.

The one place where the estimates of `shared.statistics` become messages.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np

from shared.contracts import BatchReportRequest, Histogram, Interval, MetricContract, Scored
from shared.job_context import check
from shared.settings import SERVICE_VERSION
from shared.statistics import intervals
from shared.statistics.bootstrap import Resampling
from shared.statistics.clusters import Floats
from shared.statistics.intervals import UNBOUNDED, Bounds, IntervalEstimate, Keys, OfSums

BatchRequest = TypeVar("BatchRequest", bound=BatchReportRequest)
Values = Iterable[float | None] | Floats

UNIT: Bounds = (0.0, 1.0)
BINS = 20


@dataclass(frozen=True)
class BatchStatistics(Generic[BatchRequest]):
    """Counts and intervals over some results, under one request's seed, resamples and level.

    Each quantity has a name, and under it draws of its own. keys, everywhere: the cluster of each
    value; None: each is one of its own.
    """

    contract: MetricContract
    rows: Sequence[Scored[Any, Any]]
    request: BatchRequest

    @cached_property
    def how(self) -> Resampling:
        request = self.request
        return Resampling(request.seed, request.resamples, request.confidence, check)

    def envelope(self) -> dict[str, Any]:
        """What every batch report has: `MyBatchReport(**over.envelope(), …)`."""
        scores = [row.report.score for row in self.rows]
        undefined = sum(score is None for score in scores)
        ranges = {row.report.range for row in self.rows}
        bounds = ranges.pop() if len(ranges) == 1 else UNBOUNDED
        found = intervals.mean("score", scores, bounds=bounds, how=self.how)
        nothing = () if len(scores) > undefined else ("no result has a score",)
        return {
            "metric": self.contract.name,
            "scored": len(scores),
            "undefined": undefined,
            "score": as_interval(found),
            "warnings": (*nothing, *found.warnings, *self._mixtures()),
            "seed": self.request.seed,
            "resamples": self.request.resamples,
            "confidence": self.request.confidence,
            "service_version": SERVICE_VERSION,
        }

    def _mixtures(self) -> Iterator[str]:
        """What is averaged though it is not one thing."""
        origins = [row.report.provenance for row in self.rows]
        for what, kinds in (
            ("variants", {origin.variant for origin in origins}),
            ("metric versions", {origin.metric_version for origin in origins}),
        ):
            if len(kinds) > 1:
                yield f"results of several {what} are averaged: {', '.join(sorted(kinds))}"

    def mean(
        self, name: str, values: Values, keys: Keys = None, bounds: Bounds = UNBOUNDED
    ) -> Interval:
        """The mean of what is defined; None is left out of mean and count.

        bounds: what the quantity can be. No ends for fewer than two clusters: one has no spread.
        """
        return as_interval(intervals.mean(name, list(values), keys, bounds, self.how))

    def share(self, values: Values, keys: Keys = None) -> Interval:
        """Of ones among zeros and ones; None is left out."""
        return as_interval(intervals.share(list(values), keys, self.how))

    def macro(self, name: str, groups: Sequence[Floats], bounds: Bounds = UNBOUNDED) -> Interval:
        """The mean of the groups' means, each resampled by itself; empty groups are left out."""
        strata = [(group, None) for group in groups]
        return as_interval(intervals.macro(name, strata, bounds, self.how))

    def ratio(self, name: str, parts: Floats, of: OfSums, keys: Keys = None) -> Interval:
        """A function of the K sums over (N, K) parts: shares of sums, pooled errors, R².

        No ends where a resample leaves it undefined.
        """
        return as_interval(intervals.ratio(name, parts, of, keys, self.how))

    def correlation(self, name: str, pairs: Floats, keys: Keys = None) -> Interval:
        """Pearson's r of (N, 2) pairs; None where a column is constant or N < 3."""
        return as_interval(intervals.correlation(name, pairs, keys, self.how))

    def median(self, name: str, values: Values, keys: Keys = None) -> Interval:
        """No ends where there are too few values for the confidence."""
        return as_interval(intervals.median(name, list(values), keys, self.how))


def as_interval(found: IntervalEstimate) -> Interval:
    """An estimate as a message. Its warnings are the caller's to pass on."""
    return Interval(
        value=found.value,
        low=found.low,
        high=found.high,
        of=found.rows,
        method=found.method,
        clusters=found.clusters,
        effective=found.effective,
        se=found.se,
        detectable=found.detectable,
    )


def histogram_of(values: Floats, bins: int = BINS) -> Histogram | None:
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
