"""Messages of a request to explain a decision, and of the model's parsed answer. Imports no
third-party library except pydantic."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import (
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    StringConstraints,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_serializer,
    model_validator,
)
from pydantic_core import InitErrorDetails

from shared.contracts.calls import Label, WrittenToken
from shared.contracts.judgement import Reading
from shared.contracts.messages import (
    Count,
    LanguageRequest,
    Message,
    ModelName,
    ModelUse,
    Parameter,
    ReasonCode,
    Report,
    RequiredText,
    Share,
    Word,
)
from shared.contracts.prompt_table import Template, parse_template

INPUTS = ("text", "premise", "hypothesis", "scenario", "question")
PLACEHOLDERS = (*INPUTS, "label", "labels", "policy", "language")
MOST_TOKENS = 8_192  # of an answer
DEFAULT_PROMPT = "hatexscore-table8"  # of metrics that have no prompt of their own
FIELDS_PROMPT = "explanation-fields"  # of `/v1/explanations`

Reader = Literal["hatexscore", "haf", "labels", "none"]
Style = Literal["chat", "raw"]
Shots = Literal[0, 2]
Outcome = Literal["answered", "refused", "unparsable"]
PromptName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9-]{1,64}(@[0-9]{1,6})?$")]
PolicyName = Literal["un", "meta", "twitter", "youtube"]


class ExplanationsOwnPrompt(Message):
    """The caller's own prompt."""

    system: Template | None = None
    user: Template = Field(
        description="must contain `{text}`, or `{premise}` and `{hypothesis}`, or `{scenario}` "
        "and `{question}`. May contain `{label}` (the `target_label`), `{policy}`, `{labels}` "
        "and `{language}`. Write a literal brace as `{{`"
    )
    reader: Reader = Field(
        default="hatexscore",
        description="how to read the decision in the answer: as this metric does (`hatexscore`: "
        "hateful or not, in eight languages; `haf`: toxic or not, in English). `labels` expects a "
        "line with one of `labels`, alone or after a word such as `Label:`. `none`: the answer has "
        "no decision, because it explains `target_label`",
    )
    labels: tuple[Label, ...] = Field(
        default=(), max_length=32, description="the possible decisions, for the reader `labels`"
    )
    policy: Template | None = Field(
        default=None, description="value of `{policy}` if the request names no policy"
    )
    explanation_after: str | None = Field(
        default=None,
        min_length=1,
        max_length=100,
        description="text after which the explanation begins, such as `Explanation:`; absent: "
        "the whole answer is the explanation",
    )

    @field_validator("system", "user")
    @classmethod
    def _known(cls, template: str | None) -> str | None:
        parse_template(template or "", PLACEHOLDERS)
        return template

    @model_validator(mode="after")
    def _check_inputs(self) -> Self:
        placeholders = {piece.inserted for piece in parse_template(self.user, PLACEHOLDERS)}
        placeholders |= {
            piece.inserted for piece in parse_template(self.system or "", PLACEHOLDERS)
        }
        if not placeholders & {*INPUTS}:
            listed = ", ".join(f"{{{name}}}" for name in INPUTS)
            raise ValueError(f"the prompt does not contain the input; add one of {listed}")
        return self

    @model_validator(mode="after")
    def _check_labels(self) -> Self:
        if self.reader == "labels" and len(self.labels) < 2:
            raise ValueError(
                "the reader `labels` needs at least two `labels`; add the missing ones"
            )
        if len({label.casefold() for label in self.labels}) < len(self.labels):
            raise ValueError(
                "`labels` lists a label twice (capitals are ignored); list each label once"
            )
        return self


class ExplanationsOwnPolicy(Message):
    """A policy in the caller's words."""

    text: RequiredText = Field(description="the policy, as text for the model")


class ExplanationsGeneration(Message):
    """Sampling settings, except the seed."""

    temperature: float = Field(default=0.0, ge=0, le=5, description="0: greedy")
    top_p: float = Field(default=1.0, gt=0, le=1)
    max_tokens: int | None = Field(
        default=None,
        ge=1,
        le=MOST_TOKENS,
        description="maximum tokens of the answer, reasoning included; absent: the prompt's "
        "default",
    )


class ExplanationsObstacle(Message):
    """The reason why a field of the answer is null."""

    component: Literal["decision", "p", "stated_p", "tokens"]
    code: Literal["no-judge", "not-asked"] | ReasonCode
    detail: str


class ExplanationsSpan(Message):
    """A span of `answer`."""

    start: Count = Field(description="character offset into `answer` (Unicode code points)")
    end: Count = Field(description="character offset, exclusive")
    by: Literal["rules", "reader"] = Field(
        default="rules",
        description="what read the decision; `rules`: a field of the answer; `reader`: the "
        "trained reader",
    )


class ExplanationsPromptUse(Message):
    """Identifies the prompt, so that the same question can be asked again."""

    name: Annotated[str, Word] = Field(
        description="the prompt's name; `own`: the request contained the prompt"
    )
    version: Annotated[str, Word] | None
    sha256: Annotated[str, Word] = Field(
        description="SHA-256 of the prompt's file, or of the fields of your own prompt as JSON"
    )
    shots: Count = Field(description="number of demonstrations before the question")
    source: Annotated[str, Word]
    deviations: tuple[Annotated[str, Word], ...] = Field(
        description="how the prompt deviates from its source"
    )


class ExplanationsElicitation(Message):
    """A parsed model answer."""

    outcome: Outcome = Field(
        description="`refused`: the model refuses to answer; `unparsable`: no decision can be "
        "read; neither is scored"
    )
    decision: Annotated[str, Word] | None = Field(
        description="the decision as the answer states it, in the prompt's labels; the "
        "`target_label` if the prompt explains one; null unless `answered`"
    )
    decided_by: Literal["model", "request"]
    conclusion: ExplanationsSpan | None = Field(description="the sentence that states the decision")
    p: dict[Annotated[str, Word], Share] | None = Field(
        description="label → its probability when the same model judges the text with its own "
        "prompt for labels and without an explanation; null: `obstacles` gives the reason"
    )
    probability: Share | None = Field(description="probability of the decision, from `p`")
    reading: Reading | None = Field(description="how `p` was read")
    mass: Share | None = Field(description="probability of all labels together")
    stated_p: Share | None = Field(
        description="product of the probabilities of the tokens that state the decision, given the "
        "text before them; near 1 if the explanation leads to the decision"
    )
    answer: str = Field(description="the model's whole answer, without the reasoning before it")
    explanation: str = Field(description="the part of the answer that is the explanation")
    tokens: tuple[WrittenToken, ...] = Field(
        description="tokens of `answer`; empty if the server does not return them"
    )
    reasoning: str | None = Field(
        description="the chain of thought before the answer; never scored as an explanation; null "
        "if there was none, or if the model's entry does not keep it (`keep_reasoning`)"
    )
    reasoning_tokens: int | None = Field(description="null if unknown")
    finish: Literal["stop", "length", "given"]
    language: Annotated[str, Word] = Field(
        description="language of the text, BCP 47; `und`: undecided"
    )
    obstacles: tuple[ExplanationsObstacle, ...]


class ExplanationsProvenance(Message):
    """The provenance of an answer."""

    prompt: ExplanationsPromptUse
    model: ModelUse | None = Field(description="null if the request contained the answer")
    seed: int
    generation: dict[str, Any] = Field(description="settings of the sampling that were used")
    policy: Annotated[str, Word] | None = Field(
        description="name of the policy; `own`: a text sent with the request; null: the prompt's "
        "default"
    )
    service_version: str


class Explain(Message):
    """Settings for eliciting an explanation, as in `/v1/explanations`."""

    model: ModelName | None = Field(
        default=None,
        description="the causal model that decides and explains; absent: the request's `model`",
    )
    prompt: PromptName | ExplanationsOwnPrompt | None = Field(
        default=None,
        description="the name of a prompt, or your own prompt; absent: the metric's prompt",
    )
    shots: Shots = Field(
        default=0, description="number of demonstrations, for a prompt that has them"
    )
    style: Style = Field(
        default="chat", description="`raw`: a format for models without a chat template"
    )
    policy: PolicyName | ExplanationsOwnPolicy | None = Field(
        default=None,
        description="the policy by which the model decides; absent: the request's `policy`, if "
        "it is a text and the prompt has a place for it",
    )
    target_label: str | None = Field(
        default=None,
        min_length=1,
        max_length=500,
        description="the label to explain, for a prompt that does not let the model decide",
    )
    generation: ExplanationsGeneration = Field(default_factory=ExplanationsGeneration)


def _explained_otherwise(schema: dict[str, Any], request: type[ExplainableRequest]) -> None:
    """Add `x-required-unless` to the schema. The alternative, `anyOf`, would create another type in
    generated clients."""
    if request.explained_field is not None:
        schema["x-required-unless"] = {request.explained_field: "explain"}


class ExplainableRequest(LanguageRequest):
    """Fields of requests that may send an explanation or have a model write it. `explained_field`
    is the field for the explanation. If None, the metric itself checks that one was sent. A request
    without a prompt uses the metric's prompt."""

    model_config = ConfigDict(json_schema_extra=_explained_otherwise)

    explained_field: ClassVar[str | None] = "explanation"
    explain_prompt: ClassVar[str] = DEFAULT_PROMPT

    explain: Annotated[Literal[True] | Explain | None, Parameter] = Field(
        default=None,
        exclude_if=lambda explain: explain is None,
        description="instead of an explanation: let a model decide and explain; `true`: the "
        "request's `model` with the metric's prompt",
    )

    @field_validator("explain", mode="before")
    @classmethod
    def _only_true(cls, explain: Any) -> Any:
        if isinstance(explain, int | float) and explain is not True:  # 1 == True
            raise ValueError("send `true`, or an object with the settings of `explain`")
        return explain

    @model_serializer(mode="wrap")
    def _as_sent(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out the explanation field if the request has `explain`, because it is then
        empty."""
        values: dict[str, Any] = dump(self)
        if self.explain is not None and self.explained_field is not None:
            values.pop(self.explained_field, None)
        return values

    @model_validator(mode="after")
    def _explained_or_explain(self, info: ValidationInfo) -> Self:
        """Require either an explanation or `explain`. An empty explanation in JSON counts as given;
        in jobs of earlier versions it counts as none."""
        name = self.explained_field
        if name is None:
            return self
        if self.explain is None and name not in self.model_fields_set:
            missing = InitErrorDetails(type="missing", loc=(name,), input=None)
            raise ValidationError.from_exception_data(type(self).__name__, [missing])
        is_sent = name in self.model_fields_set if info.mode == "json" else getattr(self, name)
        if self.explain is not None and is_sent:
            raise ValueError(f"give either `{name}` or `explain`")
        return self


def given_inputs(request: Message) -> dict[str, str]:
    """Map prompt placeholders to the request's texts."""
    fields = ((name, getattr(request, name, None)) for name in INPUTS)
    return {name: text for name, text in fields if isinstance(text, str) and text}


def has_own_model(request: Any) -> bool:
    """Return True if `model` is for the metric only, and `explain` has another model."""
    explain = getattr(request, "explain", None)
    return isinstance(explain, Explain) and None not in (explain.model, request.model)


def is_needed(request: type[Message], name: str) -> bool:
    """Return True if a request with an explanation must have this field."""
    elicited = issubclass(request, ExplainableRequest) and request.explained_field == name
    return elicited or request.model_fields[name].is_required()


class Elicitation(ExplanationsElicitation):
    """A model's answer and its provenance, before scoring."""

    provenance: ExplanationsProvenance


class ExplainableReport(Report):
    """Report fields of metrics that can ask a model for the explanation."""

    elicitation: Elicitation | None = Field(
        default=None,
        exclude_if=lambda elicitation: elicitation is None,
        description="the model's answer, if the request has `explain`",
    )
