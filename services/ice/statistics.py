"""Statistics over examples: intervals, the exact null's z-test, false discovery rates.

Pure functions: arrays in, numbers out; None is "undefined".
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import stats

from services.ice.kernel import Floats, chance_sd


def pearson(resampled: Floats) -> Floats:
    """(B, n, 2) to (B,) correlations; NaN where a column is constant."""
    centred = resampled - resampled.mean(axis=1, keepdims=True)
    products = (centred[:, :, 0] * centred[:, :, 1]).sum(axis=1)
    squares = (centred**2).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Floats = products / np.sqrt(squares[:, 0] * squares[:, 1])
    return found


def median_interval(values: Floats, confidence: float) -> tuple[float | None, float | None]:
    """Distribution-free: order statistics by the binomial; None where n is too small for it.

    P(x_(j) <= median <= x_(n+1-j)) >= confidence, whatever the distribution (Conover, 1999).
    """
    count = values.size
    if count == 0:
        return None, None
    below = int(stats.binom.ppf((1 - confidence) / 2, count, 0.5))  # smallest j with cdf >= tail
    if below < 1:
        return None, None
    ordered = np.sort(values)
    return float(ordered[below - 1]), float(ordered[count - below])


def z_of_chance(win_rates: Floats, draws: Sequence[int]) -> float | None:
    """(mean - 1/2) / sd under the null that every rationale is a random one.

    win_rates: (N,) mid-rank. draws: (N,) M of each. Without ties M W is uniform on 0..M, so that
    Var W = (M + 2) / (12 M); ties make it smaller and the test conservative. Source: specs of the
    exact null, README.md.
    """
    if win_rates.size == 0:
        return None
    sd = float(np.sqrt(sum(chance_sd(count) ** 2 for count in draws)))
    return float(np.sum(win_rates - 0.5) / sd)


def two_sided_p(z: float) -> float:
    """Of a standard normal."""
    return float(2 * stats.norm.sf(abs(z)))


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values (Benjamini & Hochberg 1995)."""
    if not p_values:
        return []
    return [float(q) for q in stats.false_discovery_control(p_values, method="bh")]


def needed_at_least_p(examples: int, least_p: float, alpha: float) -> int:
    """How many examples must reach the least p before Benjamini-Hochberg rejects any.

    The smallest r with least_p <= r alpha / N; more than N: nothing can ever be rejected.
    """
    return max(1, int(np.ceil(round(least_p * examples / alpha, 9))))


def correlation(first: Floats, second: Floats) -> tuple[float | None, float | None, float | None]:
    """(Pearson's r, Spearman's rho, p of r); None where a side is constant or n < 3."""
    if first.size < 3 or np.ptp(first) == 0 or np.ptp(second) == 0:
        return None, None, None
    r = stats.pearsonr(first, second)
    rho = stats.spearmanr(first, second)
    return float(r.statistic), float(rho.statistic), float(r.pvalue)
