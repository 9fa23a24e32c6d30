"""Base classes of the messages between services. They are frozen and reject unknown fields. A
service builds its request and report on them, and declares both in its `CONTRACT`
(`shared.contracts.service`)."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import Annotated, Any, Generic, Literal, NamedTuple, TypeVar, get_args, get_origin

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    StringConstraints,
    WithJsonSchema,
)
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema, PydanticCustomError

from shared.contracts.validation_messages import METADATA_KEY

Variant = Literal["robust", "paper", "reference"]
Direction = Literal["higher_is_better", "lower_is_better"]
ModelKind = Literal["classifier", "causal", "similarity", "cross-encoder"]
Runtime = Literal["torch", "openvino"]
Numerics = Literal["bytes", "tolerance"]

MAX_TEXT = 20_000  # characters (Unicode code points)
HIDDEN = frozenset({"Cc", "Cf", "Cs", "Me", "Mn", "Zl", "Zp", "Zs"})  # categories of Unicode
FILLERS = frozenset("\u115f\u1160\u3164\uffa0\u2800")  # of Hangul and Braille, that show nothing


def is_blank(text: str) -> bool:
    """Return True if a text shows nothing: it has only white space and invisible characters."""
    return all(c in FILLERS or unicodedata.category(c) in HIDDEN for c in text)


def check_visible(text: str) -> str:
    if is_blank(text):
        raise PydanticCustomError(
            "blank", "must not be blank: write at least one visible character"
        )
    return text


Visible = AfterValidator(check_visible)  # for a string that must not be empty
RequiredText = Annotated[str, StringConstraints(min_length=1, max_length=MAX_TEXT), Visible]

MetadataKey = Annotated[
    str,
    StringConstraints(min_length=1, max_length=64, pattern=f"^{METADATA_KEY}$"),
    # a bare pattern would become `patternProperties`, which few generators of clients read
    WithJsonSchema({"type": "string", "allOf": [{"pattern": f"^{METADATA_KEY}$"}]}),
]
MetadataValue = Annotated[str, StringConstraints(max_length=512)]
MOST_METADATA = 16  # pairs
EDITED = "edited_from"  # key of metadata: the job whose request somebody has changed on a page
ModelName = Annotated[str, StringConstraints(min_length=1, max_length=128), Visible]
Id = Annotated[str, StringConstraints(max_length=64, pattern=r"^[A-Za-z0-9_-]*$")]  # no NUL
Count = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]
LanguageTag = Annotated[
    str, StringConstraints(max_length=35, pattern=r"^(auto|[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*)$")
]
EndpointId = Annotated[str, StringConstraints(pattern=r"^we_[0-9a-f]{32}$")]
AuditField = Annotated[str, StringConstraints(max_length=500)]


class Word:
    """Marks a string as the service's own word, as in `group: Annotated[str, Word]`.
    `do_not_store_text` keeps it."""


class Column:
    """Marks a short string of the caller, such as a label, as a column of `items.csv`.
    `do_not_store_text` removes these strings."""


class Input:
    """Marks a request's field as data to be scored, as in `text: Annotated[str, Input]`. Such
    fields stay out of the provenance. Numbers, choices and truth values are always included."""


class Parameter:
    """Marks a parameter that may hold the caller's words: a policy, a list of terms."""


class CallersWords:
    """Marks a request field whose value may be a list of words written by the caller.
    `do_not_store_text` removes these words."""


def field_type(field: FieldInfo) -> Any:
    """Return the annotated type of a field."""
    return Annotated[field.annotation, *field.metadata] if field.metadata else field.annotation


def has_text(field: FieldInfo) -> bool:
    """Return True if a field of a request may hold a caller's string, or a position in a text."""
    return _has_text(field_type(field))


def _has_text(hint: Any) -> bool:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _has_text(arguments[0])
    if isinstance(hint, type) and issubclass(hint, BaseModel):
        fields = hint.model_fields
        return {"start", "end"} <= fields.keys() or any(map(has_text, fields.values()))
    if origin is Literal:
        return False
    return hint in (str, Any) or any(map(_has_text, arguments))


LISTS = {"list", "tuple", "set", "frozenset"}


def _fail_fast(schema: Any) -> None:
    """Make every list in this pydantic-core schema stop at its first invalid item."""
    if isinstance(schema, dict):
        if schema.get("type") in LISTS:
            schema["fail_fast"] = True
        for part in schema.values():
            _fail_fast(part)
    elif isinstance(schema, list | tuple):
        for part in schema:
            _fail_fast(part)


class Message(BaseModel):
    """A frozen message without unknown fields, NaN or infinity."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        hide_input_in_errors=True,  # the texts that we score do not belong into logs
    )

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Return a schema that stops reading a list at its first error. A megabyte can hold a
        million errors, each costing a kilobyte and ten microseconds."""
        schema = handler(source)
        _fail_fast(schema)
        return schema


class Context(Message):
    """Audit fields of the caller (DSA Art. 17): carried with the job, never interpreted."""

    puid: AuditField | None = None
    decision_ground: AuditField | None = None
    automated_detection: AuditField | None = None
    automated_decision: AuditField | None = None
    content_language: AuditField | None = None


OpaqueId = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"^[!-~]*$")]


class Trace(Message):
    """Identifies the judged answer in the caller's own tracing, not the call to this service.
    It holds identifiers only, no text."""

    trace_id: Annotated[str, Word] | None = Field(
        default=None,
        pattern=r"^[0-9a-f]{32}$",
        description="trace id of W3C Trace Context, 32 hex digits",
    )
    span_id: Annotated[str, Word] | None = Field(
        default=None, pattern=r"^[0-9a-f]{16}$", description="id of the span, 16 hex digits"
    )
    response_id: Annotated[OpaqueId, Word] | None = Field(
        default=None, description="id that the model's server gave to its answer"
    )
    session_id: Annotated[OpaqueId, Word] | None = Field(
        default=None, description="id of the conversation"
    )


class JobRequest(Message):
    """Fields of every request that becomes a job."""

    model: ModelName | None = Field(
        default=None, description="a configured model; absent: the default model"
    )
    metadata: dict[MetadataKey, MetadataValue] = Field(
        default_factory=dict,
        max_length=MOST_METADATA,
        description=f"at most {MOST_METADATA} pairs",
    )
    context: Context | None = Field(
        default=None, description="your own data, returned with the job"
    )
    webhook: EndpointId | None = Field(
        default=None,
        description="the only webhook endpoint to notify; absent: all that receive the event",
    )
    do_not_store_text: bool = Field(default=False, description="store no text after the job ends")


class ScoreRequest(JobRequest):
    """Fields of every metric's request."""

    variant: Variant = Field(
        default="robust",
        description="`robust`: the paper with its defects corrected; `paper`: the equations as "
        "printed; `reference`: like the released code",
    )
    seed: int = Field(default=0, ge=0, le=2**63 - 1, description="seed of every random draw")
    trace: Trace | None = Field(
        default=None,
        description="the judged answer in your tracing, to which scores are attached",
    )


class LanguageRequest(ScoreRequest):
    """Fields of requests to metrics whose models or rules do not know every language.

    A metric whose `language` or `accept_untrained_languages` has a further effect describes
    it.
    """

    language: Annotated[LanguageTag, Parameter] = Field(
        default="auto",
        examples=["en", "de", "zh-Hant"],
        description="BCP 47 language, not checked; `auto` identifies it",
    )
    accept_untrained_languages: bool = Field(
        default=False,
        description="score texts in languages that the model did not learn, with a warning",
    )


AnyJob = TypeVar("AnyJob", bound="JobRequest")


def with_untrained_languages(asked: AnyJob) -> AnyJob:
    """Set the request's `accept_untrained_languages` to the API key's default, unless it is
    stated."""
    name = "accept_untrained_languages"
    if name not in type(asked).model_fields or name in asked.model_fields_set:
        return asked
    return asked.model_copy(update={name: True})


TRANSPORT = frozenset(  # changes no score
    {"metadata", "context", "webhook", "trace", "do_not_store_text"}
)
OF_PROVENANCE = frozenset({"model", "variant", "seed"})  # it has fields of its own for these


class PartExcess(Message):
    """The calibration error on texts with words deleted or masked, above that by chance."""

    operator: Literal["delete", "mask"] = Field(
        description="the operator applied to the other words"
    )
    kept: Share = Field(description="share of the words that were kept")
    excess: float = Field(
        ge=-1, le=1, description="expected calibration error minus the error expected by chance"
    )


class ModelUse(Message):
    """Identifies the weights that answered, so that the same model can be used again."""

    name: str
    revision: str
    sha256: str | None = Field(
        description="SHA-256 of the safetensors; null for a model behind a server"
    )
    device: str
    dtype: str
    numerics: Numerics = Field(
        default="tolerance",
        description="`bytes`: the same request gives the same bytes on the same kind of processor; "
        "`tolerance`: probabilities may differ by 1e-5 in float32, and by 0.02 in bfloat16, "
        "float16 and behind a server",
    )
    prompt_sha256: str | None = Field(
        default=None,
        exclude_if=lambda sha256: sha256 is None,
        description="hash of a causal model's own prompt with an empty text; for a model behind "
        "a server, hash of the prompt's turns as JSON",
    )
    preset: Annotated[str, Word] | None = Field(
        default=None,
        exclude_if=lambda preset: preset is None,
        description="the preset (settings including the prompt) that the model's entry names, as "
        "name@version",
    )
    runtime: Literal["openvino"] | None = Field(
        default=None,
        exclude_if=lambda runtime: runtime is None,
        description="the runtime of the model, if it is not torch",
    )
    system_fingerprint: Annotated[str, Word] | None = Field(
        default=None,
        exclude_if=lambda fingerprint: fingerprint is None,
        description="the version of the model's server, as last reported by the server",
    )
    warnings: tuple[Annotated[str, Word], ...] = Field(
        default=(),
        exclude_if=lambda warnings: not warnings,
        description="known problems of the model's labels, repeated in every report that uses the "
        "model",
    )
    thresholds: dict[Annotated[str, Word], Annotated[float, Field(ge=0, le=1)]] = Field(
        default_factory=dict,
        exclude_if=lambda thresholds: not thresholds,
        description="label → smallest probability at which it is the decision; absent: the "
        "likeliest label is the decision",
    )
    on_parts: tuple[PartExcess, ...] = Field(
        default=(),
        exclude_if=lambda parts: not parts,
        description="the model's calibration on parts of texts, if its card states this",
    )
    training_tokens: tuple[Count, Count] | None = Field(
        default=None,
        exclude_if=lambda ends: ends is None,
        description="1st and 99th percentile of the number of tokens, special ones included, in "
        "the model's training texts, if its card states them",
    )

    def __hash__(self) -> int:
        """Hash the fields that identify the model. `thresholds` is left out, because a dict has no
        hash."""
        return hash((self.name, self.revision, self.sha256, self.device, self.dtype))


class Provenance(Message):
    """The provenance of a score."""

    metric_version: str
    variant: Variant
    seed: int
    parameters: dict[str, Any] = Field(
        description="the parameters that were used, including defaults"
    )
    models: tuple[ModelUse, ...] = Field(description="models that were called")
    service_version: str
    text_key: str | None = Field(
        default=None,
        pattern=r"^[0-9a-f]{32}$",
        exclude_if=lambda key: key is None,
        description="keyed hash (BLAKE2b, 128 bits) of the judged text, ignoring case and spaces; "
        "results of one text have the same hash, even after the text is deleted. It is comparable "
        "within this installation only; absent if the installation has no TOUCHSTONE_SECRET_KEYS",
    )


class LanguageFound(Message):
    """The language of a text, and how it was identified."""

    code: Annotated[str, Word] = Field(
        description="BCP 47, varieties folded into their macrolanguage; `und`: undecided"
    )
    confidence: Share = Field(
        description="certainty, [0, 1]: share of letters in the script, or probability by the "
        "language model; 1: stated in the request"
    )
    by: Literal["request", "script", "model", "assumed", "undecided"] = Field(
        description="how the language was identified. `assumed`: it was not recognised, and the "
        "language of the other text, or the model's only training language, is used; a "
        "warning reports this"
    )
    likely: tuple[Annotated[str, Word], ...] = Field(
        default=(),
        exclude_if=lambda codes: not codes,
        description="the likeliest languages, if the language is not recognised",
    )


class Languages(Message):
    """The languages of text and explanation, which may differ."""

    text: LanguageFound
    explanation: LanguageFound | None = Field(
        default=None,
        description="language of the explanation; null if it has no words besides quotes "
        "of the text",
    )


UnreadCode = Literal[  # why a model's answer has no P
    "answer-unread",
    "label-not-listed",
    "answer-cut-by-reasoning",
    "no-logprobs",
    "text-too-long",
    "votes-too-coarse",
]
ReasonCode = Literal[
    "refused",
    "explanation-unfit",
    "no-rules",
    "conclusion-unread",
    "no-words",
    "language-undecided",
    "untrained-language",
    "probability-missing",
    "label-unknown",
    "model-disagrees",
    "judge-has-no-such-label",
    "quote-not-found",
    "quote-unread",
    UnreadCode,
]


class NullReason(Message):
    """The reason why a number is null."""

    component: Annotated[str, Word] = Field(description="the component that is null, or `score`")
    code: ReasonCode
    detail: Annotated[str, Word]


class Evidence(Message):
    """A span of text that the score is based on."""

    kind: str
    start: Count | None = Field(description="character offset into the text as sent")
    end: Count | None = Field(description="character offset, exclusive")
    text: str
    value: float | None = None


VerdictWord = Literal["holds_up", "problem_found", "not_tested"]
CheckOutcome = Literal["passed", "failed", "inconclusive", "not_tested", "not_applicable"]
LONGEST_REASON = 200  # characters
Sentence = Annotated[str, Word, Field(max_length=LONGEST_REASON)]


class Check(Message):
    """One question about the explanation, and the answer."""

    name: Annotated[str, Word] = Field(description="such as `quotes-in-post`")
    outcome: CheckOutcome = Field(
        description="`inconclusive`: tested without a clear result; `not_tested`: could not "
        "be tested; `not_applicable`: the question does not arise"
    )
    reason: Annotated[str, Word] | None = Field(
        default=None,
        description="code of the problem, or of the reason why there is no answer; otherwise null",
    )
    sentence: Sentence = Field(
        description="the result of the check in plain English, without the request's text"
    )


class Untested(Message):
    """The reason why a check has no answer, and advice to the caller."""

    reason: Annotated[str, Word]
    action: Annotated[str, Word]


class Finding(NamedTuple):
    """The outcome of a result's checks."""

    verdict: VerdictWord
    reason: str
    checks: tuple[Check, ...] = ()
    problems: tuple[str, ...] = ()
    untested: tuple[Untested, ...] = ()


def _sent_with_a_verdict(schema: dict[str, Any]) -> None:
    """Mark the verdict's fields as required in the schema, despite their defaults."""
    names = Finding._fields
    schema["required"] = [*schema.get("required", ()), *names]
    for name in names:
        schema["properties"][name].pop("default", None)


class Report(Message):
    """Fields of every result. Metrics narrow `components`, `evidence` and `control`."""

    model_config = ConfigDict(json_schema_extra=_sent_with_a_verdict)

    metric: Annotated[str, Word]
    score: float | None = Field(description="null if undefined; `reasons` says why")
    verdict: VerdictWord = Field(
        default="not_tested",
        description="`problem_found`: a check failed; `holds_up`: every check that could be "
        "tested passed, including the checks that the metric requires; otherwise `not_tested`",
    )
    reason: Sentence = Field(
        default="",
        description="the reason for the verdict in one sentence, without the request's text",
    )
    checks: tuple[Check, ...] = Field(
        default=(), description="the checks, the most important question first"
    )
    problems: tuple[Annotated[str, Word], ...] = Field(
        default=(), description="codes of the failed checks, worst first"
    )
    untested: tuple[Untested, ...] = Field(
        default=(), description="reasons why checks have no answer, with advice for each"
    )
    range: tuple[float, float]
    direction: Direction = "higher_is_better"
    components: Message = Field(description="the parts of the score")
    evidence: tuple[Evidence, ...] = Field(
        description="the spans of text that the score is based on"
    )
    control: Message | None = Field(description="comparison with chance; null if undefined")
    warnings: tuple[str, ...] = Field(
        default=(), description="reasons why a value is null or doubtful"
    )
    reasons: tuple[NullReason, ...] = Field(
        default=(),
        description="reasons why the score or a part of it is null",
    )
    languages: Languages | None = Field(
        default=None,
        description="languages, and how they were identified; null if no model or rule depends on "
        "them",
    )
    provenance: Provenance

    @property
    def unasked(self) -> frozenset[str]:
        """Return the parts of the score that are null because they do not apply."""
        return frozenset()


Request = TypeVar("Request", bound=JobRequest)
Answer = TypeVar("Answer", bound=Message)


@dataclass(frozen=True)
class Scored(Generic[Request, Answer]):
    """A succeeded job: its request and its answer."""

    job_id: str
    custom_id: str | None
    request: Request
    report: Answer
