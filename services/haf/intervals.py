"""Means with percentile bootstrap intervals over results.

Source: Efron & Tibshirani (1993), An Introduction to the Bootstrap, section 13.3; scipy's.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable

import numpy as np
from scipy.stats import bootstrap

from shared.batch_reports import BatchReportRequest, Interval

AT_ONCE = 4_000_000  # numbers in memory


def mean_interval(
    name: str, values: Iterable[float | None], request: BatchReportRequest
) -> Interval:
    """The mean of the defined values, with its interval.

    name: of the quantity; each has draws of its own under the request's seed. values: one a
    result; None where undefined, which is left out. Fewer than two observations have no interval.
    """
    observed = np.array([value for value in values if value is not None], dtype=np.float64)
    if observed.size < 2:
        value = float(observed[0]) if observed.size else None
        return Interval(value=value, low=None, high=None, of=observed.size)
    drawn = bootstrap(
        (observed,),
        np.mean,
        n_resamples=request.resamples,
        batch=max(1, AT_ONCE // observed.size),
        confidence_level=request.confidence,
        method="percentile",
        rng=np.random.default_rng([request.seed, zlib.crc32(name.encode())]),
    )
    return Interval(
        value=float(np.mean(observed)),
        low=float(drawn.confidence_interval.low),
        high=float(drawn.confidence_interval.high),
        of=observed.size,
    )
