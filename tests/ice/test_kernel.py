from __future__ import annotations

from functools import partial
from itertools import combinations
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from services.ice import comparison, kernel
from services.ice.kernel import Floats
from services.ice.report import Verdict
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


@pytest.mark.parametrize(
    ("sufficiency", "necessity", "direction", "read"),
    [
        ("faithful", "faithful", -1, "cause"),
        ("faithful", "inconclusive", -1, "redundant"),
        ("faithful", "inconclusive", 0, "sufficient"),
        ("faithful", "inconclusive", 1, "sufficient"),
        ("inconclusive", "faithful", 1, "partner"),
        ("inconclusive", "faithful", 0, "needed"),
        ("inconclusive", "inconclusive", 1, "no evidence"),
        ("faithful", "anti-faithful", 1, "against"),
        ("undecidable", "undecidable", 1, "undecidable"),
        (None, "inconclusive", 0, "undefined"),
    ],
)
def test_both_sides_and_their_interaction_are_read(
    sufficiency: Verdict | None, necessity: Verdict | None, direction: int, read: str
) -> None:
    assert kernel.reading(sufficiency, necessity, direction) == read


def test_what_is_clear_only_together_is_read_so() -> None:
    neither = partial(kernel.reading, "inconclusive", "inconclusive", 0)
    assert neither("faithful") == "relevant"
    assert neither("anti-faithful") == "against"
    assert neither("inconclusive") == "no evidence"
    assert kernel.reading("faithful", "faithful", 0, "faithful") == "cause"


PROBABILITIES = st.lists(st.integers(0, 20).map(lambda twentieths: twentieths / 20), min_size=20)


@given(PROBABILITIES, st.randoms(use_true_random=False))
def test_at_most_a_twentieth_of_all_placements_has_joint_evidence(
    kept: list[float], random: Random
) -> None:
    """Whatever the scores are, if each placement is compared with all others."""
    without = random.sample(kept, len(kept))
    evidence = kernel.joint_evidence(np.array(kept), np.array(without))
    p = np.array([np.mean(evidence >= own - 1e-9) for own in evidence])
    assert np.mean(p <= 0.05) <= 0.05


@given(PROBABILITIES, st.randoms(use_true_random=False))
def test_joint_evidence_follows_its_placement(kept: list[float], random: Random) -> None:
    order = random.sample(range(len(kept)), len(kept))
    alone, without = np.array(kept), np.array(kept[::-1])
    evidence = kernel.joint_evidence(alone, without)
    moved = kernel.joint_evidence(alone[order], without[order])
    assert moved == pytest.approx(evidence[order], abs=1e-6)


@given(st.lists(st.floats(-4, 4), min_size=4, max_size=4))
def test_a_judge_additive_in_log_odds_has_no_interaction(parts: list[float]) -> None:
    bias, own, rest, _ = parts

    def at(logit: float) -> Floats:
        return np.array([1 / (1 + np.exp(-logit))])

    found = kernel.interaction(at(bias + own + rest), at(bias + own), at(bias + rest), at(bias))
    assert found[0] == pytest.approx(0, abs=1e-9)


def test_the_spread_of_the_score_is_that_of_its_mean_over_operators() -> None:
    random = np.random.default_rng(4)
    one = random.random((1, 200))
    assert kernel.score_sd(one) == pytest.approx(ranks.chance_sd(199))
    assert kernel.score_sd(np.repeat(one, 4, axis=0)) == pytest.approx(ranks.chance_sd(199))
    four = kernel.score_sd(random.random((4, 4_000)))
    assert four == pytest.approx(ranks.chance_sd(3_999) / 2, rel=0.05)
    assert kernel.score_sd(np.full((2, 50), 0.3)) == 0


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
