"""What an adapter learns from: a text or a pair of texts, its label, and what it belongs to.

Who is held back: decided by hashes, so the same on every machine and in every order.

20 % of the families are held back whole; 15 % of the other families calibrate. A family is what
must not be parted: an example of its own, a premise, a template.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from shared.models.ports import Floats


@dataclass(frozen=True)
class TrainingExample:
    """One labelled text, or pair of texts. The last two are of HateCheck only."""

    id: str
    text: str
    label: int  # column of the true label
    target: tuple[float, ...]  # training target, the probability of each label
    text_pair: str | None = None  # what the model reads as its second sequence
    source: str = ""  # data set
    original_label: str = ""  # as the data set has it; each is held back in the same share
    family: str | None = None  # examples of one family are never parted
    group: str | None = None  # protected group that the case names
    functionality: str | None = None  # what the case tests

    @property
    def cluster(self) -> str:
        """Examples that are no independent evidence of each other have the same."""
        return self.family or self.id


Ask = Callable[[Sequence[TrainingExample]], Floats]  # examples to (N, L) logits


def json_lines(path: Path, columns: set[str], what: str) -> list[dict[str, Any]]:
    """The rows of this file. Raises ValueError where it has not these columns."""
    rows: list[dict[str, Any]] = [
        json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()
    ]
    if not rows or any(not columns <= row.keys() for row in rows):
        raise ValueError(f"{path}: not {what} by its columns")
    return rows


def certain(label: int, labels: int) -> tuple[float, ...]:
    """The target of a label that nobody doubts."""
    return tuple(float(column == label) for column in range(labels))


def wording(text: str) -> str:
    """Letters and digits in lower case: equal for texts that differ in spelling marks only."""
    return re.sub(r"[\W_]+", "", text.lower())


HELD_BACK_SHARE = 0.20
CALIBRATION_SHARE = 0.15  # of what is not held back


@dataclass(frozen=True)
class Split:
    """Disjoint parts."""

    train: list[TrainingExample]
    calibration: list[TrainingExample]
    held_back: list[TrainingExample]
    held_back_cases: list[TrainingExample] = field(default_factory=list)  # HateCheck

    @property
    def sizes(self) -> dict[str, int]:
        """Examples in each part."""
        return {
            "train": len(self.train),
            "calibration": len(self.calibration),
            "held_back": len(self.held_back),
        }


def split(examples: Sequence[TrainingExample]) -> Split:
    """Part the examples in three, each original label in the same shares."""
    held_back, remaining = _stratified(examples, HELD_BACK_SHARE)
    calibration, train = _stratified(remaining, CALIBRATION_SHARE)
    return Split(train=train, calibration=calibration, held_back=held_back)


def by_family(
    examples: Iterable[TrainingExample], share: float
) -> tuple[list[TrainingExample], list[TrainingExample]]:
    """(chosen, others), with this share of the families chosen, in the order of the file."""
    listed = list(examples)
    families = _first({example.cluster for example in listed}, share)
    chosen = [example for example in listed if example.cluster in families]
    return chosen, [example for example in listed if example.cluster not in families]


def _stratified(
    examples: Iterable[TrainingExample], share: float
) -> tuple[list[TrainingExample], list[TrainingExample]]:
    """(chosen, others), with this share of each original label's families chosen."""
    by_label: dict[str, list[TrainingExample]] = defaultdict(list)
    for example in examples:
        by_label[example.original_label].append(example)
    chosen: list[TrainingExample] = []
    others: list[TrainingExample] = []
    for label in sorted(by_label):
        some, rest = by_family(by_label[label], share)
        chosen += some
        others += rest
    return chosen, others


def _first(ids: set[str], share: float) -> set[str]:
    """This share of the ids, by the order of their SHA-256."""
    ordered = sorted(ids, key=lambda id_: hashlib.sha256(id_.encode()).digest())
    return set(ordered[: round(len(ordered) * share)])
