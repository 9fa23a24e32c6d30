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


def verdict(beat_rate: float | None, design: TwoStages, alpha: float = 0.05) -> VerdictPower:
    """Of one two-sided test, each tail at alpha / 2.

    beat_rate: probability that the explanation beats a random one, [0, 1], ties none; None: it is
    itself a random one, so that its beat rate is uniform.
    """
    first, later = design.first, design.most - design.first
    counts = np.arange(first + 1)
    losses = _losses(beat_rate, first)
    open_tail = counts < design.exceedances
    settled_p = np.where(open_tail, np.inf, (counts + 1) / (first + 1))
    early = float(np.sum(losses[settled_p <= alpha / 2 + 1e-12]))
    most_losses = math.floor(alpha / 2 * (design.most + 1) + 1e-9) - 1
    late = sum(
        float(losses[count]) * _at_most(most_losses - count, later, beat_rate, (count, first))
        for count in range(min(design.exceedances, first + 1))
    )
    goes_on = float(np.sum(losses[open_tail | (first - counts < design.exceedances)]))
    if not later:
        goes_on = 0.0
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


def draws_needed(beat_rate: float, power: float, alpha: float = 0.05) -> int | None:
    """The fewest draws with which a test of this beat rate reaches its power, up to 100,000.

    One block without stages; None where the beat rate lies on the wrong side of 1 - alpha / 2.
    """
    if beat_rate <= 1 - alpha / 2:
        return None
    draws = math.ceil(2 / alpha) - 1
    while draws <= 100_000:
        most = math.floor(alpha / 2 * (draws + 1) + 1e-9) - 1
        if stats.binom.cdf(most, draws, 1 - beat_rate) >= power:
            return draws
        draws += math.ceil(2 / alpha)
    return None


def texts_needed(effect: float, power: float = 0.8, alpha: float = 0.05) -> int:
    """How many texts a paired comparison needs. effect: mean difference in its sds, > 0.

    Of the two-sided t-test of a mean (noncentral t); at least 2.
    """
    if effect <= 0:
        raise ValueError("an effect is greater than 0")
    low, high = 1, 2
    while _t_power(effect, high, alpha) < power:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _t_power(effect, middle, alpha) >= power else (middle, high)
    return high


def _t_power(effect: float, texts: int, alpha: float) -> float:
    quantile = float(stats.t.isf(alpha / 2, texts - 1))
    shift = effect * math.sqrt(texts)
    above = stats.nct.sf(quantile, texts - 1, shift)
    return float(above + stats.nct.cdf(-quantile, texts - 1, shift))
