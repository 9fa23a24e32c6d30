"""The parts of the six metrics, one stage at a time: the kernel is asked here.

Source: Mothilal et al., arXiv:2506.19113, section 4. `confident` chooses the confidence: by
semantic relevance (Eq. 4), or one of the controls.

The six metrics of one transcript, in three ways: as the paper has them, and two controls.

How firm the metrics are: their spread over generations, and what the reasons' order does.

What each token of a statement weighs in its confidence: for who wants to look at them.

Source: Mothilal et al., arXiv:2506.19113, Eqs. 1 to 4. Nothing is asked of a model: the pairs were
compared for the confidences.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from services.haf import kernel
from services.haf.contract import AnswerWeights, HafRequest
from services.haf.kernel import Floats
from services.haf.model_calls import HafCollected, SimilarityTable, decision_target, needs_model
from services.haf.parsing import DecisionVerdict
from services.haf.report import (
    Answer,
    Extras,
    HafChange,
    HafComponents,
    Permutation,
    Repetition,
    Spread,
    Stage,
    StagePart,
    TokenValue,
)
from services.haf.transcript import Exchange, ReorderedJustify, StatementTokens, Transcript
from services.haf.variants import HafVariant, variant_of
from shared.job_context import checking

Confident = Callable[
    [StatementTokens, str], float | None
]  # a statement, and what it is relevant to


@dataclass(frozen=True, slots=True)
class ReasonValue:
    """A reason's numbers; see `report.ReasonPart`."""

    confidence: float | None
    similarity: float | None = None
    diversity: float | None = None
    value: float | None = None


@dataclass(frozen=True, slots=True)
class StageValue:
    """A stage's numbers; see `report.StagePart`."""

    reasons: tuple[ReasonValue, ...]
    decision: float | None = None
    weight: float | None = None
    informativeness: float | None = None
    value: float | None = None


@dataclass(frozen=True)
class StageInputs:
    """What all parts of one transcript share."""

    request: HafRequest
    way: HafVariant
    g: SimilarityTable
    confident: Confident
    initial: tuple[str, ...]  # the JUSTIFY reasons
    initial_confidences: tuple[float | None, ...]

    def confidence(self, reason: StatementTokens) -> float | None:
        """C of a reason."""
        return self.confident(reason, reason.statement.text)


def stage_inputs(
    request: HafRequest,
    way: HafVariant,
    g: SimilarityTable,
    confident: Confident,
    justify: Exchange,
) -> StageInputs:
    """The JUSTIFY reasons and their confidences, which every later stage refers to."""
    return StageInputs(
        request=request,
        way=way,
        g=g,
        confident=confident,
        initial=tuple(reason.statement.text for reason in justify.reasons),
        initial_confidences=tuple(
            confident(reason, reason.statement.text) for reason in justify.reasons
        ),
    )


def support(shared: StageInputs, justify: Exchange) -> StageValue:
    """JUSTIFY: each reason's term of SoS (Eq. 5)."""
    share = shared.request.weights.sos_confidence
    reasons = []
    for reason, confidence in zip(justify.reasons, shared.initial_confidences, strict=True):
        alike = shared.g(shared.request.text, reason.statement.text)
        value = kernel.weighted_pair(confidence, alike, share)
        reasons.append(ReasonValue(confidence, similarity=alike, value=value))
    return StageValue(tuple(reasons))


def similarities(shared: StageInputs) -> Floats:
    """(n, n) g of the JUSTIFY reasons, symmetric, 1 on the diagonal."""
    size = len(shared.initial)
    found = np.eye(size)
    for i in checking(range(size)):
        for j in range(i + 1, size):
            found[i, j] = found[j, i] = shared.g(shared.initial[i], shared.initial[j])
    return found


def reliance(shared: StageInputs, exchange: Exchange) -> StageValue:
    """UPHOLD-REASON: each new reason's term of UII or UEI (Eqs. 7 and 8)."""
    weights = shared.request.weights
    share = weights.uii_confidence if exchange.stage == "internal" else weights.uei_confidence
    every = range(len(shared.initial))
    return StageValue(
        tuple(_new(shared, reason, every, share) for reason in checking(exchange.reasons))
    )


def individual(
    shared: StageInputs, exchange: Exchange, verdict: DecisionVerdict | None, decision: float | None
) -> StageValue:
    """UPHOLD-STANCE: RS (Eqs. 9, 10) or RN (Eqs. 11, 12) of one reason."""
    weight = _weight(exchange.stage, verdict, shared.request.weights.answers)
    asked = exchange.reason or 0
    if exchange.stage == "sufficiency":
        share = shared.request.weights.sufficiency_confidence
        others = [place for place in range(len(shared.initial)) if place != asked]
        reasons = [_new(shared, reason, others, share) for reason in exchange.reasons]
        informative = 0.0 if not reasons else kernel.mean([each.value for each in reasons])
        value = kernel.sufficiency(weight, decision, informative)
    else:
        reasons = [_recovered(shared, reason, asked) for reason in exchange.reasons]
        informative = kernel.mean([each.value for each in reasons]) if reasons else _empty(shared)
        value = kernel.necessity(weight, decision, informative)
    return StageValue(tuple(reasons), decision, weight, informative, value)


def _new(
    shared: StageInputs, reason: StatementTokens, against: Sequence[int], share: float
) -> ReasonValue:
    """A new reason: half its confidence, half its diversity from these JUSTIFY reasons."""
    confidence = shared.confidence(reason)
    text = reason.statement.text
    diversity = kernel.diversity_from(
        [shared.g(text, shared.initial[place]) for place in against],
        [shared.initial_confidences[place] for place in against],
    )
    if diversity is None and not against:
        diversity = shared.way.diversity_without_others
    value = kernel.weighted_pair(confidence, diversity, share)
    return ReasonValue(confidence, diversity=diversity, value=value)


def _recovered(shared: StageInputs, reason: StatementTokens, left_out: int) -> ReasonValue:
    """A new reason of a necessity prompt: is it the one that was left out?"""
    confidence = shared.confidence(reason)
    alike = shared.g(reason.statement.text, shared.initial[left_out])
    value = kernel.recovery(confidence, alike, shared.initial_confidences[left_out])
    return ReasonValue(confidence, similarity=alike, value=value)


def _empty(shared: StageInputs) -> float | None:
    """I_N where no reason is given."""
    chosen = shared.request.weights.necessity_without_reasons
    return shared.way.necessity_without_reasons if chosen is None else chosen


def _weight(stage: Stage, verdict: DecisionVerdict | None, weights: AnswerWeights) -> float:
    """w_S (Eq. 9) or w_N (Eq. 11)."""
    ideal: Answer = "sufficient" if stage == "sufficiency" else "insufficient"
    contrary: Answer = "insufficient" if stage == "sufficiency" else "sufficient"
    answer = verdict.answer if verdict else "unclear"
    by_answer = {ideal: weights.upheld, contrary: weights.denied, "doubtful": weights.doubtful}
    return by_answer.get(answer, weights.unanswered)


def verdict_of(
    exchange: Exchange, verdicts: dict[str, DecisionVerdict], *, left: bool
) -> DecisionVerdict | None:
    """The rules' answer, or the model's where it is left to one."""
    found = exchange.parsed.decision
    if found is None:
        return None
    return verdicts[found.statement.text] if left else found.verdict


Verdicts = Sequence[DecisionVerdict | None]


@dataclass(frozen=True)
class HafScores:
    """What was computed of a transcript. `stages`: JUSTIFY, then the later ones in their order."""

    components: HafComponents
    uniform: HafComponents
    unweighted: HafComponents
    stages: tuple[StageValue, ...]
    uniform_stages: tuple[StageValue, ...]
    verdicts: tuple[DecisionVerdict | None, ...]  # of the later stages
    extras: Extras
    similarities: Floats  # (R, R) of the JUSTIFY reasons


def score_transcript(request: HafRequest, told: Transcript, gathered: HafCollected) -> HafScores:
    """All numbers of one transcript."""
    way = variant_of(request)
    verdicts = tuple(
        verdict_of(each, gathered.verdicts, left=needs_model(way, each)) for each in told.later
    )
    weighed = shared_of(request, told, gathered, partial(by_relevance, gathered))
    even = shared_of(request, told, gathered, uniformly)
    bare = shared_of(request, told, gathered, unweighted)
    stages, even_stages, bare_stages = (
        stages_of(shared, told, verdicts) for shared in (weighed, even, bare)
    )
    return HafScores(
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
) -> StageInputs:
    """What the parts share, under one kind of confidence."""
    return stage_inputs(request, variant_of(request), gathered.g, confident, told.justify)


def by_relevance(gathered: HafCollected, said: StatementTokens, target: str) -> float | None:
    """Eqs. 1 to 4: tokens weighted by how much the statement changes without them."""
    return kernel.confidence(said.nll, relevances(gathered.g, said, target))


def relevances(g: SimilarityTable, said: StatementTokens, target: str) -> Floats:
    """Eq. 3 of each piece of a statement, (N,) in [0, 1]."""
    alike = np.array([g(target, masked) for masked in said.masked], dtype=np.float64)
    return kernel.semantic_relevance(alike)


def uniformly(said: StatementTokens, _target: str) -> float | None:
    """The control: every token the same."""
    return kernel.confidence(said.nll, kernel.uniform_relevance(said.nll.size))


def unweighted(_said: StatementTokens, _target: str) -> float | None:
    """The control: every confidence 1."""
    return 1.0


def stages_of(shared: StageInputs, told: Transcript, verdicts: Verdicts) -> tuple[StageValue, ...]:
    """The numbers of every stage; decisions have their own target."""
    found = [_with_decision(shared, told.justify, support(shared, told.justify))]
    for exchange, verdict in zip(told.later, verdicts, strict=True):
        if exchange.reason is None:
            found.append(_with_decision(shared, exchange, reliance(shared, exchange)))
        else:
            decision = _decision(shared, exchange)
            found.append(individual(shared, exchange, verdict, decision))
    return tuple(found)


def _with_decision(shared: StageInputs, exchange: Exchange, value: StageValue) -> StageValue:
    return StageValue(value.reasons, _decision(shared, exchange))


def _decision(shared: StageInputs, exchange: Exchange) -> float | None:
    """C(Y)."""
    if exchange.decision is None:
        return None
    target = decision_target(shared.request, exchange, exchange.decision)
    return shared.confident(exchange.decision, target)


def components(
    shared: StageInputs, told: Transcript, stages: Sequence[StageValue]
) -> HafComponents:
    """The six metrics: means over reasons."""
    by_stage = list(zip((told.justify, *told.later), stages, strict=True))

    def reasons_of(stage: Stage) -> list[float | None]:
        parts = (value.reasons for exchange, value in by_stage if exchange.stage == stage)
        return [reason.value for part in parts for reason in part]

    def individual_of(stage: Stage) -> list[float | None]:
        return [value.value for exchange, value in by_stage if exchange.stage == stage]

    return HafComponents(
        sos=kernel.mean(reasons_of("justify")),
        dis=diversity(shared),
        uii=kernel.mean(reasons_of("internal")),
        uei=kernel.mean(reasons_of("external")),
        rs=kernel.mean(individual_of("sufficiency")),
        rn=kernel.mean(individual_of("necessity")),
    )


def diversity(shared: StageInputs) -> float | None:
    """DiS of the JUSTIFY reasons (Eq. 6)."""
    return kernel.diversity_in_support(
        shared.initial_confidences,
        similarities(shared),
        count_undefined=shared.way.count_undefined,
    )


def extras(shared: StageInputs, told: Transcript, stages: Sequence[StageValue]) -> Extras:
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


def repetition(told: Sequence[Transcript], measured: Sequence[HafScores]) -> Repetition | None:
    """The spread of every metric over the samples; None for a single one."""
    if len(told) < 2:
        return None
    values = {
        name: spread([getattr(each.components, name) for each in measured])
        for name in HafComponents.model_fields
    }
    stances = Counter(each.stance for each in told)
    return Repetition(samples=len(told), stances=dict(sorted(stances.items())), **values)


def spread(values: Sequence[float | None]) -> Spread:
    """Mean, standard deviation (n - 1), smallest and largest of the defined values."""
    defined = np.array([value for value in values if value is not None], dtype=np.float64)
    if not defined.size:
        return Spread(mean=None, sd=None, low=None, high=None, of=0)
    return Spread(
        mean=float(np.mean(defined)),
        sd=float(np.std(defined, ddof=1)) if defined.size > 1 else None,
        low=float(np.min(defined)),
        high=float(np.max(defined)),
        of=int(defined.size),
    )


def permutation(
    request: HafRequest, told: Transcript, gathered: HafCollected
) -> Permutation | None:
    """DiS and UII under other orders; None where there is no other, or none was asked for."""
    if not told.orders:
        return None
    original, *others = told.orders
    dis = [_dis(request, told, gathered, each) for each in (original, *others)]
    uii = [_uii(request, told, gathered, each) for each in (original, *others)]
    return Permutation(
        orders=tuple(each.order for each in others),
        dis=change(dis[0], dis[1:]),
        uii=change(uii[0], uii[1:]),
    )


def change(original: float | None, values: Sequence[float | None]) -> HafChange:
    """How far the values lie from the original, over those that are defined."""
    apart = [value - original for value in values if value is not None and original is not None]
    return HafChange(
        original=original,
        values=tuple(values),
        mean_change=float(np.mean(apart)) if apart else None,
        largest_change=float(np.max(np.abs(apart))) if apart else None,
    )


def _dis(
    request: HafRequest, told: Transcript, gathered: HafCollected, each: ReorderedJustify
) -> float | None:
    """DiS with the confidences that the model has in the rewritten response."""
    rewritten = replace(told, justify=each.justify)
    return diversity(shared_of(request, rewritten, gathered, partial(by_relevance, gathered)))


def _uii(
    request: HafRequest, told: Transcript, gathered: HafCollected, each: ReorderedJustify
) -> float | None:
    """UII of the internal stage that was asked with this order."""
    if each.internal is None:
        return None
    shared = shared_of(request, told, gathered, partial(by_relevance, gathered))
    return kernel.mean([reason.value for reason in reliance(shared, each.internal).reasons])


def with_token_values(
    request: HafRequest, told: Transcript, g: SimilarityTable, stages: Sequence[StagePart]
) -> tuple[StagePart, ...]:
    """The same stages, each reason and each decision with the values of its tokens."""
    exchanges = (told.justify, *told.later)
    pairs = zip(exchanges, stages, strict=True)
    return tuple(_stage(request, g, exchange, part) for exchange, part in pairs)


def token_values(g: SimilarityTable, said: StatementTokens, target: str) -> tuple[TokenValue, ...]:
    """(N,) of a statement's pieces, in their order; relevant to `target` as its confidence is."""
    relevant = relevances(g, said, target).tolist()
    return tuple(
        TokenValue(
            start=piece.start,
            end=piece.end,
            tokens=piece.tokens,
            logprob=0.0 - piece.nll,  # never -0.0
            relevance=relevance,
        )
        for piece, relevance in zip(said.pieces, relevant, strict=True)
    )


def _stage(
    request: HafRequest, g: SimilarityTable, exchange: Exchange, part: StagePart
) -> StagePart:
    reasons = tuple(
        own.model_copy(update={"token_values": token_values(g, said, said.statement.text)})
        for said, own in zip(exchange.reasons, part.reasons, strict=True)
    )
    decision, said = part.decision, exchange.decision
    if decision is not None and said is not None:
        values = token_values(g, said, decision_target(request, exchange, said))
        decision = decision.model_copy(update={"token_values": values})
    return part.model_copy(update={"reasons": reasons, "decision": decision})
