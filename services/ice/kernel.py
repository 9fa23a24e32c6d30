"""ICE: the formulas. Does the rationale keep the prediction better than random tokens do?

Source: Basu & Chakraborty, arXiv:2603.18579, Eq. 1 and Algorithm 1. P-values: Phipson & Smyth
(2010); sequential: Besag & Clifford (1991). Pure functions: arrays in, numbers out; higher = more
faithful; None is "undefined".
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from services.ice.report import Verdict

Floats = NDArray[np.float64]

TIE = 1e-12  # probabilities: equal in theory, unequal in floats
WIN_RATE_OF_CHANCE = 0.5


def win_rate(observed: float, null: Floats, tie: float = TIE) -> float | None:
    """Mid-rank: share of the null below the observed score, ties half; [0, 1], chance is 0.5.

    observed: score of the rationale. null: (M,) scores of random rationales, same units.
    # Deviates: Algorithm 1 counts a tie as a loss (`strict_win_rate`), which pulls short texts and
    saturated models under 0.5 where nothing is wrong with the explanation.
    """
    if null.size == 0:
        return None
    below, tied = np.count_nonzero(null < observed - tie), _ties(observed, null, tie)
    return float((below + tied / 2) / null.size)


def strict_win_rate(observed: float, null: Floats, tie: float = TIE) -> float | None:
    """Algorithm 1, line 6: ties count as losses; [0, 1]."""
    return float(np.mean(null < observed - tie)) if null.size else None


def tie_rate(observed: float, null: Floats, tie: float = TIE) -> float | None:
    """Share of the null that equals the observed score, [0, 1]."""
    return float(_ties(observed, null, tie) / null.size) if null.size else None


def _ties(observed: float, null: Floats, tie: float) -> int:
    return int(np.count_nonzero(np.abs(null - observed) <= tie))


def p_value(observed: float, null: Floats, tie: float = TIE) -> float | None:
    """One-sided P(null >= observed) with the +1, in (0, 1]; ties count against the explanation.

    With all other subsets as null it is exact: the observed one is among the M + 1.
    """
    if null.size == 0:
        return None
    return float((1 + np.count_nonzero(null >= observed - tie)) / (1 + null.size))


def p_anti(observed: float, null: Floats, tie: float = TIE) -> float | None:
    """The other side: P(null <= observed) with the +1."""
    return p_value(-observed, -null, tie)


def two_sided(above: float | None, below: float | None) -> float | None:
    """Twice the smaller tail, at most 1 (Bonferroni over the two sides)."""
    return None if above is None or below is None else min(1.0, 2 * min(above, below))


def verdict(above: float | None, below: float | None, alpha: float) -> Verdict | None:
    """Two-sided at level alpha: each tail at alpha / 2, `inconclusive` between."""
    both = two_sided(above, below)
    if above is None or below is None or both is None:
        return None
    if both > alpha:
        return "inconclusive"
    return "faithful" if above < below else "anti-faithful"


def sequential_p(exceeds: NDArray[np.bool_], most: int, ending: int) -> tuple[float, int | None]:
    """Besag & Clifford (1991): (p, draws at which the tail ended; None: it did not).

    exceeds: (l,) whether each draw so far is at least as extreme. most: draws planned.
    p = h / l once h = `ending` draws exceed, at the l-th; else (1 + exceedances) / (1 + most),
    which is final when l = most.
    """
    hits = np.flatnonzero(exceeds)
    if hits.size >= ending:
        stop = int(hits[ending - 1]) + 1
        return ending / stop, stop
    return (1 + hits.size) / (1 + most), None


def null_sd(null: Floats, ddof: int) -> float | None:
    """Standard deviation of the null; None for fewer than ddof + 1 draws."""
    return float(np.std(null, ddof=ddof)) if null.size > ddof else None


def effect(observed: float, null: Floats, ddof: int = 1) -> float | None:
    """(observed - mean) / sd of the null, in its standard deviations; no bounds.

    None where the sd is 0 (below 1e-12): no random rationale differs from another.
    # Deviates: the paper calls it Cohen's d, with ddof 0. It is a z-score against the null, heavy
    tailed where the null is narrow; thresholds 0.2, 0.5, 0.8 do not apply.
    """
    sd = null_sd(null, ddof)
    if sd is None or sd <= TIE:
        return None
    return float((observed - np.mean(null)) / sd)


def nsr(rationale: float, full: float, empty: float | None, epsilon: float) -> float | None:
    """Eq. 1: (s(r) - s(empty)) / (s(x) - s(empty)); 1: all retained, 0: nothing; no bounds.

    None where the denominator is smaller than epsilon in magnitude, or s(empty) is unknown.
    """
    if empty is None or abs(full - empty) < epsilon:
        return None
    return (rationale - empty) / (full - empty)


def area(budgets: Sequence[float], heights: Sequence[float | None]) -> float | None:
    """Trapezoid over ascending budgets, divided by their range; None where a height is.

    # Deviates: the released code does not divide, so that its perfect value is 0.4.
    """
    known = [height for height in heights if height is not None]
    if len(known) < len(heights) or len(known) < 2:
        return None
    return float(np.trapezoid(known, budgets) / (budgets[-1] - budgets[0]))


def deciles(null: Floats) -> tuple[float, ...]:
    """The 10 % to 90 % quantiles; empty without draws."""
    if null.size == 0:
        return ()
    return tuple(np.quantile(null, np.arange(1, 10) / 10).tolist())


def chance_sd(draws: int) -> float:
    """Exact sd of a mid-rank win rate under the null without ties: M W is uniform on 0..M."""
    return math.sqrt((draws + 2) / (12 * draws))
