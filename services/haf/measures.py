"""The six metrics of one transcript, in three ways: as the paper has them, and two controls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from services.haf import kernel
from services.haf.contract import HafRequest
from services.haf.deciding import asks_model
from services.haf.gather import Alike, HafCollected, decision_target
from services.haf.kernel import Floats
from services.haf.parsed import Verdict
from services.haf.parts import (
    Confident,
    Scoring,
    StageValue,
    individual,
    reliance,
    scoring,
    similarities,
    support,
    verdict_of,
)
from services.haf.report import Components, Extras, Stage
from services.haf.spoken import Spoken
from services.haf.transcript import Exchange, Transcript
from services.haf.variants import variant_of

Verdicts = Sequence[Verdict | None]


@dataclass(frozen=True)
class Measured:
    """What was computed of a transcript. `stages`: JUSTIFY, then the later ones in their order."""

    components: Components
    uniform: Components
    unweighted: Components
    stages: tuple[StageValue, ...]
    uniform_stages: tuple[StageValue, ...]
    verdicts: tuple[Verdict | None, ...]  # of the later stages
    extras: Extras
    similarities: Floats  # (R, R) of the JUSTIFY reasons


def measure(request: HafRequest, told: Transcript, gathered: HafCollected) -> Measured:
    """All numbers of one transcript."""
    way = variant_of(request)
    verdicts = tuple(
        verdict_of(each, gathered.verdicts, left=asks_model(way, each)) for each in told.later
    )
    weighed = shared_of(request, told, gathered, partial(by_relevance, gathered))
    even = shared_of(request, told, gathered, uniformly)
    bare = shared_of(request, told, gathered, unweighted)
    stages, even_stages, bare_stages = (
        stages_of(shared, told, verdicts) for shared in (weighed, even, bare)
    )
    return Measured(
        components=components(weighed, told, stages),
        uniform=components(even, told, even_stages),
        unweighted=components(bare, told, bare_stages),
        stages=stages,
        uniform_stages=even_stages,
        verdicts=verdicts,
        extras=extras(weighed, told, stages),
        similarities=similarities(weighed),
    )


def shared_of(
    request: HafRequest, told: Transcript, gathered: HafCollected, confident: Confident
) -> Scoring:
    """What the parts share, under one kind of confidence."""
    return scoring(request, variant_of(request), gathered.g, confident, told.justify)


def by_relevance(gathered: HafCollected, said: Spoken, target: str) -> float | None:
    """Eqs. 1 to 4: tokens weighted by how much the statement changes without them."""
    return kernel.confidence(said.nll, relevances(gathered.g, said, target))


def relevances(g: Alike, said: Spoken, target: str) -> Floats:
    """Eq. 3 of each piece of a statement, (N,) in [0, 1]."""
    alike = np.array([g(target, masked) for masked in said.masked], dtype=np.float64)
    return kernel.semantic_relevance(alike)


def uniformly(said: Spoken, _target: str) -> float | None:
    """The control: every token the same."""
    return kernel.confidence(said.nll, kernel.uniform_relevance(said.nll.size))


def unweighted(_said: Spoken, _target: str) -> float | None:
    """The control: every confidence 1."""
    return 1.0


def stages_of(shared: Scoring, told: Transcript, verdicts: Verdicts) -> tuple[StageValue, ...]:
    """The numbers of every stage; decisions have their own target."""
    found = [_with_decision(shared, told.justify, support(shared, told.justify))]
    for exchange, verdict in zip(told.later, verdicts, strict=True):
        if exchange.reason is None:
            found.append(_with_decision(shared, exchange, reliance(shared, exchange)))
        else:
            decision = _decision(shared, exchange)
            found.append(individual(shared, exchange, verdict, decision))
    return tuple(found)


def _with_decision(shared: Scoring, exchange: Exchange, value: StageValue) -> StageValue:
    return StageValue(value.reasons, _decision(shared, exchange))


def _decision(shared: Scoring, exchange: Exchange) -> float | None:
    """C(Y)."""
    if exchange.decision is None:
        return None
    target = decision_target(shared.request, exchange, exchange.decision)
    return shared.confident(exchange.decision, target)


def components(shared: Scoring, told: Transcript, stages: Sequence[StageValue]) -> Components:
    """The six metrics: means over reasons."""
    by_stage = list(zip((told.justify, *told.later), stages, strict=True))

    def reasons_of(stage: Stage) -> list[float | None]:
        parts = (value.reasons for exchange, value in by_stage if exchange.stage == stage)
        return [reason.value for part in parts for reason in part]

    def individual_of(stage: Stage) -> list[float | None]:
        return [value.value for exchange, value in by_stage if exchange.stage == stage]

    return Components(
        sos=kernel.mean(reasons_of("justify")),
        dis=diversity(shared),
        uii=kernel.mean(reasons_of("internal")),
        uei=kernel.mean(reasons_of("external")),
        rs=kernel.mean(individual_of("sufficiency")),
        rn=kernel.mean(individual_of("necessity")),
    )


def diversity(shared: Scoring) -> float | None:
    """DiS of the JUSTIFY reasons (Eq. 6)."""
    return kernel.diversity_in_support(
        shared.initial_confidences,
        similarities(shared),
        count_undefined=shared.way.count_undefined,
    )


def extras(shared: Scoring, told: Transcript, stages: Sequence[StageValue]) -> Extras:
    """DiS-dpp and del-PE."""
    changes: dict[Stage, float | None] = {
        exchange.stage: kernel.predictive_entropy_change(
            [reason.confidence for reason in value.reasons], shared.initial_confidences
        )
        for exchange, value in zip(told.later, stages[1:], strict=True)
        if exchange.reason is None
    }
    return Extras(
        dis_dpp=kernel.determinantal_diversity(shared.initial_confidences, similarities(shared)),
        internal_del_pe=changes.get("internal"),
        external_del_pe=changes.get("external"),
    )
