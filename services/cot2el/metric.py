"""The CoT2EL metric: extracts explanations from a chain of thought, and replaces each with the
passage that it resembles most. Source: Chen et al., EMNLP 2025, section 4."""

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

PROMPTED = ("en",)  # language of the prompts


class Cot2el(Metric[Cot2elRequest, Cot2elCollected, Cot2elResult, Cot2elVariant]):
    """Measures which sentences of the reasoning speak for and against each option."""

    contract = CONTRACT
    variants = VARIANTS

    def collect(self, requests: Sequence[Cot2elRequest]) -> list[Cot2elCollected]:
        results = []
        for request, collected in zip(requests, draft_and_compare(requests), strict=True):
            # reasoning that a model wrote may be in another language than its prompt
            languages, unread = _rule_coverage(request, collected.draft.reasoning)
            results.append(replace(collected, languages=languages, obstacles=unread))
        return results

    def coverage(self, request: Cot2elRequest) -> LanguageCoverage:
        """Return which languages are supported by the prompts, the segmentation rules, and the
        models that write."""
        languages, obstacles = _rule_coverage(request, request.reasoning)
        return model_coverage(request, languages, model_languages(request), obstacles)

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
        refined = refinement.refined
        kept = [row for row in refined if row.kept]
        similar = [row.alignment.similarity for row in refined if row.alignment is not None]
        components = Cot2elComponents(
            faithfulness=len(kept) / len(refined) if refined else None,
            mean_similarity=float(np.mean(similar)) if similar else None,
            parsed=len(refined),
            kept=len(kept),
            contradicted=sum(row.contradicted for row in refined),
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
        """Return the settings that applied, including defaults: units, language and model."""
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


def _rule_coverage(
    request: Cot2elRequest, reasoning: str | None
) -> tuple[Languages, tuple[Obstacle, ...]]:
    """Return the languages of the texts, and an obstacle for each text in a language that prompts
    or rules do not support. `reasoning` is None if it has not been written yet."""
    requested = requested_language(request)
    text = in_words(request.question)
    question = find_language(text, requested)
    thought = None if reasoning is None else find_language(reasoning, requested)
    languages = Languages(text=assume_language(question, thought), explanation=thought)
    obstacles = [rules_obstacle(text, languages.text, PROMPTED)] if request.model else []
    uses_rules = request.model or request.units is None
    if reasoning is not None and thought is not None and uses_rules:
        readable = PROMPTED if request.model else RULED
        obstacles.append(rules_obstacle(reasoning, assume_language(thought, question), readable))
    return languages, tuple(dict.fromkeys(filter(None, obstacles)))


def _evidence(refinement: RefinedReasoning) -> Iterator[Cot2elRefinedPair]:
    for row, unit in refinement.aligned:
        yield Cot2elRefinedPair(
            start=unit.start,
            end=unit.end,
            text=refinement.text[unit.start : unit.end],
            label=row.pair.label,
            stance=row.pair.stance,
            value=row.alignment.similarity if row.alignment else 0.0,
            original=row.pair.explanation,
            unit_sources=unit.sources,
            **_reading(row),
        )


def _reading(row: RefinedExplanation) -> dict[str, Any]:
    return {} if row.reading is None else vars(row.reading)


def _filtered_out(refinement: RefinedReasoning) -> Iterator[Cot2elDropped]:
    for row in refinement.refined:
        if not row.kept:
            yield Cot2elDropped(
                **row.pair.model_dump(),
                similarity=None if row.alignment is None else row.alignment.similarity,
                **_reading(row),
            )


def _pair_list(pairs: Sequence[Explanation]) -> tuple[Cot2elListedPair, ...]:
    return tuple(Cot2elListedPair(**pair.model_dump()) for pair in pairs)


def _with_stance(pairs: Sequence[Cot2elListedPair], stance: Stance) -> tuple[Cot2elListedPair, ...]:
    return tuple(pair for pair in pairs if pair.stance == stance)


def _validation(collected: Cot2elCollected) -> Cot2elValidation | None:
    request, measures = collected.draft.request, collected.measures
    if measures is None or request.human_pairs is None or collected.draft.status != "ok":
        return None
    keys = [option.key for option in request.options]
    refinement, human = collected.refinement, request.human_pairs
    groups: list[Any] = ["lexical"]
    groups += ["syntactic"] if measures.tags is not None else []
    groups += ["semantic"] if measures.cosines is not None else []
    return Cot2elValidation(
        metrics_used=(*groups, "levenshtein"),
        group_mean=agreement(refinement.filtered, human, keys, measures, group_mean),
        column_mean=agreement(refinement.filtered, human, keys, measures, column_mean),
        parsed=agreement(refinement.parsed, human, keys, measures, group_mean),
    )


def _warnings(collected: Cot2elCollected) -> Iterator[str]:
    request, refinement = collected.draft.request, collected.refinement
    if collected.draft.status == "ok" and not refinement.refined:
        yield "faithfulness is undefined, because there are no explanations"
    if refinement.refined and not refinement.units:
        yield "the reasoning has no discourse units, so no explanation can be aligned"
    if refinement.chance is None:
        reason = (
            ("the request asks for no random draws")
            if request.control_draws == 0
            else ("there are no explanations to align")
        )
        yield f"no control: {reason}"
    polarity = request.polarity or VARIANTS[request.variant].polarity
    if polarity == "nli" and refinement.polarity == "cues":
        language = language_name(refinement.language)
        yield (
            "polarity is checked by counting negations, because no configured inference model "
            f"reads {language}"
        )
    readings = [row.reading for row in refinement.refined if row.reading is not None]
    unread = sum(row.polarity == "unread" for row in readings)
    if unread:
        yield (
            f"polarity-unread: {unread} explanations are kept without a check of their polarity, "
            "because their units could not be read"
        )
    for key, count in collected.draft.unplaced:
        yield (
            f"the parse has the key {key!r} which is not an option; statements left out: {count} "
            "statements left out"
        )
    if collected.measures is not None:
        yield from _missing_metrics(collected.measures, refinement.language)


def _missing_metrics(measures: TextSimilarity, language: str) -> Iterator[str]:
    if measures.tags is None:
        english = "no English spaCy model is installed"
        reason = (
            english if language == "en" else f"there is no tagger for {language_name(language)}"
        )
        yield f"syntactic similarity is not computed: {reason}"
    if measures.cosines is None:
        yield "semantic similarity is not computed: `similarity` names no model"


SERVICE = Cot2el()
