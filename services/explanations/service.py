"""Explain and score: the answer is generated, read, and handed to the metrics of this process.

What the model answered is committed before any metric scores it: another attempt at the job, after
a worker is lost, takes it from the ledger and asks nothing again.

Metrics do not know this service, nor each other: the registry gives them, and each is asked as its
own route asks it. What a refusal or an unreadable answer would score nobody asks.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from services.explanations.answer import CUT, Answer, answer_of, own_length
from services.explanations.batch_report import SOURCE, batch_report
from services.explanations.contract import CONTRACT, ExplanationsRequest
from services.explanations.prompts import ElicitationPrompt, as_prompt
from services.explanations.reading import (
    AnswerOutcome,
    Prose,
    decides_if_hateful,
    explanation_in,
    read_answer,
)
from services.explanations.report import (
    ExplanationsBatchReport,
    ExplanationsResult,
    ExplanationsUnscored,
)
from services.registry import metrics, service
from shared.contracts.calls import Completion, Example, Sampling, Turn
from shared.contracts.elicitation import (
    ExplanationsElicitation,
    ExplanationsObstacle,
    ExplanationsOwnPolicy,
    ExplanationsOwnPrompt,
    ExplanationsPromptUse,
    ExplanationsProvenance,
    ExplanationsSpan,
)
from shared.contracts.errors import AnswerCut, BadInput, pointing_to
from shared.contracts.explanation_fields import fields_in
from shared.contracts.judgement import Judgement
from shared.contracts.messages import Message, ModelUse, Report, ScoreRequest
from shared.contracts.prompt_table import PromptKeys, escape_template, first_reason
from shared.contracts.service import ElicitedExplanation, MetricContract
from shared.models.catalogue.catalogue import SERVER
from shared.models.ports import models
from shared.process.settings import SERVICE_VERSION
from shared.queue.job_context import check_each
from shared.reports.estimates import BatchStatistics
from shared.reports.gold_agreement import GoldSource
from shared.reports.metric import Metric, ReportedService, StatedDecision
from shared.text.language import find_language
from shared.worker.job import with_text_key
from shared.worker.steps import run_step

SAME_JUDGE = "{metric}: the model that decided was asked for its probabilities, too"
BARE = (
    "the answer decides by a yes or no, or by a field, and the metric reads the explanation alone: "
    "it would find no conclusion there, or another one. Ask for a sentence that states the decision"
)
CUT_SHORT = "the answer was cut at {tokens} tokens"
WENT_ON = "the model went on with another question behind its answer: that part is not read"
TEXT_HERE = "\0"  # no text can hold it
# What a model refuses of these, it refuses of the longest text that it was sent.
PROMPTS = ("/prompts", "/completions", "/text")


class WrittenAnswer(Message):
    """What a model wrote. completion: None where its tokens were used up before the answer."""

    completion: Completion | None
    model: ModelUse


class JudgeResult(Message):
    """How the same model judges the text without explaining; or why it does not."""

    judged: Judgement | None = None
    obstacle: ExplanationsObstacle | None = None

    @property
    def p(self) -> dict[str, float] | None:
        if self.judged is None or self.judged.probabilities is None:
            return None
        return dict(zip(self.judged.labels, self.judged.probabilities, strict=True))


@dataclass(frozen=True)
class MetricRequest:
    """A metric and its request. by_decider: whether its judge is the model that decided, though
    nobody named it."""

    contract: MetricContract
    request: ScoreRequest
    by_decider: bool


class ExplanationsService(ReportedService):
    """One answer of a model, and the scores of its explanation."""

    contract = CONTRACT

    def summarize(self, rows: Sequence[Any], over: BatchStatistics[Any]) -> ExplanationsBatchReport:
        """Of many answers."""
        return batch_report(rows, over)

    def gold_source(self) -> GoldSource:
        """The decisions beside gold labels."""
        return SOURCE

    def score(self, request: ExplanationsRequest) -> ExplanationsResult:
        """Stage 1 asks, commits and reads, stage 2 scores."""
        prompt, language = request.full_prompt, _language(request)
        answer, use = _generate(request, prompt, language)
        length = own_length(answer.text, prompt.user, request.inputs.values())
        answer = replace(answer, own=length)
        read = read_answer(answer, prompt, _prose(request, prompt), request.target_label)
        judge = _judge(request)
        elicitation = _elicitation(prompt, answer, read, judge, language)
        tokens = tuple(token for token in answer.tokens if token.end <= len(answer.own_text))
        own = elicitation.model_copy(update={"answer": answer.own_text, "tokens": tokens})
        scores, unscored, warnings = _score_metrics(request, prompt, own, judge)
        if answer.breaks_off and not answer.cut:
            warnings = (CUT_SHORT.format(tokens=request.most_tokens), *warnings)
        if answer.goes_on:
            warnings = (WENT_ON, *warnings)
        return ExplanationsResult(
            elicitation=elicitation,
            scores=scores,
            unscored=unscored,
            warnings=warnings,
            provenance=_provenance(request, prompt, use),
        )


def _language(request: ExplanationsRequest) -> str:
    """BCP 47, of the first text."""
    sent = None if request.language == "auto" else request.language
    return find_language(next(iter(request.inputs.values()), ""), sent).code


def _generate(
    request: ExplanationsRequest, prompt: ElicitationPrompt, language: str
) -> tuple[Answer, ModelUse | None]:
    """The answer as it was sent, or as the model writes it, and which model that was."""
    if request.answer is not None or request.model is None:
        return _sent(request), None
    name = request.model
    told = run_step(
        "answer", request, WrittenAnswer, lambda: _write(request, name, prompt, language)
    )
    if told.completion is None:
        return CUT, told.model
    answer = answer_of(told.completion)
    if told.model.device == SERVER and answer.reasoning is None:
        answer = replace(answer, reasoning_tokens=None)  # a server may have kept it to itself
    return answer, told.model


def _write(
    request: ExplanationsRequest, model: str, prompt: ElicitationPrompt, language: str
) -> WrittenAnswer:
    writer = models().writer(model)
    asked = as_prompt(
        prompt.turns(_values(request, prompt, language), request.shots), request.style
    )
    with pointing_to(_longest_field(request), only=PROMPTS):
        try:
            [completion] = writer.generate([asked], _sampling(request))
        except AnswerCut:
            return WrittenAnswer(completion=None, model=writer.use)
    return WrittenAnswer(completion=completion, model=writer.use)


def _longest_field(request: ExplanationsRequest) -> str:
    """A pointer to what there is most of in the prompt."""
    told = {f"/{name}": text for name, text in request.inputs.items()}
    if isinstance(request.policy, ExplanationsOwnPolicy):
        told["/policy/text"] = request.policy.text
    if isinstance(request.prompt, ExplanationsOwnPrompt):
        told["/prompt/user"] = request.prompt.user
    return max(told, key=lambda name: len(told[name]), default="/text")


def _sent(request: ExplanationsRequest) -> Answer:
    sent = request.answer
    if sent is None:
        raise RuntimeError("a request has neither model nor answer")  # its contract refuses that
    return answer_of(Completion(**sent.model_dump()))


def _sampling(request: ExplanationsRequest) -> Sampling:
    drawn = request.generation
    return Sampling(
        temperature=drawn.temperature,
        top_p=drawn.top_p,
        max_tokens=request.most_tokens,
        seed=request.seed,
        answer_schema=request.full_prompt.answer_schema,
    )


def _values(
    request: ExplanationsRequest, prompt: ElicitationPrompt, language: str
) -> Mapping[str, str]:
    """Placeholder → what stands in its place."""
    return prompt.values(request.inputs, request.policy_text, request.target_label, language)


def _prose(request: ExplanationsRequest, prompt: ElicitationPrompt) -> Prose:
    """How the metric that the prompt names reads decisions."""
    if prompt.reader in ("labels", "none"):
        return lambda _: None
    metric, text = service(prompt.reader), next(iter(request.inputs.values()), "")
    if not isinstance(metric, Metric):
        raise RuntimeError(f"{prompt.reader} reads no decisions")  # prompts name metrics alone
    return lambda answer: metric.stated_decision(text, answer, request.language)


def _is_read_otherwise(
    request: ExplanationsRequest, prompt: ElicitationPrompt, found: ExplanationsElicitation
) -> bool:
    """True if the metric that reads this prompt's answers will find another decision, or none."""
    if not decides_if_hateful(prompt) or prompt.reader not in request.parameters:
        return False
    fields = fields_in(found.explanation)
    if fields is not None and fields.decision:
        return False
    read = _prose(request, prompt)(found.explanation)
    return read is None or read.label != found.decision


def _judge(request: ExplanationsRequest) -> JudgeResult:
    """P of the same model, by its own prompt for labels, under the same policy."""
    name = request.model
    if name is None:
        return _no_prediction("not-asked", "no model was asked")
    return run_step("judgement", request, JudgeResult, lambda: _predict(request, name))


def _predict(request: ExplanationsRequest, model: str) -> JudgeResult:
    given = request.inputs
    if "premise" in given and "hypothesis" in given:
        example = Example(text=given["premise"], text_pair=given["hypothesis"])
    elif "text" in given:
        example = Example(text=given["text"])
    else:
        return _no_prediction("not-asked", "models judge a text, or a premise and a hypothesis")
    if request.policy_text is not None:
        keys = PromptKeys(policy=escape_template(request.policy_text))
        example = example.model_copy(update={"prompt": keys})
    try:
        [judged] = models().judge(model).judgements([example])
    except BadInput as error:
        return _no_prediction("no-judge", error.detail)
    if judged.unread is not None:
        obstacle = _obstacle("p", judged.unread.code, judged.unread.detail)
        return JudgeResult(judged=judged, obstacle=obstacle)
    return JudgeResult(judged=judged)


def _no_prediction(code: str, detail: str) -> JudgeResult:
    return JudgeResult(obstacle=_obstacle("p", code, detail))


def _obstacle(component: str, code: str, detail: str) -> ExplanationsObstacle:
    told = {"component": component, "code": code, "detail": detail}
    return ExplanationsObstacle.model_validate(told)


def _elicitation(
    prompt: ElicitationPrompt,
    answer: Answer,
    read: AnswerOutcome,
    judge: JudgeResult,
    language: str,
) -> ExplanationsElicitation:
    stated, p = read.decision, judge.p
    stated_p = _decision_probability(answer, stated)
    found = (read.obstacle, judge.obstacle, *_token_obstacles(answer, stated, stated_p))
    written = stated is not None and stated.end > stated.start
    return ExplanationsElicitation.model_validate(
        {
            "outcome": read.outcome,
            "decision": stated.label if stated else None,
            "decided_by": "request" if prompt.reader == "none" else "model",
            "conclusion": ExplanationsSpan(start=stated.start, end=stated.end, by=stated.by)
            if written and stated
            else None,
            "p": p,
            "probability": p.get(stated.label) if p and stated else None,
            "reading": judge.judged.reading if judge.judged else None,
            "mass": judge.judged.mass if judge.judged else None,
            "stated_p": stated_p,
            "answer": answer.text,
            "explanation": explanation_in(answer.own_text, prompt.explanation_after),
            "tokens": answer.tokens,
            "reasoning": answer.reasoning,
            "reasoning_tokens": answer.reasoning_tokens,
            "finish": answer.finish,
            "language": language,
            "obstacles": tuple(one for one in found if one is not None),
        }
    )


def _decision_probability(answer: Answer, stated: StatedDecision | None) -> float | None:
    """Of the tokens that write the words of the decision."""
    if stated is None:
        return None
    start, end = stated.words
    own = [one.logprob for one in answer.tokens if one.start < end and start < one.end]
    return math.exp(sum(own)) if own else None


def _token_obstacles(
    answer: Answer, stated: StatedDecision | None, stated_p: float | None
) -> Iterator[ExplanationsObstacle]:
    if answer.text and not answer.tokens:
        yield _obstacle("tokens", "no-logprobs", "nobody tells the tokens of this answer")
    if stated is not None and stated_p is None and answer.tokens:
        yield _obstacle("stated_p", "not-asked", "no token of the answer states the decision")


def _score_metrics(
    request: ExplanationsRequest,
    prompt: ElicitationPrompt,
    found: ExplanationsElicitation,
    judge: JudgeResult,
) -> tuple[tuple[Report, ...], tuple[ExplanationsUnscored, ...], tuple[str, ...]]:
    """Reports, the metrics that were not asked and why, and doubts."""
    if found.outcome != "answered":
        detail = f"the answer is {found.outcome}: it is never scored"
        told = [_unscored(name, found.outcome, detail) for name in request.parameters]
        return (), tuple(told), ()
    labels = judge.judged.labels if judge.judged is not None else ()
    elicited = request.elicited(
        answer=found.answer,
        explanation=found.explanation,
        decision=found.decision,
        tokens=found.tokens,
        reasoning=found.reasoning,
        judge=request.model if labels else None,
        judge_labels=labels,
        turns=_template(request, found.language),
        style=request.style,
    )
    bare = prompt.reader if _is_read_otherwise(request, prompt, found) else None
    asked = [
        _unscored(name, "unfit", BARE) if name == bare else _metric_request(request, name, elicited)
        for name in check_each(request.parameters)
    ]
    answered = [one if isinstance(one, ExplanationsUnscored) else _report(one) for one in asked]
    doubts = [
        SAME_JUDGE.format(metric=one.contract.name)
        for one in asked
        if isinstance(one, MetricRequest) and one.by_decider
    ]
    return (
        tuple(one for one in answered if isinstance(one, Report)),
        tuple(one for one in answered if isinstance(one, ExplanationsUnscored)),
        tuple(doubts),
    )


def _template(request: ExplanationsRequest, language: str) -> tuple[Turn, ...]:
    """The prompt, with `{text}` for the text; none where it is about something else."""
    if "text" not in request.full_prompt.placeholders:
        return ()
    values = {**_values(request, request.full_prompt, language), "text": TEXT_HERE}
    turns = request.full_prompt.turns(values, request.shots)
    return tuple(
        Turn(role=turn.role, content=escape_template(turn.content).replace(TEXT_HERE, "{text}"))
        for turn in turns
    )


def _metric_request(
    request: ExplanationsRequest, name: str, elicited: ElicitedExplanation
) -> MetricRequest | ExplanationsUnscored:
    try:
        asked = request.score_request(name, elicited)
    except ValueError as error:
        return _unscored(name, "unfit", first_reason(error))
    decides = elicited.judge is not None and asked.model == elicited.judge
    by_decider = decides and "model" not in request.parameters[name]
    return MetricRequest(metrics()[name], asked, by_decider)


def _report(asked: MetricRequest) -> Report | ExplanationsUnscored:
    """As the metric's own route has it."""
    contract, request = asked.contract, asked.request
    try:
        report: Any = with_text_key(service(contract.name).score(request), contract, request)
    except BadInput as error:
        return _unscored(contract.name, "unfit", error.detail)
    found: Report = report
    return found


def _unscored(metric: str, code: str, detail: str) -> ExplanationsUnscored:
    told = {"metric": metric, "code": code, "detail": detail}
    return ExplanationsUnscored.model_validate(told)


def _provenance(
    request: ExplanationsRequest, prompt: ElicitationPrompt, use: ModelUse | None
) -> ExplanationsProvenance:
    own = isinstance(request.policy, ExplanationsOwnPolicy)
    sampling = _sampling(request).model_dump(mode="json", exclude={"seed", "answer_schema"})
    return ExplanationsProvenance(
        prompt=ExplanationsPromptUse(
            name=prompt.name,
            version=prompt.version,
            sha256=prompt.sha256,
            shots=request.shots,
            source=prompt.source,
            deviations=prompt.deviations,
        ),
        model=use,
        seed=request.seed,
        generation={} if use is None else {**sampling, "style": request.style},
        policy="own" if own else request.policy if isinstance(request.policy, str) else None,
        service_version=SERVICE_VERSION,
    )


SERVICE = ExplanationsService()
