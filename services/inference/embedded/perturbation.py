"""Is an adapter calibrated on parts of a text? ICE and HateXScore ask it about nothing else.

Words are deleted or masked at random; what is expected is what a calibrated model that sees only
the part would say of the label of the *whole* text. Parts of one text are one cluster.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
from pydantic import Field

from services.inference.embedded.calibration import Estimate, excess
from services.inference.embedded.examples import Ask, TrainingExample
from shared.contracts import Message, PartExcess
from shared.models.label_readout import softmax
from shared.statistics import calibration as measures
from shared.statistics.bootstrap import Resampling
from shared.statistics.seeds import generator

Operator = Literal["delete", "mask"]

CELLS: tuple[tuple[Operator, float], ...] = (
    ("delete", 0.2),
    ("delete", 0.5),
    ("delete", 0.8),
    ("mask", 0.8),
)
DRAWS = 3  # of each cell and text
MASK = "[MASK]"  # as the base's tokenizer reads it
WORD = re.compile(r"\S+")
HOW = Resampling(resamples=300)


class PartCalibration(Message):
    """One label's probability on parts of the texts."""

    operator: Operator
    kept: float = Field(ge=0, le=1, description="share of the words that stay")
    label: str
    probability: float = Field(ge=0, le=1, description="mean, of the label")
    share: float = Field(ge=0, le=1, description="of parts whose whole text has the label")
    ece: float = Field(ge=0, le=1)
    floor: float = Field(ge=0, le=1)
    excess: Estimate = Field(description="ece - floor, [-1, 1]; clusters are texts")


def part_calibration(
    ask: Ask, examples: Sequence[TrainingExample], labels: tuple[str, ...], temperature: float
) -> tuple[PartCalibration, ...]:
    """By operator and share kept; of two labels the second one alone, whose errors are both's."""
    return tuple(
        row
        for operator, kept in CELLS
        for row in _cell(ask, examples, labels, (operator, kept, temperature))
    )


def _cell(
    ask: Ask,
    examples: Sequence[TrainingExample],
    labels: tuple[str, ...],
    how: tuple[Operator, float, float],
) -> Iterator[PartCalibration]:
    operator, kept, temperature = how
    parts = [
        perturbed(example, operator, kept, draw) for example in examples for draw in range(DRAWS)
    ]
    probabilities = softmax(ask(parts) / temperature)
    truth, keys = np.array([part.label for part in parts]), [part.cluster for part in parts]
    for column in range(len(labels)) if len(labels) > 2 else (1,):
        predicted, own = probabilities[:, column], (truth == column).astype(np.float64)
        found = measures.calibration(predicted, own)
        yield PartCalibration(
            operator=operator,
            kept=kept,
            label=labels[column],
            probability=float(predicted.mean()),
            share=float(own.mean()),
            ece=found.ece,
            floor=found.floor,
            excess=excess(found, predicted, own, keys, HOW),
        )


def perturbed(
    example: TrainingExample, operator: Operator, kept: float, draw: int
) -> TrainingExample:
    """With this share of its words left, at least one, of text and pair together."""
    texts = [example.text, example.text_pair or ""]
    words = [WORD.findall(text) for text in texts]
    count = sum(map(len, words))
    random = generator(0, "part", example.id, operator, kept, draw)
    stays = set(random.permutation(count)[: max(1, round(kept * count))].tolist())
    made, place = [], 0
    for own in words:
        left = [word if place + n in stays else MASK for n, word in enumerate(own)]
        chosen = [w for n, w in enumerate(left) if operator == "mask" or place + n in stays]
        made.append(" ".join(chosen))
        place += len(own)
    pair = None if example.text_pair is None else made[1]
    return replace(example, text=made[0], text_pair=pair)


def excesses(rows: Sequence[PartCalibration]) -> tuple[PartExcess, ...]:
    """By operator and share kept; of several labels the one that is furthest off."""
    found: dict[tuple[Operator, float], float] = {}
    for row in rows:
        cell, value = (row.operator, row.kept), round(row.excess.value or 0.0, 4)
        found[cell] = max(found.get(cell, value), value, key=abs)
    return tuple(
        PartExcess(operator=operator, kept=kept, excess=excess)
        for (operator, kept), excess in found.items()
    )
