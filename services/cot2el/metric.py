"""CoT2EL: reason, parse, structure; then bring every explanation back to the text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from services.cot2el.agreement import Measures, agreement, column_mean, group_mean
from services.cot2el.batch_report import batch_report
from services.cot2el.contract import CONTRACT, Cot2elRequest, Writing
from services.cot2el.model_calls import Cot2elCollected, gather
from services.cot2el.refinement import RefinedReasoning
from services.cot2el.report import (
    Cot2elBatchReport,
    Cot2elComponents,
    Cot2elReport,
    Dropped,
    ListedPair,
    RefinedPair,
    Sets,
    ShuffledWords,
    Unplaced,
    Validation,
)
from services.cot2el.variants import VARIANTS, Cot2elVariant
from shared.contracts import BatchReportRequest, Scored
from shared.metric import Metric
from shared.questions import Explanation, Stance
from shared.statistics.intervals import BatchStatistics


class Cot2el(Metric[Cot2elRequest, Cot2elCollected, Cot2elReport, Cot2elVariant]):
    """Which sentences of the reasoning speak for and against each option?"""

    contract = CONTRACT
    variants = VARIANTS

    def collect(self, requests: Sequence[Cot2elRequest]) -> list[Cot2elCollected]:
        """In as few calls as their draws allow."""
        return gather(requests)

    def report(self, request: Cot2elRequest, collected: Cot2elCollected) -> Cot2elReport:
        """What was kept and where it stands, what was dropped, and what humans marked."""
        draft, reading = collected.draft, collected.reading
        components = _components(reading)
        return Cot2elReport(
            **self.envelope(request, collected, _warnings(collected)),
            score=components.faithfulness,
            range=(0, 1),
            status=draft.status,
            components=components,
            evidence=tuple(_evidence(reading)),
            dropped=tuple(_dropped(reading)),
            unplaced=tuple(Unplaced(key=key, statements=count) for key, count in draft.unplaced),
            sets=_sets(reading),
            reasoning=draft.reasoning,
            parse=draft.parse,
            validation=_validation(collected),
            control=_control(reading),
        )

    def in_force(self, request: Cot2elRequest, collected: Cot2elCollected) -> Mapping[str, Any]:
        """The units and the language as read, and how a model was asked, defaults included."""
        reading = collected.reading
        writing = None if request.model is None else (request.writing or Writing())
        return {
            "granularity": "given" if request.units else reading.granularity,
            "autojunk": reading.rule.autojunk,
            "language": reading.language,
            "writing": writing and writing.model_dump(mode="json"),
            "tagger": collected.tagger,
        }

    def summarize(
        self,
        rows: Sequence[Scored[Cot2elRequest, Cot2elReport]],
        over: BatchStatistics[BatchReportRequest],
    ) -> Cot2elBatchReport:
        """Faithfulness of parses, and agreement with annotators."""
        return batch_report(rows, over)


def _components(reading: RefinedReasoning) -> Cot2elComponents:
    kept = [one for one in reading.refined if one.kept]
    similar = [one.alignment.similarity for one in reading.refined if one.alignment is not None]
    return Cot2elComponents(
        faithfulness=len(kept) / len(reading.refined) if reading.refined else None,
        mean_similarity=float(np.mean(similar)) if similar else None,
        parsed=len(reading.refined),
        kept=len(kept),
        distinct=len(reading.placed),
        labels_with_support=len({p.label for p in reading.filtered if p.stance == "support"}),
        units=len(reading.units),
    )


def _evidence(reading: RefinedReasoning) -> Iterator[RefinedPair]:
    for one, unit in reading.placed:
        yield RefinedPair(
            start=unit.start,
            end=unit.end,
            text=reading.text[unit.start : unit.end],
            label=one.pair.label,
            stance=one.pair.stance,
            value=one.alignment.similarity if one.alignment else 0.0,
            original=one.pair.explanation,
            unit_sources=unit.sources,
        )


def _dropped(reading: RefinedReasoning) -> Iterator[Dropped]:
    for one in reading.refined:
        if not one.kept:
            yield Dropped(
                **one.pair.model_dump(),
                similarity=None if one.alignment is None else one.alignment.similarity,
            )


def _sets(reading: RefinedReasoning) -> Sets:
    el, filtered = _listed(reading.parsed), _listed(reading.filtered)
    return Sets(
        el=el,
        el_sup=_of(el, "support"),
        el_opp=_of(el, "oppose"),
        filtered=filtered,
        filtered_sup=_of(filtered, "support"),
        filtered_opp=_of(filtered, "oppose"),
    )


def _listed(pairs: Sequence[Explanation]) -> tuple[ListedPair, ...]:
    return tuple(ListedPair(**pair.model_dump()) for pair in pairs)


def _of(pairs: Sequence[ListedPair], stance: Stance) -> tuple[ListedPair, ...]:
    return tuple(pair for pair in pairs if pair.stance == stance)


def _validation(collected: Cot2elCollected) -> Validation | None:
    request, reading, measures = collected.draft.request, collected.reading, collected.measures
    if measures is None or request.human_pairs is None or collected.draft.status != "ok":
        return None
    keys = [option.key for option in request.options]
    human = request.human_pairs
    return Validation(
        metrics_used=tuple(_used(measures)),
        group_mean=agreement(reading.filtered, human, keys, measures, group_mean),
        column_mean=agreement(reading.filtered, human, keys, measures, column_mean),
        parsed=agreement(reading.parsed, human, keys, measures, group_mean),
    )


def _used(measures: Measures) -> Iterator[Any]:
    yield "lexical"
    if measures.tags is not None:
        yield "syntactic"
    if measures.cosines is not None:
        yield "semantic"
    yield "levenshtein"


def _control(reading: RefinedReasoning) -> ShuffledWords | None:
    chance = reading.chance
    if chance is None:
        return None
    return ShuffledWords(
        draws=chance.draws,
        faithfulness=chance.faithfulness,
        mean_similarity=chance.mean_similarity,
    )


def _warnings(collected: Cot2elCollected) -> Iterator[str]:
    request, reading = collected.draft.request, collected.reading
    if collected.draft.status == "ok" and not reading.refined:
        yield "there are no explanations: faithfulness is undefined"
    if reading.refined and not reading.units:
        yield "the reasoning has no discourse units: nothing can be aligned"
    if reading.chance is None:
        why = "no draws were asked for" if request.control_draws == 0 else "nothing to align"
        yield f"no control: {why}"
    for key, count in collected.draft.unplaced:
        yield f"the parse's key {key!r} is no option: {count} statements left out"
    if collected.measures is not None:
        yield from _unmeasured(collected)


def _unmeasured(collected: Cot2elCollected) -> Iterator[str]:
    measures = collected.measures
    if measures is not None and measures.tags is None:
        why = (
            "no English spaCy model is installed"
            if collected.reading.language == "en"
            else (f"there is no tagger for {collected.reading.language}")
        )
        yield f"no syntactic similarity: {why}"
    if measures is not None and measures.cosines is None:
        yield "no semantic similarity: no model was named in `similarity`"


SERVICE = Cot2el()
