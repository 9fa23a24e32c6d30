"""The number of draws and texts that a test needs to reach its power."""

from __future__ import annotations

import math

from scipy import stats

MOST_DRAWS = 100_000  # largest number of draws in a plan
MOST_TEXTS = 10_000_000
FAR = 4.0  # noncentrality above which the other tail is under 1e-5, and SciPy's may be NaN


def draws_needed(
    beat_rate: float, power: float = 0.8, alpha: float = 0.05, *, sides: int = 2
) -> int | None:
    """Return the fewest random explanations (draws), up to `MOST_DRAWS`, with which a test reaches
    its power. `beat_rate` is the probability that the explanation scores higher than a random one,
    [0, 1], without ties. If it is at most 1 - `alpha` / `sides`, or if more draws would be needed,
    the result is None."""
    tail = alpha / sides
    if beat_rate <= 1 - tail:
        return None
    losses = 0
    while (draws := math.ceil((losses + 1) / tail - 1e-9) - 1) <= MOST_DRAWS:
        if stats.binom.cdf(losses, draws, 1 - beat_rate) >= power:
            return draws
        losses += 1
    return None


def texts_needed(effect: float, power: float = 0.8, alpha: float = 0.05) -> int | None:
    """Return the number of texts needed to show that a mean differs from a fixed value, or that two
    systems differ.

    `effect` is the distance in standard deviations over texts, > 0; for two systems, of their
    paired differences. The test is the two-sided t-test of a mean (noncentral t). The result is at
    least 2, or None above `MOST_TEXTS`.
    """
    if effect <= 0:
        raise ValueError("`effect` must be greater than 0")
    low, high = 1, 2
    while _t_power(effect, high, alpha) < power:
        low, high = high, 2 * high
        if low > MOST_TEXTS:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _t_power(effect, middle, alpha) >= power else (middle, high)
    return high if high <= MOST_TEXTS else None


def equal_texts_needed(reach: float, alpha: float = 0.05) -> int:
    """Return how many texts are needed to show, if all have the same value, that the true mean is
    at most `reach` away. `reach` is a share (> 0) of the distance to the end of the range. Uses the
    Clopper–Pearson bound for a share of 0: 1 − (α/2)^(1/n)."""
    if reach <= 0:
        raise ValueError("`reach` must be greater than 0")
    return 2 if reach >= 1 else max(2, math.ceil(math.log(alpha / 2) / math.log1p(-reach)))


def _t_power(effect: float, texts: int, alpha: float) -> float:
    quantile = float(stats.t.isf(alpha / 2, texts - 1))
    shift = effect * math.sqrt(texts)
    above = float(stats.nct.sf(quantile, texts - 1, shift))
    return above if shift > FAR else above + float(stats.nct.cdf(-quantile, texts - 1, shift))


def spread_upper(spread: float, texts: int, confidence: float = 0.8) -> float | None:
    """Return an upper bound of a standard deviation that was estimated from a pilot study, or None
    for fewer than two texts. A study planned with the estimate itself reaches its power in half of
    all cases, and with this bound in 80 %. Source: Browne (1995), Statistics in Medicine 14."""
    if texts < 2:
        return None
    return spread * math.sqrt((texts - 1) / float(stats.chi2.ppf(1 - confidence, texts - 1)))
