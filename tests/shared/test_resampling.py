"""Bootstrap intervals: SciPy as the oracle, coverage as the law."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import bootstrap

from shared.contracts import BatchReportRequest, Interval
from shared.statistics.intervals import BatchStatistics, Floats, of_sums
from tests.rooms import ECHO


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
