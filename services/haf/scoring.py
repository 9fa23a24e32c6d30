"""Computes the scores of one conversation: six metrics with relevance weights and with two
controls, and their spread. Source: Mothilal et al., arXiv:2506.19113, section 4, Eqs. 1 to 12."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from services.haf import kernel
from services.haf.contract import HafAnswerWeights, HafRequest
from services.haf.kernel import Floats
from services.haf.model_calls import (
    HafCollected,
    SimilarityTable,
    decision_target,
    needs_similarity,
)
from services.haf.parsing import DecisionVerdict
from services.haf.report import (
    Answer,
    HafChange,
    HafComponents,
    HafExtras,
    HafPermutation,
    HafRepetition,
    HafSpread,
    HafStagePart,
    HafTokenValue,
    Stage,
)
from services.haf.transcript import Exchange, StatementTokens, Transcript
from services.haf.variants import HafVariant, variant_of
from shared.queue.job_context import check_each

# a statement, and what it is relevant to
Confident = Callable[[StatementTokens, str], float | None]
Verdicts = Sequence[DecisionVerdict | None]


@dataclass(frozen=True, slots=True)
class ReasonValue:
    """The values of one reason (see `report.HafReasonPart`)."""

    confidence: float | None
    similarity: float | None = None
    diversity: float | None = None
    value: float | None = None


@dataclass(frozen=True, slots=True)
class StageValue:
    """The values computed for one response of the conversation. `weight`, `informativeness` and
    `value` are described in `report.HafStagePart`."""

    reasons: tuple[ReasonValue, ...]
    decision: float | None = None
    weight: float | None = None
    informativeness: float | None = None
    value: float | None = None


@dataclass(frozen=True)
class StageInputs:
    """Inputs that all stages of a conversation share. `confident` returns the confidence in a
    statement, with tokens weighted by relevance. In one control all tokens have equal weights, and
    in the other one every confidence is 1."""

    request: HafRequest
    variant: HafVariant
    g: SimilarityTable
    confident: Confident
    initial: tuple[str, ...]  # the JUSTIFY reasons
    initial_confidences: tuple[float | None, ...]


@dataclass(frozen=True)
class HafScores:
    """The scores of one conversation. `stages` has all stages in order."""

    components: HafComponents
    uniform: HafComponents
    unweighted: HafComponents
    stages: tuple[StageValue, ...]
    uniform_stages: tuple[StageValue, ...]
    verdicts: tuple[DecisionVerdict | None, ...]  # of the later stages
    extras: HafExtras
    similarities: Floats  # (R, R) of the JUSTIFY reasons


def score_transcript(
    request: HafRequest, transcript: Transcript, collected: HafCollected
) -> HafScores:
    verdicts = tuple(_verdict(request, each, collected) for each in transcript.later)
    weighted, even, bare = (
        stage_inputs(request, collected, transcript.justify, confident)
        for confident in (partial(by_relevance, collected), uniformly, unweighted)
    )
    stages, even_stages, bare_stages = (
        stages_of(inputs, transcript, verdicts) for inputs in (weighted, even, bare)
    )
    return HafScores(
        components=components(weighted, transcript, stages),
        uniform=components(even, transcript, even_stages),
        unweighted=components(bare, transcript, bare_stages),
        stages=stages,
        uniform_stages=even_stages,
        verdicts=verdicts,
        extras=extras(weighted, transcript, stages),
        similarities=similarities(weighted),
    )


def _verdict(
    request: HafRequest, exchange: Exchange, collected: HafCollected
) -> DecisionVerdict | None:
    decision = exchange.parsed.decision
    if decision is None:
        return None
    if needs_similarity(variant_of(request), exchange):
        return collected.verdicts[decision.statement.text]
    return decision.verdict


def stage_inputs(
    request: HafRequest, collected: HafCollected, justify: Exchange, confident: Confident
) -> StageInputs:
    """Return the first stage's reasons and their confidences, which later stages need."""
    return StageInputs(
        request=request,
        variant=variant_of(request),
        g=collected.g,
        confident=confident,
        initial=tuple(reason.text for reason in justify.reasons),
        initial_confidences=tuple(confident(reason, reason.text) for reason in justify.reasons),
    )


def support(inputs: StageInputs, justify: Exchange) -> StageValue:
    """Return the values of the first stage: each reason's term of the support metric SoS (Eq. 5 of
    the HAF paper)."""
    share = inputs.request.weights.sos_confidence
    reasons = []
    for reason, confidence in zip(justify.reasons, inputs.initial_confidences, strict=True):
        similarity = inputs.g(inputs.request.text, reason.text)
        value = kernel.weighted_pair(confidence, similarity, share)
        reasons.append(ReasonValue(confidence, similarity=similarity, value=value))
    return StageValue(tuple(reasons))


def similarities(inputs: StageInputs) -> Floats:
    """Return the similarities between the first stage's n reasons, a symmetric (n, n) matrix with 1
    on the diagonal."""
    size = len(inputs.initial)
    matrix = np.eye(size)
    for i in check_each(range(size)):
        for j in range(i + 1, size):
            matrix[i, j] = matrix[j, i] = inputs.g(inputs.initial[i], inputs.initial[j])
    return matrix


def reliance(inputs: StageInputs, exchange: Exchange) -> StageValue:
    """Return the values of the stage UPHOLD-REASON: for each new reason, its term in UII or UEI
    (unused internal or external information, Eqs. 7 and 8 of the HAF paper)."""
    weights = inputs.request.weights
    share = weights.uii_confidence if exchange.stage == "internal" else weights.uei_confidence
    every = range(len(inputs.initial))
    return StageValue(
        tuple(_new_reason(inputs, reason, every, share) for reason in check_each(exchange.reasons))
    )


def individual(
    inputs: StageInputs, exchange: Exchange, verdict: DecisionVerdict | None, decision: float | None
) -> StageValue:
    """Return the sufficiency or necessity of one reason, from the stage UPHOLD-STANCE (Eqs. 9 to 12
    of the HAF paper)."""
    weight = _weight(exchange.stage, verdict, inputs.request.weights.answers)
    subject = exchange.reason or 0
    if exchange.stage == "sufficiency":
        share = inputs.request.weights.sufficiency_confidence
        others = [index for index in range(len(inputs.initial)) if index != subject]
        reasons = [_new_reason(inputs, reason, others, share) for reason in exchange.reasons]
        informativeness = 0.0 if not reasons else kernel.mean([each.value for each in reasons])
        value = kernel.sufficiency(weight, decision, informativeness)
    else:
        reasons = [_recovered_reason(inputs, reason, subject) for reason in exchange.reasons]
        informativeness = _necessity_informativeness(inputs, reasons)
        value = kernel.necessity(weight, decision, informativeness)
    return StageValue(tuple(reasons), decision, weight, informativeness, value)


def _new_reason(
    inputs: StageInputs, reason: StatementTokens, against: Sequence[int], share: float
) -> ReasonValue:
    """Return the value of a new reason: the weighted mean of its confidence and its diversity.
    Diversity is measured against the initial reasons with the indices `against`."""
    confidence = inputs.confident(reason, reason.text)
    text = reason.text
    diversity = kernel.diversity_from(
        [inputs.g(text, inputs.initial[index]) for index in against],
        [inputs.initial_confidences[index] for index in against],
    )
    if diversity is None and not against:
        diversity = inputs.variant.diversity_without_others
    value = kernel.weighted_pair(confidence, diversity, share)
    return ReasonValue(confidence, diversity=diversity, value=value)


def _recovered_reason(inputs: StageInputs, reason: StatementTokens, left_out: int) -> ReasonValue:
    """Return the value of a reason that the model gave after one reason was left out. The value
    depends on the similarity of the two reasons. `left_out` is the index of the omitted reason."""
    confidence = inputs.confident(reason, reason.text)
    similarity = inputs.g(reason.text, inputs.initial[left_out])
    value = kernel.recovery(confidence, similarity, inputs.initial_confidences[left_out])
    return ReasonValue(confidence, similarity=similarity, value=value)


def _necessity_informativeness(inputs: StageInputs, reasons: Sequence[ReasonValue]) -> float | None:
    """Return I_N (Eq. 12). The paper leaves it undefined if there are no new reasons."""
    if reasons:
        return kernel.mean([each.value for each in reasons])
    requested = inputs.request.weights.necessity_without_reasons
    return inputs.variant.necessity_without_reasons if requested is None else requested


def _weight(stage: Stage, verdict: DecisionVerdict | None, weights: HafAnswerWeights) -> float:
    """Return the weight of the model's answer at this stage: w_S for sufficiency (Eq. 9 of the HAF
    paper), or w_N for necessity (Eq. 11)."""
    ideal: Answer = "sufficient" if stage == "sufficiency" else "insufficient"
    contrary: Answer = "insufficient" if stage == "sufficiency" else "sufficient"
    answer = verdict.answer if verdict else "unclear"
    by_answer = {ideal: weights.upheld, contrary: weights.denied, "doubtful": weights.doubtful}
    return by_answer.get(answer, weights.unanswered)


def by_relevance(collected: HafCollected, statement: StatementTokens, target: str) -> float | None:
    """Return the confidence in a statement. A token weighs more if the statement changes more
    without it (Eqs. 1 to 4 of the HAF paper)."""
    return kernel.confidence(statement.nll, relevances(collected.g, statement, target))


def relevances(g: SimilarityTable, statement: StatementTokens, target: str) -> Floats:
    """Return the relevance of each token of a statement, in [0, 1] (Eq. 3 of the HAF paper)."""
    similarity = np.array([g(target, masked) for masked in statement.masked], dtype=np.float64)
    return kernel.semantic_relevance(similarity)


def uniformly(statement: StatementTokens, _target: str) -> float | None:
    """Return the confidence in a statement with equal weights for all tokens, for comparison."""
    return kernel.confidence(statement.nll, kernel.uniform_relevance(statement.nll.size))


def unweighted(_statement: StatementTokens, _target: str) -> float | None:
    """Return a confidence of 1 for every statement, for scores without weights."""
    return 1.0


def stages_of(
    inputs: StageInputs, transcript: Transcript, verdicts: Verdicts
) -> tuple[StageValue, ...]:
    """Return the values of every stage (question) of the HAF conversation."""
    values = [_with_decision(inputs, transcript.justify, support(inputs, transcript.justify))]
    for exchange, verdict in zip(transcript.later, verdicts, strict=True):
        if exchange.reason is None:
            values.append(_with_decision(inputs, exchange, reliance(inputs, exchange)))
        else:
            decision = _decision(inputs, exchange)
            values.append(individual(inputs, exchange, verdict, decision))
    return tuple(values)


def _with_decision(inputs: StageInputs, exchange: Exchange, value: StageValue) -> StageValue:
    return StageValue(value.reasons, _decision(inputs, exchange))


def _decision(inputs: StageInputs, exchange: Exchange) -> float | None:
    if exchange.decision is None:
        return None
    target = decision_target(inputs.request, exchange, exchange.decision)
    return inputs.confident(exchange.decision, target)


def components(
    inputs: StageInputs, transcript: Transcript, stages: Sequence[StageValue]
) -> HafComponents:
    """Return the six HAF metrics, each a mean over reasons."""
    by_stage = list(zip((transcript.justify, *transcript.later), stages, strict=True))

    def reasons_of(stage: Stage) -> list[float | None]:
        parts = (value.reasons for exchange, value in by_stage if exchange.stage == stage)
        return [reason.value for part in parts for reason in part]

    def individual_of(stage: Stage) -> list[float | None]:
        return [value.value for exchange, value in by_stage if exchange.stage == stage]

    return HafComponents(
        sos=kernel.mean(reasons_of("justify")),
        dis=diversity(inputs),
        uii=kernel.mean(reasons_of("internal")),
        uei=kernel.mean(reasons_of("external")),
        rs=kernel.mean(individual_of("sufficiency")),
        rn=kernel.mean(individual_of("necessity")),
    )


def diversity(inputs: StageInputs) -> float | None:
    """Return the diversity of the first stage's reasons (DiS, Eq. 6 of the HAF paper)."""
    return kernel.diversity_in_support(
        inputs.initial_confidences,
        similarities(inputs),
        count_undefined=inputs.variant.count_undefined,
    )


def extras(inputs: StageInputs, transcript: Transcript, stages: Sequence[StageValue]) -> HafExtras:
    """Return DiS-dpp (determinantal diversity) and del-PE (change of predictive entropy), two
    metrics of the released code."""
    changes: dict[Stage, float | None] = {
        exchange.stage: kernel.predictive_entropy_change(
            [reason.confidence for reason in value.reasons], inputs.initial_confidences
        )
        for exchange, value in zip(transcript.later, stages[1:], strict=True)
        if exchange.reason is None
    }
    return HafExtras(
        dis_dpp=kernel.determinantal_diversity(inputs.initial_confidences, similarities(inputs)),
        internal_del_pe=changes.get("internal"),
        external_del_pe=changes.get("external"),
    )


def repetition(
    transcripts: Sequence[Transcript], scores: Sequence[HafScores]
) -> HafRepetition | None:
    """Return the spread of every metric over repeated conversations, or None for a single one."""
    if len(transcripts) < 2:
        return None
    values = {
        name: spread([getattr(each.components, name) for each in scores])
        for name in HafComponents.model_fields
    }
    stances = Counter(each.stance for each in transcripts)
    return HafRepetition(samples=len(transcripts), stances=dict(sorted(stances.items())), **values)


def spread(values: Sequence[float | None]) -> HafSpread:
    """Return mean, standard deviation (n - 1), minimum and maximum of the defined values."""
    defined = np.array([value for value in values if value is not None], dtype=np.float64)
    if not defined.size:
        return HafSpread(mean=None, sd=None, low=None, high=None, of=0)
    return HafSpread(
        mean=float(np.mean(defined)),
        sd=float(np.std(defined, ddof=1)) if defined.size > 1 else None,
        low=float(np.min(defined)),
        high=float(np.max(defined)),
        of=int(defined.size),
    )


def permutation(
    request: HafRequest, transcript: Transcript, collected: HafCollected
) -> HafPermutation | None:
    """Return the changes of the metrics DiS and UII when the reasons are reordered. Return None if
    no other orders were tested."""
    if not transcript.orders:
        return None
    by_relevance_of = partial(by_relevance, collected)
    original = stage_inputs(request, collected, transcript.justify, by_relevance_of)
    dis = [
        diversity(stage_inputs(request, collected, each.justify, by_relevance_of))
        for each in transcript.orders  # with the confidences that the rewritten responses have
    ]
    uii = [
        kernel.mean([reason.value for reason in reliance(original, each.internal).reasons])
        if each.internal
        else None
        for each in transcript.orders
    ]
    return HafPermutation(
        orders=tuple(each.order for each in transcript.orders[1:]),
        dis=change(dis[0], dis[1:]),
        uii=change(uii[0], uii[1:]),
    )


def change(original: float | None, values: Sequence[float | None]) -> HafChange:
    """Return the differences of the defined values from the original: their mean, and the largest
    absolute one."""
    apart = [value - original for value in values if value is not None and original is not None]
    return HafChange(
        original=original,
        values=tuple(values),
        mean_change=float(np.mean(apart)) if apart else None,
        largest_change=float(np.max(np.abs(apart))) if apart else None,
    )


def with_token_values(
    request: HafRequest, transcript: Transcript, g: SimilarityTable, stages: Sequence[HafStagePart]
) -> tuple[HafStagePart, ...]:
    """Return the stages with values of single tokens added to each reason and decision."""
    exchanges = (transcript.justify, *transcript.later)
    pairs = zip(exchanges, stages, strict=True)
    return tuple(_with_token_values(request, g, exchange, part) for exchange, part in pairs)


def token_values(
    g: SimilarityTable, statement: StatementTokens, target: str
) -> tuple[HafTokenValue, ...]:
    """Return a statement's tokens, in order, each with its log-probability and its relevance to
    `target` (Eq. 3)."""
    relevant = relevances(g, statement, target).tolist()
    return tuple(
        HafTokenValue(
            start=piece.start,
            end=piece.end,
            tokens=piece.tokens,
            logprob=0.0 - piece.nll,  # never -0.0
            relevance=relevance,
        )
        for piece, relevance in zip(statement.pieces, relevant, strict=True)
    )


def _with_token_values(
    request: HafRequest, g: SimilarityTable, exchange: Exchange, part: HafStagePart
) -> HafStagePart:
    reasons = tuple(
        reason_part.model_copy(update={"token_values": token_values(g, statement, statement.text)})
        for statement, reason_part in zip(exchange.reasons, part.reasons, strict=True)
    )
    decision, statement = part.decision, exchange.decision
    if decision is not None and statement is not None:
        values = token_values(g, statement, decision_target(request, exchange, statement))
        decision = decision.model_copy(update={"token_values": values})
    return part.model_copy(update={"reasons": reasons, "decision": decision})
