"""Wilson's score interval of a share. It does not use NumPy, because contracts and pages also need
it. Source: Wilson (1927), JASA 22."""

from __future__ import annotations

import math

Z_95 = 1.959963984540054  # of a two-sided interval of level 0.95


def wilson(rate: float, count: float, quantile: float) -> tuple[float, float]:
    """Return Wilson's interval of a rate among `count` > 0 rows, within [0, 1]. Despite rounding
    the low end is exactly 0 at a rate of 0, and the high end exactly 1 at a rate of 1."""
    squared = quantile * quantile
    centre = rate + squared / (2 * count)
    half = _unscaled_half(rate, count, quantile)
    scale = 1 + squared / count
    low = 0.0 if rate == 0 else max(0.0, (centre - half) / scale)
    return low, 1.0 if rate == 1 else min(1.0, (centre + half) / scale)


def half_wilson(rate: float, count: float, quantile: float) -> float:
    """Return half the width of Wilson's interval, [0, 0.5]."""
    return _unscaled_half(rate, count, quantile) / (1 + quantile * quantile / count)


def _unscaled_half(rate: float, count: float, quantile: float) -> float:
    spread = rate * (1 - rate) / count + quantile * quantile / (4 * count * count)
    return quantile * math.sqrt(spread)
