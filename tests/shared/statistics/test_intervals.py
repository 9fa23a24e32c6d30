"""Bootstrap intervals: SciPy as the oracle, coverage as the law."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from scipy.stats import bootstrap

from shared.contracts import BatchReportRequest, Histogram, Interval
from shared.statistics.intervals import BINS, BatchStatistics, Floats, histogram_of, of_sums
from tests.echo_metric import ECHO


def mean(sums: Floats) -> Floats:
    return np.asarray(sums[..., 0] / sums[..., 1])


def of_mean(values: Floats, request: BatchReportRequest) -> Interval:
    table = np.stack([values, np.ones_like(values)], axis=1)
    return BatchStatistics(ECHO, (), request).statistic("x", table, of_sums(mean))


ASKED = BatchReportRequest(jobs=("job_1",), resamples=4_000)


def test_the_interval_of_a_mean_is_scipys() -> None:
    values = np.random.default_rng(0).exponential(size=80)
    ours = of_mean(values, ASKED)
    oracle = bootstrap(
        (values,), np.mean, n_resamples=4_000, method="percentile", rng=np.random.default_rng(1)
    ).confidence_interval
    assert ours.value == pytest.approx(values.mean())
    assert ours.of == 80
    assert (ours.low, ours.high) == pytest.approx((oracle.low, oracle.high), abs=0.03)


def test_the_interval_holds_the_truth_about_as_often_as_it_says() -> None:
    asked = ASKED.model_copy(update={"resamples": 400})
    draw = np.random.default_rng(2)
    held = 0
    for _ in range(300):
        found = of_mean(draw.normal(size=50), asked)
        assert found.low is not None
        assert found.high is not None
        held += found.low <= 0 <= found.high
    assert held / 300 == pytest.approx(0.95, abs=0.05)


def test_few_observations_have_no_interval() -> None:
    assert of_mean(np.zeros(0), ASKED).value is None
    alone = of_mean(np.array([2.0]), ASKED)
    assert (alone.value, alone.low, alone.of) == (2, None, 1)


def test_a_statistic_that_a_draw_leaves_undefined_has_no_interval() -> None:
    def ratio(sums: Floats) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(sums[..., 0] / sums[..., 1])

    over = BatchStatistics(ECHO, (), ASKED)
    found = over.statistic("x", np.array([[1.0, 1.0], [1.0, 0.0]]), of_sums(ratio))
    assert (found.value, found.low, found.high) == (2, None, None)


VALUES = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=60).map(np.array)


@given(VALUES)
def test_every_value_is_counted_once_between_the_least_and_the_greatest(
    values: np.ndarray,
) -> None:
    found = histogram_of(values)
    assert found is not None
    assert sum(found.counts) == values.size
    assert (found.low, found.high) == (values.min(), values.max())
    assert len(found.counts) == (BINS if found.low < found.high else 1)
    assert found.counts[0] > 0
    assert found.counts[-1] > 0
    assert Histogram.model_validate_json(found.model_dump_json()) == found


@given(VALUES, st.randoms(use_true_random=False))
def test_the_order_of_values_changes_nothing(values: np.ndarray, random: object) -> None:
    shuffled = values.copy()
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert histogram_of(shuffled) == histogram_of(values)


def test_counts_are_numpy_s_where_numpy_counts() -> None:
    values = np.random.default_rng(5).beta(2, 3, size=500)
    found = histogram_of(values, 7)
    assert found is not None
    assert found.counts == tuple(np.histogram(values, bins=7)[0].tolist())


def test_ranges_of_one_float_s_width_are_counted_too() -> None:
    values = np.array([0.5, np.nextafter(0.5, 1)])
    found = histogram_of(values)
    assert found is not None
    assert (found.counts[0], found.counts[-1], sum(found.counts)) == (1, 1, 2)
    with pytest.raises(ValueError, match="finite-sized"):
        np.histogram(values, bins=20)


def test_no_values_have_no_histogram() -> None:
    assert histogram_of(np.empty(0)) is None


def test_a_histogram_does_not_end_before_it_begins() -> None:
    with pytest.raises(ValidationError, match="before it begins"):
        Histogram(low=1, high=0, counts=(1,))


def test_the_message_loads_no_numpy() -> None:
    program = "import sys, shared.contracts; assert 'numpy' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)
