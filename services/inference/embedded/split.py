"""Who is held back: decided by hashes of ids, so the same on every machine and in every order.

HateXplain: 20 % of the posts of each label are held back; 15 % of the rest calibrate.
HateCheck: 20 % of the template families are held back whole, so that no respelling or negation of
a held-back case was trained on.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from services.inference.embedded.examples import Example

HELD_BACK_SHARE = 0.20
CALIBRATION_SHARE = 0.15  # of the posts that are not held back


@dataclass(frozen=True)
class Split:
    """Four disjoint parts."""

    train: list[Example]
    calibration: list[Example]  # posts
    held_back: list[Example]  # posts
    held_back_cases: list[Example]  # HateCheck

    @property
    def sizes(self) -> dict[str, int]:
        """Examples in each part, those trained on by source."""
        posts = sum(example.source == "hatexplain" for example in self.train)
        return {
            "train_posts": posts,
            "train_cases": len(self.train) - posts,
            "calibration": len(self.calibration),
            "held_back": len(self.held_back),
            "held_back_cases": len(self.held_back_cases),
        }


def split(examples: Sequence[Example]) -> Split:
    """Part the examples."""
    posts = [example for example in examples if example.source == "hatexplain"]
    cases = [example for example in examples if example.source == "hatecheck"]
    held_back, remaining = _stratified(posts, HELD_BACK_SHARE)
    calibration, train = _stratified(remaining, CALIBRATION_SHARE)
    families = _first({case.family or case.id for case in cases}, HELD_BACK_SHARE)
    return Split(
        train=train + [case for case in cases if (case.family or case.id) not in families],
        calibration=calibration,
        held_back=held_back,
        held_back_cases=[case for case in cases if (case.family or case.id) in families],
    )


def _stratified(posts: Iterable[Example], share: float) -> tuple[list[Example], list[Example]]:
    """(chosen, others), with this share of each original label chosen, in the order of the file."""
    by_label: dict[str, list[Example]] = defaultdict(list)
    for post in posts:
        by_label[post.original_label].append(post)
    chosen: list[Example] = []
    others: list[Example] = []
    for label in sorted(by_label):
        ids = _first({post.id for post in by_label[label]}, share)
        for post in by_label[label]:
            (chosen if post.id in ids else others).append(post)
    return chosen, others


def _first(ids: set[str], share: float) -> set[str]:
    """This share of the ids, by the order of their SHA-256."""
    ordered = sorted(ids, key=lambda id_: hashlib.sha256(id_.encode()).digest())
    return set(ordered[: round(len(ordered) * share)])
