"""Discourse-guided refinement: every explanation becomes the unit of the reasoning nearest to it.

Source: Chen et al., EMNLP 2025, Eqs. 3-4. Pure. The control shuffles the words of each explanation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from services.cot2el import kernel
from services.cot2el.cost import MOST_COMPARED
from services.cot2el.kernel import Alignment
from services.cot2el.segmentation.units import Unit
from shared.errors import TooCostly
from shared.job_context import checking
from shared.questions import Explanation


@dataclass(frozen=True)
class Rule:
    """How explanations are aligned."""

    min_similarity: float
    autojunk: bool = False  # as released
    repeated: bool = False  # as released: a unit may occur twice for a label and stance
    most_steps: int = kernel.MOST_STEPS  # of one alignment

    def keeps(self, alignment: Alignment | None) -> bool:
        """Strictly above the threshold; at 0 everything, as printed."""
        if alignment is None:
            return False
        return self.min_similarity == 0 or alignment.similarity > self.min_similarity


@dataclass(frozen=True)
class Refined:
    """One explanation and where it went."""

    pair: Explanation
    alignment: Alignment | None  # None: the reasoning has no units
    kept: bool
    repeats: bool  # kept, but an earlier one of its label and stance has this unit


def refine(
    pairs: Sequence[Explanation], reasoning: str, units: Sequence[Unit], rule: Rule
) -> list[Refined]:
    """Eq. 4 for every pair, in order."""
    found = _aligned([pair.explanation for pair in pairs], reasoning, units, rule)
    taken: set[tuple[str, str, int]] = set()
    refined = []
    for pair, alignment in zip(pairs, found, strict=True):
        kept = rule.keeps(alignment)
        place = (pair.label, pair.stance, alignment.unit if alignment else -1)
        refined.append(
            Refined(pair, alignment, kept, kept and place in taken and not rule.repeated)
        )
        taken |= {place} if kept else set()
    return refined


@dataclass(frozen=True)
class Chance:
    """What shuffled explanations reach."""

    draws: int
    faithfulness: float  # share kept, [0, 1]
    mean_similarity: float


def by_chance(
    pairs: Sequence[Explanation],
    reasoning: str,
    units: Sequence[Unit],
    rule: Rule,
    generators: Sequence[np.random.Generator],
) -> Chance:
    """The same alignment of explanations with shuffled words, one generator a draw."""
    found = [
        alignment
        for draw in checking(generators)
        for alignment in _aligned(
            [shuffled(pair.explanation, draw) for pair in pairs], reasoning, units, rule
        )
    ]
    kept = [rule.keeps(alignment) for alignment in found]
    similar = [alignment.similarity for alignment in found if alignment is not None]
    return Chance(len(generators), float(np.mean(kept)), float(np.mean(similar)))


def shuffled(text: str, generator: np.random.Generator) -> str:
    """Its words in random order; its characters, where white space parts none."""
    words = text.split()
    if len(words) > 1:
        return " ".join(words[place] for place in generator.permutation(len(words)))
    return "".join(text[place] for place in generator.permutation(len(text)))


def _aligned(
    texts: Sequence[str], reasoning: str, units: Sequence[Unit], rule: Rule
) -> list[Alignment | None]:
    work = sum(map(len, texts)) * sum(unit.end - unit.start for unit in units)
    if work > MOST_COMPARED:
        raise TooCostly(
            f"{sum(map(len, texts)):,} characters of explanations are too many for these units: at "
            f"most {MOST_COMPARED:,} pairs of characters are compared",
            pointers=("/pairs", "/reasoning"),
        )
    verbatim = [reasoning[unit.start : unit.end] for unit in units]
    return kernel.align(texts, verbatim, autojunk=rule.autojunk, most_steps=rule.most_steps)
