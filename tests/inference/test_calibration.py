"""Laws of the card's measures, with scikit-learn as the oracle where it has them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import (  # type: ignore[import-untyped]
    brier_score_loss,
    f1_score,
)

from services.inference.embedded.evaluation import (
    best_temperature,
    brier_score,
    expected_calibration_error,
    macro_f1,
    wilson,
)
from services.inference.label_readout import softmax

DRAWS = np.random.default_rng(5)
LOGITS = DRAWS.normal(size=(20_000, 2)) * 2
TRUTH = (DRAWS.random(20_000) < softmax(LOGITS)[:, 1]).astype(np.int64)  # calibrated by design


@pytest.mark.parametrize("temperature", [0.3, 1.0, 4.0])
def test_the_temperature_of_overconfident_logits_is_found(temperature: float) -> None:
    assert best_temperature(LOGITS * temperature, TRUTH) == pytest.approx(temperature, rel=0.05)


def test_calibrated_probabilities_have_no_calibration_error_and_sharpened_ones_do() -> None:
    assert expected_calibration_error(softmax(LOGITS), TRUTH) < 0.01
    assert expected_calibration_error(softmax(LOGITS * 5), TRUTH) > 0.1


def test_calibration_error_of_a_case_worked_by_hand() -> None:
    probabilities = np.array([[0.1, 0.9], [0.1, 0.9], [0.4, 0.6], [0.7, 0.3]])
    # bins [.8667, .9333): confidence .9, accuracy .5; [.6, .6667): .6, 0; [.6667, .7333): .7, 1
    error = expected_calibration_error(probabilities, np.array([1, 0, 0, 0]))
    assert error == pytest.approx(2 / 4 * 0.4 + 1 / 4 * 0.6 + 1 / 4 * 0.3)


def test_certainty_that_is_right_is_perfect_and_wrong_is_worst() -> None:
    sure = np.array([[0.0, 1.0], [1.0, 0.0]])
    assert expected_calibration_error(sure, np.array([1, 0])) == 0
    assert expected_calibration_error(sure, np.array([0, 1])) == 1


def test_agrees_with_scikit_learn() -> None:
    probabilities = softmax(LOGITS)
    predicted = probabilities.argmax(axis=1).astype(np.int64)
    assert macro_f1(predicted, TRUTH, 2) == pytest.approx(
        f1_score(TRUTH, predicted, average="macro")
    )
    oracle = brier_score_loss(TRUTH, probabilities[:, 1])
    assert brier_score(probabilities, TRUTH) == pytest.approx(oracle)


def test_agrees_with_scikit_learn_on_three_labels() -> None:
    draws = np.random.default_rng(11)
    probabilities = softmax(draws.normal(size=(500, 3)))
    truth = draws.integers(0, 3, size=500)
    predicted = probabilities.argmax(axis=1).astype(np.int64)
    f1 = f1_score(truth, predicted, average="macro")
    brier = brier_score_loss(truth, probabilities, labels=[0, 1, 2], scale_by_half=True)
    assert macro_f1(predicted, truth, 3) == pytest.approx(f1)
    assert brier_score(probabilities, truth) == pytest.approx(brier)


def test_undefined_is_never_a_number() -> None:
    nothing = np.zeros(3, dtype=np.int64)
    with pytest.raises(ValueError, match="label 1 is undefined"):
        macro_f1(nothing, nothing, 2)
    with pytest.raises(ValueError, match="share of nothing"):
        wilson(0, 0)


def test_the_interval_of_wilsons_formula() -> None:
    share = wilson(81, 263)  # Newcombe, Statistics in Medicine 17 (1998), table I
    assert (round(share.low, 4), round(share.high, 4)) == (0.2553, 0.3662)
    assert wilson(0, 10).low == 0
    assert wilson(10, 10).high == pytest.approx(1)
