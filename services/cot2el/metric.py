"""CoT2EL: reason, parse, structure; then every explanation becomes a unit of the reasoning.

Source: Chen et al., EMNLP 2025, section 4.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from services.cot2el.agreement import TextSimilarity, agreement, column_mean, group_mean
from services.cot2el.batch_report import Rows, Statistics, batch_report
from services.cot2el.contract import CONTRACT, Cot2elRequest, Cot2elWriting
from services.cot2el.model_calls import Cot2elCollected, draft_and_compare, model_languages
from services.cot2el.refinement import RULED, RefinedExplanation, RefinedReasoning
from services.cot2el.report import (
    Cot2elBatchReport,
    Cot2elComponents,
    Cot2elDropped,
    Cot2elListedPair,
    Cot2elOtherItems,
    Cot2elRefinedPair,
    Cot2elResult,
    Cot2elSets,
    Cot2elShuffledWords,
    Cot2elUnplaced,
    Cot2elValidation,
)
from services.cot2el.variants import VARIANTS, Cot2elVariant
from shared.contracts.language_names import language_name
from shared.contracts.messages import Languages
from shared.contracts.questions import Explanation, Stance, in_words
from shared.reports.metric import Collected, Metric
from shared.text.language import (
    LanguageCoverage,
    Obstacle,
    assume_language,
    find_language,
    model_coverage,
    requested_language,
    rules_obstacle,
)

PROMPTED = ("en",)  # what the prompts of the three stages are written in


class Cot2el(Metric[Cot2elRequest, Cot2elCollected, Cot2elResult, Cot2elVariant]):
    """Which sentences of the reasoning speak for and against each option?"""

    contract = CONTRACT
    variants = VARIANTS

    def collect(self, requests: Sequence[Cot2elRequest]) -> list[Cot2elCollected]:
        found = draft_and_compare(requests)
        return [_with_languages(request, own) for request, own in zip(requests, found, strict=True)]

    def coverage(self, request: Cot2elRequest) -> LanguageCoverage:
        """Of the prompts and the rules of segmentation, and of the models that write."""
        languages, unread = _rule_coverage(request, request.reasoning)
        return model_coverage(request, languages, model_languages(request), unread)

    def undefined(self, request: Cot2elRequest, collected: Collected) -> Cot2elResult:
        return Cot2elResult(
            **self.envelope(request, collected),
            score=None,
            range=(0, 1),
            status="not_read",
            components=NOTHING,
            evidence=(),
            dropped=(),
            sets=Cot2elSets(
                el=(), el_sup=(), el_opp=(), filtered=(), filtered_sup=(), filtered_opp=()
            ),
            reasoning=request.reasoning,
            parse=None,
            validation=None,
            control=None,
        )

    def report(self, request: Cot2elRequest, collected: Cot2elCollected) -> Cot2elResult:
        draft, refinement = collected.draft, collected.refinement
        chance, others = refinement.chance, refinement.others
        kept = [one for one in refinement.refined if one.kept]
        similar = [
            one.alignment.similarity for one in refinement.refined if one.alignment is not None
        ]
        components = Cot2elComponents(
            faithfulness=len(kept) / len(refinement.refined) if refinement.refined else None,
            mean_similarity=float(np.mean(similar)) if similar else None,
            parsed=len(refinement.refined),
            kept=len(kept),
            contradicted=sum(one.contradicted for one in refinement.refined),
            distinct=len(refinement.aligned),
            labels_with_support=len(
                {p.label for p in refinement.filtered if p.stance == "support"}
            ),
            units=len(refinement.units),
        )
        el, filtered = _pair_list(refinement.parsed), _pair_list(refinement.filtered)
        return Cot2elResult(
            **self.envelope(request, collected, _warnings(collected)),
            score=components.faithfulness,
            range=(0, 1),
            status=draft.status,
            components=components,
            evidence=tuple(_evidence(refinement)),
            dropped=tuple(_filtered_out(refinement)),
            unplaced=tuple(
                Cot2elUnplaced(key=key, statements=count) for key, count in draft.unplaced
            ),
            sets=Cot2elSets(
                el=el,
                el_sup=_with_stance(el, "support"),
                el_opp=_with_stance(el, "oppose"),
                filtered=filtered,
                filtered_sup=_with_stance(filtered, "support"),
                filtered_opp=_with_stance(filtered, "oppose"),
            ),
            reasoning=draft.reasoning,
            parse=draft.parse,
            validation=_validation(collected),
            control=None
            if chance is None
            else Cot2elShuffledWords(
                **vars(chance),
                other_items=None if others is None else Cot2elOtherItems(**vars(others)),
            ),
        )

    def in_force(self, request: Cot2elRequest, collected: Cot2elCollected) -> Mapping[str, Any]:
        """The units, the language, and the settings of a model, defaults included."""
        refinement = collected.refinement
        writing = None if request.model is None else (request.writing or Cot2elWriting())
        return {
            "granularity": "given" if request.units else refinement.granularity,
            "autojunk": refinement.rule.autojunk,
            "polarity": refinement.polarity,
            "control_pool": len(request.control_pool) or "the service's own",
            "language": refinement.language,
            "writing": writing and writing.model_dump(mode="json"),
            "tagger": collected.tagger,
        }

    def summarize(self, rows: Rows, over: Statistics) -> Cot2elBatchReport:
        return batch_report(rows, over)


NOTHING = Cot2elComponents(
    faithfulness=None,
    mean_similarity=None,
    parsed=0,
    kept=0,
    contradicted=0,
    distinct=0,
    labels_with_support=0,
    units=0,
)


def _with_languages(request: Cot2elRequest, collected: Cot2elCollected) -> Cot2elCollected:
    """Reasoning that a model wrote may be in another language than its prompt."""
    languages, unread = _rule_coverage(request, collected.draft.reasoning)
    return replace(collected, languages=languages, obstacles=unread)


def _rule_coverage(
    request: Cot2elRequest, reasoning: str | None
) -> tuple[Languages, tuple[Obstacle, ...]]:
    """Whether prompts and rules read question and reasoning; None: it is not written yet."""
    sent = requested_language(request)
    asked = in_words(request.question)
    question = find_language(asked, sent)
    thought = None if reasoning is None else find_language(reasoning, sent)
    languages = Languages(text=assume_language(question, thought), explanation=thought)
    found = [rules_obstacle(asked, languages.text, PROMPTED)] if request.model else []
    segmented = request.units is None  # by our rules
    if reasoning is not None and thought is not None and (request.model or segmented):
        ruled = PROMPTED if request.model else RULED
        found.append(rules_obstacle(reasoning, assume_language(thought, question), ruled))
    return languages, tuple(dict.fromkeys(filter(None, found)))


def _evidence(refinement: RefinedReasoning) -> Iterator[Cot2elRefinedPair]:
    for one, unit in refinement.aligned:
        yield Cot2elRefinedPair(
            start=unit.start,
            end=unit.end,
            text=refinement.text[unit.start : unit.end],
            label=one.pair.label,
            stance=one.pair.stance,
            value=one.alignment.similarity if one.alignment else 0.0,
            original=one.pair.explanation,
            unit_sources=unit.sources,
            **_reading(one),
        )


def _reading(one: RefinedExplanation) -> dict[str, Any]:
    return {} if one.reading is None else vars(one.reading)


def _filtered_out(refinement: RefinedReasoning) -> Iterator[Cot2elDropped]:
    for one in refinement.refined:
        if not one.kept:
            yield Cot2elDropped(
                **one.pair.model_dump(),
                similarity=None if one.alignment is None else one.alignment.similarity,
                **_reading(one),
            )


def _pair_list(pairs: Sequence[Explanation]) -> tuple[Cot2elListedPair, ...]:
    return tuple(Cot2elListedPair(**pair.model_dump()) for pair in pairs)


def _with_stance(pairs: Sequence[Cot2elListedPair], stance: Stance) -> tuple[Cot2elListedPair, ...]:
    return tuple(pair for pair in pairs if pair.stance == stance)


def _validation(collected: Cot2elCollected) -> Cot2elValidation | None:
    request, refinement, measures = (
        collected.draft.request,
        collected.refinement,
        collected.measures,
    )
    if measures is None or request.human_pairs is None or collected.draft.status != "ok":
        return None
    keys = [option.key for option in request.options]
    refinement, human = collected.refinement, request.human_pairs
    return Cot2elValidation(
        metrics_used=tuple(_available_groups(measures)),
        group_mean=agreement(refinement.filtered, human, keys, measures, group_mean),
        column_mean=agreement(refinement.filtered, human, keys, measures, column_mean),
        parsed=agreement(refinement.parsed, human, keys, measures, group_mean),
    )


def _available_groups(measures: TextSimilarity) -> Iterator[Any]:
    yield "lexical"
    if measures.tags is not None:
        yield "syntactic"
    if measures.cosines is not None:
        yield "semantic"
    yield "levenshtein"


def _warnings(collected: Cot2elCollected) -> Iterator[str]:
    request, refinement = collected.draft.request, collected.refinement
    if collected.draft.status == "ok" and not refinement.refined:
        yield "there are no explanations: faithfulness is undefined"
    if refinement.refined and not refinement.units:
        yield "the reasoning has no discourse units: nothing can be aligned"
    if refinement.chance is None:
        why = "no draws were requested" if request.control_draws == 0 else "nothing to align"
        yield f"no control: {why}"
    wanted = request.polarity or VARIANTS[request.variant].polarity
    if wanted == "nli" and refinement.polarity == "cues":
        language = language_name(refinement.language)
        yield f"polarity by negation cues: no model of inference read {language}"
    readings = [one.reading for one in refinement.refined if one.reading is not None]
    unread = sum(one.polarity == "unread" for one in readings)
    if unread:
        yield f"polarity-unread: {unread} explanations are kept though nothing read their units"
    for key, count in collected.draft.unplaced:
        yield f"the parse's key {key!r} is no option: {count} statements left out"
    if collected.measures is not None:
        yield from _missing_metrics(collected.measures, refinement.language)


def _missing_metrics(measures: TextSimilarity, language: str) -> Iterator[str]:
    if measures.tags is None:
        english = "no English spaCy model is installed"
        why = english if language == "en" else f"there is no tagger for {language_name(language)}"
        yield f"no syntactic similarity: {why}"
    if measures.cosines is None:
        yield "no semantic similarity: no model was named in `similarity`"


SERVICE = Cot2el()
