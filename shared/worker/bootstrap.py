"""Means with percentile bootstrap intervals over results.

Source: Efron & Tibshirani (1993), An Introduction to the Bootstrap, section 13.3.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from shared.batch_reports import BatchReportRequest, Interval
from shared.job_context import checking

DRAWS_AT_ONCE = 4_000_000  # indices in memory: 32 MB


def mean_interval(
    name: str, values: Iterable[float | None], request: BatchReportRequest
) -> Interval:
    """The mean of what is defined, with its interval.

    name:   of the quantity; each has draws of its own under the request's seed.
    values: one a result; None where undefined, which is left out of mean and count.

    The ends are null for fewer than two observations: one result has no spread.
    """
    observed = np.array([value for value in values if value is not None], dtype=np.float64)
    if observed.size == 0:
        return Interval(value=None, low=None, high=None, of=0)
    mean = float(np.mean(observed))
    if observed.size == 1:
        return Interval(value=mean, low=None, high=None, of=1)
    generator = np.random.default_rng([request.seed, zlib.crc32(name.encode())])
    means = np.concatenate(list(_means(observed, request.resamples, generator)))
    tail = (1 - request.confidence) / 2
    low, high = np.quantile(means, [tail, 1 - tail])
    return Interval(value=mean, low=float(low), high=float(high), of=observed.size)


def _means(
    observed: NDArray[np.float64], resamples: int, generator: np.random.Generator
) -> Iterator[NDArray[np.float64]]:
    """(resamples,) means of resamples of the observed (N,), some at a time."""
    at_once = max(1, DRAWS_AT_ONCE // observed.size)
    for start in checking(range(0, resamples, at_once)):
        count = min(at_once, resamples - start)
        picked = generator.integers(observed.size, size=(count, observed.size))
        yield observed[picked].mean(axis=1)
