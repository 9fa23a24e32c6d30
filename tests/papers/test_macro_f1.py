"""Macro-F1 against scikit-learn; the exchange test against all exchanges and under the null."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from sklearn.metrics import f1_score  # type: ignore[import-untyped]

from bench.papers.macro_f1 import (
    Decided,
    count_rows,
    labels_of,
    macro_f1_difference,
    macro_f1_estimate,
)
from shared.statistics.bootstrap import Resampling
from shared.statistics.classification import macro_f1

HOW = Resampling(resamples=99)


def draw(count: int, labels: tuple[str, ...], seed: int) -> list[Decided]:
    random = np.random.default_rng(seed)
    return [(labels[a], labels[b]) for a, b in random.integers(len(labels), size=(count, 2))]


def f1(decided: list[Decided]) -> float:
    gold, found = zip(*decided, strict=True)
    return float(f1_score(gold, found, average="macro"))


@pytest.mark.parametrize("labels", [("x", "y"), ("x", "y", "z"), ("x", "y", "z", "w")])
@pytest.mark.parametrize("count", [1, 5, 60])
def test_macro_f1_is_scikit_learns(labels: tuple[str, ...], count: int) -> None:
    decided = draw(count, labels, count)
    found = macro_f1_estimate(decided, [str(n) for n in range(count)], HOW)
    assert found.value == pytest.approx(f1(decided))
    assert found.rows == count


def test_many_at_once_are_those_one_by_one() -> None:
    blocks = [draw(20, ("x", "y", "z"), seed) for seed in range(6)]
    sums = np.stack([count_rows(one, ("x", "y", "z")).sum(axis=0) for one in blocks])
    assert macro_f1(sums) == pytest.approx([f1(one) for one in blocks])


def test_without_rows_there_is_none() -> None:
    assert macro_f1_estimate([], [], HOW).value is None
    assert np.isnan(macro_f1(np.zeros((1, 6)))[0])
    assert macro_f1_difference([], [], HOW)[1] is None


def test_faultless_decisions_are_not_certain() -> None:
    found = macro_f1_estimate([("x", "x"), ("y", "y")] * 4, list("abcdefgh"), HOW)
    assert (found.value, found.low, found.high) == (1.0, None, None)


def test_the_exchange_test_counts_all_exchanges() -> None:
    first, second = draw(7, ("x", "y"), 1), draw(7, ("x", "y"), 2)
    second = [(gold, found) for (gold, _), (_, found) in zip(first, second, strict=True)]
    pairs = list(zip(first, second, strict=True))
    estimate, p = macro_f1_difference(pairs, list("abcdefg"), HOW)
    observed = f1(first) - f1(second)
    assert estimate.value == pytest.approx(observed)
    labels = labels_of([*first, *second])
    gaps = []
    for exchanged in product([False, True], repeat=7):
        turned = [pair[::-1] if turn else pair for turn, pair in zip(exchanged, pairs, strict=True)]
        gaps.append(_macro([a for a, _ in turned], labels) - _macro([b for _, b in turned], labels))
    assert p == pytest.approx(np.mean(np.abs(gaps) >= abs(observed) - 1e-12))


def _macro(decided: list[Decided], labels: list[str]) -> float:
    return float(macro_f1(count_rows(decided, labels).sum(axis=0)[None])[0])


def test_who_is_first_turns_the_sign_alone() -> None:
    first = draw(40, ("x", "y"), 3)
    second = [(gold, found) for (gold, _), (_, found) in zip(first, draw(40, ("x", "y"), 4),
                                                             strict=True)]  # fmt: skip
    keys = [str(n // 2) for n in range(40)]
    one = macro_f1_difference(list(zip(first, second, strict=True)), keys, HOW)
    other = macro_f1_difference(list(zip(second, first, strict=True)), keys, HOW)
    assert one[0].value == pytest.approx(-(other[0].value or 0.0))
    assert one[1] == other[1]


def test_p_values_of_equally_good_models_are_not_too_small() -> None:
    random = np.random.default_rng(6)
    small = 0
    for _ in range(300):
        gold = random.integers(2, size=10)
        a, b = (np.where(random.random(10) < 0.7, gold, 1 - gold) for _ in range(2))
        pairs = [((str(g), str(x)), (str(g), str(y))) for g, x, y in zip(gold, a, b, strict=True)]
        _, p = macro_f1_difference(pairs, [str(n) for n in range(10)], HOW)
        assert p is not None
        small += p <= 0.1
    assert small / 300 <= 0.1 + 3 * (0.1 * 0.9 / 300) ** 0.5
