"""Agreement of people with one another, and of a score with people. Pure functions.

Alpha: Krippendorff (2011), Computing Krippendorff's alpha-reliability. The area under the curve is
that of Mann & Whitney with mid-ranks. Statistics of sums over texts get their interval from
`shared.statistics.intervals.ratio`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from scipy.stats import rankdata

from shared.statistics.classification import kappa, label_counts
from shared.statistics.clusters import Floats
from shared.statistics.intervals import IntervalEstimate, ratio


def coincidences(counts: Floats) -> Floats:
    """Count the pairs of values that people gave to each text, for Krippendorff's alpha. The result
    has shape (N, C * C). `counts`, (N, C), holds how many people chose each of C values for each of
    N texts. Pairs are weighted so that a text counts once per value given."""
    values = counts.sum(axis=1)
    several = values > 1
    pairs = counts[:, :, None] * counts[:, None, :]
    diagonal = np.arange(counts.shape[1])
    pairs[:, diagonal, diagonal] -= counts
    weights = np.divide(1.0, values - 1, out=np.zeros_like(values), where=several)
    size = counts.shape[1] ** 2
    return np.asarray((pairs * weights[:, None, None]).reshape(len(counts), size))


def nominal_alpha(sums: Floats) -> Floats:
    """Return Krippendorff's alpha, (-inf, 1]: 1 is full agreement, 0 is agreement by chance. `sums`
    holds sums of `coincidences`, one row of C * C per resample. The result is NaN if everybody
    chose one value."""
    pairs = _square(sums)
    margins = pairs.sum(axis=2)
    total = margins.sum(axis=1)
    apart = total - np.trace(pairs, axis1=1, axis2=2)
    by_chance = total**2 - (margins**2).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(1 - (total - 1) * apart / by_chance)


def interval_alpha(values: Floats) -> Callable[[Floats], Floats]:
    """Return a function for `ratio` that computes Krippendorff's alpha for numeric categories.
    Disagreements are weighted by their squared distance. `values` holds the number of each category
    that `coincidences` counted."""
    distances = (values[:, None] - values[None, :]) ** 2

    def alpha(sums: Floats) -> Floats:
        pairs = _square(sums)
        margins = pairs.sum(axis=2)
        total = margins.sum(axis=1)
        apart = (pairs * distances).sum(axis=(1, 2))
        by_chance = np.einsum("bi,ij,bj->b", margins, distances, margins)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(np.where(by_chance > 0, 1 - (total - 1) * apart / by_chance, np.nan))

    return alpha


def kappa_of_pairs(name: str, pairs: Sequence[tuple[str, str]]) -> IntervalEstimate:
    """Return Cohen's kappa of (first, second) categories, in [-1, 1], with its interval. The kappa
    is None if both sides always have the same single category, so that chance explains the
    agreement."""
    categories = sorted({category for pair in pairs for category in pair})
    index = {category: number for number, category in enumerate(categories)}
    cells = [(index[first], index[second]) for first, second in pairs]
    return ratio(name, label_counts(cells, len(categories)), kappa)


def auc_of_groups(high: Sequence[float] | Floats, low: Sequence[float] | Floats) -> float:
    """Return how often a score in `high` exceeds a score in `low`, [0, 1]. Ties count half. NaN if
    a group is empty."""
    return roc_auc(
        np.column_stack((np.concatenate((high, low)), np.repeat((1.0, 0.0), (len(high), len(low)))))
    )


def roc_auc(rows: Floats) -> float:
    """Return the probability that a positive row scores higher than a negative one, [0, 1]. Ties
    count half. Chance is 0.5. `rows` has two columns: the score, and 0 or 1. NaN if all rows are
    positive or all are negative."""
    positive = rows[:, 1] > 0
    high, low = int(positive.sum()), int((~positive).sum())
    if not high or not low:
        return math.nan
    ranks = rankdata(rows[:, 0])
    return float((ranks[positive].sum() - high * (high + 1) / 2) / (high * low))


def spearman(x: Floats, y: Floats) -> Floats:
    """Return Spearman's rho, [-1, 1], of ranks along the last axis. NaN if all values of a side are
    tied."""
    x, y = (side - side.mean(axis=-1, keepdims=True) for side in (x, y))
    spread = np.sqrt((x**2).sum(axis=-1) * (y**2).sum(axis=-1))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((x * y).sum(axis=-1) / spread)


def _square(sums: Floats) -> Floats:
    size = math.isqrt(sums.shape[1])
    return sums.reshape(-1, size, size)
