"""How far people agree with each other, and a score with people. Pure functions.

Cohen (1960), Educational and Psychological Measurement 20; Krippendorff (2011), Computing
Krippendorff's alpha-reliability; the area is Mann & Whitney's with mid-ranks. What is a function of
sums over texts gets its interval from `shared.statistics.intervals.ratio`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from scipy.stats import rankdata

from shared.statistics.bootstrap import Resampling
from shared.statistics.clusters import Floats
from shared.statistics.intervals import IntervalEstimate, Keys, ratio


def coincidences(counts: Floats) -> Floats:
    """(N, C * C) pairs of values within each text, each weighed so that a text counts as many
    values as it has. counts: (N, C) how many people gave each of C values; a text with fewer than
    two has no pair and counts nothing."""
    values = counts.sum(axis=1)
    several = values > 1
    pairs = counts[:, :, None] * counts[:, None, :]
    same = np.arange(counts.shape[1])
    pairs[:, same, same] -= counts
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


def kappa(sums: Floats) -> Floats:
    """(B,) Cohen's kappa, [-1, 1], of (B, C * C) tables: rows what the one said, columns the other.
    NaN where both gave one value to all."""
    table = _square(sums)
    total = table.sum(axis=(1, 2))
    with np.errstate(invalid="ignore", divide="ignore"):
        observed = np.trace(table, axis1=1, axis2=2) / total
        chance = (table.sum(axis=1) * table.sum(axis=2)).sum(axis=1) / total**2
        return np.asarray(np.where(chance < 1, (observed - chance) / (1 - chance), np.nan))


def kappa_of_pairs(
    name: str,
    pairs: Sequence[tuple[str, str]],
    keys: Keys = None,
    how: Resampling | None = None,
) -> IntervalEstimate:
    """Cohen's kappa of (first, second) categories, [-1, 1], its interval over the keys; None where
    chance alone would agree: both are constant and the same."""
    categories = sorted({one for pair in pairs for one in pair})
    place = {category: number for number, category in enumerate(categories)}
    cells = np.zeros((len(pairs), len(categories) ** 2))
    for row, (first, second) in enumerate(pairs):
        cells[row, place[first] * len(categories) + place[second]] = 1
    return ratio(name, cells, kappa, keys, how)


def roc_auc(rows: Floats) -> float:
    """How often a positive row has the higher score than a negative one, ties half; [0, 1], chance
    is 0.5. rows: (n, 2) of score and 0 or 1. NaN where one kind is missing."""
    positive = rows[:, 1] > 0
    high, low = int(positive.sum()), int((~positive).sum())
    if not high or not low:
        return math.nan
    ranks = rankdata(rows[:, 0])
    return float((ranks[positive].sum() - high * (high + 1) / 2) / (high * low))


def _square(sums: Floats) -> Floats:
    size = math.isqrt(sums.shape[1])
    return sums.reshape(-1, size, size)
