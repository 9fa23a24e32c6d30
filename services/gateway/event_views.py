"""The types of stream events and webhook events in the API's description (OpenAPI)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, Field, create_model

from services.gateway.views import ALWAYS_SENT, TEMPLATE, BatchSchema, RequestCounts
from shared.contracts.problems import TYPE_BASE
from shared.ledger.batches import BatchStatus
from shared.ledger.jobs import JobStatus
from shared.ledger.judgements import Opinion
from shared.ledger.webhooks import EventType, TestType


class JobProgress(BaseModel):
    """The progress of a job; its result is at `GET /v1/jobs/{job_id}`."""

    model_config = ALWAYS_SENT

    id: str
    object: Literal["job"] = "job"
    status: JobStatus
    attempts: int
    at: int | None = Field(description="unix seconds; null if the time was not stored")


class StreamEvent(BaseModel):
    """An event of a stream. The last event is `end`, with data `{}` and no id."""

    id: str | None = Field(
        default=None,
        description="id of the event; send the last id as `Last-Event-ID` to "
        "continue after that event",
    )
    retry: int | None = Field(
        default=None, description="milliseconds to wait before connecting again"
    )


def _event(name: str, statuses: Any, data: type[BaseModel]) -> type[StreamEvent]:
    events: Any = Literal["end", *statuses]
    reference = {"$ref": TEMPLATE.format(model=data.__name__)}
    inside: Any = {"contentMediaType": "application/json", "contentSchema": reference}
    fields: Any = {
        "event": (events, ...),
        "data": (Annotated[str, Field(json_schema_extra=inside)], ...),
    }
    return create_model(name, __base__=StreamEvent, __doc__=StreamEvent.__doc__, **fields)


JobEvent = _event("JobEvent", [f"job.{one}" for one in get_args(JobStatus)], JobProgress)
BatchEvent = _event("BatchEvent", [f"batch.{one}" for one in get_args(BatchStatus)], BatchSchema)


class JobNotice(BaseModel):
    """A job that has ended, without its result and texts."""

    model_config = ALWAYS_SENT

    id: str
    object: Literal["job"] = "job"
    metric: str
    status: JobStatus
    batch_id: str | None
    score: float | None = Field(description="the score; null if it is undefined or missing")
    error_type: str | None = Field(description="the problem `type` of a failed job")


class BatchNotice(BaseModel):
    """A batch that has ended."""

    model_config = ALWAYS_SENT

    id: str
    object: Literal["batch"] = "batch"
    status: BatchStatus
    request_counts: RequestCounts


class EndpointNotice(BaseModel):
    """The tested endpoint."""

    model_config = ALWAYS_SENT

    id: str
    object: Literal["webhook_endpoint"] = "webhook_endpoint"


class JudgementNotice(BaseModel):
    """A new judgement, without passages of the texts."""

    model_config = ALWAYS_SENT

    id: str
    object: Literal["judgement"] = "judgement"
    job_id: str
    metric: str
    verdict: Opinion
    about: str = Field(description="`score`, or the name of a part")
    reviewer: str
    verified: bool


SUBJECTS: dict[str, type[BaseModel]] = {
    "job": JobNotice,
    "batch": BatchNotice,
    "endpoint": EndpointNotice,
    "judgement": JudgementNotice,
}
SENT: dict[str, dict[str, Any]] = {  # an example of each subject
    "job": {"id": "job_" + "1" * 32, "object": "job", "metric": "hatexscore", "status": "succeeded",
            "batch_id": None, "score": 0.951, "error_type": None},
    "batch": {"id": "batch_" + "1" * 32, "object": "batch", "status": "completed",
              "request_counts": {"total": 20, "completed": 19, "failed": 1}},
    "endpoint": {"id": "we_" + "1" * 32, "object": "webhook_endpoint"},
    "judgement": {"id": "jdg_" + "1" * 32, "object": "judgement", "job_id": "job_" + "1" * 32,
                  "metric": "hatexscore", "verdict": "agree", "about": "score", "reviewer": "ana",
                  "verified": True},
}  # fmt: skip
WITHOUT_SCORE: dict[str, dict[str, Any]] = {
    "job.failed": {"score": None, "error_type": f"{TYPE_BASE}degenerate-input"},
    "job.cancelled": {"score": None},
}
WEBHOOKS: tuple[str, ...] = (*get_args(EventType), *get_args(TestType))


def webhook_type(event: str) -> str:
    """Return the name of the event's type in the API's description, such as `JobWebhook`."""
    return f"{event.partition('.')[0].capitalize()}Webhook"


def example(event: str) -> dict[str, Any]:
    """Return an example of this event's body."""
    subject, _, ended = event.partition(".")
    data = SENT[subject] | ({"status": ended} if "status" in SENT[subject] else {})
    return {
        "type": event,
        "timestamp": "2026-09-21T14:13:20Z",
        "data": data | WITHOUT_SCORE.get(event, {}),
    }


def event_types() -> Iterator[type[BaseModel]]:
    """Yield the types of all events."""
    yield from (JobProgress, JobEvent, BatchEvent)
    for subject, data in SUBJECTS.items():
        events = tuple(event for event in WEBHOOKS if event.startswith(f"{subject}."))
        fields: Any = {
            "type": (Literal[events], ...),
            "timestamp": (str, Field(json_schema_extra={"format": "date-time"})),
            "data": (data, ...),
        }
        says = f"The body of an event of a {subject}, below 20 kB."
        yield create_model(webhook_type(events[0]), __doc__=says, **fields)
