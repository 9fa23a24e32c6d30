"""Explain and score: a model decides about a text and explains why, and metrics score its
explanation. See docs/methods/explanations.md."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Annotated, Any, Self

from pydantic import (
    Field,
    JsonValue,
    PrivateAttr,
    StringConstraints,
    ValidationError,
    model_validator,
)
from pydantic_core import InitErrorDetails

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
from shared.contracts.validation_messages import Path, fault_at, plain, refusal

MOST_METRICS = 16
MOST_SEED = 2**63 - 1
OWN_TOKENS = 512  # default tokens of an answer to a request's own prompt
TOO_LONG = (
    "the filled prompt has {length:,} characters, but at most {most:,} are allowed; shorten it"
)
GOLD_KEY = GoldColumns().label  # reports read gold labels from this key

MetricName = Annotated[str, StringConstraints(min_length=1, max_length=64)]
Parameters = dict[str, JsonValue]


class ExplanationsRequest(JobRequest):
    """A text for a model to decide on and explain, and the metrics that score the explanation.

    With `items` or `draws` it creates several jobs, one per item and draw.
    """

    text: InputText | None = Field(default=None, description="the text that is judged")
    premise: InputText | None = Field(default=None, description="a statement taken to be true")
    hypothesis: InputText | None = Field(
        default=None, description="the statement that may follow from `premise`"
    )
    scenario: InputText | None = Field(
        default=None, description="the situation that `question` is about"
    )
    question: InputText | None = None
    target_label: Annotated[str | None, Parameter] = Field(
        default=None,
        min_length=1,
        max_length=500,
        description="the label to explain, for a prompt that does not let the model decide (GenEX)",
    )
    prompt: Annotated[PromptName | ExplanationsOwnPrompt, Parameter] = Field(
        default=FIELDS_PROMPT,
        description="the name of a prompt, `NAME@VERSION` for an older version, or your own "
        "prompt; `explanation-fields` (asks for JSON in the form of `GET "
        "/v1/schemas/explanation`), `hatexscore-table8`, `haf-justify`, `ftc-label`, `genex-nli`, "
        "`genex-siqa`, `genex-cqa`",
    )
    shots: Shots = Field(
        default=0, description="number of demonstrations to show the model, if the prompt has some"
    )
    style: Style = Field(
        default="chat",
        description="`chat`: a conversation in the model's own template; `raw`: one text, for a "
        "model without a template",
    )
    policy: Annotated[PolicyName | ExplanationsOwnPolicy | None, Parameter] = Field(
        default=None,
        description="a named policy, or your own text; metrics that know the named policy also use "
        "it. Absent: the prompt's policy",
    )
    language: Annotated[LanguageTag, Parameter] = Field(
        default="auto",
        description="BCP 47 language of all texts; `auto` detects it",
    )
    generation: ExplanationsGeneration = Field(default_factory=ExplanationsGeneration)
    seed: int = Field(
        default=0, ge=0, le=MOST_SEED, description="seed of the generation and of the metrics"
    )
    answer: Annotated[ExplanationsAnswer | None, Input] = Field(
        default=None,
        description="your own answer instead of `model`; the service generates nothing",
    )
    score: list[MetricName] | dict[MetricName, Parameters] = Field(
        default_factory=list,
        max_length=MOST_METRICS,
        description="metrics that score the explanation in the same job: names, or name → the "
        "metric's parameters. `hatexscore`, `haf`, `ftc`, `cot2el` (which scores the reasoning), "
        "`sor`, `consistency`",
    )
    gold: MetadataValue | None = Field(
        default=None,
        min_length=1,
        exclude=True,
        description="the gold label of the text, which batch reports compare with the decision; "
        f"stored as `{GOLD_KEY}` in `metadata`",
    )
    items: Annotated[tuple[ExplanationsItem, ...] | None, Input] = Field(
        default=None,
        min_length=1,
        max_length=MOST_ITEMS,
        exclude_if=lambda items: items is None,
        description="several items instead of one text. Each becomes a job that counts towards "
        "quotas. Returns the list of jobs in the order of the items. Not allowed in lines of a "
        "batch",
    )
    draws: int = Field(
        default=1,
        ge=1,
        le=MOST_DRAWS,
        exclude_if=lambda draws: draws == 1,
        description="number of answers per item. Each becomes a job that counts towards quotas, "
        "and each uses the next `seed`. More than one needs a `temperature` above 0. Not allowed "
        "in lines of a batch",
    )

    _further: tuple[FurtherRequest, ...] = PrivateAttr(())

    @property
    def full_prompt(self) -> ElicitationPrompt:
        if isinstance(self.prompt, ExplanationsOwnPrompt):
            return custom_prompt(self.prompt, OWN_TOKENS)
        return get_prompt(self.prompt)

    @property
    def inputs(self) -> dict[str, str]:
        """The texts of the request by placeholder."""
        return given_inputs(self)

    @property
    def policy_text(self) -> str | None:
        """The text of the policy, or None if the prompt's own policy applies."""
        if isinstance(self.policy, ExplanationsOwnPolicy):
            return self.policy.text
        return None if self.policy is None else load_policies()[self.policy]

    @property
    def parameters(self) -> dict[str, Parameters]:
        """The parameters of each metric by name, in order."""
        return self.score if isinstance(self.score, dict) else {name: {} for name in self.score}

    @property
    def common(self) -> dict[str, Any]:
        """The parameters that metrics share, such as the seed."""
        language = {} if self.language == "auto" else {"language": self.language}
        return {"seed": self.seed, **language}

    @property
    def most_tokens(self) -> int:
        """The maximum number of tokens of the answer."""
        tokens = self.generation.max_tokens
        return self.full_prompt.max_tokens if tokens is None else tokens

    def score_request(self, name: str, explanation: ElicitedExplanation) -> ScoreRequest:
        """Return the request to a metric. Raises ValueError if it is invalid."""
        return score_request(name, explanation, self.parameters[name], self.common)

    def elicited(self, **fields: Any) -> ElicitedExplanation:
        policy = self.policy if isinstance(self.policy, str) else None
        return ElicitedExplanation(inputs=self.inputs, policy=policy, model=self.model, **fields)

    def further(self) -> tuple[FurtherRequest, ...]:
        """Return the follow-up requests that score the new explanation with metrics. A placeholder
        stands for the model's answer."""
        return self._further

    @property
    def is_several(self) -> bool:
        """True if the request creates several jobs."""
        return self.items is not None or self.draws > 1

    def jobs(self) -> Iterator[Self]:
        """Yield one request per job, in the order of items. The repetitions of an item have the
        seeds seed, seed + 1, and so on. Raises ValidationError."""
        for number, item in enumerate(self.items or (None,)):
            first = self._job(number, item)
            for draw in range(self.draws):
                yield first.model_copy(update={"seed": (self.seed + draw) % (MOST_SEED + 1)})

    def _job(self, number: int, item: ExplanationsItem | None) -> Self:
        fields = {} if item is None else item.model_dump(exclude_unset=True)
        metadata = {"metadata": {**self.metadata, **fields.get("metadata", {})}}
        gold = {} if self.gold is None else {"gold": self.gold}
        shared = self.model_dump(exclude={"items", "draws"}, exclude_unset=True)
        try:
            return self.model_validate({**shared, **gold, **fields, **metadata})
        except ValidationError as error:
            faults = [fault_at(*fault_of_item(number, item, *fault)) for fault in _faults(error)]
            raise ValidationError.from_exception_data(type(self).__name__, faults) from None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.is_several:
            self._check_draws()
            for number, item in enumerate(self.items or (None,)):
                self._job(number, item)
            return self
        if (self.model is None) == (self.answer is None):
            raise ValueError("give either `model` or `answer`")
        self._check_prompt()
        self._store_gold()
        return self._check_metrics()

    def _check_draws(self) -> None:
        names = (*INPUTS, "answer", "target_label", "gold")
        present = [name for name in names if getattr(self, name)]
        if self.items is not None and present:
            raise refusal((present[0],), f"give either `items` or `{present[0]}`")
        answers = [self.answer, *(item.answer for item in self.items or ())]
        if self.draws > 1 and any(answers):
            raise refusal(
                ("draws",), "`draws` above 1 does not work with your own answer; leave out `draws`"
            )
        if self.draws > 1 and self.generation.temperature == 0:
            message = "all answers would be identical at temperature 0; set a `temperature` above 0"
            raise refusal(("draws",), message)

    def _check_prompt(self) -> None:
        try:
            prompt = self.full_prompt
        except ValueError as error:
            raise refusal(("prompt",), str(error)) from None
        if missing := [name for name in prompt.inputs if name not in self.inputs]:
            raise refusal((missing[0],), f"the prompt {prompt.name} needs `{missing[0]}`; send it")
        if ("label" in prompt.placeholders or prompt.reader == "none") != bool(self.target_label):
            verb = "needs" if self.target_label is None else "has no place for"
            raise refusal(("target_label",), f"the prompt {prompt.name} {verb} a `target_label`")
        if self.policy is not None and "policy" not in prompt.placeholders:
            raise refusal(("policy",), f"the prompt {prompt.name} has no place for a policy")
        if "policy" in prompt.placeholders and self.policy is None and prompt.policy is None:
            raise refusal(("policy",), f"the prompt {prompt.name} needs a policy; send `policy`")
        if self.shots > len(prompt.shots):
            raise refusal(
                ("shots",),
                f"the prompt {prompt.name} has only {len(prompt.shots)} shots; lower `shots`",
            )
        values = prompt.values(self.inputs, self.policy_text, self.target_label, self.language)
        if (length := prompt.longest(values, self.style)) > MOST_CHARACTERS:
            raise refusal(("prompt",), TOO_LONG.format(length=length, most=MOST_CHARACTERS))

    def _store_gold(self) -> None:
        if self.gold is None:
            return
        if self.metadata.get(GOLD_KEY, self.gold) != self.gold:
            raise refusal(
                ("gold",), f"`metadata` already has another `{GOLD_KEY}`; send only one of them"
            )
        if len(self.metadata | {GOLD_KEY: self.gold}) > MOST_METADATA:
            message = f"`metadata` has {MOST_METADATA} pairs already; leave out one"
            raise refusal(("gold",), message)
        self.metadata[GOLD_KEY] = self.gold

    def _check_metrics(self) -> Self:
        decision = next(iter(self.full_prompt.labels), None) if self.target_label is None else None
        token = WrittenToken(id=None, start=0, end=1, logprob=0.0)
        explanation = self.elicited(
            answer=".",
            explanation=".",
            decision=decision or self.target_label,
            tokens=(token,),
            reasoning=".",
        )
        further: list[FurtherRequest] = []
        faults: list[InitErrorDetails] = []
        for name in self.parameters:
            try:
                request, pointer = self.score_request(name, explanation), f"/score/{name}"
                contract = scoring_metric(name)
                further.append(FurtherRequest(pointer=pointer, contract=contract, request=request))
            except ValidationError as error:
                faults += [fault_at(("score", name, *path), text) for path, text in _faults(error)]
            except ValueError as error:
                faults.append(fault_at(("score", name), str(error)))
        if faults:
            raise ValidationError.from_exception_data(type(self).__name__, faults)
        self._further = tuple(further)
        return self


def _faults(error: ValidationError) -> Iterator[tuple[Path, str]]:
    for fault in error.errors(include_input=False, include_url=False):
        yield fault["loc"], plain(fault)


def cost(request: ExplanationsRequest, reads: int) -> Sequence[Work]:
    """Return the cost of the prompt, and the likely cost of the answer and the metrics."""
    works: list[Work] = []
    if request.answer is None:
        words = sum(map(words_of, request.inputs.values()))
        words += words_of(request.full_prompt.user) + words_of(request.policy_text or "")
        works.append(Work((Size("tokens of the prompt", max(1, words)),)))
        tokens = Size("`max_tokens`", request.most_tokens, "/generation/max_tokens")
        works.append(Work((tokens,), certain=False))
    for other in request.further():
        works += (replace(w, certain=False) for w in other.contract.work(other.request, reads))
    return tuple(works)


def needs(request: ExplanationsRequest) -> tuple[str, ...]:
    """Return the ability `generate`, or nothing if the request already has the answer."""
    return ("generate",) if request.answer is None else ()


_POST = (
    "Honestly, those immigrants are ruining our lovely old town, and I do not understand why "
    "nobody on the council does anything about it."
)
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
    summary="A model decides and explains, and metrics score its explanation, in one job",
    request=ExplanationsRequest,
    report=ExplanationsResult,
    answers=answers,
    model_kinds=("causal",),
    default_model=None,
    model_optional=True,
    cost=cost,
    needs=needs,
    further=ExplanationsRequest.further,
    several=lambda request: tuple(request.jobs()) if request.is_several else (),
    clustered_by=INPUTS,
    batch_request=ExplanationsBatchReportRequest,
    batch_report=ExplanationsBatchReport,
    batch_summary="Outcomes, decisions, agreement with gold labels, and each metric's mean score",
    batch_intervals=8,
    surprising=SURPRISING,
    facts=FACTS,
    finding=finding,
    examples={
        "your own answer": _ANSWER,
        "a refusal": _REFUSED,
        "with parameters for a metric": _PARAMETERS,
    },
)
