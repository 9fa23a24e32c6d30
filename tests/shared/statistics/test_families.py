"""Corrections: laws, statsmodels and worked examples as oracles, family-wise size."""

from __future__ import annotations

from collections import defaultdict
from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from shared.statistics.draws import Rankings, first_units
from shared.statistics.families import (
    benjamini_hochberg,
    discovered,
    holm,
    holm_over_families,
    local_false_discovery,
    max_t,
    needed_at_least_p,
)
from shared.statistics.placements import Places, Subsets
from shared.statistics.ranks import p_anti, p_value, two_sided
from shared.statistics.seeds import generator

P = st.lists(st.floats(1e-6, 1), min_size=1, max_size=12)


@settings(max_examples=30, deadline=None)
@given(P)
def test_holm_and_bh_are_statsmodels(p_values: list[float]) -> None:
    assert holm(p_values) == pytest.approx(multipletests(p_values, method="holm")[1])
    expected = multipletests(p_values, method="fdr_bh")[1]
    assert benjamini_hochberg(p_values) == pytest.approx(expected)


def test_no_tests_need_no_correction() -> None:
    assert (holm([]), benjamini_hochberg([]), holm_over_families([])) == ([], [], [])


@given(st.lists(P, min_size=1, max_size=5))
def test_families_are_holms_of_their_least_p(families: list[list[float]]) -> None:
    adjusted = holm_over_families(families)
    for raw, found in zip(families, adjusted, strict=True):
        assert all(p <= q <= 1 for p, q in zip(raw, found, strict=True))
    expected = holm([min(family) for family in families])
    assert [min(family) for family in adjusted] == pytest.approx(expected)


@given(st.integers(1, 5), st.integers(2, 40), st.integers(0, 99))
def test_an_adjusted_p_is_at_least_the_raw_one(tests: int, draws: int, seed: int) -> None:
    scores = generator(seed, "raw").normal(size=(tests, draws + 1))
    alone = [float(max_t(row[None])[0]) for row in scores]
    together = max_t(scores)
    assert np.all(together >= np.array(alone) - 1e-12)
    assert together.min() >= 1 / (draws + 1)
    flat = np.vstack([scores, np.ones(draws + 1)])
    assert max_t(flat)[:-1] == pytest.approx(together)
    assert max_t(flat)[-1] == 1
    assert max_t(3 * scores + 7) == pytest.approx(together)


def test_eight_explanations_at_five_budgets_show_nothing_false() -> None:
    """The whole family of a request: nested random rationales, none with a cause."""
    runs, wrong, uncorrected = 400, 0, 0
    for run in range(runs):
        random = generator(run, "family")
        effects = random.normal(size=40)
        rankings = Rankings(random, 40)
        draws = np.array([rankings[place] for place in range(199)])
        least = []
        for _ in range(8):
            observed = random.permutation(40)
            scores = np.cumsum(effects[np.vstack([observed, draws])], axis=1)
            found = scores[:, [2, 4, 8, 12, 16]].T
            least.append(max_t(found).tolist())
            uncorrected += any(float(max_t(row[None])[0]) <= 0.05 for row in found)
        wrong += any(p <= 0.05 for family in holm_over_families(least) for p in family)
    assert wrong / runs == pytest.approx(0.04, abs=0.03)
    assert uncorrected / runs / 8 > 0.1


def familywise(scores: str, tests: int, runs: int) -> float:
    """How often a family of tests without a cause has an adjusted p of .05."""
    draw = getattr(np.random.default_rng(tests), scores)
    least = [max_t(draw((tests, 200))).min() for _ in range(runs)]
    return float(np.mean(np.array(least) <= 0.05))


@pytest.mark.parametrize("scores", ["random", "standard_normal"])
def test_a_family_is_neither_too_sure_nor_too_careful(scores: str) -> None:
    assert familywise(scores, 15, 400) == pytest.approx(0.05, abs=3 * 0.011)


@pytest.mark.nightly
@pytest.mark.parametrize("tests", [2, 5, 15, 30])
@pytest.mark.parametrize("scores", ["random", "standard_normal"])
def test_the_familywise_size(scores: str, tests: int) -> None:
    wrong = familywise(scores, tests, 4_000)
    print(f"{scores}, {tests} tests: {wrong:.3f}")  # noqa: T201 - the figures of the card
    assert wrong == pytest.approx(0.05, abs=0.01)


@pytest.mark.parametrize("runs", [400, pytest.param(4_000, marks=pytest.mark.nightly)])
def test_a_budget_with_few_placements_keeps_the_size_of_the_family(runs: int) -> None:
    """Of 12 units all 66 pairs are drawn, and 199 of the 792 fives."""
    wrong = [nested_family(generator(run, "mixed")) <= 0.05 for run in range(runs)]
    assert np.mean(wrong) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / runs)


def nested_family(random: np.random.Generator) -> float:
    """The least adjusted p of two budgets of a random explanation of 12 units, as ICE draws it."""
    observed, rankings = tuple(random.permutation(12).tolist()), Rankings(random, 12)
    score: dict[Places, float] = defaultdict(random.random)
    raw = []
    for size in (2, 5):
        own = first_units(size)(observed)
        drawn = rankings.distinct(Subsets(12, size), first_units(size), 199)
        others = islice((one for one in drawn if one != own), 199)  # of fives without end
        null = np.array([score[one] for one in others])
        tails = p_value(score[own], null), p_anti(score[own], null)
        raw.append(two_sided(*tails) or 1.0)
    ranked = [observed, *(rankings[place] for place in range(199))]
    joint = [[score[first_units(size)(one)] for one in ranked] for size in (2, 5)]
    return float(np.maximum(max_t(np.array(joint)), raw).min())


def test_one_side() -> None:
    scores = np.array([[-3.0, *np.linspace(-1, 1, 19)]])
    assert max_t(scores, both_sides=False)[0] == 1
    assert max_t(scores)[0] == 1 / 20


def test_how_many_must_reach_the_least_p() -> None:
    assert needed_at_least_p(examples=50, least_p=1 / 51, alpha=0.1) == 10
    assert needed_at_least_p(examples=1, least_p=0.001, alpha=0.1) == 1


@pytest.mark.parametrize(("examples", "draws", "needed"), [(500, 50, 99), (500, 100, 50)])
def test_benjamini_hochberg_rejects_nothing_before_that_many(
    examples: int, draws: int, needed: int
) -> None:
    least = 1 / (draws + 1)
    assert needed_at_least_p(examples, least, 0.10) == needed
    for reached, rejected in ((needed - 1, 0), (needed, needed)):
        p_values = [least] * reached + [1.0] * (examples - reached)
        assert sum(q <= 0.10 for q in benjamini_hochberg(p_values)) == rejected


def false_and_found(random_share: float, results: int, runs: int) -> tuple[float, float]:
    """The mean share of random explanations among those called better, and of good ones found."""
    random = generator(14, "local", random_share, results)
    false, found = [], []
    for _ in range(runs):
        draws = random.choice([4, 7, 10, 14, 18, 19, 39, 79, 199], results)
        is_random = random.random(results) < random_share
        lost = np.where(is_random, random.random(results), random.beta(1, 20, results))
        reached = random.binomial(draws, lost).tolist()
        called = discovered(local_false_discovery(reached, draws.tolist()))
        false.append(int(np.sum(called & is_random)) / max(1, int(np.sum(called))))
        found.append(int(np.sum(called & ~is_random)) / max(1, int(np.sum(~is_random))))
    return float(np.mean(false)), float(np.mean(found))


@pytest.mark.parametrize(
    ("random_share", "results", "power"),
    [(0.3, 5, 0.2), (0.3, 50, 0.8), (0.6, 50, 0.1), (1, 50, 0)],
)
def test_at_most_a_tenth_of_what_is_called_better_is_random(
    random_share: float, results: int, power: float
) -> None:
    false, found = false_and_found(random_share, results, 60)
    assert false <= 0.10 + 0.03
    assert found >= power


@pytest.mark.nightly
@pytest.mark.parametrize("results", [5, 20, 50, 200])
@pytest.mark.parametrize("random_share", [0.3, 0.6, 0.9, 1])
def test_at_most_a_tenth_over_many_batches(random_share: float, results: int) -> None:
    assert false_and_found(random_share, results, 1_000)[0] <= 0.105


def test_local_rates_rise_with_the_draws_that_are_lost_and_fall_with_company() -> None:
    rates = local_false_discovery([0, 1, 2, 5, 9], [10] * 5)
    assert rates.tolist() == sorted(rates)
    alone, among_good = (
        local_false_discovery([0, *others], [10] * 21)[0] for others in ([5] * 20, [0] * 20)
    )
    assert among_good < alone
    assert discovered(np.empty(0)).size == 0
