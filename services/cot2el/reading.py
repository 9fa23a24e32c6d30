"""From a draft to refined pairs: segmentation, alignment, and the control. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from services.cot2el.contract import Cot2elRequest
from services.cot2el.drafting import Draft
from services.cot2el.kernel import MOST_STEPS
from services.cot2el.refining import Chance, Refined, Rule, by_chance, refine
from services.cot2el.segmentation.language import detected
from services.cot2el.segmentation.units import (
    Given,
    Granularity,
    Language,
    Rules,
    Segmenter,
    Unit,
)
from services.cot2el.variants import VARIANTS
from shared.questions import Explanation


@dataclass(frozen=True)
class Reading:
    """What became of one draft."""

    text: str  # the reasoning; empty where there is none
    language: Language
    granularity: Granularity
    rule: Rule
    units: tuple[Unit, ...]
    refined: tuple[Refined, ...]
    chance: Chance | None  # None: not drawn

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


def read(draft: Draft) -> Reading:
    """Refine the pairs of a draft that came through."""
    request, text = draft.request, draft.reasoning or ""
    language = detected(text) if request.language == "auto" else request.language
    granularity, rule = granularity_of(request), rule_of(request)
    units = segmenter_of(request)(text, language)
    return Reading(
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


def rule_of(request: Cot2elRequest) -> Rule:
    """In force: as asked, else the variant's own."""
    row = VARIANTS[request.variant]
    least = row.min_similarity if request.min_similarity is None else request.min_similarity
    each = MOST_STEPS // (1 + request.control_draws)
    return Rule(least, autojunk=row.autojunk, repeated=row.repeated, most_steps=each)


def segmenter_of(request: Cot2elRequest) -> Segmenter:
    """The units that were sent, or our rules."""
    if request.units is None:
        return Rules(granularity_of(request))
    return Given(tuple((unit.start, unit.end) for unit in request.units))


def _chance(
    request: Cot2elRequest,
    pairs: Sequence[Explanation],
    text: str,
    units: Sequence[Unit],
    rule: Rule,
) -> Chance | None:
    """None where no draws are wanted, or nothing can be aligned."""
    if not (request.control_draws and pairs and units):
        return None
    seeds = np.random.SeedSequence(request.seed).spawn(request.control_draws)
    return by_chance(pairs, text, units, rule, [np.random.default_rng(seed) for seed in seeds])
