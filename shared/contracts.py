"""What services say to each other: closed, frozen, bounded messages.

A room's `contract.py` builds its request and its report on these; the gateway reads them to make
the API, the worker to decode a job. Pydantic only: whoever imports this loads no model code.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from shared.work import FEWEST_READ, Cost, Work

Variant = Literal["robust", "paper", "reference"]
Direction = Literal["higher_is_better", "lower_is_better"]
ModelKind = Literal["classifier", "causal", "similarity", "cross-encoder"]
Numerics = Literal["bytes", "tolerance"]

MetadataKey = Annotated[str, StringConstraints(min_length=1, max_length=64)]
MetadataValue = Annotated[str, StringConstraints(max_length=512)]
ModelName = Annotated[str, StringConstraints(min_length=1, max_length=128)]
EndpointId = Annotated[str, StringConstraints(pattern=r"^we_[0-9a-f]{32}$")]
AuditField = Annotated[str, StringConstraints(max_length=500)]

MAX_TEXT = 20_000  # characters (Unicode code points)


class Word:
    """Marks a string as one of our own words, not text of the caller: it stays where
    `do_not_store_text` is asked for, as in `group: Annotated[str, Word]`."""


class Message(BaseModel):
    """Frozen, closed to unknown fields, and free of NaN and infinity."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        hide_input_in_errors=True,  # the texts that we score do not belong into logs
    )


class Context(Message):
    """Audit fields of the caller (DSA Art. 17): carried with the job, never interpreted."""

    puid: AuditField | None = None
    decision_ground: AuditField | None = None
    automated_detection: AuditField | None = None
    automated_decision: AuditField | None = None
    content_language: AuditField | None = None


class JobRequest(Message):
    """What every request that becomes a job has in common."""

    model: ModelName | None = Field(
        default=None, description="a configured model's name; the room's default if absent"
    )
    metadata: dict[MetadataKey, MetadataValue] = Field(
        default_factory=dict, max_length=16, description="at most 16 pairs, returned with the job"
    )
    context: Context | None = Field(default=None, description="audit fields, returned with the job")
    webhook: EndpointId | None = Field(
        default=None,
        description="the webhook endpoint that is told of this job's end, and no other; if absent, "
        "every endpoint of yours that listens to the event",
    )
    do_not_store_text: bool = Field(
        default=False,
        description="keep no text once the job has ended: what is left of the request is `model`, "
        "`variant`, `seed`, `metadata` and `context`, and of the result the numbers and names",
    )


class ScoreRequest(JobRequest):
    """What every metric's request has in common."""

    variant: Variant = Field(
        default="robust",
        description="`robust`: what the paper means, defects mended; `paper`: the equations as "
        "printed; `reference`: what the released code does",
    )
    seed: int = Field(default=0, ge=0, le=2**63 - 1, description="of every random draw")


class ModelUse(Message):
    """Which weights answered: enough to ask the same model again."""

    name: str
    revision: str
    sha256: str | None = Field(description="of its safetensors; null where a server has them")
    device: str
    dtype: str
    numerics: Numerics = Field(
        default="tolerance",
        description="`bytes`: on one kind of processor the same request has the same bytes, "
        "whatever is computed beside it; `tolerance`: probabilities may move by 1e-5 in float32, "
        "by 0.02 in bfloat16, float16 and behind a server",
    )


class Provenance(Message):
    """How a score came about."""

    metric_version: str
    variant: Variant
    seed: int
    parameters: dict[str, Any] = Field(description="the parameters in force, defaults included")
    models: tuple[ModelUse, ...] = Field(description="empty where no model was called")
    service_version: str


class Evidence(Message):
    """A span that the score rests on."""

    kind: str
    start: int | None = Field(ge=0, description="character offset into the text as sent")
    end: int | None = Field(ge=0, description="character offset, exclusive")
    text: str
    value: float | None = None


class Report(Message):
    """The envelope of every result; a room narrows `components`, `evidence` and `control`."""

    metric: Annotated[str, Word]
    score: float | None = Field(description="null where the metric is undefined; see `warnings`")
    range: tuple[float, float]
    direction: Direction = "higher_is_better"
    components: Message = Field(description="what the score is made of")
    evidence: tuple[Evidence, ...] = Field(description="the spans that it rests on")
    control: Message | None = Field(description="the chance baseline; null where undefined")
    warnings: tuple[str, ...] = Field(default=(), description="why something is null or doubtful")
    provenance: Provenance


@dataclass(frozen=True, kw_only=True)
class Room:
    """A room's door sign: its name and the two messages that pass through the door."""

    name: str
    summary: str
    request: type[JobRequest]
    report: type[Message]
    model_kinds: tuple[ModelKind, ...]  # any of these will do
    default_model: str | None
    model_optional: bool = False  # whether some requests need none: the contract tells which
    examples: dict[str, dict[str, Any]] = field(default_factory=dict)
    cost: Cost | None = None  # how much work a request asks for; see `shared.work`

    @property
    def path(self) -> str:
        """Where its jobs are posted."""
        return f"/v1/{self.name}"

    def work(self, request: JobRequest, reads: int = FEWEST_READ) -> Sequence[Work]:
        """What this request asks for; reads: tokens of a text that its model surely reads."""
        return () if self.cost is None else self.cost(request, reads)


@dataclass(frozen=True, kw_only=True)
class Metric(Room):
    """A room that scores explanations."""

    version: str
    request: type[ScoreRequest]
    report: type[Report]

    @property
    def path(self) -> str:
        """Where its jobs are posted."""
        return f"/v1/scores/{self.name}"
