"""What a design can find: how often it gives a verdict, and what it costs. Exact binomial sums."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from shared.statistics.draws import TwoStages

Probabilities = NDArray[np.float64]


@dataclass(frozen=True)
class VerdictPower:
    """verdict: how often the explanation is called better than random. goes_on: how often the
    draws go on past the first block. draws: how many are made on average."""

    verdict: float
    goes_on: float
    draws: float


def verdict(
    beat_rate: float | None, design: TwoStages, alpha: float = 0.05, *, sides: int = 2
) -> VerdictPower:
    """Of one test. sides: 2, each tail at alpha / 2, or 1, whose other tail keeps no draws going.

    beat_rate: probability that the explanation beats a random one, [0, 1], ties none; None: it is
    itself a random one, so that its beat rate is uniform.
    """
    tail = alpha / sides
    first, later = design.first, design.most - design.first
    counts = np.arange(first + 1)
    losses = _losses(beat_rate, first)
    open_tail = counts < design.exceedances
    settled_p = np.where(open_tail, np.inf, (counts + 1) / (first + 1))
    early = float(np.sum(losses[settled_p <= tail + 1e-12]))
    most_losses = math.floor(tail * (design.most + 1) + 1e-9) - 1
    late = sum(
        float(losses[count]) * _at_most(most_losses - count, later, beat_rate, (count, first))
        for count in range(min(design.exceedances, first + 1))
    )
    other_tail = (first - counts < design.exceedances) & (sides == 2)
    goes_on = float(np.sum(losses[open_tail | other_tail])) if later else 0.0
    return VerdictPower(early + late, goes_on, first + later * goes_on)


def _losses(beat_rate: float | None, draws: int) -> Probabilities:
    counts = np.arange(draws + 1)
    if beat_rate is None:
        return np.full(draws + 1, 1 / (draws + 1))
    return np.asarray(stats.binom.pmf(counts, draws, 1 - beat_rate))


def _at_most(losses: int, draws: int, beat_rate: float | None, seen: tuple[int, int]) -> float:
    """P(so many losses or fewer in further draws), seen: losses among draws so far."""
    if losses < 0:
        return 0.0
    if beat_rate is None:
        lost, of = seen
        return float(stats.betabinom.cdf(min(losses, draws), draws, lost + 1, of - lost + 1))
    return float(stats.binom.cdf(losses, draws, 1 - beat_rate))


MOST_DRAWS = 100_000  # that are planned with
MOST_TEXTS = 10_000_000
FAR = 4.0  # noncentrality above which the other tail is under 1e-5, and SciPy's may be NaN


def draws_needed(
    beat_rate: float, power: float = 0.8, alpha: float = 0.05, *, sides: int = 2
) -> int | None:
    """The fewest draws with which a test of this beat rate reaches its power, up to `MOST_DRAWS`.

    One block without stages. beat_rate: as `verdict`. None where it lies on the wrong side of
    1 - alpha / sides, or where more draws would be needed.
    """
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
    """How many texts a mean needs to be told from a fixed value, or two systems from each other.

    effect: the distance in standard deviations over texts, > 0; of two systems that of their
    paired differences. Of the two-sided t-test of a mean (noncentral t); at least 2; None above
    `MOST_TEXTS`.
    """
    if effect <= 0:
        raise ValueError("an effect is greater than 0")
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
    """How many equal values rule out that their mean is further off than `reach`.

    reach: as a share of the distance to the end of the quantity's range, > 0. The bound is that of
    a share of 0: 1 − (α/2)^(1/n) (Clopper–Pearson).
    """
    if reach <= 0:
        raise ValueError("a reach is greater than 0")
    return 2 if reach >= 1 else max(2, math.ceil(math.log(alpha / 2) / math.log1p(-reach)))


def _t_power(effect: float, texts: int, alpha: float) -> float:
    quantile = float(stats.t.isf(alpha / 2, texts - 1))
    shift = effect * math.sqrt(texts)
    above = float(stats.nct.sf(quantile, texts - 1, shift))
    return above if shift > FAR else above + float(stats.nct.cdf(-quantile, texts - 1, shift))


def spread_upper(spread: float, texts: int, confidence: float = 0.8) -> float | None:
    """The upper end of a one-sided interval of a standard deviation over so many normal values.

    Source: Browne (1995), Statistics in Medicine 14: a study planned with a pilot's own spread has
    its power in half of all cases, with this end in 80 %. None for fewer than two texts.
    """
    if texts < 2:
        return None
    return spread * math.sqrt((texts - 1) / float(stats.chi2.ppf(1 - confidence, texts - 1)))
