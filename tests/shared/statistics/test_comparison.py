"""Tests of means and of two systems: SciPy and statsmodels as oracles."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import stats

from shared.statistics.bootstrap import Resampling
from shared.statistics.clusters import clustered
from shared.statistics.comparison import (
    FLIPS,
    mean_test,
    min_flip_p,
    normal_p,
    omnibus_z,
    paired,
    sign_flip_p,
)
from shared.statistics.seeds import generator

permutation_test: Any = stats.permutation_test


@pytest.mark.parametrize("each", [1, 4])
def test_t_is_statsmodels_with_clusters(each: int) -> None:
    values = generator(0, "t", each).normal(0.3, 1, size=20 * each)
    groups = np.arange(20 * each) // each
    found = mean_test(clustered(values, list(map(str, groups))), 0.1)
    fitted = sm.OLS(values - 0.1, np.ones_like(values)).fit(
        cov_type="cluster", cov_kwds={"groups": groups}, use_t=True
    )
    assert found.t == pytest.approx(fitted.tvalues[0], rel=1e-12)
    assert found.p_t == pytest.approx(fitted.pvalues[0], rel=1e-9)


@pytest.mark.parametrize("count", [3, 8, 12, 13])
def test_sign_flips_are_scipys_where_all_are_made(count: int) -> None:
    values = generator(1, "flips", count).normal(0.4, 1, size=count)
    oracle = permutation_test(
        (values,),
        lambda x, axis: np.abs(stats.ttest_1samp(x, 0, axis=axis).statistic),
        permutation_type="samples",
        alternative="greater",
        vectorized=True,
        n_resamples=np.inf,
    )
    assert sign_flip_p(values, np.ones(count), 0, "x") == pytest.approx(oracle.pvalue)


@pytest.mark.parametrize("count", [14, 30, 60])
def test_drawn_flips_come_near_to_t(count: int) -> None:
    values = generator(2, "many", count).normal(0.3, 1, size=count)
    expected = stats.ttest_1samp(values, 0).pvalue
    assert sign_flip_p(values, np.ones(count), 0, "x") == pytest.approx(expected, abs=0.02)


def test_drawn_flips_of_uneven_clusters_are_those_written_out() -> None:
    random = generator(3, "uneven")
    sums, sizes = random.normal(0.5, 2, size=16), random.integers(1, 6, size=16).astype(float)
    found = sign_flip_p(sums, sizes, 0, "x")
    signs = np.array([[1 - 2 * (n >> bit & 1) for bit in range(16)] for n in range(2**16)])
    means = (signs * sums).sum(axis=1) / sizes.sum()
    residuals = signs * sums - means[:, None] * sizes
    t = np.abs(means) / np.sqrt((residuals**2).sum(axis=1))
    assert found == pytest.approx(np.mean(t >= t[0] - 1e-12), abs=0.012)


def test_edge_cases_of_a_mean() -> None:
    nothing = mean_test(clustered([]), 0.5)
    assert (nothing.p_value, nothing.rows) == (None, 0)
    assert mean_test(clustered([0.9, 0.8], ["a", "a"]), 0.5).p_value == 1
    assert mean_test(clustered([0.5] * 9), 0.5).p_value == 1
    sure = mean_test(clustered([0.9] * 8), 0.5)
    assert sure.p_value == pytest.approx(2 ** (1 - 8))
    assert sure.t is None
    for count in (2, 5, 6, 13):
        assert mean_test(clustered([0.9] * count), 0.5).p_value == min_flip_p(count)
    assert min_flip_p(5) > 0.05 > min_flip_p(6)
    assert min_flip_p(100) == 1 / (FLIPS + 1)


def test_no_p_value_is_0_however_large_t_is() -> None:
    values = 5 + np.random.default_rng(4).normal(0, 1e-3, 300)
    found = mean_test(clustered(values), 0.0)
    assert found.p_t is not None
    assert 0 < found.p_t < 1e-300


def test_no_p_value_of_flips_is_below_the_smallest_possible_for_nearly_equal_clusters() -> None:
    """The rounding of a sum once made the observed pattern larger than itself, so p was 0."""
    random = np.random.default_rng(0)
    for _ in range(2_000):
        count = int(random.integers(1, 9))
        noise = random.normal(size=count) * 10.0 ** random.uniform(-17, -5)
        sums = random.normal() * (1 + noise)
        assert sign_flip_p(sums, np.ones(count), 0, "x") >= min_flip_p(count)


def test_order_and_seed_of_flips() -> None:
    values = generator(4, "seed").normal(0.2, 1, size=50)
    found = mean_test(clustered(values), 0)
    assert mean_test(clustered(values[::-1]), 0) == found
    assert mean_test(clustered(values), 0, seed=1).p_randomization != found.p_randomization
    assert found.p_randomization is not None
    assert found.p_randomization >= 1 / (FLIPS + 1)


def test_mcnemar_for_shares_that_are_single() -> None:
    """0/1 parts: all sign patterns of the discordant pairs are McNemar's exact test."""
    differences = np.array([1.0] * 8 + [-1.0] * 2 + [0.0] * 3)
    found = paired("x", differences)
    assert found.test.p_randomization == pytest.approx(stats.binomtest(8, 10).pvalue)
    assert (found.higher, found.equal, found.lower) == (8, 3, 2)


def test_two_systems() -> None:
    differences = generator(5, "pairs").normal(0.4, 1, size=60)
    found = paired("x", differences, how=Resampling(resamples=4_000))
    assert found.test.p_t == pytest.approx(stats.ttest_1samp(differences, 0).pvalue)
    assert found.effect == pytest.approx(differences.mean() / differences.std(ddof=1))
    turned = paired("x", -differences, how=Resampling(resamples=4_000))
    assert turned.difference.value == pytest.approx(-(found.difference.value or 0))
    assert turned.test.p_t == pytest.approx(found.test.p_t)
    none = paired("x", [0.0] * 9)
    assert (none.test.p_value, none.effect, none.equal) == (1, None, 9)
    one = paired("x", [0.3])
    assert (one.test.p_value, one.difference.low) == (1, None)
    assert paired("x", []).test.p_value is None


def test_power_is_near_to_that_of_the_paired_t() -> None:
    draws = generator(6, "power").normal(0.45, 1, size=(200, 40))
    ours = np.mean([sign_flip_p(row, np.ones(40), 0, "x") <= 0.05 for row in draws])
    theirs = np.mean(stats.ttest_1samp(draws, 0, axis=1).pvalue <= 0.05)
    assert ours == pytest.approx(theirs, abs=0.03)


@pytest.mark.parametrize(
    ("runs", "slack"), [(2_000, 0.015), pytest.param(20_000, 0.01, marks=pytest.mark.nightly)]
)
def test_the_omnibus_z_is_standard_normal_for_random_explanations(runs: int, slack: float) -> None:
    random = generator(8, "omnibus")
    z = [omnibus_z(random.integers(0, 200, size=40) / 199, [199] * 40) or 0.0 for _ in range(runs)]
    assert np.std(z) == pytest.approx(1, abs=0.05)
    assert np.mean([normal_p(one) <= 0.05 for one in z]) == pytest.approx(0.05, abs=slack)
    assert omnibus_z(np.empty(0), []) is None


@pytest.mark.parametrize(("texts", "power"), [(3, 0.85), (5, 0.95), (10, 1.0)])
def test_a_few_short_texts_together_are_told_from_chance(texts: int, power: float) -> None:
    """Each explanation beats 95 % of the few other places of its text, on average."""
    random = generator(18, "omnibus of few", texts)
    called = {}
    for kind, wins in (("random", (1, 1)), ("good", (19, 1))):
        draws = random.integers(8, 19, size=(4_000, texts))
        rates = random.binomial(draws, random.beta(*wins, draws.shape)) / draws
        z = [omnibus_z(own, of.tolist()) or 0.0 for own, of in zip(rates, draws, strict=True)]
        called[kind] = np.mean([normal_p(one) <= 0.05 for one in z])
    assert called["random"] == pytest.approx(0.048, abs=0.012)
    assert called["good"] >= power


def test_results_of_one_text_count_as_one_in_the_omnibus_test() -> None:
    win_rates = np.array([0.9, 0.8, 0.7])
    once = omnibus_z(win_rates, [18, 12, 9])
    repeated = omnibus_z(
        np.repeat(win_rates, 4), [18] * 4 + [12] * 4 + [9] * 4, list("aaaabbbbcccc")
    )
    assert repeated == pytest.approx(once)
    assert omnibus_z(win_rates, [18, 12, 9], ["a", "b", "c"]) == pytest.approx(once)
