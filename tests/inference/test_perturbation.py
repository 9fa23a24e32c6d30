"""Parts of texts: what stays, and whether a model that knows only the part is calibrated on it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from shared.contracts.judgement import ece_perturbed
from shared.contracts.messages import ModelUse, PartExcess
from shared.models.ports import Floats
from training.calibration import (
    CELLS,
    DRAWS,
    MASK,
    excesses,
    part_calibration,
    perturb_example,
)
from training.examples import Ask, TrainingExample

TEXT = " ".join(f"w{number}" for number in range(10))
CERTAIN = (1.0, 0.0)


def example(number: int, text: str, label: int, pair: str | None = None) -> TrainingExample:
    return TrainingExample(str(number), text, label, CERTAIN, text_pair=pair)


@pytest.mark.parametrize("kept", [0.2, 0.5, 0.8])
def test_a_share_of_the_words_stays_in_order(kept: float) -> None:
    made = [
        perturb_example(example(1, TEXT, 0), "delete", kept, draw).text.split()
        for draw in range(20)
    ]
    assert {len(words) for words in made} == {round(10 * kept)}
    assert all(words == sorted(words) for words in made)
    assert len({tuple(words) for words in made}) > 5
    masked = perturb_example(example(1, TEXT, 0), "mask", kept, 0).text.split()
    assert len(masked) == 10
    assert masked.count(MASK) == 10 - round(10 * kept)
    assert all(word in (MASK, own) for word, own in zip(masked, TEXT.split(), strict=True))


def test_pairs_are_perturbed_together_and_one_word_always_stays() -> None:
    pair = perturb_example(example(1, TEXT, 0, TEXT), "delete", 0.5, 0)
    assert len(pair.text.split()) + len((pair.text_pair or "").split()) == 10
    assert perturb_example(example(1, "alone", 0), "delete", 0.2, 0).text == "alone"


def planted(count: int) -> list[TrainingExample]:
    """Half of the texts hold the word that makes the label."""
    words = TEXT.split()
    return [
        example(n, " ".join([*words[:9], "cause"] if n % 2 else words), n % 2) for n in range(count)
    ]


def asked(sure: float, unsure: float) -> Ask:
    """A model that says `sure` with the cause in view, `unsure` without; P of the label."""

    def ask(parts: Sequence[TrainingExample]) -> Floats:
        p = np.array([sure if "cause" in part.text else unsure for part in parts])
        logits: Floats = np.log(np.stack([1 - p, p], axis=1))
        return logits

    return ask


def test_a_model_that_reads_absence_as_a_sign_is_off_on_parts_only() -> None:
    """Right on whole texts; where the word is gone, half of the texts may have had it."""
    rows = part_calibration(asked(0.999, 0.001), planted(60), ("no", "yes"), 1.0)
    assert [(row.operator, row.kept, row.label) for row in rows] == [
        (operator, kept, "yes") for operator, kept in CELLS
    ]
    few = rows[0]
    assert (few.excess.n, few.excess.clusters) == (60 * DRAWS, 60)
    assert few.share == 0.5
    assert few.probability < 0.2
    assert (few.excess.value or 0) > 0.25
    told = {(one.operator, one.kept): one.excess for one in excesses(rows)}
    assert told["delete", 0.2] == pytest.approx(few.excess.value, abs=1e-4)
    knowing = part_calibration(asked(1 - 1e-9, 0.4 / 0.9), planted(60), ("no", "yes"), 1.0)
    assert abs(knowing[0].excess.value or 0) < 0.05


def test_three_labels_are_measured_each() -> None:
    def ask(parts: Sequence[TrainingExample]) -> Floats:
        return np.zeros((len(parts), 3))

    texts = [example(n, TEXT, n % 3) for n in range(9)]
    rows = part_calibration(ask, texts, ("a", "b", "c"), 1.0)
    assert [row.label for row in rows[:3]] == ["a", "b", "c"]
    assert all(row.probability == pytest.approx(1 / 3) for row in rows)
    assert len(excesses(rows)) == len(CELLS)


def test_the_nearest_measured_part_is_warned_of_if_it_matters() -> None:
    use = ModelUse(name="m", revision="1", sha256=None, device="cpu", dtype="float32")
    assert list(ece_perturbed(use, [("delete", 0.2)])) == []
    assert "on_parts" not in use.model_dump()
    cells = {("delete", 0.2): 0.19, ("delete", 0.8): 0.05, ("mask", 0.8): -0.06}
    measured = tuple(
        PartExcess(operator=operator, kept=kept, excess=excess)
        for (operator, kept), excess in cells.items()
    )
    known = use.model_copy(update={"on_parts": measured})
    [warning] = ece_perturbed(known, [("delete", 0.1), ("delete", 0.3), ("infill", 0.2)])
    assert warning.startswith("ece_perturbed: with 20% of the words left (delete) ")
    assert "off by 0.19" in warning
    assert list(ece_perturbed(known, [("delete", 0.9)])) == []
    [masked] = ece_perturbed(known, [("mask", 0.1)])
    assert "off by -0.06" in masked
    assert hash(known) == hash(use)
