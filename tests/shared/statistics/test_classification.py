"""Labels against gold labels: laws, and scikit-learn as the oracle."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import (  # type: ignore[import-untyped]
    cohen_kappa_score,
    f1_score,
    precision_score,
    recall_score,
)

from shared.statistics import classification
from shared.statistics.classification import label_counts

PLACES = (0, 1, 2)


def drawn(seed: int, count: int = 60) -> list[tuple[int, int]]:
    random = np.random.default_rng(seed)
    gold = random.choice(PLACES, count, p=[0.6, 0.3, 0.1])
    predicted = np.where(random.random(count) < 0.6, gold, random.choice(PLACES, count))
    return list(zip(gold.tolist(), predicted.tolist(), strict=True))


@pytest.mark.parametrize("seed", range(8))
def test_every_figure_is_scikit_learns(seed: int) -> None:
    pairs = drawn(seed)
    gold, predicted = zip(*pairs, strict=True)
    sums = label_counts(pairs, 3).sum(axis=0)[None]
    assert classification.macro_f1(sums)[0] == pytest.approx(
        f1_score(gold, predicted, average="macro")
    )
    assert classification.label_f1(sums)[0] == pytest.approx(
        f1_score(gold, predicted, average=None)
    )
    for own, other in (
        (classification.precision, precision_score),
        (classification.recall, recall_score),
    ):
        assert own(sums)[0] == pytest.approx(
            other(gold, predicted, average=None, zero_division=np.nan), nan_ok=True
        )
    assert classification.kappa(sums)[0] == pytest.approx(cohen_kappa_score(gold, predicted))


def test_who_is_always_right_has_one_and_who_is_never_right_has_nothing() -> None:
    right = label_counts([(0, 0), (1, 1), (2, 2)], 3).sum(axis=0)[None]
    wrong = label_counts([(0, 1), (1, 0)], 2).sum(axis=0)[None]
    assert classification.macro_f1(right)[0] == 1
    assert classification.macro_f1(wrong)[0] == 0


def test_names_of_labels_change_nothing() -> None:
    pairs = drawn(1)
    turned = [(2 - gold, 2 - predicted) for gold, predicted in pairs]
    for of in (classification.macro_f1, classification.kappa):
        own, other = (of(label_counts(some, 3).sum(axis=0)[None]) for some in (pairs, turned))
        assert own == pytest.approx(other)


def test_a_label_that_nobody_has_is_no_part_of_the_mean() -> None:
    pairs = [(0, 0), (0, 1), (1, 1)]
    known, wider = (label_counts(pairs, size).sum(axis=0)[None] for size in (2, 5))
    assert classification.macro_f1(wider) == pytest.approx(classification.macro_f1(known))


def test_nothing_is_no_number() -> None:
    none = np.zeros((1, 6))
    assert np.isnan(classification.macro_f1(none)[0])
    assert np.isnan(classification.kappa(none)[0])


def test_one_label_alone_has_no_kappa() -> None:
    assert np.isnan(classification.kappa(label_counts([(0, 0)] * 5, 2).sum(axis=0)[None])[0])


def test_two_who_always_disagree_have_a_kappa_of_minus_one() -> None:
    counts = label_counts([(0, 1), (1, 0)], 2)
    assert classification.kappa(counts.sum(axis=0)[None])[0] == -1.0
