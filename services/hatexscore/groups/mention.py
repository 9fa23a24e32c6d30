"""A protected group named in an explanation, and whether that identifies the target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

FoundAs = Literal["term", "plural", "lemma", "demonym", "added", "category_term", "slur_alias"]


@dataclass(frozen=True, slots=True)
class GroupMention:
    """`explanation[start:end] == text`.

    group:    the term of the list that was found; of a demonym or a slur, what it stands for.
    found_as: `term` as printed, `plural` or `lemma` of it, or one of the layers that we add.
    counts:   does it identify the targeted group? `reason` says why, in words for a reader.
    """

    group: str
    category: str
    start: int
    end: int
    text: str
    found_as: FoundAs
    counts: bool
    reason: str
