"""Discourse-guided refinement: every explanation becomes the unit of the reasoning nearest to it.

Source: Chen et al., EMNLP 2025, Eqs. 3-4. Pure. The control shuffles the words of each explanation.

From a draft to refined pairs: segmentation, alignment, and the control. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from services.cot2el import kernel
from services.cot2el.contract import MOST_COMPARED, Cot2elRequest
from services.cot2el.kernel import MOST_STEPS, Alignment
from services.cot2el.segmentation import (
    Given,
    Granularity,
    Language,
    Segmenter,
    Unit,
    UnitRules,
    detected,
)
from services.cot2el.stages import ReasoningDraft
from services.cot2el.variants import VARIANTS
from shared.errors import TooCostly
from shared.job_context import checking
from shared.questions import Explanation


@dataclass(frozen=True)
class RefinementRule:
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
    pairs: Sequence[Explanation], reasoning: str, units: Sequence[Unit], rule: RefinementRule
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
class ShuffledBaseline:
    """What shuffled explanations reach."""

    draws: int
    faithfulness: float  # share kept, [0, 1]
    mean_similarity: float


def by_chance(
    pairs: Sequence[Explanation],
    reasoning: str,
    units: Sequence[Unit],
    rule: RefinementRule,
    generators: Sequence[np.random.Generator],
) -> ShuffledBaseline:
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
    return ShuffledBaseline(len(generators), float(np.mean(kept)), float(np.mean(similar)))


def shuffled(text: str, generator: np.random.Generator) -> str:
    """Its words in random order; its characters, where white space parts none."""
    words = text.split()
    if len(words) > 1:
        return " ".join(words[place] for place in generator.permutation(len(words)))
    return "".join(text[place] for place in generator.permutation(len(text)))


def _aligned(
    texts: Sequence[str], reasoning: str, units: Sequence[Unit], rule: RefinementRule
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


@dataclass(frozen=True)
class RefinedReasoning:
    """What became of one draft."""

    text: str  # the reasoning; empty where there is none
    language: Language
    granularity: Granularity
    rule: RefinementRule
    units: tuple[Unit, ...]
    refined: tuple[Refined, ...]
    chance: ShuffledBaseline | None  # None: not drawn

    @property
    def parsed(self) -> tuple[Explanation, ...]:
        """EL."""
        return tuple(one.pair for one in self.refined)

    @property
    def placed(self) -> tuple[tuple[Refined, Unit], ...]:
        """EL filtered, each with its unit."""
        return tuple(
            (one, self.units[one.alignment.unit])
            for one in self.refined
            if one.kept and not one.repeats and one.alignment is not None
        )

    @property
    def filtered(self) -> tuple[Explanation, ...]:
        """EL filtered, as pairs."""
        return tuple(
            one.pair.model_copy(update={"explanation": self.text[unit.start : unit.end]})
            for one, unit in self.placed
        )


def read(draft: ReasoningDraft) -> RefinedReasoning:
    """Refine the pairs of a draft that came through."""
    request, text = draft.request, draft.reasoning or ""
    language = detected(text) if request.language == "auto" else request.language
    granularity, rule = granularity_of(request), rule_of(request)
    units = segmenter_of(request)(text, language)
    return RefinedReasoning(
        text=text,
        language=language,
        granularity=granularity,
        rule=rule,
        units=tuple(units),
        refined=tuple(refine(draft.pairs, text, units, rule)),
        chance=_chance(request, draft.pairs, text, units, rule),
    )


def granularity_of(request: Cot2elRequest) -> Granularity:
    """In force: as asked, else the variant's own."""
    return request.granularity or VARIANTS[request.variant].granularity


def rule_of(request: Cot2elRequest) -> RefinementRule:
    """In force: as asked, else the variant's own."""
    row = VARIANTS[request.variant]
    least = row.min_similarity if request.min_similarity is None else request.min_similarity
    each = MOST_STEPS // (1 + request.control_draws)
    return RefinementRule(least, autojunk=row.autojunk, repeated=row.repeated, most_steps=each)


def segmenter_of(request: Cot2elRequest) -> Segmenter:
    """The units that were sent, or our rules."""
    if request.units is None:
        return UnitRules(granularity_of(request))
    return Given(tuple((unit.start, unit.end) for unit in request.units))


def _chance(
    request: Cot2elRequest,
    pairs: Sequence[Explanation],
    text: str,
    units: Sequence[Unit],
    rule: RefinementRule,
) -> ShuffledBaseline | None:
    """None where no draws are wanted, or nothing can be aligned."""
    if not (request.control_draws and pairs and units):
        return None
    seeds = np.random.SeedSequence(request.seed).spawn(request.control_draws)
    return by_chance(pairs, text, units, rule, [np.random.default_rng(seed) for seed in seeds])
