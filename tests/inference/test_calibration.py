"""Laws of the measures of a card, with scikit-learn as the oracle where it has them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import (  # type: ignore[import-untyped]
    brier_score_loss,
    f1_score,
    log_loss,
    roc_auc_score,
)

from shared.models.label_readout import softmax
from shared.models.ports import Floats
from training.calibration import (
    LabelPredictions,
    best_temperature,
    brier_scores,
    model_calibration,
    row_log_loss,
)
from training.training import hit_rates, hit_share, macro_f1, mean_roc_auc

DRAWS = np.random.default_rng(5)
LOGITS = DRAWS.normal(size=(20_000, 2)) * 2
TRUTH = (DRAWS.random(20_000) < softmax(LOGITS)[:, 1]).astype(np.int64)  # calibrated by design


def answered(logits: Floats, truth: object, keys: list[str] | None = None) -> LabelPredictions:
    labels = np.asarray(truth, dtype=np.int64)
    return LabelPredictions(logits, labels, keys or [str(place) for place in range(len(labels))])


def some(count: int, labels: int = 2) -> LabelPredictions:
    draws = np.random.default_rng(count)
    logits = draws.normal(size=(count, labels)) * 2
    chances = softmax(logits).cumsum(axis=1)
    truth = (draws.random(count)[:, None] > chances[:, :-1]).sum(axis=1)
    return answered(logits, truth)


@pytest.mark.parametrize("temperature", [0.3, 1.0, 4.0])
def test_the_temperature_of_overconfident_logits_is_found(temperature: float) -> None:
    assert best_temperature(LOGITS * temperature, TRUTH) == pytest.approx(temperature, rel=0.05)


def test_calibrated_answers_have_no_excess_and_sharpened_ones_do() -> None:
    found = some(600)
    fine = model_calibration(found, 1.0)
    assert abs(fine.excess.value or 0) < 0.03
    assert fine.p_calibrated > 0.01
    assert fine.slope.low is not None
    assert fine.slope.high is not None
    assert fine.slope.low < 1 < fine.slope.high
    sharp = model_calibration(found, 0.25)
    assert sharp.excess.low is not None
    assert sharp.excess.low > 0.02
    assert sharp.p_calibrated < 0.01
    assert sharp.gain_log_loss.value is not None
    assert sharp.gain_log_loss.value < 0
    assert sharp.gain_log_loss.p_value is not None
    assert sharp.gain_log_loss.p_value < 0.01
    assert sharp.gain_excess.value is not None
    assert sharp.gain_excess.value < 0


def test_a_temperature_that_is_right_gains_and_one_of_1_gains_nothing() -> None:
    found = some(400)
    hot = LabelPredictions(found.logits * 3, found.labels, found.keys)
    gained = model_calibration(hot, 3.0)
    assert (gained.gain_excess.low or 0) > 0
    assert gained.gain_excess.p_value == pytest.approx(2 / 1_001)
    nothing = model_calibration(found, 1.0)
    assert (nothing.gain_log_loss.value, nothing.gain_excess.value) == (0, 0)
    assert nothing.gain_excess.p_value == 1


def test_rows_of_one_family_widen_every_interval() -> None:
    found = some(120)
    twelve = np.repeat(np.arange(12), 10)
    copied = LabelPredictions(
        found.logits[twelve], found.labels[twelve], [f"family {place}" for place in twelve]
    )
    once = LabelPredictions(
        found.logits[:12], found.labels[:12], [f"family {n}" for n in range(12)]
    )
    for measure in (lambda a: model_calibration(a, 1.0).brier, macro_f1):
        many, few = measure(copied), measure(once)
        assert (many.n, many.clusters) == (120, 12)
        assert (many.low, many.high) == pytest.approx((few.low, few.high), abs=1e-6)


def test_agrees_with_scikit_learn() -> None:
    probabilities = softmax(LOGITS)
    assert float(np.mean(brier_scores(probabilities, TRUTH))) == pytest.approx(
        brier_score_loss(TRUTH, probabilities[:, 1])
    )
    assert float(np.mean(row_log_loss(LOGITS, TRUTH))) == pytest.approx(
        log_loss(TRUTH, probabilities)
    )
    found = some(300)
    assert macro_f1(found).value == pytest.approx(
        f1_score(found.labels, found.logits.argmax(axis=1), average="macro")
    )
    area = mean_roc_auc(found, 1.0)
    assert area.value == pytest.approx(roc_auc_score(found.labels, found.probabilities(1.0)[:, 1]))
    assert area.low is not None
    assert area.high is not None
    assert area.low < (area.value or 0) < area.high


def test_agrees_with_scikit_learn_on_three_labels() -> None:
    found = some(300, 3)
    probabilities = found.probabilities(1.0)
    f1 = f1_score(found.labels, probabilities.argmax(axis=1), average="macro")
    brier = brier_score_loss(found.labels, probabilities, labels=[0, 1, 2], scale_by_half=True)
    assert macro_f1(found).value == pytest.approx(f1)
    assert float(np.mean(brier_scores(probabilities, found.labels))) == pytest.approx(brier)
    assert mean_roc_auc(found, 1.0).value == pytest.approx(
        roc_auc_score(found.labels, probabilities, multi_class="ovr")
    )


def test_undefined_is_never_a_number() -> None:
    one_class = answered(np.array([[2.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), [0, 0, 0])
    assert mean_roc_auc(one_class, 1.0).value is None
    always_right = answered(np.array([[2.0, 0.0], [0.0, 1.0], [3.0, 0.0]]), [0, 1, 0])
    found = model_calibration(always_right, 1.0)
    assert (found.slope.value, found.intercept.value) == (None, None)
    with pytest.raises(ValueError, match="label 1 is undefined"):
        macro_f1(answered(np.array([[1.0, 0.0]] * 3), [0, 0, 0]))
    with pytest.raises(ValueError, match="share of nothing"):
        hit_share(np.empty(0), [])
    alone = hit_share(np.ones(3), ["a", "a", "a"])
    assert (alone.share, alone.low, alone.high, alone.clusters) == (1, None, None, 1)


def test_shares_by_name_have_their_own_clusters() -> None:
    found = hit_rates(["b", "a", "b", "b"], np.array([1.0, 0, 0, 1]), ["x", "x", "y", "y"])
    assert list(found) == ["a", "b"]
    assert (found["b"].count, found["b"].of, found["b"].clusters) == (2, 3, 2)


def test_the_interval_of_wilsons_formula() -> None:
    hits = np.repeat([1.0, 0.0], [81, 182])
    share = hit_share(hits, [str(place) for place in range(263)])
    assert share.low is not None
    assert share.high is not None
    # Newcombe, Statistics in Medicine 17 (1998), table I
    assert (round(share.low, 4), round(share.high, 4)) == (0.2553, 0.3662)
