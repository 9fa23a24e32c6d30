"""From drafts, readings and measures to the report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from services.cot2el.comparing import Measures, agreement, column_mean, group_mean
from services.cot2el.contract import METRIC, Cot2elRequest, Writing
from services.cot2el.gather import Gathered
from services.cot2el.reading import Reading
from services.cot2el.report import (
    Components,
    Cot2elReport,
    Dropped,
    ListedPair,
    RefinedPair,
    Sets,
    ShuffledWords,
    Unplaced,
    Validation,
)
from shared.choices import Explanation, Stance
from shared.contracts import Provenance
from shared.version import SERVICE_VERSION


def assemble(gathered: Gathered) -> Cot2elReport:
    """The report of one request."""
    draft, reading = gathered.draft, gathered.reading
    components = _components(reading)
    return Cot2elReport(
        metric=METRIC.name,
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
        validation=_validation(gathered),
        control=_control(reading),
        warnings=(*draft.warnings, *_warnings(gathered)),
        provenance=_provenance(gathered),
    )


def _components(reading: Reading) -> Components:
    kept = [one for one in reading.refined if one.kept]
    similar = [one.alignment.similarity for one in reading.refined if one.alignment is not None]
    return Components(
        faithfulness=len(kept) / len(reading.refined) if reading.refined else None,
        mean_similarity=float(np.mean(similar)) if similar else None,
        parsed=len(reading.refined),
        kept=len(kept),
        distinct=len(reading.placed),
        labels_with_support=len({p.label for p in reading.filtered if p.stance == "support"}),
        units=len(reading.units),
    )


def _evidence(reading: Reading) -> Iterator[RefinedPair]:
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


def _dropped(reading: Reading) -> Iterator[Dropped]:
    for one in reading.refined:
        if not one.kept:
            yield Dropped(
                **one.pair.model_dump(),
                similarity=None if one.alignment is None else one.alignment.similarity,
            )


def _sets(reading: Reading) -> Sets:
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


def _validation(gathered: Gathered) -> Validation | None:
    request, reading, measures = gathered.draft.request, gathered.reading, gathered.measures
    if measures is None or request.human_pairs is None or gathered.draft.status != "ok":
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


def _control(reading: Reading) -> ShuffledWords | None:
    chance = reading.chance
    if chance is None:
        return None
    return ShuffledWords(
        draws=chance.draws,
        faithfulness=chance.faithfulness,
        mean_similarity=chance.mean_similarity,
    )


def _warnings(gathered: Gathered) -> Iterator[str]:
    request, reading = gathered.draft.request, gathered.reading
    if gathered.draft.status == "ok" and not reading.refined:
        yield "there are no explanations: faithfulness is undefined"
    if reading.refined and not reading.units:
        yield "the reasoning has no discourse units: nothing can be aligned"
    if reading.chance is None:
        why = "no draws were asked for" if request.control_draws == 0 else "nothing to align"
        yield f"no control: {why}"
    for key, count in gathered.draft.unplaced:
        yield f"the parse's key {key!r} is no option: {count} statements left out"
    if gathered.measures is not None:
        yield from _unmeasured(gathered)


def _unmeasured(gathered: Gathered) -> Iterator[str]:
    measures = gathered.measures
    if measures is not None and measures.tags is None:
        why = (
            "no English spaCy model is installed"
            if gathered.reading.language == "en"
            else (f"there is no tagger for {gathered.reading.language}")
        )
        yield f"no syntactic similarity: {why}"
    if measures is not None and measures.cosines is None:
        yield "no semantic similarity: no model was named in `similarity`"


def _provenance(gathered: Gathered) -> Provenance:
    request = gathered.draft.request
    return Provenance(
        metric_version=METRIC.version,
        variant=request.variant,
        seed=request.seed,
        parameters=_parameters(request, gathered),
        models=gathered.models,
        service_version=SERVICE_VERSION,
    )


def _parameters(request: Cot2elRequest, gathered: Gathered) -> dict[str, Any]:
    """What was in force: the variant's own granularity and threshold, not only what was sent."""
    reading = gathered.reading
    writing = None if request.model is None else (request.writing or Writing())
    return {
        "granularity": "given" if request.units else reading.granularity,
        "min_similarity": reading.rule.min_similarity,
        "autojunk": reading.rule.autojunk,
        "language": reading.language,
        "control_draws": request.control_draws,
        "writing": writing and writing.model_dump(mode="json"),
        "tagger": gathered.tagger,
    }
