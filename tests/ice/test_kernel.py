from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from services.ice import comparison, kernel
from services.ice.kernel import Floats
from services.ice.randomization_test import tails
from shared.statistics import ranks

SCORES = st.lists(st.sampled_from([0.0, 0.1, 0.1 + 0.2, 0.3, 0.5, 0.9, 1.0]), min_size=1)


def null_of(scores: list[float]) -> Floats:
    return np.array(scores)


@given(st.floats(0, 1), SCORES)
def test_win_rate_and_ties_add_up(observed: float, scores: list[float]) -> None:
    null = null_of(scores)
    win, strict = ranks.win_rate(observed, null), ranks.strict_win_rate(observed, null)
    tied = ranks.tie_rate(observed, null)
    assert win is not None
    assert strict is not None
    assert tied is not None
    assert 0 <= strict <= win <= 1
    assert win == pytest.approx(strict + tied / 2)


@given(st.floats(0, 1), SCORES)
def test_the_two_sides_are_mirrored(observed: float, scores: list[float]) -> None:
    null = null_of(scores)
    win, lost = ranks.win_rate(observed, null), ranks.win_rate(-observed, -null)
    assert win is not None
    assert lost is not None
    assert win + lost == pytest.approx(1)
    above, below = ranks.p_value(observed, null), ranks.p_anti(observed, null)
    assert above is not None
    assert below is not None
    assert above + below >= 1
    mirrored = {"faithful": "anti-faithful", "anti-faithful": "faithful"}
    said = kernel.verdict(above, below, 0.4)
    assert said is not None
    assert kernel.verdict(below, above, 0.4) == mirrored.get(said, "inconclusive")


def test_equal_in_theory_is_a_tie() -> None:
    null = np.full(9, 0.3)
    assert ranks.win_rate(0.1 + 0.2, null) == 0.5
    assert ranks.p_value(0.1 + 0.2, null) == 1.0


def test_p_agrees_with_scipy_on_the_same_draws() -> None:
    random = np.random.default_rng(3)
    data = random.normal(0.4, 1, size=14)
    oracle = stats.permutation_test(
        (data,),
        lambda x, axis: np.mean(x, axis=axis),
        permutation_type="samples",
        n_resamples=499,
        alternative="greater",
        vectorized=True,
        rng=np.random.default_rng(0),
    )
    assert ranks.p_value(float(data.mean()), oracle.null_distribution) == pytest.approx(
        oracle.pvalue
    )


def test_the_exact_test_is_brute_force() -> None:
    weights = np.random.default_rng(5).normal(size=7)
    every = {subset: float(weights[list(subset)].sum()) for subset in combinations(range(7), 3)}
    for rationale, observed in every.items():
        null = np.array([score for subset, score in every.items() if subset != rationale])
        rank = sum(score >= observed for score in every.values())
        assert ranks.p_value(observed, null) == pytest.approx(rank / 35)
        assert ranks.win_rate(observed, null) == pytest.approx((35 - rank) / 34)


def test_effect_is_a_z_score_and_undefined_without_spread() -> None:
    null = np.array([0.1, 0.2, 0.3, 0.6])
    expected = stats.zmap(np.array([0.9]), null, ddof=1)[0]
    assert kernel.effect(0.9, null) == pytest.approx(expected)
    assert kernel.effect(0.9, np.full(50, 0.2)) is None
    assert kernel.effect(0.9, np.array([0.2])) is None


@pytest.mark.parametrize(
    ("full", "empty", "expected"), [(0.9, 0.5, 0.5), (0.54, 0.5, None), (0.9, None, None)]
)
def test_nsr_is_null_near_zero(full: float, empty: float | None, expected: float | None) -> None:
    assert kernel.nsr(0.7, full, empty, 0.05) == (expected and pytest.approx(expected))


def test_nsr_has_no_bounds() -> None:
    assert kernel.nsr(1.0, 0.6, 0.5, 0.05) == pytest.approx(5)
    assert kernel.nsr(0.0, 0.6, 0.5, 0.05) == pytest.approx(-5)


def test_a_constant_curve_has_its_own_height_as_area() -> None:
    assert kernel.area([0.1, 0.2, 0.5], [0.8, 0.8, 0.8]) == pytest.approx(0.8)
    assert kernel.area([0.1, 0.2, 0.5], [0.8, None, 0.8]) is None


@pytest.mark.parametrize("draws", [4, 50, 99])
def test_chance_has_the_stated_spread(draws: int) -> None:
    found = np.arange(draws + 1) / draws
    assert ranks.chance_sd(draws) == pytest.approx(np.std(found))


def test_sequential_p_of_besag_and_clifford() -> None:
    exceeds = np.array([False, True, False, True, True, False])
    assert kernel.sequential_p(exceeds, 100, 2) == (2 / 4, 4)
    assert kernel.sequential_p(exceeds, 100, 3) == (3 / 5, 5)
    assert kernel.sequential_p(exceeds, 6, 4) == (4 / 7, None)


def test_sequential_p_values_are_valid_and_stop_early() -> None:
    random = np.random.default_rng(11)
    p_values, draws = [], []
    for _ in range(2_000):
        scores = random.random(400)
        found = tails(float(scores[0]), scores[1:], 399, 10)
        assert found.above is not None
        assert found.below is not None
        p_values.append(found.above)
        draws.append(found.draws)
    for level in (0.01, 0.025, 0.05, 0.1, 0.3):
        share = np.mean(np.array(p_values) <= level)
        assert share <= level + 3 * np.sqrt(level / 2_000)
    assert np.mean(draws) < 150


def test_a_tail_does_not_see_draws_after_its_end() -> None:
    scores = np.random.default_rng(2).random(300)
    whole = tails(0.5, scores, 300, 5)
    assert whole.ended
    assert tails(0.5, scores[: whole.draws], 300, 5) == whole


@given(st.floats(0, 1), st.floats(0, 1), SCORES)
def test_the_difference_is_that_of_the_win_rates_and_in_its_interval(
    first: float, second: float, scores: list[float]
) -> None:
    null = null_of(scores)
    found = comparison.difference(first, second, null, exact=False)
    ours, others = ranks.win_rate(first, null), ranks.win_rate(second, null)
    assert ours is not None
    assert others is not None
    assert found.value == pytest.approx(ours - others)
    assert found.low is not None
    assert found.high is not None
    assert found.low - 1e-12 <= ours - others <= found.high + 1e-12
    swapped = comparison.difference(second, first, null, exact=False)
    assert swapped.high == pytest.approx(-found.low)
