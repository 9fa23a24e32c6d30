"""Intervals of estimates over clustered rows.

Shares: Wilson (1927) at the effective number of rows (Korn & Graubard 1998, Survey Methodology 24).
Means: studentised bootstrap over clusters. Ratios, pooled errors, correlations: BCa over clusters
(`shared.statistics.bootstrap`). Medians: order statistics (Conover 1999, section 3.2). The smallest
detectable effect: Bloom (1995), Evaluation Review 19. Pure functions. An undefined value is None,
and `warnings` gives the reason. A value that is not finite raises ValueError.

In all functions `keys` holds the cluster of each row. With None each row is a separate cluster.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

import numpy as np
from scipy import stats

from shared.statistics.bootstrap import (
    Resampling,
    bca_ends,
    macro_roots,
    root_ends,
    studentised_roots,
)
from shared.statistics.clusters import (
    FEW,
    VERY_FEW,
    Clustered,
    Floats,
    Integers,
    clustered,
    finite,
    in_order,
    run_places,
    spread,
    warnings,
)
from shared.statistics.wilson import wilson

Method = Literal["wilson", "studentised", "bca", "order", "t", "exact"]
Bounds = tuple[float | None, float | None]  # range of a quantity; None: unbounded on this side
OfSums = Callable[[Floats], Floats]  # (R, K) sums over rows → (R,) values, NaN: undefined
OfRows = Callable[[Floats], float]  # (N, K) rows → value, NaN: undefined
Keys = Sequence[str] | None

FLAT = 1e-12  # a variance of scaled values that is rounding
MOST_LEFT_OUT = 1_000  # blocks of clusters that a jackknife leaves out
POWER = 0.8  # with which the detectable effect would be found
UNBOUNDED: Bounds = (None, None)


@dataclass(frozen=True)
class IntervalEstimate:
    """An estimate with its interval. Undefined fields are None, and `warnings` gives the reason."""

    value: float | None
    low: float | None = None
    high: float | None = None
    method: Method | None = None
    rows: int = 0
    clusters: int = 0
    effective: float = 0.0  # equivalent number of independent rows
    se: float | None = None  # units of the value
    detectable: float | None = None  # smallest true distance found with power 0.8, same units
    left_out: int = 0  # rows without a value
    warnings: tuple[str, ...] = ()


def share(
    values: Sequence[float | None] | Floats, keys: Keys = None, how: Resampling | None = None
) -> IntervalEstimate:
    """Estimate the share of ones among values of 0 and 1. Values of None are left out and counted.
    Raises ValueError for other values."""
    how = how or Resampling()
    rows, left_out = defined_rows(values, keys)
    if not np.isin(rows.values, (0.0, 1.0)).all():
        raise ValueError("to estimate a share, all values must be 0 or 1")
    estimate = _described(rows, left_out)
    if estimate.value is None or rows.count < 2:
        return estimate
    groups = rows.equal_count
    quantile = stats.norm.isf(how.tail) if rows.single else stats.t.isf(how.tail, groups - 1)
    low, high = wilson(estimate.value, estimate.effective, float(quantile))
    least = detectable(math.sqrt(0.25 / estimate.effective), groups, how.confidence)
    least = _within(least, (0.0, 1.0))
    return replace(estimate, low=low, high=high, detectable=least, method="wilson")


def mean(
    name: str,
    values: Sequence[float | None] | Floats,
    keys: Keys = None,
    bounds: Bounds = UNBOUNDED,
    how: Resampling | None = None,
) -> IntervalEstimate:
    """Estimate a mean. Values of None are left out and counted. `name` is the quantity; it
    determines the random draws. `bounds` is the range of the quantity."""
    how = how or Resampling()
    rows, left_out = defined_rows(values, keys)
    estimate = _described(rows, left_out)
    if estimate.value is None or estimate.se is None:
        return estimate
    value, error, groups = estimate.value, estimate.se, rows.equal_count
    if error == 0:
        ends = _ends_of_equal(value, groups, bounds, how.tail)
        return _with_ends(estimate, ends, "studentised")
    least = _within(detectable(error, groups, how.confidence), bounds)
    estimate = replace(estimate, detectable=least)
    if groups < VERY_FEW:
        half = float(stats.t.isf(how.tail, groups - 1)) * error
        return _with_ends(estimate, _cut(value - half, value + half, bounds), "t")
    ends = root_ends(value, error, studentised_roots(name, rows, value, how), how.tail)
    return _with_ends(
        estimate, _cut(*_bounded(ends, estimate, bounds, how.tail), bounds), "studentised"
    )


def _bounded(
    ends: tuple[float, float], estimate: IntervalEstimate, bounds: Bounds, tail: float
) -> tuple[float, float]:
    """Replace infinite ends of an interval with the ends of Wilson's interval, if the quantity has
    a range. An end is infinite if too many resamples have no spread, for example if few rows differ
    from the rest. Wilson's interval is conservative: for a given mean, the spread is largest if all
    values are at the ends of the range."""
    (low, high), (least, most) = ends, bounds
    if least is None or most is None or estimate.value is None:
        return ends
    width = most - least
    quantile = float(stats.norm.isf(tail))
    below, above = wilson((estimate.value - least) / width, estimate.effective, quantile)
    return (
        low if math.isfinite(low) else least + width * below,
        high if math.isfinite(high) else least + width * above,
    )


def macro(
    name: str,
    strata: Sequence[tuple[Sequence[float | None] | Floats, Keys]],
    bounds: Bounds = UNBOUNDED,
    how: Resampling | None = None,
    weights: Sequence[float] | None = None,
) -> IntervalEstimate:
    """Estimate the mean of several groups' means. Each group (stratum) is resampled separately, and
    empty groups are left out. `strata` holds the values and clusters of each. `weights` has one
    value per group, >= 0; None means equal weights."""
    how = how or Resampling()
    groups = [defined_rows(*part) for part in strata]
    clustered = [rows for rows, _ in groups if rows.rows]
    present = np.array([rows.rows > 0 for rows, _ in groups], dtype=np.bool_)
    shares = (np.ones(len(strata)) if weights is None else np.array(weights))[present]
    if shares.size:
        if not (np.isfinite(shares).all() and shares.min() >= 0 and shares.sum() > 0):
            raise ValueError("weights must be at least 0, and one must be above 0")
        shares = shares / shares.mean()
    parts = [_described(rows, 0) for rows in clustered]
    means = [part.value for part in parts if part.value is not None]
    estimate = IntervalEstimate(
        float(np.mean(shares * means)) if means else None,
        rows=sum(part.rows for part in parts),
        clusters=sum(part.clusters for part in parts),
        effective=sum(part.effective for part in parts),
        left_out=sum(missing for _, missing in groups),
        warnings=tuple(dict.fromkeys(warning for part in parts for warning in part.warnings)),
    )
    errors = [part.se for part in parts if part.se is not None]
    if estimate.value is None or len(errors) < len(parts):
        return estimate
    error = float(np.sqrt(np.sum(np.square(shares * errors)))) / len(errors)
    estimate = replace(estimate, se=error)
    count = sum(rows.equal_count for rows in clustered)
    if error == 0:
        ends = _ends_of_equal(estimate.value or 0.0, count, bounds, how.tail)
        return _with_ends(estimate, ends, "studentised")
    least = _within(detectable(error, count, how.confidence), bounds)
    estimate = replace(estimate, detectable=least)
    roots = macro_roots(name, clustered, means, shares, how)
    ends = _cut(*root_ends(estimate.value or 0.0, error, roots, how.tail), bounds)
    return _with_ends(estimate, ends, "studentised")


def ratio(
    name: str, rows: Floats, of: OfSums, keys: Keys = None, how: Resampling | None = None
) -> IntervalEstimate:
    """Estimate a function of sums, such as a share or R². `of` computes it from the column sums of
    `rows`, shape (n, K)."""
    how = how or Resampling()
    ordered, codes, estimate = _of_rows(
        rows, lambda some: float(of(some.sum(axis=0)[None])[0]), keys
    )
    groups = estimate.clusters
    if estimate.value is None or groups < 2:
        return estimate
    sums = np.zeros((groups, rows.shape[1]))
    np.add.at(sums, codes, ordered)
    drawn = np.concatenate(
        [
            # a column at a time to spare memory
            of(np.stack([column[indices].sum(axis=1) for column in sums.T], axis=1))
            for indices in how.drawn(name, groups)
        ]
    )
    return _accelerated(estimate, drawn, of(sums.sum(axis=0) - sums), how)


def statistic(
    name: str, rows: Floats, of: OfRows, keys: Keys = None, how: Resampling | None = None
) -> IntervalEstimate:
    """Estimate a function of rows, shape (n, K), that needs more than their sums, such as a median.
    With many clusters the acceleration comes from a jackknife that leaves out blocks of clusters
    (Efron & Tibshirani, 1993, An Introduction to the Bootstrap, 11.5)."""
    how = how or Resampling()
    ordered, codes, estimate = _of_rows(rows, of, keys)
    groups = estimate.clusters
    if estimate.value is None or groups < 2:
        return estimate
    sizes = np.bincount(codes)
    starts = np.cumsum(sizes) - sizes
    drawn = [
        of(ordered[run_places(starts[clusters], sizes[clusters])])
        for indices in how.drawn(name, groups)
        for clusters in indices
    ]
    left = []
    borders = np.append(starts, len(rows))
    edges = borders[np.linspace(0, groups, min(groups, MOST_LEFT_OUT) + 1).astype(np.int64)]
    for start, end in pairwise(edges.tolist()):
        how.check()
        left.append(of(np.delete(ordered, slice(start, end), axis=0)))
    return _accelerated(estimate, np.array(drawn), np.array(left), how)


def _of_rows(rows: Floats, of: OfRows, keys: Keys) -> tuple[Floats, Integers, IntervalEstimate]:
    """Return the rows sorted by cluster, the cluster of each row, and the estimate without an
    interval."""
    order, codes = in_order(finite(rows), keys)
    ordered = rows[order]
    value = of(ordered) if len(rows) else math.nan
    groups = int(codes[-1]) + 1 if len(rows) else 0
    return ordered, codes, _counted(value if math.isfinite(value) else None, len(rows), groups)


def correlation(
    name: str, pairs: Floats, keys: Keys = None, how: Resampling | None = None
) -> IntervalEstimate:
    """Estimate Pearson's r of pairs, shape (n, 2), in [-1, 1]. The estimate is None if a column is
    constant or n < 3."""
    if len(pairs) < 3 or not np.ptp(finite(pairs), axis=0).all():
        return _counted(None, len(pairs), len(set(keys)) if keys is not None else len(pairs))
    return ratio(name, moments(pairs), pearson, keys, how)


def moments(pairs: Floats) -> Floats:
    """Return the moments 1, x, y, x², y², xy of each pair (x, y) for `pearson`. x and y are scaled
    to their range. No column may be constant."""
    x, y = ((pairs - pairs.mean(axis=0)) / np.ptp(pairs, axis=0)).T
    return np.stack([np.ones_like(x), x, y, x * x, y * y, x * y], axis=1)


def pearson(sums: Floats) -> Floats:
    """Return Pearson's r from the sums of 1, x, y, x², y², xy. NaN if a column is constant."""
    count, x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
    of_x, of_y = xx - x * x / count, yy - y * y / count
    constant = np.minimum(of_x, of_y) <= FLAT * count
    with np.errstate(invalid="ignore", divide="ignore"):
        r = (xy - x * y / count) / np.sqrt(of_x * of_y)
    return np.where(constant, np.nan, np.clip(r, -1, 1))


def median(
    name: str,
    values: Sequence[float | None] | Floats,
    keys: Keys = None,
    how: Resampling | None = None,
) -> IntervalEstimate:
    """Estimate a median. For single rows, the interval ends are the values of ranks j and n + 1
    - j. They need no assumption about the distribution, cover the median with at least the
    confidence, and are None if n is too small. For clusters, the interval is a BCa bootstrap."""
    how = how or Resampling()
    rows, left_out = defined_rows(values, keys)
    if not rows.single:
        estimate = statistic(name, rows.values[:, None], lambda drawn: float(np.median(drawn)),
                          [f"{code:09d}" for code in rows.codes], how)  # fmt: skip
        return replace(estimate, left_out=left_out)
    value = float(np.median(rows.values)) if rows.rows else None
    estimate = replace(_counted(value, rows.rows, rows.count), left_out=left_out)
    below = int(stats.binom.ppf(how.tail, rows.rows, 0.5)) if rows.rows else 0
    if below < 1:
        return estimate
    ordered = np.sort(rows.values)  # values alone, since every row is a separate cluster
    ends = float(ordered[below - 1]), float(ordered[rows.rows - below])
    return _with_ends(estimate, ends, "order")


def detectable(error: float, groups: float, confidence: float) -> float | None:
    """Return the smallest true distance that a two-sided test finds with power 0.8, or None for one
    cluster. `error` is the standard error, > 0, in the unit of the value. `groups` is the
    equivalent number of equal clusters."""
    if groups <= 1:
        return None
    quantiles = stats.t.ppf([(1 + confidence) / 2, POWER], groups - 1)
    return float(np.sum(quantiles)) * error


def _within(distance: float | None, bounds: Bounds) -> float | None:
    """Return the distance, or None if it exceeds the range of the quantity and cannot be
    detected."""
    least, most = bounds
    if distance is None or least is None or most is None:
        return distance
    return distance if distance <= most - least else None


def defined_rows(
    values: Sequence[float | None] | Floats, keys: Keys = None
) -> tuple[Clustered, int]:
    """Return the rows that have a value, sorted by cluster, and the number of rows without one."""
    indices = [index for index, value in enumerate(values) if value is not None]
    finite_values = [float(values[index] or 0.0) for index in indices]
    if keys is not None and len(keys) != len(values):
        raise ValueError("`keys` must have one entry for each value")
    own_keys = None if keys is None else [keys[index] for index in indices]
    return clustered(finite_values, own_keys), len(values) - len(indices)


def _described(rows: Clustered, left_out: int) -> IntervalEstimate:
    """Return the mean and its standard error, without an interval."""
    summary = spread(rows)
    if summary is None:
        return IntervalEstimate(None, left_out=left_out)
    return IntervalEstimate(
        summary.mean,
        rows=summary.rows,
        clusters=summary.clusters,
        effective=summary.effective,
        se=summary.se,
        left_out=left_out,
        warnings=tuple(warnings(rows, summary.effective)),
    )


def _counted(value: float | None, rows: int, groups: int) -> IntervalEstimate:
    """Return an estimate, without an interval, of a quantity that is not a mean. Its effective size
    is the number of clusters."""
    warnings = []
    if groups == 1:
        warnings.append("one cluster has no spread")
    elif 1 < groups < FEW:
        warnings.append(f"intervals are approximate: {groups} clusters")
    return IntervalEstimate(
        value, rows=rows, clusters=groups, effective=float(groups), warnings=tuple(warnings)
    )


def _accelerated(
    estimate: IntervalEstimate, drawn: Floats, jackknife: Floats, how: Resampling
) -> IntervalEstimate:
    ends = bca_ends(estimate.value or 0.0, drawn, jackknife, how.tail)
    if ends is None:
        return replace(
            estimate,
            warnings=(
                *estimate.warnings,
                "no interval: the value is undefined in the bootstrap's resamples",
            ),
        )
    if ends[1] - ends[0] <= FLAT * max(1.0, abs(ends[0])):  # equal values prove no certainty
        return replace(
            estimate,
            warnings=(
                *estimate.warnings,
                "no interval: all of the bootstrap's resamples give the same value",
            ),
        )
    error = float(np.std(drawn, ddof=1))
    least = detectable(error, estimate.clusters, how.confidence)
    return replace(estimate, low=ends[0], high=ends[1], method="bca", se=error, detectable=least)


def _cut(low: float, high: float, bounds: Bounds) -> tuple[float | None, float | None]:
    """Limit the ends to the quantity's range. An infinite end without a limit becomes None."""
    least, most = bounds
    low = low if least is None else max(low, least)
    high = high if most is None else min(high, most)
    return low if math.isfinite(low) else None, high if math.isfinite(high) else None


def _ends_of_equal(
    value: float, groups: float, bounds: Bounds, tail: float
) -> tuple[float | None, float | None]:
    """Return the ends of an interval when all clusters have the same value, as for a share of 0 or
    1. An end without a bound is None."""
    least, most = bounds
    share = float(tail ** (1 / groups))
    low = None if least is None else value - (1 - share) * (value - least)
    high = None if most is None else value + (1 - share) * (most - value)
    return low, high


def _with_ends(
    estimate: IntervalEstimate, ends: tuple[float | None, float | None], method: Method
) -> IntervalEstimate:
    missing = () if None not in ends else ("no interval: the data do not limit the value",)
    warnings = (*estimate.warnings, *missing)
    return replace(estimate, low=ends[0], high=ends[1], method=method, warnings=warnings)
