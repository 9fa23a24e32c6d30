"""Compares predicted with gold labels: precision, recall, F1 and kappa as functions of counts.

Macro-F1 is the mean F1 of the labels that occur in gold or prediction (Sokolova & Lapalme, 2009,
Information Processing & Management 45), as scikit-learn's `f1_score` with `average="macro"`. Kappa
is Cohen's (1960), Educational and Psychological Measurement 20.

All functions need three counts for each of C labels: hits, gold, predicted. Counts may be sums over
resampled texts, so that intervals come from `shared.statistics.intervals.ratio`. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shared.statistics.clusters import Floats

COUNTS = 3  # of a label: hits, gold, predicted


def label_counts(pairs: Sequence[tuple[int, int]], labels: int) -> Floats:
    """Return an indicator array with one row per pair and three columns per label: the label is
    right, is gold, is predicted. `pairs` holds (gold, predicted) label numbers from 0."""
    rows = np.zeros((len(pairs), labels, COUNTS))
    for row, (gold, predicted) in enumerate(pairs):
        rows[row, gold, 0] = gold == predicted
        rows[row, gold, 1] = 1
        rows[row, predicted, 2] = 1
    return rows.reshape(len(pairs), labels * COUNTS)


def macro_f1(sums: Floats) -> Floats:
    """Return the mean F1 of the labels that occur, [0, 1], one value per row of counts. NaN if no
    label occurs."""
    scores = label_f1(sums)
    defined = np.isfinite(scores)
    return _divided(np.where(defined, scores, 0.0).sum(axis=1), defined.sum(axis=1).astype(float))


def label_f1(sums: Floats) -> Floats:
    """Return the F1 of each label, [0, 1]. NaN if the label is neither gold nor predicted."""
    hits, gold, predicted = _parts(sums)
    return _divided(2 * hits, gold + predicted)


def precision(sums: Floats) -> Floats:
    """Return hits / predicted for each label. NaN if the label is never predicted."""
    hits, _, predicted = _parts(sums)
    return _divided(hits, predicted)


def recall(sums: Floats) -> Floats:
    """Return hits / gold for each label. NaN if the label is never gold."""
    hits, gold, _ = _parts(sums)
    return _divided(hits, gold)


def kappa(sums: Floats) -> Floats:
    """Return Cohen's kappa, [-1, 1], one value per row of counts. NaN if both sides use the same
    single label."""
    hits, gold, predicted = _parts(sums)
    total = gold.sum(axis=1)
    observed = _divided(hits.sum(axis=1), total)
    chance = _divided((gold * predicted).sum(axis=1), total**2)
    return _divided(observed - chance, np.where(np.isfinite(chance), 1 - chance, 0.0))


def _parts(sums: Floats) -> tuple[Floats, Floats, Floats]:
    """Return hits, gold and predicted counts, each with one column per label."""
    counts = sums.reshape(len(sums), -1, COUNTS)
    return counts[:, :, 0], counts[:, :, 1], counts[:, :, 2]


def _divided(above: Floats, below: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(below > 0, above / below, np.nan), dtype=np.float64)
