"""The HAF metric. It prompts the model or uses the responses in the request, compares their texts,
and scores them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from services.haf import kernel
from services.haf.batch_report import Row, Statistics, batch_report
from services.haf.contract import CONTRACT, MOST_REASONS, HafRequest
from services.haf.conversation import converse, prompts_version
from services.haf.model_calls import HafCollected, compare, model_languages
from services.haf.parsing import DecisionVerdict
from services.haf.reading import read_responses
from services.haf.report import (
    HafBatchReport,
    HafComponents,
    HafControls,
    HafCounts,
    HafDecisionPart,
    HafReasonEvidence,
    HafReasonPart,
    HafResult,
    HafStagePart,
    Stage,
)
from services.haf.scoring import (
    HafScores,
    ReasonValue,
    StageValue,
    permutation,
    repetition,
    score_transcript,
    with_token_values,
)
from services.haf.transcript import (
    NO_LOGPROBS,
    NO_TOKENS,
    Exchange,
    StatementTokens,
    Transcript,
    individual_stage,
)
from services.haf.variants import VARIANTS, HafVariant
from shared.contracts.explanation_fields import fields_in
from shared.contracts.messages import Languages, NullReason
from shared.queue.job_context import check_each
from shared.reports.metric import Collected, Metric, StatedDecision
from shared.text.language import (
    LanguageCoverage,
    Obstacle,
    model_coverage,
    requested_language,
    rules_coverage,
)

RULED = ("en",)  # the language of the prompts and labels, and of the reader's measurements
SIDES: dict[Stage, str] = {"sufficiency": "toxic", "necessity": "non-toxic"}
NO_INFORMATIVENESS = (
    "no response has a decision whose confidence and informativeness are both defined"
)
STAGES: dict[str, Stage] = {
    "uii": "internal", "uei": "external", "rs": "sufficiency", "rn": "necessity"
}  # fmt: skip


class Haf(Metric[HafRequest, HafCollected, HafResult, HafVariant]):
    """Measures whether a rational human under ideal conditions would stand by a model's reasons."""

    contract = CONTRACT
    variants = VARIANTS

    def collect(self, requests: Sequence[HafRequest]) -> list[HafCollected]:
        collected = []
        for request, result in zip(requests, compare(requests, converse(requests)), strict=True):
            response = result.transcripts[0].justify.response  # may be in another language
            languages, unread = _rule_coverage(request, response.text, silent=response.lacks_tokens)
            collected.append(replace(result, languages=languages, obstacles=unread))
        return collected

    def coverage(self, request: HafRequest) -> LanguageCoverage:
        """Return the languages that were found, and obstacles to scoring. The text's language must
        be one of the model's. Prompts, labels and parsing support English only."""
        sent = None if request.sent is None else request.sent.justify
        languages, unread = _rule_coverage(
            request,
            None if sent is None else sent.text,
            silent=sent is not None and sent.logprobs is None and sent.tokens is None,
        )
        return model_coverage(request, languages, model_languages(request), unread)

    def stated_decision(self, text: str, answer: str, language: str) -> StatedDecision | None:
        """Return the decision in the model's response to the first prompt (JUSTIFY), or None if it
        is unclear. Raises Unavailable if the trained text classifier is unavailable."""
        parsed = read_responses([(answer, "justify")])[0]
        decision = parsed.decision
        span = decision.statement.span if decision else None
        if parsed.stance == "unclear" or span is None:
            return None
        return StatedDecision(
            label=parsed.stance, start=span[0], end=span[1], words=span, by="reader"
        )

    def undefined(self, request: HafRequest, collected: Collected) -> HafResult:
        return HafResult(
            **self.envelope(request, collected),
            score=None,
            components=HafComponents.model_validate(dict.fromkeys(HafComponents.model_fields)),
            evidence=(),
            control=None,
            stance=None,
            refusal=False,
            stages=(),
            counts=HafCounts(responses=0, reasons=0, refusals=0, irrelevant=0, tokens=0, pairs=0),
            extras=None,
            repetition=None,
            permutation=None,
        )

    def report(self, request: HafRequest, collected: HafCollected) -> HafResult:
        """Return a report on the first generated conversation. Further conversations only determine
        the spread of the scores."""
        transcripts = collected.transcripts
        scores = [score_transcript(request, each, collected) for each in check_each(transcripts)]
        first, values = transcripts[0], scores[0]
        verdicts: tuple[DecisionVerdict | None, ...] = (None, *values.verdicts)
        parts = zip(
            (first.justify, *first.later),
            values.stages,
            values.uniform_stages,
            verdicts,
            strict=True,
        )
        stages = tuple([_stage(*part) for part in parts])
        if request.token_values:
            stages = with_token_values(request, first, collected.g, stages)
        score = _score(values.components)
        warnings = _warnings(request, first, values, score)
        return HafResult(
            **self.envelope(request, collected, warnings),
            reasons=tuple(
                NullReason(component=name, code="no-logprobs", detail=NO_TOKENS)
                for name, _, why in (warning.partition(": ") for warning in warnings)
                if why == NO_TOKENS
            ),
            score=score,
            components=values.components,
            evidence=tuple(
                HafReasonEvidence(
                    start=part.start, end=part.end, text=part.text, value=part.confidence
                )
                for part in stages[0].reasons
            ),
            control=HafControls(uniform_relevance=values.uniform, unweighted=values.unweighted),
            stance=first.stance,
            refusal=first.justify.parsed.refusal,
            stages=stages,
            counts=HafCounts(
                responses=len(stages),
                reasons=len(stages[0].reasons),
                refusals=sum(part.refusal for part in stages),
                irrelevant=sum(part.irrelevant for part in stages),
                tokens=sum(each.response.tokens for each in (first.justify, *first.later)),
                pairs=collected.pairs,
            ),
            extras=values.extras if request.extras else None,
            repetition=repetition(transcripts, scores),
            permutation=permutation(request, first, collected),
            # The matrix of very many reasons would be larger than the rest of the result.
            similarities=tuple(map(tuple, values.similarities.tolist()))
            if len(values.similarities) <= MOST_REASONS
            else (),
        )

    def in_force(self, request: HafRequest, collected: HafCollected) -> Mapping[str, Any]:
        weights = request.weights.model_dump(mode="json")
        if weights["necessity_without_reasons"] is None:
            default = self.variant(request).necessity_without_reasons
            weights["necessity_without_reasons"] = default
        return {
            "weights": weights,
            "generation": request.generation.model_dump() if request.model else None,
            "prompts": prompts_version(),
        }

    def summarize(self, rows: Sequence[Row], over: Statistics) -> HafBatchReport:
        return batch_report(rows, over)


def _rule_coverage(
    request: HafRequest, justify: str | None, *, silent: bool
) -> tuple[Languages, tuple[Obstacle, ...]]:
    """Return the languages of the texts, and the reasons why the rules cannot parse them. With
    `silent`, missing log-probabilities are the first of these reasons, because another
    `language` would not help."""
    fields = fields_in(justify or "")
    prose = justify if fields is None else fields.prose
    languages, unread = rules_coverage(request.text, prose, requested_language(request), RULED)
    if silent and unread:
        unread = (Obstacle("no-logprobs", NO_LOGPROBS), *unread)
    return languages, unread


def _score(components: HafComponents) -> float | None:
    """Return the mean of the defined components, reversed where lower is better, or None if SoS is
    undefined. The paper has no single score."""
    if components.sos is None:
        return None
    reliance = [None if value is None else 1 - value for value in (components.uii, components.uei)]
    return kernel.summary([components.sos, components.dis, *reliance, components.rs, components.rn])


def _warnings(
    request: HafRequest, transcript: Transcript, values: HafScores, score: float | None
) -> list[str]:
    warnings = undefined_warnings(values.components, transcript)
    if score is None and transcript.justify.reasons and transcript.justify.response.lacks_tokens:
        warnings.append(f"score: {NO_TOKENS}")
    elif score is None:
        warnings.append("score: the response gives no reason, so there is nothing to score")
    cut = sum(each.response.truncated for each in (transcript.justify, *transcript.later))
    if cut:
        warnings.append(
            f"{cut} of the responses were cut off at `max_tokens`, perhaps in the middle of a "
            "reason"
        )
    if request.permute_reasons and not transcript.orders:
        warnings.append("permutation: the reasons have no other order to test")
    if transcript.stance == "maybe":
        warnings.append("the stance is `maybe`, which the paper treats as toxic")
    return warnings


def _stage(
    exchange: Exchange, value: StageValue, uniform: StageValue, verdict: DecisionVerdict | None
) -> HafStagePart:
    reasons = zip(exchange.reasons, value.reasons, uniform.reasons, strict=True)
    return HafStagePart(
        stage=exchange.stage,
        reason=exchange.reason,
        response=exchange.response.text,
        refusal=exchange.parsed.refusal,
        irrelevant=verdict is not None and verdict.answer == "irrelevant",
        decision=_decision(exchange, value, uniform, verdict),
        reasons=tuple(
            _reason(statement, reason_value, even) for statement, reason_value, even in reasons
        ),
        weight=value.weight,
        informativeness=value.informativeness,
        value=value.value,
    )


def _decision(
    exchange: Exchange, value: StageValue, uniform: StageValue, verdict: DecisionVerdict | None
) -> HafDecisionPart | None:
    statement = exchange.decision
    if statement is None:
        return None
    start, end = statement.statement.span or (None, None)
    return HafDecisionPart(
        text=statement.text,
        start=start,
        end=end,
        tokens=statement.tokens,
        confidence=value.decision,
        confidence_uniform=uniform.decision,
        answer=verdict.answer if verdict else None,
        judge=verdict.judge if verdict else None,
        certainty=verdict.certainty if verdict else None,
    )


def _reason(statement: StatementTokens, value: ReasonValue, uniform: ReasonValue) -> HafReasonPart:
    start, end = statement.statement.span or (None, None)
    return HafReasonPart(
        text=statement.text,
        start=start,
        end=end,
        tokens=statement.tokens,
        confidence=value.confidence,
        confidence_uniform=uniform.confidence,
        similarity=value.similarity,
        diversity=value.diversity,
        value=value.value,
    )


def undefined_warnings(components: HafComponents, transcript: Transcript) -> list[str]:
    """Return a warning for every metric that is null."""
    values = components.model_dump()
    return [
        f"{name}: {_undefined_reason(name, transcript)}"
        for name, value in values.items()
        if value is None
    ]


def _undefined_reason(name: str, transcript: Transcript) -> str:
    if name in ("sos", "dis"):
        return _justify_reason(name, transcript)
    stage = STAGES[name]
    individual = individual_stage(transcript.stance)
    if stage in SIDES and individual is not None and individual != stage:
        return f"it is defined for {SIDES[stage]} stances, and the stance is {transcript.stance}"
    exchanges = [exchange for exchange in transcript.later if exchange.stage == stage]
    if not exchanges:
        return transcript.absent.get(name, "its stage was not run")
    if all(each.parsed.refusal for each in exchanges):
        return "the model refuses the stage's task"
    if stage in SIDES and not any(each.parsed.decision is not None for each in exchanges):
        return "no response has a decision sentence"
    if stage not in SIDES and not any(each.reasons for each in exchanges):
        return "the stage gives no additional reason"
    if any(each.response.lacks_tokens for each in (transcript.justify, *exchanges)):
        return NO_TOKENS
    return NO_INFORMATIVENESS if stage in SIDES else "no additional reason has a defined confidence"


def _justify_reason(name: str, transcript: Transcript) -> str:
    if transcript.justify.parsed.refusal:
        return "the JUSTIFY response refuses the task"
    count = len(transcript.justify.reasons)
    if count == 0:
        return "no reasons were found in the JUSTIFY response"
    if name == "dis" and count == 1:
        return "diversity needs at least two reasons"
    if transcript.justify.response.lacks_tokens:
        return NO_TOKENS
    return "no reason has a defined confidence"


SERVICE = Haf()
