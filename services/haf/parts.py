"""The parts of the six metrics, one stage at a time: the kernel is asked here.

Source: Mothilal et al., arXiv:2506.19113, section 4. `confident` chooses the confidence: by
semantic relevance (Eq. 4), or one of the controls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from services.haf import kernel
from services.haf.contract import AnswerWeights, HafRequest
from services.haf.gather import Alike
from services.haf.kernel import Floats
from services.haf.parsed import Verdict
from services.haf.report import Answer, Stage
from services.haf.spoken import Spoken
from services.haf.transcript import Exchange
from services.haf.variants import HafVariant
from shared.job_context import checking

Confident = Callable[[Spoken, str], float | None]  # a statement, and what it is relevant to


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
class Scoring:
    """What all parts of one transcript share."""

    request: HafRequest
    way: HafVariant
    g: Alike
    confident: Confident
    initial: tuple[str, ...]  # the JUSTIFY reasons
    initial_confidences: tuple[float | None, ...]

    def confidence(self, reason: Spoken) -> float | None:
        """C of a reason."""
        return self.confident(reason, reason.statement.text)


def scoring(
    request: HafRequest, way: HafVariant, g: Alike, confident: Confident, justify: Exchange
) -> Scoring:
    """The JUSTIFY reasons and their confidences, which every later stage refers to."""
    return Scoring(
        request=request,
        way=way,
        g=g,
        confident=confident,
        initial=tuple(reason.statement.text for reason in justify.reasons),
        initial_confidences=tuple(
            confident(reason, reason.statement.text) for reason in justify.reasons
        ),
    )


def support(shared: Scoring, justify: Exchange) -> StageValue:
    """JUSTIFY: each reason's term of SoS (Eq. 5)."""
    share = shared.request.weights.sos_confidence
    reasons = []
    for reason, confidence in zip(justify.reasons, shared.initial_confidences, strict=True):
        alike = shared.g(shared.request.text, reason.statement.text)
        value = kernel.weighted_pair(confidence, alike, share)
        reasons.append(ReasonValue(confidence, similarity=alike, value=value))
    return StageValue(tuple(reasons))


def similarities(shared: Scoring) -> Floats:
    """(n, n) g of the JUSTIFY reasons, symmetric, 1 on the diagonal."""
    size = len(shared.initial)
    found = np.eye(size)
    for i in checking(range(size)):
        for j in range(i + 1, size):
            found[i, j] = found[j, i] = shared.g(shared.initial[i], shared.initial[j])
    return found


def reliance(shared: Scoring, exchange: Exchange) -> StageValue:
    """UPHOLD-REASON: each new reason's term of UII or UEI (Eqs. 7 and 8)."""
    weights = shared.request.weights
    share = weights.uii_confidence if exchange.stage == "internal" else weights.uei_confidence
    every = range(len(shared.initial))
    return StageValue(
        tuple(_new(shared, reason, every, share) for reason in checking(exchange.reasons))
    )


def individual(
    shared: Scoring, exchange: Exchange, verdict: Verdict | None, decision: float | None
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


def _new(shared: Scoring, reason: Spoken, against: Sequence[int], share: float) -> ReasonValue:
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


def _recovered(shared: Scoring, reason: Spoken, left_out: int) -> ReasonValue:
    """A new reason of a necessity prompt: is it the one that was left out?"""
    confidence = shared.confidence(reason)
    alike = shared.g(reason.statement.text, shared.initial[left_out])
    value = kernel.recovery(confidence, alike, shared.initial_confidences[left_out])
    return ReasonValue(confidence, similarity=alike, value=value)


def _empty(shared: Scoring) -> float | None:
    """I_N where no reason is given."""
    chosen = shared.request.weights.necessity_without_reasons
    return shared.way.necessity_without_reasons if chosen is None else chosen


def _weight(stage: Stage, verdict: Verdict | None, weights: AnswerWeights) -> float:
    """w_S (Eq. 9) or w_N (Eq. 11)."""
    ideal: Answer = "sufficient" if stage == "sufficiency" else "insufficient"
    contrary: Answer = "insufficient" if stage == "sufficiency" else "sufficient"
    answer = verdict.answer if verdict else "unclear"
    by_answer = {ideal: weights.upheld, contrary: weights.denied, "doubtful": weights.doubtful}
    return by_answer.get(answer, weights.unanswered)


def verdict_of(exchange: Exchange, verdicts: dict[str, Verdict], *, left: bool) -> Verdict | None:
    """The rules' answer, or the model's where it is left to one."""
    found = exchange.parsed.decision
    if found is None:
        return None
    return verdicts[found.statement.text] if left else found.verdict
