"""Labels against gold labels: precision, recall, F1 and kappa as functions of counts.

Macro-F1 is the mean of the labels' F1 (Sokolova & Lapalme, 2009, Information Processing &
Management 45), over the labels that occur in gold or prediction: what scikit-learn's `f1_score`
with `average="macro"` has. Kappa is Cohen's (1960), Educational and Psychological Measurement 20.

Three counts of each of C labels are enough for all of them: hits, gold, predicted. Counts may be
sums over resampled texts, so that intervals come from `shared.statistics.intervals.ratio`. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shared.statistics.clusters import Floats

COUNTS = 3  # of a label: hits, gold, predicted


def label_counts(pairs: Sequence[tuple[int, int]], labels: int) -> Floats:
    """(N, 3 C) of zeros and ones: whether label c is right, is gold, is predicted.

    pairs: (gold, predicted), from 0 to C - 1."""
    rows = np.zeros((len(pairs), labels, COUNTS))
    for row, (gold, predicted) in enumerate(pairs):
        rows[row, gold, 0] = gold == predicted
        rows[row, gold, 1] = 1
        rows[row, predicted, 2] = 1
    return rows.reshape(len(pairs), labels * COUNTS)


def macro_f1(sums: Floats) -> Floats:
    """(B,) mean F1 of the labels that there are, [0, 1], of (B, 3 C) counts; NaN of none."""
    scores = label_f1(sums)
    defined = np.isfinite(scores)
    return _divided(np.where(defined, scores, 0.0).sum(axis=1), defined.sum(axis=1).astype(float))


def label_f1(sums: Floats) -> Floats:
    """(B, C) F1 of each label, [0, 1]; NaN of a label that is neither gold nor predicted."""
    hits, gold, predicted = _parts(sums)
    return _divided(2 * hits, gold + predicted)


def precision(sums: Floats) -> Floats:
    """(B, C) share of what is predicted so that is gold; NaN where nothing is predicted so."""
    hits, _, predicted = _parts(sums)
    return _divided(hits, predicted)


def recall(sums: Floats) -> Floats:
    """(B, C) share of what is gold that is predicted so; NaN where nothing is gold so."""
    hits, gold, _ = _parts(sums)
    return _divided(hits, gold)


def kappa(sums: Floats) -> Floats:
    """(B,) Cohen's kappa, [-1, 1], of (B, 3 C) counts; NaN where both have one label alone."""
    hits, gold, predicted = _parts(sums)
    total = gold.sum(axis=1)
    observed = _divided(hits.sum(axis=1), total)
    chance = _divided((gold * predicted).sum(axis=1), total**2)
    return _divided(observed - chance, np.where(np.isfinite(chance), 1 - chance, 0.0))


def _parts(sums: Floats) -> tuple[Floats, Floats, Floats]:
    """(B, C) each: hits, gold, predicted."""
    counts = sums.reshape(len(sums), -1, COUNTS)
    return counts[:, :, 0], counts[:, :, 1], counts[:, :, 2]


def _divided(above: Floats, below: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(below > 0, above / below, np.nan), dtype=np.float64)
