"""Explain and score: a model decides about a text and explains why; metrics score that, in one job.

Source: specs "models" §7. Messages and costs; see docs/methods/explanations.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Annotated, Any, Self

from pydantic import Field, JsonValue, StringConstraints, ValidationError, model_validator
from pydantic_core import InitErrorDetails, PydanticCustomError

from services.explanations.items import (
    MOST_DRAWS,
    MOST_ITEMS,
    ExplanationsAnswer,
    ExplanationsItem,
    InputText,
    fault_of_item,
)
from services.explanations.prompts import (
    ElicitationPrompt,
    custom_prompt,
    get_prompt,
    load_policies,
)
from services.explanations.report import (
    ExplanationsBatchReport,
    ExplanationsBatchReportRequest,
    ExplanationsResult,
    answers,
)
from services.explanations.score_requests import score_request, scoring_metric
from services.explanations.verdict import FACTS, SURPRISING, ExplanationsContract, finding
from shared.contracts.calls import MOST_CHARACTERS, WrittenToken
from shared.contracts.elicitation import (
    FIELDS_PROMPT,
    INPUTS,
    ExplanationsGeneration,
    ExplanationsOwnPolicy,
    ExplanationsOwnPrompt,
    PolicyName,
    PromptName,
    Shots,
    Style,
    given_inputs,
)
from shared.contracts.gold import GoldColumns
from shared.contracts.messages import (
    MOST_METADATA,
    Input,
    JobRequest,
    LanguageTag,
    MetadataValue,
    Parameter,
    ScoreRequest,
)
from shared.contracts.request_cost import Size, Work, words_of
from shared.contracts.service import ElicitedExplanation, FurtherRequest
from shared.contracts.validation_messages import plain

MOST_METRICS = 16
MOST_SEED = 2**63 - 1
OWN_TOKENS = 512  # of the answer to a prompt of the caller's, where nothing else is said
TOO_LONG = "filled in it has {length:,} characters, and a model is sent at most {most:,}"
GOLD_KEY = GoldColumns().label  # where reports look for gold labels

MetricName = Annotated[str, StringConstraints(min_length=1, max_length=64)]
Parameters = dict[str, JsonValue]


class ExplanationsRequest(JobRequest):
    """What a model is asked to decide and to explain, and which metrics score its explanation.

    With `items` or `draws` it asks for several jobs: one for each item and draw.
    """

    text: InputText | None = Field(default=None, description="the text that is judged")
    premise: InputText | None = Field(default=None, description="what is taken to be true")
    hypothesis: InputText | None = Field(default=None, description="does it follow?")
    scenario: InputText | None = Field(default=None, description="that `question` is about")
    question: InputText | None = None
    target_label: Annotated[str | None, Parameter] = Field(
        default=None,
        min_length=1,
        max_length=500,
        description="the label that the model is told to explain, where the prompt does not let it "
        "decide (GenEX)",
    )
    prompt: Annotated[PromptName | ExplanationsOwnPrompt, Parameter] = Field(
        default=FIELDS_PROMPT,
        description="a prompt's name, `NAME@VERSION` for an older version, or your own; "
        "`explanation-fields` (asks for JSON of the schema of `GET /v1/schemas/explanation`), "
        "`hatexscore-table8`, `haf-justify`, `ftc-label`, `genex-nli`, `genex-siqa`, `genex-cqa`",
    )
    shots: Shots = Field(default=0, description="demonstrations, of a prompt that has them")
    style: Style = Field(
        default="chat",
        description="`chat`: a conversation in the model's own template; `raw`: one text, for a "
        "model without a template",
    )
    policy: Annotated[PolicyName | ExplanationsOwnPolicy | None, Parameter] = Field(
        default=None,
        description="a named policy, or your own text; metrics that know the named one are given "
        "it, too; absent: as the prompt has it",
    )
    language: Annotated[LanguageTag, Parameter] = Field(
        default="auto",
        description="BCP 47, of all texts, believed as it is; `auto` identifies it",
    )
    generation: ExplanationsGeneration = Field(default_factory=ExplanationsGeneration)
    seed: int = Field(default=0, ge=0, le=MOST_SEED, description="of generation and of the metrics")
    answer: Annotated[ExplanationsAnswer | None, Input] = Field(
        default=None, description="bring your own, instead of `model`: nothing is generated"
    )
    score: list[MetricName] | dict[MetricName, Parameters] = Field(
        default_factory=list,
        max_length=MOST_METRICS,
        description="metrics that score the explanation in the same job, by name, or name → its "
        "own parameters: `hatexscore`, `haf`, `ftc`, `cot2el` (of the reasoning), `sor`, "
        "`consistency`",
    )
    gold: MetadataValue | None = Field(
        default=None,
        min_length=1,
        exclude=True,
        description="the gold label of the text, which batch reports compare the decision with; "
        f"becomes `{GOLD_KEY}` of `metadata`",
    )
    items: Annotated[tuple[ExplanationsItem, ...] | None, Input] = Field(
        default=None,
        min_length=1,
        max_length=MOST_ITEMS,
        exclude_if=lambda items: items is None,
        description="instead of one text: several, each a job of its own (and so in quotas); the "
        "answer is the list of jobs, item by item; not in lines of a batch",
    )
    draws: int = Field(
        default=1,
        ge=1,
        le=MOST_DRAWS,
        exclude_if=lambda draws: draws == 1,
        description="answers to each item, each a job of its own (and so in quotas) with the next "
        "`seed`; several need a `temperature` above 0; not in lines of a batch",
    )

    @property
    def full_prompt(self) -> ElicitationPrompt:
        if isinstance(self.prompt, ExplanationsOwnPrompt):
            return custom_prompt(self.prompt, OWN_TOKENS)
        return get_prompt(self.prompt)

    @property
    def inputs(self) -> dict[str, str]:
        """Placeholder → text, of those that were given."""
        return given_inputs(self)

    @property
    def policy_text(self) -> str | None:
        """As the prompt says it; None: its own."""
        if isinstance(self.policy, ExplanationsOwnPolicy):
            return self.policy.text
        return None if self.policy is None else load_policies()[self.policy]

    @property
    def parameters(self) -> dict[str, Parameters]:
        """Metric → its parameters, in order."""
        return self.score if isinstance(self.score, dict) else {name: {} for name in self.score}

    @property
    def common(self) -> dict[str, Any]:
        """Parameters for every metric that has them."""
        told = {} if self.language == "auto" else {"language": self.language}
        return {"seed": self.seed, **told}

    @property
    def most_tokens(self) -> int:
        """Of the answer."""
        sent = self.generation.max_tokens
        return self.full_prompt.max_tokens if sent is None else sent

    def score_request(self, name: str, found: ElicitedExplanation) -> ScoreRequest:
        """Raises ValueError."""
        return score_request(name, found, self.parameters[name], self.common)

    def elicited(self, **told: Any) -> ElicitedExplanation:
        named = self.policy if isinstance(self.policy, str) else None
        return ElicitedExplanation(inputs=self.inputs, policy=named, model=self.model, **told)

    def further(self) -> tuple[FurtherRequest, ...]:
        """The metrics' requests, about an answer that is not known yet."""
        decision = next(iter(self.full_prompt.labels), None) if self.target_label is None else None
        token = WrittenToken(id=None, start=0, end=1, logprob=0.0)
        found = self.elicited(
            answer=".",
            explanation=".",
            decision=decision or self.target_label,
            tokens=(token,),
            reasoning=".",
        )
        return tuple(
            FurtherRequest(
                pointer=f"/score/{name}",
                contract=scoring_metric(name),
                request=self.score_request(name, found),
            )
            for name in self.parameters
        )

    @property
    def is_several(self) -> bool:
        """Whether it asks for a list of jobs."""
        return self.items is not None or self.draws > 1

    def jobs(self) -> Iterator[Self]:
        """One request a job: item by item, its draws with seed, seed + 1, … Raises ValidationError,
        with places in this request."""
        for number, item in enumerate(self.items or (None,)):
            first = self._job(number, item)
            for draw in range(self.draws):
                yield first.model_copy(update={"seed": (self.seed + draw) % (MOST_SEED + 1)})

    def _job(self, number: int, item: ExplanationsItem | None) -> Self:
        own = {} if item is None else item.model_dump(exclude_unset=True)
        metadata = {"metadata": {**self.metadata, **own.get("metadata", {})}}
        gold = {} if self.gold is None else {"gold": self.gold}
        shared = self.model_dump(exclude={"items", "draws"}, exclude_unset=True)
        try:
            return self.model_validate({**shared, **gold, **own, **metadata})
        except ValidationError as error:
            faults = [_fault(*fault_of_item(number, item, *one)) for one in _told(error)]
            raise ValidationError.from_exception_data(type(self).__name__, faults) from None

    @model_validator(mode="after")
    def _check(self) -> Self:
        """Of one job; of several, each as if it had come alone."""
        if self.is_several:
            self._check_draws()
            for number, item in enumerate(self.items or (None,)):
                self._job(number, item)
            return self
        if (self.model is None) == (self.answer is None):
            raise ValueError("give either `model` or `answer`")
        self._check_prompt()
        self._gold_into_metadata()
        return self._check_metrics()

    def _check_draws(self) -> None:
        own = [name for name in (*INPUTS, "answer", "target_label", "gold") if getattr(self, name)]
        if self.items is not None and own:
            raise _refusal((own[0],), f"give either `items` or `{own[0]}`")
        answers = [self.answer, *(item.answer for item in self.items or ())]
        if self.draws > 1 and any(answers):
            raise _refusal(("draws",), "an answer of your own is drawn once")
        if self.draws > 1 and self.generation.temperature == 0:
            raise _refusal(("draws",), "greedy answers are all alike: set a `temperature` above 0")

    def _check_prompt(self) -> Self:
        try:
            prompt = self.full_prompt
        except ValueError as error:
            raise _refusal(("prompt",), str(error)) from None
        if missing := [name for name in prompt.inputs if name not in self.inputs]:
            raise _refusal((missing[0],), f"the prompt {prompt.name} asks about `{missing[0]}`")
        if ("label" in prompt.placeholders or prompt.reader == "none") != bool(self.target_label):
            told = "needs" if self.target_label is None else "has no place for"
            raise _refusal(("target_label",), f"the prompt {prompt.name} {told} a `target_label`")
        if self.policy is not None and "policy" not in prompt.placeholders:
            raise _refusal(("policy",), f"the prompt {prompt.name} has no place for a policy")
        if "policy" in prompt.placeholders and self.policy is None and prompt.policy is None:
            raise _refusal(("policy",), f"the prompt {prompt.name} needs a policy")
        if self.shots > len(prompt.shots):
            raise _refusal(("shots",), f"the prompt {prompt.name} has {len(prompt.shots)} of them")
        self._check_length(prompt)
        return self

    def _check_length(self, prompt: ElicitationPrompt) -> None:
        filled = prompt.values(self.inputs, self.policy_text, self.target_label, self.language)
        if (length := prompt.longest(filled, self.style)) > MOST_CHARACTERS:
            raise _refusal(("prompt",), TOO_LONG.format(length=length, most=MOST_CHARACTERS))

    def _gold_into_metadata(self) -> Self:
        if self.gold is None:
            return self
        if self.metadata.get(GOLD_KEY, self.gold) != self.gold:
            raise _refusal(("gold",), f"`metadata` has another `{GOLD_KEY}`")
        if len(self.metadata | {GOLD_KEY: self.gold}) > MOST_METADATA:
            raise _refusal(("gold",), f"`metadata` has {MOST_METADATA} pairs already")
        self.metadata[GOLD_KEY] = self.gold
        return self

    def _check_metrics(self) -> Self:
        faults: list[InitErrorDetails] = []
        for name in self.parameters:
            try:
                self.model_copy(update={"score": {name: self.parameters[name]}}).further()
            except ValidationError as error:
                faults += [_fault(("score", name, *place), told) for place, told in _told(error)]
            except ValueError as error:
                faults.append(_fault(("score", name), str(error)))
        if faults:
            raise ValidationError.from_exception_data(type(self).__name__, faults)
        return self


def _jobs(request: ExplanationsRequest) -> Sequence[ExplanationsRequest]:
    return tuple(request.jobs()) if request.is_several else ()


def _told(error: ValidationError) -> Iterator[tuple[tuple[int | str, ...], str]]:
    """Where each of its faults is, and what it is in plain words."""
    for one in error.errors(include_input=False, include_url=False):
        yield one["loc"], plain(one)


def _fault(where: tuple[int | str, ...], detail: str) -> InitErrorDetails:
    error = PydanticCustomError("explanations", "{detail}", {"detail": detail})
    return InitErrorDetails(type=error, loc=where, input=None)


def _refusal(where: tuple[int | str, ...], detail: str) -> ValidationError:
    return ValidationError.from_exception_data("ExplanationsRequest", [_fault(where, detail)])


def cost(request: ExplanationsRequest, reads: int) -> Sequence[Work]:
    """The prompt is read in any case; what is written, and what metrics make of that, is only
    likely."""
    return tuple(_work_items(request, reads))


def _work_items(request: ExplanationsRequest, reads: int) -> Iterator[Work]:
    if request.answer is None:
        words = sum(map(words_of, request.inputs.values()))
        words += words_of(request.full_prompt.user) + words_of(request.policy_text or "")
        yield Work((Size("tokens of the prompt", max(1, words)),))
        written = Size("`max_tokens`", request.most_tokens, "/generation/max_tokens")
        yield Work((written,), certain=False)
    for other in request.further():
        for work in other.contract.work(other.request, reads):
            yield replace(work, certain=False)


def needs(request: ExplanationsRequest) -> tuple[str, ...]:
    """A writer, unless the answer was sent."""
    return ("generate",) if request.answer is None else ()


_POST = "Honestly, those immigrants are ruining our lovely old town, somebody should do something."
_ANSWER = {
    "text": _POST,
    "answer": {
        "text": '{"text": "The post blames immigrants as a group for what goes wrong.", "reasons": '
        '["It blames a whole group."], "quotes": ["those immigrants are ruining"], '
        '"target_groups": ["immigrants"], "decision": "hateful"}'
    },
    "score": ["hatexscore"],
}
_REFUSED = {
    "text": _POST,
    "answer": {"text": "I'm sorry, but I can't help with that request."},
    "score": ["hatexscore"],
}
_PARAMETERS = {
    "premise": "Three children play football in the rain.",
    "hypothesis": "Three children are playing a sport.",
    "prompt": "ftc-label@1",
    "answer": {"text": "Label: entailment\nExplanation: A sport is a game."},
    "score": {"ftc": {"draws": 39}},
    "seed": 7,
}


CONTRACT = ExplanationsContract(
    name="explanations",
    summary="A model decides and explains; metrics score its explanation, in one job",
    request=ExplanationsRequest,
    report=ExplanationsResult,
    answers=answers,
    model_kinds=("causal",),
    default_model=None,
    model_optional=True,
    cost=cost,
    needs=needs,
    further=ExplanationsRequest.further,
    several=_jobs,
    clustered_by=INPUTS,
    batch_request=ExplanationsBatchReportRequest,
    batch_report=ExplanationsBatchReport,
    batch_summary="How answers end, what they decide, beside gold labels, and each metric's mean",
    batch_intervals=8,
    surprising=SURPRISING,
    facts=FACTS,
    finding=finding,
    examples={
        "your own answer": _ANSWER,
        "a refusal": _REFUSED,
        "with a metric's parameters": _PARAMETERS,
    },
)
