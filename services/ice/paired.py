"""Two explanations of one text against the same random rationales: which beats more of them?

The difference of their win rates is, up to sign, the share of the null between their scores, so
its sampling error is binomial (Wilson 1927), much smaller than that of either win rate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from services.ice.kernel import TIE, Floats

Z_95 = 1.959963984540054


@dataclass(frozen=True)
class Difference:
    """Of win rates, first - second, with its 95 % interval over the draws."""

    value: float | None
    low: float | None
    high: float | None
    draws: int


def difference(first: float, second: float, null: Floats, *, exact: bool) -> Difference:
    """Win rate of `first` minus that of `second`, in [-1, 1].

    null: (M,) scores of the same random rationales. exact: they are all, so nothing is uncertain.
    """
    if null.size == 0:
        return Difference(None, None, None, 0)
    between = float(np.mean(_wins(first, null) - _wins(second, null)))
    if exact:
        return Difference(between, between, between, null.size)
    low, high = wilson(abs(between), null.size)
    if first < second:
        low, high = -high, -low
    if abs(first - second) <= TIE:
        low, high = 0.0, 0.0  # the same score beats the same draws
    return Difference(between, low, high, null.size)


def _wins(score: float, null: Floats) -> Floats:
    """(M,) 1 where the score beats the draw, 1/2 for a tie."""
    return np.where(null < score - TIE, 1.0, np.where(null <= score + TIE, 0.5, 0.0))


def wilson(share: float, count: int, z: float = Z_95) -> tuple[float, float]:
    """Score interval of a share, within [0, 1]."""
    centre = share + z * z / (2 * count)
    spread = z * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    scale = 1 + z * z / count
    return max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale)
