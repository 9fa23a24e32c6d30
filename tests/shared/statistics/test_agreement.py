"""Alpha, the area and rank correlation: laws, scikit-learn and Krippendorff's own examples."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import roc_auc_score  # type: ignore[import-untyped]

from shared.statistics.agreement import (
    auc_of_groups,
    coincidences,
    interval_alpha,
    nominal_alpha,
    roc_auc,
    spearman,
)

# Krippendorff (2011), Computing Krippendorff's alpha-reliability, sections A, B and C; . is a gap
BINARY = ("0100000010", "1110010000")
NOMINAL = ("aabbdcccedda", "babbbcccedd d".replace(" ", ""))
GAPS = ("123321412...", "1233224125.3", ".333234225" + "1.", "123324412" + "51.")


def alpha_of(people: Sequence[str]) -> float:
    return float(nominal_alpha(coincidences(counts_of(people)).sum(axis=0)[None])[0])


@pytest.mark.parametrize(
    ("people", "published"), [(BINARY, 0.095), (NOMINAL, 0.692), (GAPS, 0.743)]
)
def test_alpha_is_that_of_the_published_examples(people: Sequence[str], published: float) -> None:
    assert round(alpha_of(people), 3) == published


def counts_of(people: Sequence[str]) -> np.ndarray:
    values = sorted(set("".join(people)) - {"."})
    return np.array(
        [[sum(person[unit] == value for person in people) for value in values]
         for unit in range(len(people[0]))],
        dtype=np.float64,
    )  # fmt: skip


def test_interval_alpha_is_that_of_the_published_example() -> None:
    """Krippendorff (2011), section D."""
    pairs = coincidences(counts_of(GAPS)).sum(axis=0)[None]
    values = np.arange(1.0, 6.0)
    assert round(float(interval_alpha(values)(pairs)[0]), 3) == 0.849
    moved = interval_alpha(10 * values - 3)(pairs)
    assert moved == pytest.approx(interval_alpha(values)(pairs))


def test_interval_alpha_of_two_values_is_the_nominal_one() -> None:
    pairs = coincidences(counts_of(BINARY)).sum(axis=0)[None]
    assert interval_alpha(np.array([0.0, 1.0]))(pairs) == pytest.approx(nominal_alpha(pairs))


def test_alpha_does_not_hang_on_the_order_of_people_and_texts() -> None:
    turned = [person[::-1] for person in reversed(GAPS)]
    assert alpha_of(turned) == pytest.approx(alpha_of(GAPS))
    assert alpha_of(("abab", "abab")) == 1.0
    assert math.isnan(alpha_of(("aaaa", "aaaa")))


@pytest.mark.parametrize("seed", range(5))
def test_the_area_agrees_with_scikit_learn(seed: int) -> None:
    random = np.random.default_rng(seed)
    first = random.integers(3, size=60)
    scores = random.integers(8, size=60) / 8  # with ties
    rows = np.stack([scores, (first > 0).astype(float)], axis=1)
    assert roc_auc(rows) == pytest.approx(roc_auc_score(first > 0, scores))
    assert auc_of_groups(scores[first > 0], scores[first <= 0]) == roc_auc(rows)


def test_what_nothing_tells_is_undefined() -> None:
    assert coincidences(np.zeros((0, 3))).shape == (0, 9)
    assert coincidences(np.array([[1.0, 0.0]])).sum() == 0
    assert math.isnan(roc_auc(np.array([[0.1, 1.0], [0.9, 1.0]])))
    assert roc_auc(np.array([[0.5, 1.0], [0.5, 0.0]])) == 0.5


@pytest.mark.parametrize("seed", range(5))
def test_spearman_agrees_with_scipy_row_by_row(seed: int) -> None:
    ranks = stats.rankdata(np.random.default_rng(seed).integers(4, size=(2, 3, 9)), axis=-1)
    expected = [stats.spearmanr(x, y).statistic for x, y in zip(*ranks, strict=True)]
    assert spearman(*ranks) == pytest.approx(expected)
    assert np.isnan(spearman(np.full(9, 5.0), ranks[0, 0]))
