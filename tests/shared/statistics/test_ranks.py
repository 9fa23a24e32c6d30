"""Ranks: laws of win rates and p-values, SciPy as the oracle."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

from shared.statistics import ranks
from shared.statistics.seeds import generator

permutation_test: Any = stats.permutation_test
monte_carlo_test: Any = stats.monte_carlo_test

SCORES = st.lists(st.floats(-1, 1), min_size=1, max_size=30).map(np.array)


@example(ranks.TIE, np.array([0.0, -5e-244]))  # tied by the gap, below by the sum
@given(st.floats(-1, 1), SCORES)
def test_bounds_and_symmetry(observed: float, null: np.ndarray) -> None:
    win, strict = ranks.win_rate(observed, null), ranks.strict_win_rate(observed, null)
    ties, p, anti = (f(observed, null) for f in (ranks.tie_rate, ranks.p_value, ranks.p_anti))
    assert win is not None
    assert strict is not None
    assert ties is not None
    assert p is not None
    assert anti is not None
    assert 0 <= strict <= win <= 1
    assert win == pytest.approx(strict + ties / 2)
    assert win == pytest.approx(1 - (ranks.win_rate(-observed, -null) or 0))
    assert p + anti == pytest.approx(1 + (1 + ties * null.size) / (1 + null.size))
    assert ranks.attainable_p(null.size) <= p <= 1
    assert ranks.two_sided(p, anti) == min(1, 2 * min(p, anti))


def test_p_is_scipys_over_an_enumeration() -> None:
    random = generator(0, "oracle")
    data = random.normal(0.4, 1, size=9)
    oracle = permutation_test((data,), np.mean, permutation_type="samples",
                                    alternative="greater", n_resamples=np.inf)  # fmt: skip
    null = np.sort(oracle.null_distribution)
    others = np.delete(null, np.searchsorted(null, data.mean()))
    assert ranks.p_value(float(data.mean()), others) == pytest.approx(oracle.pvalue)


def test_p_is_that_of_scipys_monte_carlo_test() -> None:
    data = generator(1, "oracle").normal(0.5, 1, size=20)
    oracle = monte_carlo_test(
        data,
        lambda size: np.random.default_rng(7).normal(size=size),
        lambda x, axis: np.mean(x, axis=axis),
        vectorized=True,
        n_resamples=499,
        alternative="greater",
    )
    found = ranks.p_value(float(data.mean()), np.asarray(oracle.null_distribution))
    assert found == pytest.approx(oracle.pvalue)


def test_the_rank_of_one_among_its_like_is_uniform() -> None:
    rows = generator(2, "uniform").random((4_000, 100))
    p = np.array([ranks.p_value(row[0], row[1:]) for row in rows])
    assert np.mean(p <= 0.05) == pytest.approx(0.05, abs=0.012)
    rates = np.array([ranks.win_rate(row[0], row[1:]) for row in rows])
    assert rates.mean() == pytest.approx(0.5, abs=0.015)
    assert rates.std() == pytest.approx(ranks.chance_sd(99), rel=0.03)


def test_what_is_not_finite_does_not_enter() -> None:
    for wrong in ((np.nan, np.zeros(3)), (0.0, np.array([0, np.nan])), (np.inf, np.zeros(2))):
        with pytest.raises(ValueError, match="finite"):
            ranks.win_rate(*wrong)
        with pytest.raises(ValueError, match="finite"):
            ranks.p_value(*wrong)


def test_no_null_is_undefined() -> None:
    assert ranks.win_rate(0.1, np.empty(0)) is None
    assert ranks.p_value(0.1, np.empty(0)) is None
    assert ranks.two_sided(None, 0.5) is None
    assert ranks.win_rate(0.1 + 0.2, np.full(9, 0.3)) == 0.5
    assert ranks.attainable_p(19, sides=2) == 0.1
