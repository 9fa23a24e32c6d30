"""Compares decisions with gold labels: macro-F1 with its interval, and the difference of two
models."""

from __future__ import annotations

from collections.abc import Sequence

from bench.papers.exchange_test import exchange_difference
from shared.statistics.bootstrap import Resampling
from shared.statistics.classification import label_counts, macro_f1
from shared.statistics.clusters import Floats
from shared.statistics.intervals import IntervalEstimate, ratio

Decided = tuple[str, str]  # gold, decision


def count_rows(decided: Sequence[Decided], labels: Sequence[str]) -> Floats:
    """Return the counts of each of L labels per row, of shape (N, 3 L), as in
    `shared.statistics.classification`."""
    places = {label: place for place, label in enumerate(labels)}
    return label_counts([(places[gold], places[found]) for gold, found in decided], len(labels))


def macro_f1_estimate(
    decided: Sequence[Decided], keys: Sequence[str], how: Resampling
) -> IntervalEstimate:
    """Return macro-F1 with a BCa interval over clusters."""
    if not decided:
        return IntervalEstimate(None)
    rows = count_rows(decided, labels_of(decided))
    return ratio("macro F1", rows, macro_f1, keys, how)


def macro_f1_difference(
    pairs: Sequence[tuple[Decided, Decided]], keys: Sequence[str], how: Resampling
) -> tuple[IntervalEstimate, float | None]:
    """Return (first - second on the same rows, two-sided p in (0, 1]), or None without rows."""
    if not pairs:
        return IntervalEstimate(None), None
    labels = labels_of([one for pair in pairs for one in pair])
    first, second = (count_rows([pair[side] for pair in pairs], labels) for side in (0, 1))
    return exchange_difference("difference of macro F1", (first, second), macro_f1, keys, how)


def labels_of(decided: Sequence[Decided]) -> list[str]:
    return sorted({label for pair in decided for label in pair})
