"""How far people agree with each other, and a score with people. Pure functions.

Krippendorff (2011), Computing
Krippendorff's alpha-reliability; the area is Mann & Whitney's with mid-ranks. What is a function of
sums over texts gets its interval from `shared.statistics.intervals.ratio`.
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
    """(N, C * C) pairs of values within each text, each weighed so that a text counts as many
    values as it has. counts: (N, C) how many people gave each of C values; a text with fewer than
    two has no pair and counts nothing."""
    values = counts.sum(axis=1)
    several = values > 1
    pairs = counts[:, :, None] * counts[:, None, :]
    diagonal = np.arange(counts.shape[1])
    pairs[:, diagonal, diagonal] -= counts
    weights = np.divide(1.0, values - 1, out=np.zeros_like(values), where=several)
    size = counts.shape[1] ** 2
    return np.asarray((pairs * weights[:, None, None]).reshape(len(counts), size))


def nominal_alpha(sums: Floats) -> Floats:
    """(B,) Krippendorff's alpha, (-inf, 1], of (B, C * C) sums of coincidences; 1: all agree, 0: as
    by chance. NaN where all gave one value: then nothing tells agreement from habit."""
    pairs = _square(sums)
    margins = pairs.sum(axis=2)
    total = margins.sum(axis=1)
    apart = total - np.trace(pairs, axis1=1, axis2=2)
    by_chance = total**2 - (margins**2).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(1 - (total - 1) * apart / by_chance)


def interval_alpha(values: Floats) -> Callable[[Floats], Floats]:
    """Krippendorff's alpha for numbers, as `ratio` takes it: what is far apart disagrees more, by
    the squared distance. values: (C,) that the columns of the coincidences stand for."""
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
    """Cohen's kappa of (first, second) categories, [-1, 1], with its interval. None where chance
    alone would agree: both are constant and the same."""
    categories = sorted({category for pair in pairs for category in pair})
    index = {category: number for number, category in enumerate(categories)}
    cells = [(index[first], index[second]) for first, second in pairs]
    return ratio(name, label_counts(cells, len(categories)), kappa)


def auc_of_groups(high: Sequence[float] | Floats, low: Sequence[float] | Floats) -> float:
    """How often a score of `high` exceeds one of `low`, ties half; [0, 1]. NaN where one is
    empty."""
    return roc_auc(
        np.column_stack((np.concatenate((high, low)), np.repeat((1.0, 0.0), (len(high), len(low)))))
    )


def roc_auc(rows: Floats) -> float:
    """How often a positive row has the higher score than a negative one, ties half; [0, 1], chance
    is 0.5. rows: (n, 2) of score and 0 or 1. NaN where one kind is missing."""
    positive = rows[:, 1] > 0
    high, low = int(positive.sum()), int((~positive).sum())
    if not high or not low:
        return math.nan
    ranks = rankdata(rows[:, 0])
    return float((ranks[positive].sum() - high * (high + 1) / 2) / (high * low))


def spearman(x: Floats, y: Floats) -> Floats:
    """Spearman's rho, [-1, 1], of ranks along the last axis: Pearson's correlation. NaN where all
    ranks of one side are tied."""
    x, y = (side - side.mean(axis=-1, keepdims=True) for side in (x, y))
    spread = np.sqrt((x**2).sum(axis=-1) * (y**2).sum(axis=-1))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((x * y).sum(axis=-1) / spread)


def _square(sums: Floats) -> Floats:
    size = math.isqrt(sums.shape[1])
    return sums.reshape(-1, size, size)
