from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm, rankdata, ranksums
from sklearn.metrics import roc_auc_score  # type: ignore[import-untyped]

from services.ftc import batch_report
from shared.statistics.clusters import Floats

gains = st.lists(
    st.tuples(st.sampled_from([-1.0, 0.0, 1.0]), st.sampled_from([0.0, 1.0])), min_size=1
)


def parts(rows: Floats) -> Floats:
    """What each result adds to the sums."""
    gain, leaks = rows[..., 0], rows[..., 1]
    return np.stack([gain * (1 - leaks), gain * leaks, 1 - leaks, leaks], axis=-1)


def las(rows: list[tuple[float, float]]) -> float:
    return float(batch_report.las(parts(np.array(rows))[None].sum(axis=1))[0])


@given(gains)
def test_las_is_the_mean_of_the_two_groups(rows: list[tuple[float, float]]) -> None:
    groups = [[gain for gain, leaks in rows if leaks == kind] for kind in (0, 1)]
    means = [np.mean(group) for group in groups if group]
    assert las(rows) == pytest.approx(float(np.mean(means)))
    assert -1 <= las(rows) <= 1


def test_las_divides_each_group_by_its_own_size() -> None:
    rows = [(1.0, 0.0), *[(1.0, 1.0)] * 4]
    assert las(rows) == 1  # with 1/n_0 for both, as printed, it were 2.5


def test_las_takes_many_samples_at_once() -> None:
    sample = np.random.default_rng(0).integers(0, 2, size=(50, 20, 2)).astype(float)
    whole = batch_report.las(parts(sample).sum(axis=1))
    assert whole.tolist() == [las(one.tolist()) for one in sample]


@given(
    st.lists(st.integers(0, 5), min_size=1, max_size=30),
    st.lists(st.integers(0, 5), min_size=1, max_size=30),
)
def test_rho_is_the_area_under_the_curve(one: list[int], other: list[int]) -> None:
    found = batch_report.rank_sum(np.array(one, float), np.array(other, float))
    assert found is not None
    truth = [1] * len(one) + [0] * len(other)
    assert found[0] == pytest.approx(roc_auc_score(truth, one + other))
    assert 0 <= found[1] <= 1


def test_p_is_wilcoxon_s_with_ties_and_continuity() -> None:
    generator = np.random.default_rng(1)
    one, other = generator.normal(0.3, 1, 60), generator.normal(0, 1, 50)
    found = batch_report.rank_sum(one, other)
    assert found is not None
    assert found[1] == pytest.approx(ranksums(one, other).pvalue, rel=0.02)
    tied_one, tied_other = np.round(one), np.round(other)
    found = batch_report.rank_sum(tied_one, tied_other)
    assert found is not None
    n, m = 60, 50
    both = np.concatenate([tied_one, tied_other])
    u = rankdata(both)[:n].sum() - n * (n + 1) / 2
    ties = np.unique(both, return_counts=True)[1]
    sd = np.sqrt(n * m / 12 * (n + m + 1 - (ties**3 - ties).sum() / ((n + m) * (n + m - 1))))
    assert found[1] == pytest.approx(2 * norm.sf((abs(u - n * m / 2) - 0.5) / sd))


def test_degenerate_groups() -> None:
    assert batch_report.rank_sum(np.array([]), np.array([1.0])) is None
    assert batch_report.rank_sum(np.ones(3), np.ones(4)) == (0.5, 1.0)


def test_a_tie_of_votes_has_no_majority() -> None:
    assert batch_report.majority(["a", "b", "c"]) is None
    assert batch_report.majority(["a", "b", "a"]) == "a"
    assert batch_report.majority([]) is None
