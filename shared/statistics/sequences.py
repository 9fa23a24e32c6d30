"""A confidence sequence: intervals that stay valid at every look, for any number of looks. Source:
Waudby-Smith & Ramdas (2024), JRSS B 86, Theorem 2 (predictable plug-in empirical Bernstein). Pure
functions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shared.statistics.clusters import Floats, finite

MOST_STAKE = 0.5  # of lambda: psi grows without bound towards 1


@dataclass(frozen=True)
class ConfidenceSequence:
    """The confidence interval after each new value, within [0, 1]. Each interval is intersected
    with all earlier ones."""

    low: Floats
    high: Floats


def confidence_sequence(
    values: Sequence[float] | Floats, alpha: float = 0.05
) -> ConfidenceSequence:
    """Return the confidence sequence for the mean of values in [0, 1], one per cluster, in order of
    arrival. Raises ValueError for values outside this range."""
    x = finite(values)
    if x.size and not (x.min() >= 0 and x.max() <= 1):
        raise ValueError("the values of a confidence sequence must be in [0, 1]")
    times = np.arange(1, x.size + 1)
    means = (0.5 + np.cumsum(x)) / (times + 1)
    variances = (0.25 + np.cumsum((x - means) ** 2)) / (times + 1)
    before_mean = np.concatenate([[0.5], means[:-1]])
    before_variance = np.concatenate([[0.25], variances[:-1]])
    stakes = np.minimum(
        MOST_STAKE, np.sqrt(2 * math.log(2 / alpha) / (before_variance * times * np.log(times + 1)))
    )
    errors = 4 * (x - before_mean) ** 2
    growth = (-np.log1p(-stakes) - stakes) / 4
    whole = np.cumsum(stakes)
    centre = np.cumsum(stakes * x) / whole
    radius = (math.log(2 / alpha) + np.cumsum(errors * growth)) / whole
    low = np.maximum.accumulate(np.clip(centre - radius, 0, 1))
    high = np.minimum.accumulate(np.clip(centre + radius, 0, 1))
    return ConfidenceSequence(low, high)
