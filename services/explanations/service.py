"""Explain and score: a model generates an answer, which the metrics of this process score. The
answer is stored before any metric scores it. If a worker is lost, the next attempt takes the stored
answer and does not call the model again. Refusals and unreadable answers are not scored."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
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
from shared.reports.metric import Metric, ReportedService
from shared.text.language import find_language
from shared.worker.job import with_text_key
from shared.worker.steps import run_step

SAME_JUDGE = "{metric}: the model that made the decision is also the judge"
BARE = (
    "the metric reads only the explanation, but the explanation does not state the answer's "
    "decision. Change the prompt so that the model states the decision in a sentence"
)
CUT_SHORT = "the answer was cut off after {tokens} tokens"
WENT_ON = "the model wrote another question after its answer; that part is ignored"
TEXT_HERE = "\0"  # occurs in no text
# An error of a model at these pointers is about the longest text that it was sent.
PROMPTS = ("/prompts", "/completions", "/text")


class WrittenAnswer(Message):
    """A model's answer to the explanation prompt, and the model that wrote it."""

    completion: Completion | None  # None: the tokens were used up before the answer
    model: ModelUse


class JudgeResult(Message):
    """The explaining model's label probabilities for the text without an explanation, or the reason
    why there are none."""

    judged: Judgement | None = None
    obstacle: ExplanationsObstacle | None = None

    @property
    def p(self) -> dict[str, float] | None:
        if self.judged is None or self.judged.probabilities is None:
            return None
        return dict(zip(self.judged.labels, self.judged.probabilities, strict=True))


@dataclass(frozen=True)
class MetricRequest:
    """A metric and the request to it."""

    contract: MetricContract
    request: ScoreRequest
    by_decider: bool  # the judge is the model that decided, by default


class ExplanationsService(ReportedService):
    """Generates one answer of a model, and scores the explanation in it."""

    contract = CONTRACT

    def summarize(self, rows: Sequence[Any], over: BatchStatistics[Any]) -> ExplanationsBatchReport:
        return batch_report(rows, over)

    def gold_source(self) -> GoldSource:
        return SOURCE

    def score(self, request: ExplanationsRequest) -> ExplanationsResult:
        """Generate and store an answer, find its decision, and score its explanation."""
        prompt, texts = request.full_prompt, list(request.inputs.values())
        requested = None if request.language == "auto" else request.language
        language = find_language(texts[0] if texts else "", requested).code
        answer, use = _generate(request, prompt, language)
        answer = replace(answer, own=own_length(answer.text, prompt.user, texts))
        outcome = read_answer(answer, prompt, _prose(request, prompt), request.target_label)
        judge = _judge(request)
        elicitation = _elicitation(prompt, answer, outcome, judge, language)
        tokens = tuple(token for token in answer.tokens if token.end <= len(answer.own_text))
        answered = elicitation.model_copy(update={"answer": answer.own_text, "tokens": tokens})
        scores, unscored, warnings = _score_metrics(request, prompt, answered, judge)
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


def _generate(
    request: ExplanationsRequest, prompt: ElicitationPrompt, language: str
) -> tuple[Answer, ModelUse | None]:
    """Return the request's answer, or else the model's answer and a record of the model's use."""
    if request.answer is not None:
        return answer_of(Completion(**request.answer.model_dump())), None
    if request.model is None:
        raise RuntimeError(
            "the request has neither a model nor an answer; send one of them"
        )  # the contract forbids it
    name = request.model
    written = run_step(
        "answer", request, WrittenAnswer, lambda: _write(request, name, prompt, language)
    )
    if written.completion is None:
        return CUT, written.model
    answer = answer_of(written.completion)
    if written.model.device == SERVER and answer.reasoning is None:
        answer = replace(answer, reasoning_tokens=None)  # a server may hide its reasoning
    return answer, written.model


def _write(
    request: ExplanationsRequest, model: str, prompt: ElicitationPrompt, language: str
) -> WrittenAnswer:
    writer = models().writer(model)
    turns = prompt.turns(_values(request, prompt, language), request.shots)
    fields = {f"/{name}": text for name, text in request.inputs.items()}
    if isinstance(request.policy, ExplanationsOwnPolicy):
        fields["/policy/text"] = request.policy.text
    if isinstance(request.prompt, ExplanationsOwnPrompt):
        fields["/prompt/user"] = request.prompt.user
    longest = max(fields, key=lambda name: len(fields[name]), default="/text")
    with pointing_to(longest, only=PROMPTS):
        try:
            [completion] = writer.generate([as_prompt(turns, request.style)], _sampling(request))
        except AnswerCut:
            return WrittenAnswer(completion=None, model=writer.use)
    return WrittenAnswer(completion=completion, model=writer.use)


def _sampling(request: ExplanationsRequest) -> Sampling:
    generation = request.generation
    return Sampling(
        temperature=generation.temperature,
        top_p=generation.top_p,
        max_tokens=request.most_tokens,
        seed=request.seed,
        answer_schema=request.full_prompt.answer_schema,
    )


def _values(
    request: ExplanationsRequest, prompt: ElicitationPrompt, language: str
) -> Mapping[str, str]:
    return prompt.values(request.inputs, request.policy_text, request.target_label, language)


def _prose(request: ExplanationsRequest, prompt: ElicitationPrompt) -> Prose:
    if prompt.reader in ("labels", "none"):
        return lambda _: None
    metric, text = service(prompt.reader), next(iter(request.inputs.values()), "")
    if not isinstance(metric, Metric):
        raise RuntimeError(f"{prompt.reader} reads no decisions")  # prompts name metrics only
    return lambda answer: metric.stated_decision(text, answer, request.language)


def _is_read_otherwise(
    request: ExplanationsRequest, prompt: ElicitationPrompt, elicitation: ExplanationsElicitation
) -> bool:
    """Return True if the metric's own parser finds another decision in the explanation than that of
    `elicitation`, or finds none. Return False if the prompt does not ask for such a decision, or
    the decision is a field."""
    if not decides_if_hateful(prompt) or prompt.reader not in request.parameters:
        return False
    fields = fields_in(elicitation.explanation)
    if fields is not None and fields.decision:
        return False
    stated = _prose(request, prompt)(elicitation.explanation)
    return stated is None or stated.label != elicitation.decision


def _judge(request: ExplanationsRequest) -> JudgeResult:
    """Return the label probabilities of the explaining model, from its own classification prompt
    and the request's policy."""
    name = request.model
    if name is None:
        return _no_prediction("not-asked", "no model was called")
    return run_step("judgement", request, JudgeResult, lambda: _predict(request, name))


def _predict(request: ExplanationsRequest, model: str) -> JudgeResult:
    inputs = request.inputs
    if "premise" in inputs and "hypothesis" in inputs:
        example = Example(text=inputs["premise"], text_pair=inputs["hypothesis"])
    elif "text" in inputs:
        example = Example(text=inputs["text"])
    else:
        return _no_prediction(
            "not-asked", "a model can only judge a text, or a premise and a hypothesis"
        )
    if request.policy_text is not None:
        keys = PromptKeys(policy=escape_template(request.policy_text))
        example = example.model_copy(update={"prompt": keys})
    try:
        [judgement] = models().judge(model).judgements([example])
    except BadInput as error:
        return _no_prediction("no-judge", error.detail)
    obstacle = None
    if judgement.unread is not None:
        obstacle = _obstacle("p", judgement.unread.code, judgement.unread.detail)
    return JudgeResult(judged=judgement, obstacle=obstacle)


def _no_prediction(code: str, detail: str) -> JudgeResult:
    return JudgeResult(obstacle=_obstacle("p", code, detail))


def _obstacle(component: str, code: str, detail: str) -> ExplanationsObstacle:
    return ExplanationsObstacle.model_validate(
        {"component": component, "code": code, "detail": detail}
    )


def _elicitation(
    prompt: ElicitationPrompt,
    answer: Answer,
    outcome: AnswerOutcome,
    judge: JudgeResult,
    language: str,
) -> ExplanationsElicitation:
    stated, p, stated_p = outcome.decision, judge.p, None
    obstacles = [outcome.obstacle, judge.obstacle]
    if answer.text and not answer.tokens:
        obstacles.append(
            _obstacle("tokens", "no-logprobs", "the server returned the answer without its tokens")
        )
    conclusion = None
    if stated is not None:
        start, end = stated.words
        tokens = [t.logprob for t in answer.tokens if t.start < end and start < t.end]
        stated_p = math.exp(sum(tokens)) if tokens else None
        if stated_p is None and answer.tokens:
            detail = "no token of the answer states the decision"
            obstacles.append(_obstacle("stated_p", "not-asked", detail))
        if stated.end > stated.start:
            conclusion = ExplanationsSpan(start=stated.start, end=stated.end, by=stated.by)
    return ExplanationsElicitation.model_validate(
        {
            "outcome": outcome.outcome,
            "decision": stated.label if stated else None,
            "decided_by": "request" if prompt.reader == "none" else "model",
            "conclusion": conclusion,
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
            "obstacles": tuple(obstacle for obstacle in obstacles if obstacle is not None),
        }
    )


def _score_metrics(
    request: ExplanationsRequest,
    prompt: ElicitationPrompt,
    elicitation: ExplanationsElicitation,
    judge: JudgeResult,
) -> tuple[tuple[Report, ...], tuple[ExplanationsUnscored, ...], tuple[str, ...]]:
    """Return the reports of the metrics, the metrics that could not score the explanation (each
    with a reason), and warnings."""
    if elicitation.outcome != "answered":
        detail = f"the answer is {elicitation.outcome}, so metrics do not score it"
        unscored = [_unscored(name, elicitation.outcome, detail) for name in request.parameters]
        return (), tuple(unscored), ()
    labels = judge.judged.labels if judge.judged is not None else ()
    explanation = request.elicited(
        answer=elicitation.answer,
        explanation=elicitation.explanation,
        decision=elicitation.decision,
        tokens=elicitation.tokens,
        reasoning=elicitation.reasoning,
        judge=request.model if labels else None,
        judge_labels=labels,
        turns=_template(request, elicitation.language),
        style=request.style,
    )
    otherwise = _is_read_otherwise(request, prompt, elicitation)
    calls = [
        _unscored(name, "unfit", BARE)
        if otherwise and name == prompt.reader
        else _metric_request(request, name, explanation)
        for name in check_each(request.parameters)
    ]
    results = [_report(call) if isinstance(call, MetricRequest) else call for call in calls]
    return (
        tuple(result for result in results if isinstance(result, Report)),
        tuple(result for result in results if isinstance(result, ExplanationsUnscored)),
        tuple(
            SAME_JUDGE.format(metric=call.contract.name)
            for call in calls
            if isinstance(call, MetricRequest) and call.by_decider
        ),
    )


def _template(request: ExplanationsRequest, language: str) -> tuple[Turn, ...]:
    """Return the prompt with `{text}` in place of the text, or () if the prompt has no text."""
    if "text" not in request.full_prompt.placeholders:
        return ()
    values = {**_values(request, request.full_prompt, language), "text": TEXT_HERE}
    turns = request.full_prompt.turns(values, request.shots)
    return tuple(
        Turn(role=turn.role, content=escape_template(turn.content).replace(TEXT_HERE, "{text}"))
        for turn in turns
    )


def _metric_request(
    request: ExplanationsRequest, name: str, explanation: ElicitedExplanation
) -> MetricRequest | ExplanationsUnscored:
    try:
        score_request = request.score_request(name, explanation)
    except ValueError as error:
        return _unscored(name, "unfit", first_reason(error))
    decides = explanation.judge is not None and score_request.model == explanation.judge
    by_decider = decides and "model" not in request.parameters[name]
    return MetricRequest(metrics()[name], score_request, by_decider)


def _report(call: MetricRequest) -> Report | ExplanationsUnscored:
    """Return the report that the metric's own route would return."""
    contract, request = call.contract, call.request
    try:
        report: Any = with_text_key(service(contract.name).score(request), contract, request)
    except BadInput as error:
        return _unscored(contract.name, "unfit", error.detail)
    typed: Report = report
    return typed


def _unscored(metric: str, code: str, detail: str) -> ExplanationsUnscored:
    return ExplanationsUnscored.model_validate({"metric": metric, "code": code, "detail": detail})


def _provenance(
    request: ExplanationsRequest, prompt: ElicitationPrompt, use: ModelUse | None
) -> ExplanationsProvenance:
    has_own_policy = isinstance(request.policy, ExplanationsOwnPolicy)
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
        policy="own"
        if has_own_policy
        else request.policy
        if isinstance(request.policy, str)
        else None,
        service_version=SERVICE_VERSION,
    )


SERVICE = ExplanationsService()
