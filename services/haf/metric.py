"""HAF: converse, or take the responses that were sent; compare them; weigh."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from services.haf import kernel, prompts
from services.haf.batch_messages import HafBatchReport, HafBatchReportRequest
from services.haf.batch_report import batch_report
from services.haf.contract import CONTRACT, HafRequest
from services.haf.conversation import transcripts
from services.haf.gather import HafCollected, gather
from services.haf.measures import Measured, measure
from services.haf.parsed import Verdict
from services.haf.parts import ReasonValue, StageValue
from services.haf.repetition import permutation, repetition
from services.haf.report import (
    Components,
    Controls,
    Counts,
    DecisionPart,
    HafReport,
    ReasonEvidence,
    ReasonPart,
    StagePart,
)
from services.haf.responses import MOST_REASONS
from services.haf.spoken import Spoken
from services.haf.token_values import with_token_values
from services.haf.transcript import Exchange, Transcript
from services.haf.undefined import reasons_why
from services.haf.variants import VARIANTS, HafVariant
from shared.contracts import Scored
from shared.job_context import checking
from shared.metric import Metric
from shared.statistics.intervals import BatchStatistics


class Haf(Metric[HafRequest, HafCollected, HafReport, HafVariant]):
    """Would a rational human under ideal conditions stand by these reasons?"""

    contract = CONTRACT
    variants = VARIANTS

    def collect(self, requests: Sequence[HafRequest]) -> list[HafCollected]:
        """A call a stage and a model for all of them."""
        return gather(requests, transcripts(requests))

    def report(self, request: HafRequest, collected: HafCollected) -> HafReport:
        """Of the first generation, with the others beside it."""
        told = collected.transcripts
        measured = [measure(request, each, collected) for each in checking(told)]
        first, values = told[0], measured[0]
        stages = tuple(_stages(first, values))
        if request.token_values:
            stages = with_token_values(request, first, collected.g, stages)
        score = _score(values.components)
        return HafReport(
            **self.envelope(request, collected, _warnings(request, first, values, score)),
            score=score,
            components=values.components,
            evidence=tuple(_evidence(part) for part in stages[0].reasons),
            control=Controls(uniform_relevance=values.uniform, unweighted=values.unweighted),
            stance=first.stance,
            refusal=first.justify.parsed.refusal,
            stages=stages,
            counts=_counts(first, stages, collected),
            extras=values.extras if request.extras else None,
            repetition=repetition(told, measured),
            permutation=permutation(request, first, collected),
            similarities=_similarities(values),
        )

    def in_force(self, request: HafRequest, collected: HafCollected) -> Mapping[str, Any]:
        """The variant's own weight, and what of a conversation depends on who had it."""
        weights = request.weights.model_dump(mode="json")
        if weights["necessity_without_reasons"] is None:
            own = self.variant(request).necessity_without_reasons
            weights["necessity_without_reasons"] = own
        return {
            "weights": weights,
            "decision_model": request.decision_model or request.similarity,
            "generation": request.generation.model_dump() if request.model else None,
            "prompts": prompts.version(),
        }

    def summarize(
        self,
        rows: Sequence[Scored[HafRequest, HafReport]],
        over: BatchStatistics[HafBatchReportRequest],
    ) -> HafBatchReport:
        """The paper's tables, by model and data set."""
        return batch_report(rows, over)


def _similarities(values: Measured) -> tuple[tuple[float, ...], ...]:
    """As rows; of very many reasons the square would be larger than all the rest."""
    if len(values.similarities) > MOST_REASONS:
        return ()
    return tuple(tuple(row) for row in values.similarities.tolist())


def _score(found: Components) -> float | None:
    """Our own: the mean of what is defined, turned so that higher is better; None without SoS."""
    if found.sos is None:
        return None
    reliance = [None if value is None else 1 - value for value in (found.uii, found.uei)]
    return kernel.summary([found.sos, found.dis, *reliance, found.rs, found.rn])


def _warnings(
    request: HafRequest, told: Transcript, values: Measured, score: float | None
) -> list[str]:
    found = reasons_why(values.components, told)
    if score is None:
        found.append("score: without a reason there is nothing to score")
    cut = sum(each.written.cut for each in (told.justify, *told.later))
    if cut:
        found.append(f"{cut} of the responses end at `max_tokens`, perhaps within a reason")
    if request.permute_reasons and not told.orders:
        found.append("permutation: there is no other order of the reasons to ask about")
    if told.stance == "maybe":
        found.append("the stance is `maybe`, which the paper asks about as if it were toxic")
    return found


def _stages(told: Transcript, values: Measured) -> list[StagePart]:
    verdicts: tuple[Verdict | None, ...] = (None, *values.verdicts)
    parts = zip(
        (told.justify, *told.later), values.stages, values.uniform_stages, verdicts, strict=True
    )
    return [_stage(*part) for part in parts]


def _stage(
    exchange: Exchange, value: StageValue, uniform: StageValue, verdict: Verdict | None
) -> StagePart:
    reasons = zip(exchange.reasons, value.reasons, uniform.reasons, strict=True)
    return StagePart(
        stage=exchange.stage,
        reason=exchange.reason,
        response=exchange.written.text,
        refusal=exchange.parsed.refusal,
        irrelevant=verdict is not None and verdict.answer == "irrelevant",
        decision=_decision(exchange, value, uniform, verdict),
        reasons=tuple(_reason(said, own, even) for said, own, even in reasons),
        weight=value.weight,
        informativeness=value.informativeness,
        value=value.value,
    )


def _decision(
    exchange: Exchange, value: StageValue, uniform: StageValue, verdict: Verdict | None
) -> DecisionPart | None:
    said = exchange.decision
    if said is None:
        return None
    start, end = said.statement.span or (None, None)
    return DecisionPart(
        text=said.statement.text,
        start=start,
        end=end,
        tokens=said.tokens,
        confidence=value.decision,
        confidence_uniform=uniform.decision,
        answer=verdict.answer if verdict else None,
        judge=verdict.judge if verdict else None,
        certainty=verdict.certainty if verdict else None,
    )


def _reason(said: Spoken, value: ReasonValue, uniform: ReasonValue) -> ReasonPart:
    start, end = said.statement.span or (None, None)
    return ReasonPart(
        text=said.statement.text,
        start=start,
        end=end,
        tokens=said.tokens,
        confidence=value.confidence,
        confidence_uniform=uniform.confidence,
        similarity=value.similarity,
        diversity=value.diversity,
        value=value.value,
    )


def _evidence(part: ReasonPart) -> ReasonEvidence:
    return ReasonEvidence(start=part.start, end=part.end, text=part.text, value=part.confidence)


def _counts(told: Transcript, stages: Sequence[StagePart], collected: HafCollected) -> Counts:
    return Counts(
        responses=len(stages),
        reasons=len(stages[0].reasons),
        refusals=sum(part.refusal for part in stages),
        irrelevant=sum(part.irrelevant for part in stages),
        tokens=sum(each.written.tokens for each in (told.justify, *told.later)),
        pairs=collected.pairs,
    )


SERVICE = Haf()
