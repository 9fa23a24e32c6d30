"""Who is held back: decided by hashes, so the same on every machine and in every order.

20 % of the families are held back whole; 15 % of the other families calibrate. A family is what
must not be parted: an example of its own, a premise, a template.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from services.inference.embedded.examples import Example

HELD_BACK_SHARE = 0.20
CALIBRATION_SHARE = 0.15  # of what is not held back


@dataclass(frozen=True)
class Split:
    """Disjoint parts."""

    train: list[Example]
    calibration: list[Example]
    held_back: list[Example]
    held_back_cases: list[Example] = field(default_factory=list)  # HateCheck

    @property
    def sizes(self) -> dict[str, int]:
        """Examples in each part."""
        return {
            "train": len(self.train),
            "calibration": len(self.calibration),
            "held_back": len(self.held_back),
        }


def split(examples: Sequence[Example]) -> Split:
    """Part the examples in three, each original label in the same shares."""
    held_back, remaining = _stratified(examples, HELD_BACK_SHARE)
    calibration, train = _stratified(remaining, CALIBRATION_SHARE)
    return Split(train=train, calibration=calibration, held_back=held_back)


def by_family(examples: Iterable[Example], share: float) -> tuple[list[Example], list[Example]]:
    """(chosen, others), with this share of the families chosen, in the order of the file."""
    listed = list(examples)
    families = _first({_family(example) for example in listed}, share)
    chosen = [example for example in listed if _family(example) in families]
    return chosen, [example for example in listed if _family(example) not in families]


def _stratified(examples: Iterable[Example], share: float) -> tuple[list[Example], list[Example]]:
    """(chosen, others), with this share of each original label's families chosen."""
    by_label: dict[str, list[Example]] = defaultdict(list)
    for example in examples:
        by_label[example.original_label].append(example)
    chosen: list[Example] = []
    others: list[Example] = []
    for label in sorted(by_label):
        some, rest = by_family(by_label[label], share)
        chosen += some
        others += rest
    return chosen, others


def _family(example: Example) -> str:
    return example.family or example.id


def _first(ids: set[str], share: float) -> set[str]:
    """This share of the ids, by the order of their SHA-256."""
    ordered = sorted(ids, key=lambda id_: hashlib.sha256(id_.encode()).digest())
    return set(ordered[: round(len(ordered) * share)])
