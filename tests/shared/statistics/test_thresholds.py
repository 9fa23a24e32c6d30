"""The threshold that agrees best: laws, scikit-learn's curve as the oracle, planted ones, nulls."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import roc_curve  # type: ignore[import-untyped]

from shared.statistics.bootstrap import Resampling
from shared.statistics.clusters import Floats
from shared.statistics.thresholds import FEWEST, best_threshold, calibrated_threshold

HOW = Resampling(seed=3, resamples=300)


def planted(seed: int, count: int = 150, apart: float = 1.5) -> Floats:
    """Scores of no and yes: normal of equal spread, whose best threshold is halfway."""
    random = np.random.default_rng(seed)
    said = (random.random(count) < 0.5).astype(float)
    return np.stack([random.normal(apart * said), said], axis=1)


@pytest.mark.parametrize("seed", range(10))
def test_nothing_agrees_better_than_on_scikit_learns_curve(seed: int) -> None:
    rows = planted(seed, 60)
    threshold = best_threshold(*rows.T)
    yes = rows[:, 0] >= threshold
    index = yes[rows[:, 1] == 1].mean() - yes[rows[:, 1] == 0].mean()
    false, true, _ = roc_curve(rows[:, 1], rows[:, 0], drop_intermediate=False)
    assert index == pytest.approx(np.max(true - false))


def test_order_and_repetition_change_nothing() -> None:
    rows = planted(1)
    assert best_threshold(*rows[::-1].T) == best_threshold(*rows.T)
    assert best_threshold(*np.repeat(rows, 3, axis=0).T) == best_threshold(*rows.T)


def test_moving_the_scores_moves_the_threshold() -> None:
    rows = planted(2)
    moved = calibrated_threshold("t", rows * [2, 1] + [5, 0], None, HOW)
    still = calibrated_threshold("t", rows, None, HOW)
    assert moved.value == pytest.approx(2 * (still.value or 0) + 5)
    assert moved.low == pytest.approx(2 * (still.low or 0) + 5)
    assert moved.decided is not None
    assert still.decided is not None
    assert np.array_equal(moved.decided, still.decided)


def test_scores_that_tell_all_are_told_apart() -> None:
    said = np.arange(40) % 2.0
    found = calibrated_threshold("t", np.stack([said, said], axis=1), None, HOW)
    assert found.value == 0.5
    assert found.decided is not None
    assert np.array_equal(found.decided, said)


def test_the_interval_holds_the_true_threshold_as_often_as_it_says() -> None:
    ends = [calibrated_threshold("t", planted(seed), None, HOW) for seed in range(120)]
    held = [one.low is not None and one.low <= 0.75 <= (one.high or 0) for one in ends]
    assert 0.88 <= np.mean(held) <= 1  # 0.95 within three standard errors, or more


def test_agreement_on_the_same_texts_flatters_and_out_of_sample_does_not() -> None:
    """Of scores that mean nothing, half agree with anybody; on the same texts more do."""
    same, apart = [], []
    for seed in range(60):
        rows = planted(seed, 60, apart=0)
        found = calibrated_threshold("t", rows, None, Resampling(seed, 100))
        assert found.value is not None
        assert found.decided is not None
        same.append(np.mean((rows[:, 0] >= found.value) == rows[:, 1]))
        apart.append(np.mean(found.decided == rows[:, 1]))
    assert np.mean(same) > 0.55
    assert np.mean(apart) == pytest.approx(0.5, abs=0.03)


def test_a_text_is_never_decided_by_a_threshold_that_saw_it() -> None:
    """Rows of one cluster that say the opposite of all others do not move their own decision."""
    rows = planted(5, 200, apart=4)
    keys = [f"t{place // 4}" for place in range(200)]
    odd = np.array(keys) == "t7"
    turned = rows.copy()
    turned[odd, 1] = 1 - turned[odd, 1]
    before = calibrated_threshold("t", rows, keys, HOW).decided
    after = calibrated_threshold("t", turned, keys, HOW).decided
    assert before is not None
    assert after is not None
    assert np.mean(before[odd] == after[odd]) >= 0.75


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ([1] * 40, "nobody says no"),
        ([0] * 40, "nobody says yes"),
        ([], "no rating is a clear yes or no"),
        ([1] * 37 + [0] * 3, f"3 texts with a no; at least {FEWEST} of each kind are needed"),
    ],
)
def test_too_little_is_no_threshold_and_says_why(said: list[int], reason: str) -> None:
    rows = np.stack([np.arange(len(said), dtype=float), np.array(said, dtype=float)], axis=1)
    found = calibrated_threshold("t", rows, None, HOW)
    assert (found.value, found.low, found.decided, found.obstacle) == (None, None, None, reason)


def test_few_texts_with_many_rows_are_few() -> None:
    rows = planted(1, 200)
    found = calibrated_threshold("t", rows, [f"t{place % 8}" for place in range(200)], HOW)
    assert found.obstacle is not None
    assert "8 texts" in found.obstacle
