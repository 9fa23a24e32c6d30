"""Estimates the score threshold that agrees best with people's yes/no judgements, and that
agreement.

The threshold has the largest Youden index, sensitivity + specificity - 1 (Youden, 1950, Cancer 3).
Its interval comes from the percentile bootstrap over clusters (Fluss, Faraggi & Reiser, 2005,
Biometrical Journal 47). Agreement is overestimated on the texts that chose the threshold. Each text
is therefore decided by a threshold chosen without its cluster's fold (cross-fitting; Stone, 1974,
JRSS B 36). Pure functions; higher scores mean yes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shared.statistics.bootstrap import Resampling
from shared.statistics.clusters import Floats, Integers, in_order, run_places
from shared.statistics.intervals import Keys
from shared.statistics.seeds import generator

FOLDS = 5
FEWEST = 2 * FOLDS  # clusters of each kind: two for each fold
WORDS = ("no", "yes")


@dataclass(frozen=True)
class ThresholdEstimate:
    """A threshold; scores at or above it mean yes. `decided` holds the decision for each row, 0 or
    1, from a threshold that was chosen without that row. `low` and `high` are None if too many
    resamples have only yes or only no. `obstacle` is the reason if all other fields are None."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    decided: Floats | None = None
    obstacle: str | None = None


def best_threshold(scores: Floats, labels: Floats) -> float:
    """Return the threshold with the highest sensitivity plus specificity. It is midway between two
    scores, the lowest score, or above all scores. `labels` are 0 or 1. Among equally good
    thresholds the middle one is returned, or the lower of two in the middle. Return NaN if all
    labels are equal."""
    values, indices = np.unique(scores, return_inverse=True)
    yes = np.bincount(indices, weights=labels, minlength=values.size)
    no = np.bincount(indices, weights=1 - labels, minlength=values.size)
    if not yes.sum() or not no.sum():
        return float("nan")
    below = np.concatenate([[0.0], np.cumsum(no)]) / no.sum()  # specificity
    above = 1 - np.concatenate([[0.0], np.cumsum(yes)]) / yes.sum()  # sensitivity
    index = below + above
    best = np.flatnonzero(index >= index.max() - 1e-12)
    between = (values[:-1] + values[1:]) / 2
    borders = np.concatenate([values[:1], between, [np.nextafter(values[-1], np.inf)]])
    return float(borders[best[(len(best) - 1) // 2]])


def calibrated_threshold(
    name: str, rows: Floats, keys: Keys = None, how: Resampling | None = None
) -> ThresholdEstimate:
    """Estimate the score threshold that best predicts a human label. `rows` has two columns:
    the score, and the label (0 or 1). `keys` holds the cluster of each row."""
    how = how or Resampling()
    order, codes = in_order(rows, keys)
    ordered = rows[order]
    obstacle = _obstacle(ordered, codes)
    if obstacle is not None:
        return ThresholdEstimate(obstacle=obstacle)
    groups = int(codes[-1]) + 1
    decided = np.empty(len(rows))
    decided[order] = _decisions(name, ordered, codes, groups, how)
    low, high = _ends(name, ordered, codes, groups, how)
    return ThresholdEstimate(best_threshold(*ordered.T), low, high, decided)


def _obstacle(rows: Floats, codes: Integers) -> str | None:
    kinds = {word: np.unique(codes[rows[:, 1] == kind]).size for kind, word in enumerate(WORDS)}
    missing = [word for word, count in kinds.items() if not count]
    if missing:
        return f"nobody says {missing[0]}" if len(rows) else "no rating is a clear yes or no"
    least = min(kinds, key=lambda word: kinds[word])
    if kinds[least] < FEWEST:
        return f"{kinds[least]} texts with a {least}; at least {FEWEST} of each kind are needed"
    return None


def _decisions(name: str, rows: Floats, codes: Integers, groups: int, how: Resampling) -> Floats:
    """Return 1.0 for each row whose score reaches the threshold fitted on the other
    cross-validation folds, else 0.0. Clusters with and without a positive row are distributed
    separately, so that the folds are balanced."""
    random = generator(how.seed, "folds", name, groups)
    with_yes = np.bincount(codes, weights=rows[:, 1], minlength=groups) > 0
    folds = np.empty(groups, dtype=np.int64)
    for kind in (False, True):
        clusters = random.permutation(np.flatnonzero(with_yes == kind))
        folds[clusters] = np.arange(clusters.size) % FOLDS
    decided = np.empty(len(rows))
    for fold in range(FOLDS):
        how.check()
        out = folds[codes] == fold
        threshold = best_threshold(*rows[~out].T)
        decided[out] = rows[out, 0] >= threshold
    return decided


def _ends(
    name: str, rows: Floats, codes: Integers, groups: int, how: Resampling
) -> tuple[float | None, float | None]:
    sizes = np.bincount(codes)
    starts = np.cumsum(sizes) - sizes
    drawn = []
    for indices in how.drawn(f"threshold {name}", groups):
        for clusters in indices:
            positions = run_places(starts[clusters], sizes[clusters])
            drawn.append(best_threshold(*rows[positions].T))
    thresholds = np.array(drawn)
    finite = thresholds[np.isfinite(thresholds)]
    if finite.size < (1 - how.tail) * thresholds.size:
        return None, None
    low, high = np.quantile(finite, [how.tail, 1 - how.tail])
    return float(low), float(high)
