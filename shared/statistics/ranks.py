"""The rank of an observed score among random scores: win rates and p-values.

Source: Phipson & Smyth (2010), Stat. Appl. Genet. Mol. Biol. 9(1), for adding 1 to both counts of a
p-value. Pure functions. None means "undefined", because the null distribution is empty. A score
that is not finite raises ValueError.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

BINS = 20  # of a histogram
DECILES = np.arange(1, 10) / 10
TIE = 1e-12  # scores: equal in theory, unequal in floats


def win_rate(observed: float, null: Floats, tie: float = TIE) -> float | None:
    """Return the share of the null scores below the observed score, [0, 1]. Ties count half; chance
    is 0.5. Higher scores are better. `null` holds random scores in the same units as `observed`."""
    _finite(observed, null)
    if null.size == 0:
        return None
    below, tied = np.count_nonzero(null - observed < -tie), _ties(observed, null, tie)
    return float((below + tied / 2) / null.size)


def strict_win_rate(observed: float, null: Floats, tie: float = TIE) -> float | None:
    """Return the share of the null scores below the observed score, [0, 1]. Ties count as
    losses."""
    _finite(observed, null)
    return float(np.mean(null - observed < -tie)) if null.size else None


def tie_rate(observed: float, null: Floats, tie: float = TIE) -> float | None:
    """Return the share of the null scores that equal the observed score, [0, 1]."""
    _finite(observed, null)
    return float(_ties(observed, null, tie) / null.size) if null.size else None


def p_value(observed: float, null: Floats, tie: float = TIE) -> float | None:
    """Return the one-sided p-value, (0, 1]: (1 + number of null scores >= `observed`) / (1 +
    number of null scores). Ties count against the observed score. The p-value is exact if
    `null` has the score of every other placement (set of words that could have been marked). It
    is None if `null` is empty."""
    _finite(observed, null)
    if null.size == 0:
        return None
    return float((1 + np.count_nonzero(null - observed >= -tie)) / (1 + null.size))


def reaching(observed: float, null: Floats, tie: float = TIE) -> NDArray[np.bool_]:
    """Return a boolean per null score: True if it is at least the observed score. Ties count."""
    _finite(observed, null)
    return np.asarray(null - observed >= -tie)


def p_anti(observed: float, null: Floats, tie: float = TIE) -> float | None:
    """Return the p-value of the test in the opposite direction: (1 + number of null scores <=
    observed) / (1 + number of null scores)."""
    return p_value(-observed, -null, tie)


def two_sided(above: float | None, below: float | None) -> float | None:
    """Return twice the smaller of the two one-sided p-values, at most 1 (Bonferroni over the two
    sides)."""
    return None if above is None or below is None else min(1.0, 2 * min(above, below))


def attainable_p(draws: int, *, sides: int = 1) -> float:
    """Return the smallest p-value, (0, 1], for `draws` random samples. `sides` is 1 or 2."""
    return min(1.0, sides / (draws + 1))


def chance_sd(draws: int) -> float:
    """Return the exact standard deviation of the win rate of a random explanation. The explanation
    is compared with `draws` random ones, without ties."""
    return math.sqrt((draws + 2) / (12 * draws))


def null_fields(observed: float, null: Floats) -> dict[str, Any]:
    """Return the fields of a report's `Null` (the random scores) for an observed value. `null`
    holds at least one random score."""
    above, below = p_value(observed, null), p_anti(observed, null)
    return {
        "draws": null.size,
        "win_rate_draws": null.size,
        "win_rate": win_rate(observed, null),
        "p_value": above,
        "p_anti": below,
        "p_two_sided": two_sided(above, below),
        "attainable_p": attainable_p(null.size),
        "ties": tie_rate(observed, null),
        **null_summary(null),
    }


def null_summary(null: Floats, ddof: int = 1) -> dict[str, Any]:
    """Return mean, standard deviation, deciles and histogram of the null scores. Without scores,
    they are None or empty. `ddof` is subtracted from the number of scores in the standard
    deviation."""
    return {
        "mean": float(np.mean(null)) if null.size else None,
        "sd": float(np.std(null, ddof=ddof)) if null.size > ddof else None,
        "deciles": tuple(np.quantile(null, DECILES).tolist()) if null.size else (),
        "histogram": histogram_of(null),
    }


def histogram_of(values: Floats, bins: int = BINS) -> dict[str, Any] | None:
    """Return the lowest and highest value, and counts in equal bins, or None if there are no
    values. Bins are half open, [a, b), except the last, which includes the largest value. Equal
    values give one bin of width 0. Very narrow ranges are allowed, unlike in NumPy's histogram."""
    if values.size == 0:
        return None
    low, high = float(np.min(values)), float(np.max(values))
    if low == high:
        return {"low": low, "high": high, "counts": (values.size,)}
    indices = ((values - low) / (high - low) * bins).astype(np.int64)
    counts = np.bincount(indices.clip(max=bins - 1), minlength=bins)
    return {"low": low, "high": high, "counts": tuple(counts.tolist())}


def bin_counts(
    values: Floats, edges: Sequence[float], closed: Literal["left", "right"] = "left"
) -> tuple[int, ...]:
    """Count the values in each bin between ascending edges. `closed` is the closed side of a bin:
    [a, b), or (a, b]. Values at or beyond the outer edges are in the outer bins."""
    side: Literal["left", "right"] = "right" if closed == "left" else "left"
    indices = np.searchsorted(np.asarray(edges[1:-1]), values, side=side)
    return tuple(np.bincount(indices, minlength=len(edges) - 1).tolist())


def _ties(observed: float, null: Floats, tie: float) -> int:
    return int(np.count_nonzero(np.abs(null - observed) <= tie))


def _finite(observed: float, null: Floats) -> None:
    if not (math.isfinite(observed) and np.isfinite(null).all()):
        raise ValueError("scores must be finite")
