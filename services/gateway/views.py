"""How a job looks over HTTP."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel, Field

from shared.contracts import Context, Message
from shared.ledger.jobs import Job, JobStatus

AnyResult = dict[str, Any]  # of whichever room: its own operation describes it
R = TypeVar("R", bound=Message | AnyResult)


class FieldError(BaseModel):
    """One fault of a request."""

    detail: str
    pointer: str = Field(description="JSON pointer (RFC 6901) into the body, as a URI fragment")


class ProblemView(BaseModel):
    """RFC 9457 problem details."""

    type: str
    title: str
    status: int
    detail: str
    errors: list[FieldError] | None = None
    error_id: str | None = Field(default=None, description="what the log calls this failure")
    violated_policies: list[str] | None = Field(
        default=None,
        serialization_alias="violated-policies",
        description="of a 429: `requests` (see RateLimit-Policy), `open-jobs`, `open-streams`, "
        "`open-batches`, `stored-files`, `stored-bytes` or `uploads`",
    )


class WaitingFor(BaseModel):
    """The model that a queued job waits for."""

    model: str
    detail: str = Field(description="why it is not ready")


class JobView(BaseModel, Generic[R]):
    """A job, whatever its state."""

    id: str
    object: Literal["job"] = "job"
    metric: str
    status: JobStatus
    created_at: float = Field(description="unix seconds")
    started_at: float | None = Field(description="unix seconds; null while queued")
    finished_at: float | None = Field(description="unix seconds; null until the job is final")
    attempts: int
    batch_id: str | None = None
    waiting_for: WaitingFor | None = Field(
        default=None, description="while the job is queued because a model is not ready"
    )
    metadata: dict[str, str]
    context: Context | None
    result: R | None = Field(description="where the job succeeded")
    error: ProblemView | None = Field(description="where the job failed")


class JobList(BaseModel, Generic[R]):
    """A page of jobs, newest first."""

    object: Literal["list"] = "list"
    data: list[JobView[R]]
    first_id: str | None
    last_id: str | None = Field(description="pass it as `after` to get the next page")
    has_more: bool


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The refusals that a route may answer with: these, and those that every route has.

    403 is for routes that need a certain scope: some may be used with any.
    """
    listed = {status: {"model": ProblemView} for status in (*statuses, 401, 429, 503)}
    return dict(sorted(listed.items()))


def shown(job: Job) -> dict[str, Any]:
    """A job's JSON. The result goes out as the worker wrote it, byte for byte."""
    return {
        "id": job.id,
        "object": "job",
        "metric": job.metric,
        "status": job.status,
        "created_at": seconds(job.created_at),
        "started_at": seconds(job.started_at),
        "finished_at": seconds(job.finished_at),
        "attempts": job.attempts,
        "batch_id": job.batch_id,
        "waiting_for": job.waiting_for if job.status == "queued" else None,
        "metadata": job.request.get("metadata", {}),
        "context": job.request.get("context"),
        "result": job.result,
        "error": job.error,
    }


def seconds(instant: datetime | None) -> float | None:
    """Unix seconds, to the millisecond."""
    return None if instant is None else round(instant.timestamp(), 3)
