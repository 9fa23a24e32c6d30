"""Percentile bootstrap intervals of functions of sums over items: shares, pooled errors, R^2.

Source: Efron & Tibshirani (1993), An Introduction to the Bootstrap, section 13.3. Paired: what
belongs to one item is drawn together. Means have `shared.worker.bootstrap`.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from shared.batch_reports import BatchReportRequest, Interval
from shared.job_context import checking

Floats = NDArray[np.float64]
Statistic = Callable[[Floats], Floats]  # (..., K) sums over items → (...,) values, NaN: undefined

DRAWS_AT_ONCE = 4_000_000  # indices in memory: 32 MB


def interval(
    name: str, parts: Floats, statistic: Statistic, request: BatchReportRequest
) -> Interval:
    """A function of sums over items with its percentile interval.

    parts: (N, K), what each item adds to the K sums.

    The ends are null for fewer than two items, and where a draw leaves the statistic undefined.
    """
    count = parts.shape[0]
    value = float(statistic(parts.sum(axis=0))) if count else float("nan")
    if not np.isfinite(value):
        return Interval(value=None, low=None, high=None, of=count)
    if count == 1:
        return Interval(value=value, low=None, high=None, of=1)
    generator = np.random.default_rng([request.seed, zlib.crc32(name.encode())])
    drawn = _drawn(parts, statistic, request.resamples, generator)
    if not np.isfinite(drawn).all():
        return Interval(value=value, low=None, high=None, of=count)
    tail = (1 - request.confidence) / 2
    low, high = np.quantile(drawn, [tail, 1 - tail])
    return Interval(value=value, low=float(low), high=float(high), of=count)


def _drawn(
    parts: Floats, statistic: Statistic, resamples: int, generator: np.random.Generator
) -> Floats:
    """(resamples,) values of the statistic over items drawn with replacement."""
    count = parts.shape[0]
    at_once = max(1, DRAWS_AT_ONCE // (count * parts.shape[1]))
    found = []
    for start in checking(range(0, resamples, at_once)):
        picked = generator.integers(count, size=(min(at_once, resamples - start), count))
        found.append(statistic(parts[picked].sum(axis=1)))
    return np.concatenate(found)
