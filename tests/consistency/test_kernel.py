"""Laws of the formulas, and their oracles: brute force, SciPy, games with a known value."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from scipy.spatial import distance

from services.consistency import kernel
from services.consistency.kernel import CHANGES, STAYS, UNKNOWN


def test_what_citing_a_set_predicts_of_taking_another_away() -> None:
    cited = np.array([[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1], [1, 1, 1, 0]], dtype=bool)
    found = kernel.predictions(cited)
    for row, own in enumerate(cited):
        for column, gone in enumerate(cited):
            told = UNKNOWN
            if not (own & gone).any():
                told = STAYS
            elif (own <= gone).all():
                told = CHANGES
            assert found[row, column] == told
    assert found.tolist()[0] == [CHANGES, UNKNOWN, STAYS, CHANGES]


def test_precision_by_hand() -> None:
    predicted = np.array([CHANGES, STAYS, STAYS, STAYS, UNKNOWN], dtype=np.int8)
    changed = np.array([[True, False, True, False, True], [False, False, False, False, True]])
    plain = kernel.precision(predicted, changed, balanced=False)
    even = kernel.precision(predicted, changed, balanced=True)
    assert (plain.changes, plain.stays, plain.predicted) == (0.5, 5 / 6, 8)
    assert plain.value == pytest.approx(6 / 8)
    assert even.value == pytest.approx((0.5 + 5 / 6) / 2)


def test_precision_of_edits_of_one_kind() -> None:
    predicted = np.array([STAYS, STAYS, UNKNOWN], dtype=np.int8)
    changed = np.array([True, False, False])
    assert kernel.precision(predicted, changed, balanced=True).value is None
    assert kernel.precision(predicted, changed, balanced=False).value == 0.5
    nothing = kernel.precision(predicted[2:], changed[2:], balanced=False)
    assert (nothing.value, nothing.predicted) == (None, 0)


@pytest.mark.parametrize("changed", [True, False])
def test_who_says_always_the_same_has_a_half_when_balanced(changed: bool) -> None:
    """A model whose answer never moves, or always does, is predicted by nothing."""
    predicted = np.array([CHANGES, *[STAYS] * 40], dtype=np.int8)
    answers = np.full(41, changed)
    assert kernel.precision(predicted, answers, balanced=True).value == 0.5


def test_cosines_are_scipy_s() -> None:
    random = np.random.default_rng(3)
    first, rows = random.normal(size=9), random.normal(size=(20, 9))
    expected = [1 - distance.cosine(first, row) for row in rows]
    assert [kernel.cosine(first, row) for row in rows] == pytest.approx(expected)
    orders = np.array([random.permutation(9) for _ in range(20)])
    moved = rows[0][orders]
    expected = [1 - distance.cosine(first, row) for row in moved]
    assert kernel.cosines(first, moved) == pytest.approx(expected)
    assert kernel.cosine(first, np.zeros(9)) is None
    assert kernel.agreement(-1.0) == 0
    assert kernel.agreement(None) is None


def test_occlusion_of_an_additive_game_is_its_weights() -> None:
    weights = np.array([0.5, -2.0, 3.0, 0.0])
    values = kernel.occlusion_rows(4) @ weights
    assert kernel.occlusion(values[:, None])[:, 0] == pytest.approx(weights)


def test_shapley_values_over_all_orders_are_exact() -> None:
    """Of a game with an AND, whose members share its gain, and an OR, whose members share it too:
    the definition over subsets gives 1/2 each."""
    orders = [list(order) for order in permutations(range(4))]
    rows = kernel.shapley_rows(orders, 4)
    values = (rows[:, 0] & rows[:, 1]) + 3.0 * (rows[:, 2] | rows[:, 3])
    assert kernel.shapley(values[:, None], orders)[:, 0] == pytest.approx([0.5, 0.5, 1.5, 1.5])


def test_sampled_shapley_values_add_up() -> None:
    random = np.random.default_rng(5)
    orders = kernel.orders_of(random, 6, 3)
    rows = kernel.shapley_rows(orders, 6)
    game = dict(zip(map(tuple, rows.tolist()), random.normal(size=len(rows)), strict=True))
    values = np.array([[game[tuple(row)]] for row in rows.tolist()])
    total = game[(True,) * 6] - game[(False,) * 6]
    assert kernel.shapley(values, orders).sum() == pytest.approx(total)


def test_ratios_are_means_of_each_token_s_shares() -> None:
    contributions = np.array([[1.0, 0.0, 2.0], [-3.0, 0.0, 2.0]])
    assert kernel.mean_ratios(contributions) == pytest.approx([(0.25 + 0.5) / 2, (-0.75 + 0.5) / 2])
    assert kernel.mean_ratios(np.zeros((2, 3))).tolist() == [0, 0]


def test_few_permutations_are_all_of_them() -> None:
    strata = [[0, 2], [1, 3, 4], []]
    found = kernel.permuted(strata, np.random.default_rng(0), 99)
    assert len(found) == kernel.permutation_count(strata) - 1 == 11
    assert len(set(map(tuple, found.tolist()))) == 11
    for order in found.tolist():
        assert {order[0], order[2]} == {0, 2}
        assert order != [0, 1, 2, 3, 4]


def test_drawn_permutations_are_distinct_and_uniform() -> None:
    random = np.random.default_rng(1)
    firsts: Counter[int] = Counter()
    for _ in range(300):
        found = kernel.permuted([[0, 1, 2, 3, 4]], random, 20)
        assert len(set(map(tuple, found.tolist()))) == len(found) == 20
        firsts.update(found[:, 0].tolist())
    shares = [firsts[word] / 6_000 for word in range(5)]
    expected = [23 / 119, *[24 / 119] * 4]  # without the given order
    assert shares == pytest.approx(expected, abs=0.025)
