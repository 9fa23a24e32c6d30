"""Calibration: scikit-learn and statsmodels as oracles, the floor by brute force, size, power."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.special import expit, logit
from sklearn.metrics import brier_score_loss  # type: ignore[import-untyped]

from shared.statistics.bootstrap import Resampling
from shared.statistics.clusters import Floats
from shared.statistics.seeds import generator
from training.measures import (
    calibration,
    equal_mass,
    equal_width,
    excess_change,
    excess_interval,
    floor_draws,
    recalibration,
)


def sample(rows: int, name: object, scale: float = 1.0) -> tuple[Floats, Floats]:
    """Probabilities whose logits are `scale` times the true ones, and labels."""
    random = generator(0, "calibration", name)
    true = random.normal(0, 2, size=rows)
    labels = (random.random(rows) < expit(true)).astype(np.float64)
    return expit(true * scale), labels


def test_errors_by_their_definition() -> None:
    predicted, labels = sample(500, "errors", 2.0)
    found = calibration(predicted, labels)
    bins = equal_width(predicted)
    by_hand = sum(
        abs(labels[bins == one].mean() - predicted[bins == one].mean()) * np.mean(bins == one)
        for one in set(bins.tolist())
    )
    assert found.ece == pytest.approx(by_hand)
    assert found.brier == pytest.approx(brier_score_loss(labels, predicted))
    assert np.ptp(np.bincount(equal_mass(predicted))) <= 1
    rate = labels.mean()
    assert found.reliability - found.resolution + rate * (1 - rate) == pytest.approx(
        found.brier, abs=0.01
    )
    assert found.l2_debiased == pytest.approx(found.reliability, abs=0.01)


def test_the_floor_is_that_of_brute_force() -> None:
    predicted, _ = sample(200, "floor")
    bins = equal_width(predicted)
    random = np.random.default_rng(0)
    brute = []
    for _ in range(2_000):
        labels = random.random(200) < predicted
        brute.append(
            sum(abs((labels[bins == b] - predicted[bins == b]).sum()) for b in range(15)) / 200
        )
    found = floor_draws(predicted, bins, 2_000, generator(1, "brute"))
    assert found.mean() == pytest.approx(np.mean(brute), rel=0.03)
    assert np.quantile(found, 0.95) == pytest.approx(np.quantile(brute, 0.95), rel=0.05)


def test_calibrated_models_have_a_uniform_p_and_no_excess() -> None:
    found = [calibration(*sample(400, run)) for run in range(200)]
    p = np.array([one.p_calibrated for one in found])
    assert np.mean(p <= 0.05) == pytest.approx(0.05, abs=0.045)
    assert p.mean() == pytest.approx(0.5, abs=0.07)
    assert np.mean([one.excess for one in found]) == pytest.approx(0, abs=0.002)


def test_overconfidence_is_found() -> None:
    p = [calibration(*sample(400, run, 2.0)).p_calibrated for run in range(60)]
    assert np.mean(np.array(p) <= 0.05) >= 0.9


@pytest.mark.nightly
def test_the_size_and_the_power_of_p_calibrated_at_full_size() -> None:
    p = np.array([calibration(*sample(400, run)).p_calibrated for run in range(2_000)])
    for level in (0.05, 0.1, 0.2):
        assert np.mean(p <= level) == pytest.approx(level, abs=0.01 + level / 20)
    found = [calibration(*sample(400, run, 2.0)).p_calibrated <= 0.05 for run in range(1_000)]
    assert np.mean(found) >= 0.9


def test_recalibration_is_statsmodels_logit() -> None:
    predicted, labels = sample(400, "slope", 1.5)
    keys = [str(place // 4) for place in range(400)]
    found = recalibration(predicted, labels, keys)
    design = sm.add_constant(logit(predicted))
    fitted = sm.Logit(labels, design).fit(
        disp=0, cov_type="cluster", cov_kwds={"groups": np.arange(400) // 4}
    )
    assert found is not None
    assert (found.intercept, found.slope) == pytest.approx(fitted.params, rel=1e-5)
    assert (found.intercept_se, found.slope_se) == pytest.approx(fitted.bse, rel=1e-5)
    assert found.slope == pytest.approx(1 / 1.5, abs=0.15)
    assert recalibration(predicted, np.ones(400)) is None


def test_the_interval_of_the_excess() -> None:
    predicted, labels = sample(300, "interval", 2.5)
    ends = excess_interval(predicted, labels, None, Resampling(resamples=300))
    assert ends is not None
    assert ends[0] < calibration(predicted, labels).excess < ends[1]
    assert excess_interval(predicted[:4], labels[:4], ["a"] * 4, Resampling()) is None


def test_the_interval_covers_an_excess_of_nothing() -> None:
    """Copies of a text are no evidence: the floor of its rows is too low for them."""
    covered = []
    for run in range(40):
        predicted, labels = sample(60, ("covered", run))
        keys = [str(place % 60) for place in range(180)]
        ends = excess_interval(
            np.tile(predicted, 3), np.tile(labels, 3), keys, Resampling(resamples=100)
        )
        value = calibration(np.tile(predicted, 3), np.tile(labels, 3)).excess
        assert ends is not None
        assert ends[0] < value < ends[1]
        single = excess_interval(predicted, labels, None, Resampling(resamples=100))
        assert single is not None
        covered.append(single[0] <= 0 <= single[1])
    assert np.mean(covered) >= 0.85


def test_the_change_of_the_excess_is_paired() -> None:
    predicted, labels = sample(400, "change", 2.5)
    mended = expit(logit(predicted) / 2.5)
    found = excess_change(predicted, mended, labels, None, Resampling(resamples=300))
    alone = [calibration(one, labels).excess for one in (predicted, mended)]
    assert found.value == pytest.approx(alone[0] - alone[1])
    assert found.low is not None
    assert found.high is not None
    assert 0 < found.low < found.value < found.high
    assert found.p_value == pytest.approx(2 / 301)
    nothing = excess_change(predicted, predicted, labels, None, Resampling(resamples=50))
    assert (nothing.value, nothing.low, nothing.high, nothing.p_value) == (0, 0, 0, 1)
    one = excess_change(predicted[:4], mended[:4], labels[:4], ["a"] * 4, Resampling())
    assert (one.low, one.p_value) == (None, None)


def test_what_is_no_probability_is_refused() -> None:
    with pytest.raises(ValueError, match="probabilities"):
        calibration(np.array([1.5]), np.array([1.0]))
    with pytest.raises(ValueError, match="one label"):
        calibration(np.empty(0), np.empty(0))
