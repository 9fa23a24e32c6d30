"""A cross-encoder: in [0, 1], what `CrossEncoder.predict` computes, each ordered pair once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import sentence_transformers

from services.similarity.encoders import PADDED_TOKENS, WIDTH_STEP, sigmoid
from shared.contracts.calls import Pair
from tests.similarity.conftest import Make
from tests.similarity.rows import PAIRS, SOME, counted


@pytest.mark.parametrize("step", [1, 16])
def test_it_agrees_with_predict(
    cross_folder: Path, made: Make, step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(WIDTH_STEP, "cpu", step)
    tiny = made(cross_folder, "cross-encoder")
    plain = sentence_transformers.CrossEncoder(str(cross_folder), device="cpu")
    theirs = plain.predict([(pair.a, pair.b) for pair in PAIRS], show_progress_bar=False)
    assert np.ptp(theirs) > 0.05  # else agreement would say nothing
    assert tiny.similarities(PAIRS) == pytest.approx(theirs, abs=1e-5)


def test_values_are_float64_in_0_to_1(cross_folder: Path, made: Make) -> None:
    found = made(cross_folder, "cross-encoder").similarities(PAIRS)
    assert found.dtype == np.float64
    assert found.shape == (len(PAIRS),)
    assert 0 <= found.min() <= found.max() <= 1


def test_no_pairs_are_no_values(cross_folder: Path, made: Make) -> None:
    assert made(cross_folder, "cross-encoder").similarities([]).shape == (0,)


def test_the_order_within_a_pair_is_part_of_it(cross_folder: Path, made: Make) -> None:
    tiny = made(cross_folder, "cross-encoder")
    rows = counted(tiny)
    there, back = tiny.similarities([Pair(a="one", b="two words"), Pair(a="two words", b="one")])
    assert there != back
    assert sum(rows) == 2


@pytest.mark.parametrize("budget", [1, 100, 10_000])
def test_a_pair_is_the_same_in_any_company(
    cross_folder: Path, made: Make, budget: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = made(cross_folder, "cross-encoder")
    one_by_one = [alone.similarities([pair])[0] for pair in SOME]
    monkeypatch.setitem(PADDED_TOKENS, "cpu", budget)
    together = made(cross_folder, "cross-encoder").similarities(SOME)
    assert together == pytest.approx(one_by_one, abs=1e-5)


def test_every_pair_is_computed_once(cross_folder: Path, made: Make) -> None:
    tiny = made(cross_folder, "cross-encoder")
    rows = counted(tiny)
    first = tiny.similarities(PAIRS + PAIRS)
    again = tiny.similarities(PAIRS[:5])
    assert sum(rows) == len(PAIRS)
    assert np.array_equal(first[:5], again)


def test_the_sigmoid_does_not_overflow() -> None:
    with np.errstate(all="raise"):
        found = sigmoid(np.array([-700.0, -2.0, 0.0, 2.0, 700.0]))
    assert found == pytest.approx([0, 1 / (1 + np.e**2), 0.5, 1 / (1 + np.e**-2), 1])
