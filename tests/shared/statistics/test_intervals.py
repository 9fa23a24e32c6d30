"""Intervals: SciPy and statsmodels as oracles, edge cases; coverage: test_coverage.py."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.power import TTestPower
from statsmodels.stats.proportion import proportion_confint

from shared.statistics import intervals
from shared.statistics.bootstrap import AT_ONCE, Resampling, bca_ends
from shared.statistics.clusters import Floats, in_order
from shared.statistics.seeds import generator

UNIT = (0.0, 1.0)
SMALL = Resampling(resamples=200)


@pytest.mark.parametrize(("ones", "of"), [(0, 20), (7, 50), (19, 20), (20, 20), (1, 2)])
def test_the_interval_of_a_share_is_wilsons(ones: int, of: int) -> None:
    found = intervals.share([1.0] * ones + [0.0] * (of - ones))
    oracle = stats.binomtest(ones, of).proportion_ci(method="wilson")
    assert (found.low, found.high) == pytest.approx((oracle.low, oracle.high))
    assert (found.low, found.high) == pytest.approx(proportion_confint(ones, of, method="wilson"))
    assert (found.method, found.effective, found.clusters) == ("wilson", of, of)


def test_twenty_ones_are_not_certain() -> None:
    of_share = intervals.share([1.0] * 20)
    assert (of_share.low, of_share.high) == pytest.approx((0.839, 1), abs=5e-4)
    of_mean = intervals.mean("x", [1.0] * 20, bounds=UNIT)
    assert (of_mean.low, of_mean.high) == pytest.approx((0.832, 1), abs=5e-4)
    unbounded = intervals.mean("x", [1.0] * 20)
    assert (unbounded.low, unbounded.high) == (None, None)
    assert "no interval: the data do not limit the value" in unbounded.warnings


def test_a_mean_of_normals_is_students() -> None:
    values = generator(1, "normal").normal(size=60)
    found = intervals.mean("x", values, how=Resampling(resamples=20_000))
    oracle = stats.ttest_1samp(values, 0).confidence_interval()
    assert (found.low, found.high) == pytest.approx((oracle.low, oracle.high), abs=0.02)
    few = intervals.mean("x", values[:5])
    exact = stats.ttest_1samp(values[:5], 0).confidence_interval()
    assert (few.low, few.high) == pytest.approx((exact.low, exact.high))
    assert few.method == "t"
    assert "there are only 5 clusters, fewer than 8" in few.warnings


def test_the_detectable_effect_is_found_with_power_eight_tenths() -> None:
    values = generator(2, "power").normal(size=50)
    found = intervals.mean("x", values, how=SMALL)
    assert found.detectable is not None
    power = TTestPower().power(found.detectable / values.std(ddof=1), 50, 0.05)
    assert power == pytest.approx(0.8, abs=0.01)
    assert intervals.share([1.0, 0.0] * 25).detectable == pytest.approx(
        (stats.t.isf(0.025, 49) + stats.t.isf(0.2, 49)) * np.sqrt(0.25 / 50)
    )


def ratio_of_sums(sums: Floats) -> Floats:
    return np.asarray(sums[..., 0] / sums[..., 1])


def test_ratios_are_scipys_bca() -> None:
    random = generator(3, "ratio")
    rows = np.stack([random.exponential(size=60), 1 + random.random(60)], axis=1)
    found = intervals.ratio("x", rows, ratio_of_sums, how=Resampling(resamples=20_000))
    oracle: Any
    oracle = stats.bootstrap(
        (rows[:, 0], rows[:, 1]),
        lambda a, b, axis: np.sum(a, axis=axis) / np.sum(b, axis=axis),
        method="BCa",
        paired=True,
        n_resamples=20_000,
        rng=1,
    ).confidence_interval
    assert (found.low, found.high) == pytest.approx((oracle.low, oracle.high), abs=0.015)
    assert found.method == "bca"


def test_correlations_are_scipys_bca() -> None:
    random = generator(4, "correlation")
    x = random.normal(size=70)
    scale, shift = np.array([1, 1e-6]), np.array([1e6, 3])
    pairs: Floats = np.stack([x, x + random.normal(size=70)], axis=1) * scale + shift
    found = intervals.correlation("x", pairs, how=Resampling(resamples=20_000))
    assert found.value == pytest.approx(stats.pearsonr(pairs[:, 0], pairs[:, 1]).statistic)
    oracle: Any
    oracle = stats.bootstrap(
        (pairs[:, 0], pairs[:, 1]),
        lambda a, b: stats.pearsonr(a, b).statistic,
        method="BCa",
        paired=True,
        vectorized=False,
        n_resamples=4_000,
        rng=1,
    ).confidence_interval
    assert (found.low, found.high) == pytest.approx((oracle.low, oracle.high), abs=0.03)
    constant = np.stack([x, np.ones(70)], axis=1)
    assert intervals.correlation("x", constant).value is None
    assert intervals.correlation("x", pairs[:2]).value is None


@pytest.mark.parametrize("count", [5, 6, 17, 40])
def test_medians_are_order_statistics(count: int) -> None:
    values = generator(5, "median", count).normal(size=count)
    found = intervals.median("x", values)
    oracle: Any = stats.quantile_test(values, p=0.5).confidence_interval(0.95)
    if count < 6:
        assert found.low is None
        return
    assert found.method == "order"
    assert found.low is not None
    assert found.high is not None
    assert found.low <= oracle.low + 1e-12
    assert found.high >= oracle.high - 1e-12
    named = [f"text {place * 7 % count}" for place in range(count)]  # in any order
    assert intervals.median("x", values, named) == found


def test_medians_of_clusters_are_resampled_by_cluster() -> None:
    values = np.repeat(generator(6, "median").normal(size=15), 4)
    keys = [str(place // 4) for place in range(60)]
    found = intervals.median("x", values, keys, SMALL)
    assert (found.method, found.clusters, found.rows) == ("bca", 15, 60)
    alone = intervals.median("x", values, how=SMALL)
    assert alone.low is not None
    assert found.low is not None
    assert found.low <= alone.low


def test_twelve_texts_copied_twenty_times_say_no_more_than_twelve() -> None:
    values = generator(7, "copies").beta(4, 2, size=12)
    once = intervals.mean("x", values, [f"{place:02d}" for place in range(12)], UNIT)
    keys = [f"{place // 20:02d}" for place in range(240)]
    copied = intervals.mean("x", np.repeat(values, 20), keys, UNIT)
    assert (copied.value, copied.low, copied.high) == pytest.approx(
        (once.value, once.low, once.high)
    )
    assert (copied.rows, copied.clusters) == (240, 12)
    assert any(
        warning.startswith("rows of the same text are similar") for warning in copied.warnings
    )


def test_strata_are_drawn_each_by_itself() -> None:
    random = generator(8, "macro")
    strata = [(random.normal(place, 1, size=40), None) for place in range(3)]
    found = intervals.macro("x", strata, how=Resampling(resamples=4_000))
    se = np.sqrt(sum(values.var(ddof=1) / 40 for values, _ in strata)) / 3
    assert found.value == pytest.approx(np.mean([values.mean() for values, _ in strata]))
    assert found.se == pytest.approx(se)
    assert found.low == pytest.approx(found.value - 1.99 * se, abs=0.03)
    assert intervals.macro("x", [(np.empty(0), None)]).value is None
    lone = intervals.macro("x", [*strata, (np.ones(1), None)])
    assert lone.low is None
    assert "a single cluster has no spread" in lone.warnings


def test_strata_can_have_weights() -> None:
    random = generator(9, "macro")
    strata = [(random.normal(place, 1, size=40), None) for place in range(2)]
    how = Resampling(resamples=2_000)
    found = intervals.macro("x", strata, how=how, weights=[3, 1])
    means = [float(values.mean()) for values, _ in strata]
    pairs = zip((0.75, 0.25), strata, strict=True)
    se = np.sqrt(sum(weight**2 * values.var(ddof=1) / 40 for weight, (values, _) in pairs))
    assert found.value == pytest.approx(0.75 * means[0] + 0.25 * means[1])
    assert found.se == pytest.approx(se)
    assert found.low == pytest.approx(found.value - 1.99 * se, abs=0.04)
    assert intervals.macro("x", strata, how=how, weights=[2, 2]) == intervals.macro(
        "x", strata, how=how
    )
    alone = intervals.macro("x", strata[:1], how=how, weights=[5])
    single = intervals.mean("x/0", strata[0][0], how=how)
    assert (alone.value, alone.se) == pytest.approx((single.value, single.se))
    for wrong in ([0, 0], [-1, 2], [float("nan"), 1]):
        with pytest.raises(ValueError, match="weights"):
            intervals.macro("x", strata, how=how, weights=wrong)


def test_no_distance_is_detectable_that_the_range_does_not_have() -> None:
    few = [(np.array([0.0, 1.0]), None), (np.array([0.1, 0.9]), None)]
    assert intervals.macro("x", few, (0.0, 1.0)).detectable is None
    free = intervals.macro("x", few).detectable
    assert free is not None
    assert free > 1
    random = generator(10, "macro")
    many = [(random.uniform(size=40), None) for _ in range(2)]
    assert intervals.macro("x", many, (0.0, 1.0)).detectable == pytest.approx(
        intervals.macro("x", many).detectable
    )


VALUES = st.lists(
    st.one_of(st.none(), st.sampled_from([0.0, 0.25, 1.0]), st.floats(0, 1)), max_size=25
)


@settings(max_examples=60, deadline=None)
@given(VALUES, st.randoms(use_true_random=False), st.booleans())
def test_no_nan_leaves_and_order_changes_no_bit(
    values: list[float | None], random: object, several: bool
) -> None:
    keys = [str(place // 3) for place in range(len(values))] if several else None
    found = intervals.mean("x", values, keys, UNIT, SMALL)
    assert found.left_out == sum(value is None for value in values)
    ends = [end for end in (found.low, found.value, found.high) if end is not None]
    assert ends == sorted(ends)
    assert all(0 <= end <= 1 for end in ends)
    places = list(range(len(values)))
    random.shuffle(places)  # type: ignore[attr-defined]
    shuffled = [values[place] for place in places]
    own = None if keys is None else [keys[place] for place in places]
    assert intervals.mean("x", shuffled, own, UNIT, SMALL) == found


@pytest.mark.parametrize("count", [1, 2, 5, 20])
@pytest.mark.parametrize("value", [0.0, 0.1, 1.0])
def test_all_equal_values_have_believable_ends(count: int, value: float) -> None:
    found = intervals.mean("x", [value] * count, bounds=UNIT)
    assert found.value == pytest.approx(value)
    if count == 1:
        assert (found.low, found.high) == (None, None)
        assert found.warnings == ("a single cluster has no spread",)
        return
    assert (found.se, found.detectable) == (0.0, None)  # an effect of 0 is not found by anyone
    kept = 0.025 ** (1 / count)
    assert found.low == pytest.approx(value * kept)
    assert found.high == pytest.approx(value + (1 - kept) * (1 - value))


def test_nothing_is_nothing() -> None:
    assert intervals.mean("x", []).value is None
    assert intervals.share([]).value is None
    assert intervals.median("x", []).value is None
    assert intervals.ratio("x", np.empty((0, 2)), ratio_of_sums).value is None
    assert intervals.mean("x", [None, None]).left_out == 2


def test_what_is_no_share_and_not_finite_is_refused() -> None:
    with pytest.raises(ValueError, match="must be 0 or 1"):
        intervals.share([0.5])
    with pytest.raises(ValueError, match="finite"):
        intervals.mean("x", [np.inf])


def test_a_statistic_that_a_draw_leaves_undefined_has_no_interval() -> None:
    def share_of(sums: Floats) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(sums[..., 0] / sums[..., 1])

    found = intervals.ratio("x", np.array([[1.0, 1.0], [1.0, 0.0]]), share_of)
    assert (found.value, found.low, found.high) == (2, None, None)


def right(sums: Floats) -> Floats:
    return np.asarray(sums[..., 0] / sums[..., 1])


@pytest.mark.parametrize("count", [2, 8, 300])
def test_a_ratio_whose_resamples_are_all_alike_is_not_certain(count: int) -> None:
    """Of macro-F1 without a mistake [1, 1] would say that there can be none."""
    found = intervals.ratio("x", np.ones((count, 2)), right)
    assert (found.value, found.low, found.high) == (1, None, None)
    assert (found.method, found.se) == (None, None)
    assert "no interval: all of the bootstrap's resamples give the same value" in found.warnings


def test_a_ratio_with_one_mistake_has_ends() -> None:
    rows = np.ones((20, 2))
    rows[3, 0] = 0
    found = intervals.ratio("x", rows, right)
    assert found.low is not None
    assert found.high is not None
    assert found.low < (found.value or 0) <= found.high


def test_the_check_is_called_between_blocks() -> None:
    calls: list[int] = []
    how = Resampling(resamples=2_000, check=lambda: calls.append(1))
    intervals.mean("x", generator(9, "blocks").random(5_000), how=how)
    assert len(calls) == 2_000 * 5_000 // AT_ONCE


def loops_of(rows: Floats, keys: list[str], how: Resampling) -> tuple[float | None, float | None]:
    """The ends by loops over clusters as they are written down: an oracle."""
    order, codes = in_order(rows, keys)
    members = [order[codes == code] for code in range(int(codes[-1]) + 1)]
    drawn = [
        float(np.median(rows[np.concatenate([members[code] for code in chosen])]))
        for places in how.drawn("m", len(members))
        for chosen in places
    ]
    left = [
        float(np.median(rows[np.concatenate(members[:code] + members[code + 1 :])]))
        for code in range(len(members))
    ]
    value = float(np.median(rows))
    return bca_ends(value, np.array(drawn), np.array(left), how.tail) or (None, None)


@pytest.mark.parametrize("most", [1, 4])
def test_a_statistic_of_clusters_of_all_sizes_is_that_of_plain_loops(most: int) -> None:
    random = generator(5)
    keys = [f"key {key}" for key in range(30) for _ in range(int(random.integers(most) + 1))]
    rows = random.normal(size=(len(keys), 1))
    how = Resampling(resamples=300)
    found = intervals.statistic("m", rows, lambda some: float(np.median(some)), keys, how)
    assert (found.low, found.high) == loops_of(rows, keys, how)


def test_many_clusters_leave_out_blocks_and_ask_whether_to_go_on() -> None:
    rows, asked, called = generator(6).normal(size=(9_000, 1)), [], []

    def mean(some: Floats) -> float:
        called.append(len(some))
        return float(np.mean(some) ** 3)

    how = Resampling(resamples=100, check=lambda: asked.append(1))
    found = intervals.statistic("m", rows + 1, mean, None, how)
    assert len(called) <= 1 + 100 + 1_000
    assert len(asked) >= 1_000
    assert sum(9_000 - count for count in called[101:]) == 9_000  # each is left out once
    assert found.low is not None
    assert found.high is not None
    assert found.low < 1 < found.high
