"""Tests of a mean, and of two systems on the same texts.

The first test flips the signs of the cluster sums and studentises them: Canay, Romano & Shaikh
(2017), Econometrica 85. It assumes that differences are symmetric about the hypothesis. The second
is Student's t with the sandwich error (Liang & Zeger 1986), which assumes many clusters. A verdict
needs both. Pure functions.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from shared.statistics.bootstrap import Resampling
from shared.statistics.clusters import Clustered, Floats, clustered, spread
from shared.statistics.intervals import Bounds, IntervalEstimate, Keys, defined_rows, mean
from shared.statistics.ranks import chance_sd
from shared.statistics.seeds import generator

FLIPS = 9_999
ENUMERATED = 13  # clusters up to which all sign patterns are used
LEAST_P = float(np.finfo(np.float64).tiny)  # a p-value is never 0, even where floats underflow
SAME = 1e-12  # relative: t of patterns that differ only by rounding
BYTE = 8
MOST_BITS = 62
PATTERNS_AT_ONCE = 1_000


@dataclass(frozen=True)
class MeanTest:
    """A test that a mean equals the hypothesis. Fields are None if there are no rows."""

    t: float | None  # None where it is infinite for lack of spread: see p_randomization
    p_t: float | None  # (0, 1], two-sided, of Student's t with G* - 1 degrees of freedom
    p_randomization: float | None  # (0, 1], two-sided, of sign flips of whole clusters
    rows: int
    clusters: int

    @property
    def p_value(self) -> float | None:
        """Return the larger of `p_t` and `p_randomization`."""
        p_values = [p for p in (self.p_t, self.p_randomization) if p is not None]
        return max(p_values, default=None)


def mean_test(rows: Clustered, hypothesis: float, seed: int = 0, name: str = "mean") -> MeanTest:
    """Test whether the mean is `hypothesis`, two-sided. The test is undefined without rows. The
    p-value is 1 for one cluster, and if all rows equal the hypothesis."""
    summary = spread(rows)
    if summary is None:
        return MeanTest(None, None, None, 0, 0)
    p_flips = sign_flip_p(rows.sums(about=hypothesis), rows.sizes, seed, name)
    if summary.se is None:
        return MeanTest(None, 1.0, 1.0, summary.rows, summary.clusters)
    if summary.se == 0:
        return MeanTest(None, p_flips, p_flips, summary.rows, summary.clusters)
    t = (summary.mean - hypothesis) / summary.se
    p = max(float(2 * stats.t.sf(abs(t), summary.equal_clusters - 1)), LEAST_P)
    return MeanTest(t, p, p_flips, summary.rows, summary.clusters)


def sign_flip_p(sums: Floats, sizes: Floats, seed: int, name: str) -> float:
    """Return the two-sided p-value, (0, 1], of a sign-flip test. `sums` holds each cluster's sum of
    differences from the hypothesis, and `sizes` its number of rows. Up to 13 clusters use all sign
    patterns. More use 9,999 distinct random patterns, and the observed pattern is counted too."""
    groups = sums.size
    if groups <= ENUMERATED:
        # |t| of a pattern and of its opposite are equal, so the last cluster keeps its sign. The
        # first pattern flips nothing: it is the observed one, with the same rounding as the others.
        signs = 1.0 - 2.0 * _bits(np.arange(2 ** max(groups - 1, 0)), groups)
        flipped = _studentised(signs @ sums, signs @ (sizes * sums), sums, sizes)
        return float(np.mean(flipped >= flipped[0] * (1 - SAME)))
    observed = _studentised(np.array([sums.sum()]), np.array([np.sum(sizes * sums)]), sums, sizes)
    exceeding, even = 0, bool(np.all(sizes == sizes[0]))
    for patterns in _patterns(groups, generator(seed, "signs", name, groups)):
        total = _signed_sums(patterns, sums)
        weighted = total * sizes[0] if even else _signed_sums(patterns, sizes * sums)
        flipped = _studentised(total, weighted, sums, sizes)
        exceeding += int(np.count_nonzero(flipped >= observed[0] * (1 - SAME)))
    return (1 + exceeding) / (1 + FLIPS)


def min_flip_p(clusters: int) -> float:
    """Return the smallest two-sided p-value that sign flips of this many clusters can give,
    (0, 1]."""
    return max(2.0 ** (1 - clusters), 1 / (FLIPS + 1)) if clusters else 1.0


def _studentised(total: Floats, weighted: Floats, sums: Floats, sizes: Floats) -> Floats:
    """Return |t| for each pattern of sign flips of the clusters. `total` is the sum after the
    flips, `weighted` the same sum weighted by cluster size."""
    groups, rows = sums.size, float(sizes.sum())
    mean = total / rows
    squares = np.sum(sums**2) - 2 * mean * weighted + mean**2 * np.sum(sizes**2)
    flat = squares <= SAME * np.sum(sums**2)
    error = np.sqrt(np.maximum(squares, 0) * groups / max(1, groups - 1)) / rows
    infinite = np.where(np.abs(total) > SAME * np.sum(np.abs(sums)), np.inf, 0.0)
    return np.where(flat, infinite, np.abs(mean) / np.where(flat, 1.0, error))


def _bits(numbers: NDArray[np.int64], width: int) -> Floats:
    """Return the bits of each number, shape (numbers, width), lowest bit first."""
    return ((numbers[:, None] >> np.arange(width)) & 1).astype(np.float64)


def _patterns(groups: int, random: np.random.Generator) -> Iterator[NDArray[np.uint8]]:
    """Yield blocks of random sign patterns, 9,999 in total. A pattern has one bit per cluster,
    packed in bytes. For few clusters, all patterns are distinct and flip at least one sign."""
    if groups > MOST_BITS:  # repeated patterns are too unlikely to matter
        width = -(-groups // BYTE)
        for start in range(0, FLIPS, PATTERNS_AT_ONCE):
            count = min(PATTERNS_AT_ONCE, FLIPS - start)
            yield np.frombuffer(random.bytes(count * width), np.uint8).reshape(count, width)
        return
    patterns = np.empty(0, np.int64)
    while patterns.size < FLIPS:
        more = np.concatenate([patterns, random.integers(1, 2**groups, size=FLIPS, dtype=np.int64)])
        patterns = more[np.sort(np.unique(more, return_index=True)[1])]
    yield patterns[:FLIPS].astype("<i8").view(np.uint8).reshape(FLIPS, BYTE)


def _signed_sums(patterns: NDArray[np.uint8], values: Floats) -> Floats:
    """Return for each packed sign pattern the sum of `values` with these signs. Eight values are
    handled per look-up."""
    padded = np.zeros(patterns.shape[1] * BYTE)
    padded[: values.size] = values
    signs = 1.0 - 2.0 * _bits(np.arange(2**BYTE), BYTE)
    table = (signs[:, None, :] * padded.reshape(1, -1, BYTE)).sum(axis=2).T  # (G / 8, 256)
    flat = np.ascontiguousarray(table).ravel()
    indices = patterns + np.arange(table.shape[0], dtype=np.int32)[None, :] * 2**BYTE
    return np.asarray(np.take(flat, indices).sum(axis=1))


@dataclass(frozen=True)
class PairedTest:
    """The test of two systems on the same texts. Differences are new - baseline. Undefined fields
    are None."""

    difference: IntervalEstimate
    test: MeanTest
    effect: float | None  # mean difference in its standard deviations; None where they are equal
    higher: int  # where new is larger
    equal: int
    lower: int


def paired(
    name: str,
    differences: Sequence[float] | Floats,
    keys: Keys = None,
    bounds: Bounds = (None, None),
    how: Resampling | None = None,
) -> PairedTest:
    """Test the differences (new - baseline) of two systems on the same texts."""
    how = how or Resampling()
    rows, _ = defined_rows(differences, keys)
    values = rows.values
    deviation = float(np.std(values, ddof=1)) if values.size > 1 else 0.0
    return PairedTest(
        difference=mean(name, differences, keys, bounds, how),
        test=mean_test(rows, 0.0, how.seed, name),
        effect=float(np.mean(values)) / deviation if deviation > SAME else None,
        higher=int(np.count_nonzero(values > 0)),
        equal=int(np.count_nonzero(values == 0)),
        lower=int(np.count_nonzero(values < 0)),
    )


def wilcoxon_p(rows: Clustered) -> float | None:
    """Return the two-sided p-value, (0, 1], of the signed-rank test on the clusters' means. Zero
    means are left out. Return None if all are zero. Source: Wilcoxon (1945), Biometrics Bulletin 1.
    """
    means = rows.sums() / rows.sizes
    differing = means[means != 0]
    return float(stats.wilcoxon(differing).pvalue) if differing.size else None


def omnibus_z(win_rates: Floats, draws: Sequence[int], keys: Keys = None) -> float | None:
    """Return (mean - 1/2) / sd of the win rates W, the statistic of a test that all explanations
    are random.

    `win_rates` are mid-ranks, `draws` the number M of random samples behind each, and `keys`
    the cluster of each. Without ties M * W is uniform on 0..M, so Var W = (M + 2) / (12 M).
    Ties reduce the variance and make the test conservative. The mean of a cluster counts as one
    W with the mean variance of its members, which is conservative, too."""
    if win_rates.size == 0:
        return None
    variances = np.array([chance_sd(count) ** 2 for count in draws])
    if keys is not None:
        rates, spreads = clustered(win_rates, keys), clustered(variances, keys)
        win_rates, variances = rates.sums() / rates.sizes, spreads.sums() / spreads.sizes
    return float(np.sum(win_rates - 0.5) / math.sqrt(math.fsum(variances)))


def normal_p(z: float) -> float:
    """Return the two-sided p-value of a standard normal z."""
    return float(2 * stats.norm.sf(abs(z)))
