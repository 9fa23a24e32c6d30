"""ICE: the formulas. Does the rationale keep the prediction better than random tokens do?

Source: Basu & Chakraborty, arXiv:2603.18579, Eq. 1 and Algorithm 1. P-values: Phipson & Smyth
(2010); sequential: Besag & Clifford (1991). Pure functions: arrays in, numbers out; higher = more
faithful; None is "undefined".
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from services.ice.report import Verdict
from shared.statistics import ranks

Floats = NDArray[np.float64]

WIN_RATE_OF_CHANCE = 0.5


def verdict(above: float | None, below: float | None, alpha: float) -> Verdict | None:
    """Two-sided at level alpha: each tail at alpha / 2, `inconclusive` between."""
    both = ranks.two_sided(above, below)
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
    if sd is None or sd <= ranks.TIE:
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
