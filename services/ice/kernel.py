"""The formulas of ICE, which tests if the marked tokens preserve the prediction better than random
ones.

Pure functions of arrays that return None for an undefined value. Higher means more faithful.
Source: Basu & Chakraborty, arXiv:2603.18579, Eq. 1 and Algorithm 1. P-values: Phipson & Smyth
(2010)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from services.ice.report import Reading, Verdict
from shared.statistics import ranks
from shared.statistics.families import standardised

Floats = NDArray[np.float64]

WIN_RATE_OF_CHANCE = 0.5
CUT = 1e-6  # probabilities of 0 and 1 have no log odds
TIED_DIGITS = 12


def verdict(p: float, alpha: float, *, upwards: bool) -> Verdict:
    """Return the verdict at level alpha: `inconclusive` if p is above it, else `faithful` or
    `anti-faithful`, depending on `upwards`."""
    if p > alpha:
        return "inconclusive"
    return "faithful" if upwards else "anti-faithful"


def interaction(full: Floats, rationale: Floats, without: Floats, empty: Floats) -> Floats:
    """Return how strongly the marked tokens r and the rest of the text x interact. It is 0 for a
    model that is additive in log odds. Positive values mean synergy, negative values redundancy.

    The value is g(x) - g(r) - g(x without r) + g(empty), for the log odds g of probabilities
    clipped by 1e-6. All arrays have the same shape. Source: Grabisch & Roubens (1999), Int. J. Game
    Theory 28, for two players.
    """
    whole, alone, rest, nothing = map(log_odds, (full, rationale, without, empty))
    return np.asarray(whole - alone - rest + nothing)


def log_odds(probabilities: Floats) -> Floats:
    """Return the log odds of probabilities, clipped to [1e-6, 1 - 1e-6]."""
    inside = np.clip(probabilities, CUT, 1 - CUT)
    return np.asarray(np.log(inside) - np.log1p(-inside))


def joint_evidence(kept: Floats, without: Floats) -> Floats:
    """Return how much each token set matters, by sufficiency and necessity together: g(kept) -
    g(without), for log odds g in standard deviations over all sets.

    The arrays have the probabilities with only the set's tokens, and with all others. They start
    with the marked tokens, followed by M random sets, shape (M + 1,)."""
    sides = np.array([log_odds(kept), -log_odds(without)])
    return np.asarray(standardised(sides, both_sides=False).sum(axis=0))


def reading(
    sufficiency: Verdict | None,
    necessity: Verdict | None,
    direction: int,
    joint: Verdict | None = None,
) -> Reading:
    """Combine the verdicts on sufficiency, on necessity and on both together (`joint`) into one
    reading. `direction` is the sign of a significant interaction, else 0."""
    sides = {sufficiency, necessity}
    if None in sides:
        return "undefined"
    if sides == {"undecidable"}:
        return "undecidable"
    if "anti-faithful" in (*sides, joint):
        return "against"
    enough, needed = sufficiency == "faithful", necessity == "faithful"
    if enough and needed:
        return "cause"
    if enough:
        return "redundant" if direction < 0 else "sufficient"
    if needed:
        return "partner" if direction > 0 else "needed"
    return "relevant" if joint == "faithful" else "no evidence"


def score_sd(pools: Floats) -> float:
    """Return the standard deviation of the score of an uninformative explanation.

    `pools`, of shape (O, M + 1), has the scores of the tested token set and of M random ones, with
    each of O operators. The standard deviation is over the mid-ranks of each set among the others,
    averaged over operators. For one operator without ties it is √((M + 2) / (12 M)).
    """
    ranked = stats.rankdata(np.round(pools, TIED_DIGITS), axis=1)  # 1..M + 1, ties in the middle
    rates = (ranked - 1) / (pools.shape[1] - 1)
    return float(np.std(np.mean(rates, axis=0)))


def null_sd(null: Floats, ddof: int) -> float | None:
    """Return the standard deviation of the random scores, or None if there are at most
    `ddof`."""
    return float(np.std(null, ddof=ddof)) if null.size > ddof else None


def effect(observed: float, null: Floats, ddof: int = 1) -> float | None:
    """Return the effect size, (observed - mean) / sd of the null distribution, without bounds. It
    is None if the sd is 0 (below 1e-12), which means that all random token sets score alike.

    Deviates: the paper calls it Cohen's d, with ddof 0. It is a z-score, so the thresholds 0.2,
    0.5, 0.8 do not apply.
    """
    sd = null_sd(null, ddof)
    if sd is None or sd <= ranks.TIE:
        return None
    return float((observed - np.mean(null)) / sd)


def nsr(rationale: float, full: float, empty: float | None, epsilon: float) -> float | None:
    """Return the share of the score that the marked tokens r retain (NSR, Eq. 1 of the ICE paper).
    It is (s(r) - s(empty)) / (s(x) - s(empty)), without bounds. 1 means that everything is
    retained, 0 that nothing is. The result is None if s(empty) is unknown or the denominator is
    below epsilon in magnitude."""
    if empty is None or abs(full - empty) < epsilon:
        return None
    return (rationale - empty) / (full - empty)


def area(budgets: Sequence[float], heights: Sequence[float | None]) -> float | None:
    """Return the trapezoid area below `heights` divided by the range of the ascending budgets.
    Return None if a height is None. The released code does not divide, so its perfect value is 0.4
    instead of 1."""
    defined = [height for height in heights if height is not None]
    if len(defined) < len(heights) or len(defined) < 2:
        return None
    return float(np.trapezoid(defined, budgets) / (budgets[-1] - budgets[0]))
