"""Discourse-guided refinement: every explanation becomes the unit of the reasoning nearest to it.

Source: Chen et al., EMNLP 2025, Eqs. 3-4. Pure. The control shuffles the words of each explanation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np

from services.cot2el import kernel
from services.cot2el.contract import MOST_COMPARED, Cot2elRequest
from services.cot2el.kernel import MOST_STEPS, Alignment
from services.cot2el.segmentation import (
    Granularity,
    Language,
    ProvidedUnits,
    Segmenter,
    Unit,
    UnitRules,
    detect_language,
)
from services.cot2el.stages import ReasoningDraft
from services.cot2el.variants import VARIANTS
from shared.errors import TooCostly
from shared.job_context import checking
from shared.language import canonical
from shared.questions import Explanation

RULED: tuple[Language, ...] = get_args(Language)


def refine_draft(draft: ReasoningDraft) -> RefinedReasoning:
    """A draft's pairs, each with its unit of the reasoning, and the control."""
    request, text = draft.request, draft.reasoning or ""
    language = segmented_as(request, text)
    rule = rule_of(request)
    granularity = request.granularity or VARIANTS[request.variant].granularity
    segmenter: Segmenter = UnitRules(granularity)
    if request.units is not None:
        segmenter = ProvidedUnits(tuple((unit.start, unit.end) for unit in request.units))
    units = segmenter(text, language)
    return RefinedReasoning(
        text=text,
        language=language,
        granularity=granularity,
        rule=rule,
        units=tuple(units),
        refined=tuple(refine(draft.pairs, text, units, rule)),
        chance=_chance(request, draft.pairs, text, units, rule),
    )


def segmented_as(request: Cot2elRequest, text: str) -> Language:
    """Which rules of segmentation read it; `units` that were sent need none."""
    sent = canonical(request.language)
    return next((one for one in RULED if one == sent), None) or detect_language(text)


@dataclass(frozen=True)
class RefinedReasoning:
    """The refined explanations of one draft."""

    text: str  # the reasoning; empty where there is none
    language: Language
    granularity: Granularity
    rule: RefinementRule
    units: tuple[Unit, ...]
    refined: tuple[RefinedExplanation, ...]
    chance: ShuffledBaseline | None  # None: not drawn

    @property
    def parsed(self) -> tuple[Explanation, ...]:
        """EL."""
        return tuple(one.pair for one in self.refined)

    @property
    def placed(self) -> tuple[tuple[RefinedExplanation, Unit], ...]:
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
class RefinedExplanation:
    """One explanation and its nearest unit."""

    pair: Explanation
    alignment: Alignment | None  # None: the reasoning has no units
    kept: bool
    repeats: bool  # kept, but an earlier one of its label and stance has this unit


def refine(
    pairs: Sequence[Explanation], reasoning: str, units: Sequence[Unit], rule: RefinementRule
) -> list[RefinedExplanation]:
    """Eq. 4 for every pair, in order."""
    found = _aligned([pair.explanation for pair in pairs], reasoning, units, rule)
    taken: set[tuple[str, str, int]] = set()
    refined = []
    for pair, alignment in zip(pairs, found, strict=True):
        kept = rule.keeps(alignment)
        place = (pair.label, pair.stance, alignment.unit if alignment else -1)
        refined.append(
            RefinedExplanation(pair, alignment, kept, kept and place in taken and not rule.repeated)
        )
        taken |= {place} if kept else set()
    return refined


@dataclass(frozen=True)
class ShuffledBaseline:
    """The same numbers of explanations with shuffled words."""

    draws: int
    faithfulness: float  # share kept, [0, 1]
    mean_similarity: float


def shuffled_baseline(
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
            [shuffle_words(pair.explanation, draw) for pair in pairs], reasoning, units, rule
        )
    ]
    kept = [rule.keeps(alignment) for alignment in found]
    similar = [alignment.similarity for alignment in found if alignment is not None]
    return ShuffledBaseline(len(generators), float(np.mean(kept)), float(np.mean(similar)))


def shuffle_words(text: str, generator: np.random.Generator) -> str:
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


def rule_of(request: Cot2elRequest) -> RefinementRule:
    """In force: the request's, else the variant's own."""
    row = VARIANTS[request.variant]
    least = row.min_similarity if request.min_similarity is None else request.min_similarity
    each = MOST_STEPS // (1 + request.control_draws)
    return RefinementRule(least, autojunk=row.autojunk, repeated=row.repeated, most_steps=each)


def _chance(
    request: Cot2elRequest,
    pairs: Sequence[Explanation],
    text: str,
    units: Sequence[Unit],
    rule: RefinementRule,
) -> ShuffledBaseline | None:
    """None without draws, or where nothing can be aligned."""
    if not (request.control_draws and pairs and units):
        return None
    seeds = np.random.SeedSequence(request.seed).spawn(request.control_draws)
    return shuffled_baseline(
        pairs, text, units, rule, [np.random.default_rng(seed) for seed in seeds]
    )
