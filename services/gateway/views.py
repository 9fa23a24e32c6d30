"""The JSON of jobs, files, batches and their events. Files and batches have the OpenAI format, with
times in whole unix seconds. A client that reconnects can get missed events from any gateway."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from shared.contracts.errors import ModelState
from shared.contracts.messages import Context, Trace, VerdictWord
from shared.ledger.batches import Batch, BatchStatus
from shared.ledger.files import File, Purpose
from shared.ledger.job_json import to_timestamp
from shared.ledger.jobs import Job, JobStatus

TEMPLATE = "#/components/schemas/{model}"
MOMENTS = (
    "created_at",
    "in_progress_at",
    "expires_at",
    "finalizing_at",
    "completed_at",
    "failed_at",
    "expired_at",
    "cancelling_at",
    "cancelled_at",
)


ALWAYS_SENT = ConfigDict(json_schema_serialization_defaults_required=True)

Listed = TypeVar("Listed")


class ListPage(BaseModel, Generic[Listed]):
    """A page of a list."""

    model_config = ALWAYS_SENT

    object: Literal["list"] = "list"
    data: list[Listed]
    first_id: str | None
    last_id: str | None = Field(description="pass it as `after` to get the next page")
    has_more: bool


class FieldError(BaseModel):
    """An error in a request."""

    detail: str
    pointer: str = Field(description="JSON pointer (RFC 6901) into the body, as a URI fragment")


class SdkError(BaseModel):
    """The problem in the form of OpenAI's SDKs."""

    message: str = Field(description="title, detail and location in one sentence")
    type: str = Field(description="type in OpenAI's form, such as `invalid_request_error`")
    code: str = Field(description="the last part of the problem's `type`")
    param: str | None = Field(description="the first invalid field, as in `requests.17.text`")


class ProblemSchema(BaseModel):
    """RFC 9457 problem details."""

    type: str
    title: str
    status: int
    detail: str
    instance: str | None = Field(
        default=None, description="`urn:touchstone:` and the request's id, as in x-request-id"
    )
    errors: list[FieldError] | None = None
    error: SdkError
    error_id: str | None = Field(default=None, description="id of this failure in the log")
    model: str | None = Field(default=None, description="the model that lacks an ability")
    ability: str | None = Field(default=None, description="the ability that the model lacks")
    abilities: list[str] | None = Field(default=None, description="the abilities of the model")
    violated_policies: list[str] | None = Field(
        default=None,
        serialization_alias="violated-policies",
        description="for status 429: `requests` (see RateLimit-Policy), `open-jobs`, "
        "`open-streams`, `open-batches`, `stored-files`, `stored-bytes`, "
        "`uploads` or `bulk-calls`",
    )


class WaitingFor(BaseModel):
    """The model that a queued job waits for."""

    model: str
    state: ModelState | None = Field(
        default=None, description="the model's state at the last attempt"
    )
    detail: str = Field(description="why it is not ready")


class JobTiming(BaseModel):
    """The times that a job waited and ran, to the millisecond."""

    queued_seconds: float | None = Field(
        description="seconds from the job's acceptance to its first start, or to its end if it "
        "never started; null while queued"
    )
    run_seconds: float | None = Field(
        description="seconds from the job's first start to its end, including further attempts; "
        "null until it ends"
    )


class JobSchema(BaseModel):
    """A job in any state. `job_views` adds the result of its metric."""

    model_config = ALWAYS_SENT

    id: str
    object: Literal["job"] = "job"
    metric: str
    status: JobStatus
    created_at: int = Field(description="unix seconds")
    started_at: int | None = Field(description="unix seconds; null while queued")
    finished_at: int | None = Field(description="unix seconds; null until the job is final")
    timing: JobTiming
    attempts: int
    request_id: str | None = Field(
        description="x-request-id of the request that created the job or its batch; null for "
        "older jobs"
    )
    batch_id: str | None = None
    waiting_for: WaitingFor | None = Field(
        default=None,
        description="the model that the job waits for, while it is queued because the model is "
        "not ready",
    )
    metadata: dict[str, str]
    context: Context | None
    trace: Trace | None = Field(description="the request's `trace`")
    request: dict[str, JsonValue] | None = Field(
        description="the request with its defaults, only in `GET /v1/jobs/{id}`; null "
        "elsewhere, and if its texts are not stored"
    )
    error: ProblemSchema | None = Field(description="the problem of a failed job")


class Deleted(BaseModel):
    """A job or a file that no longer exists."""

    model_config = ALWAYS_SENT

    id: str
    object: Literal["job", "file"]
    deleted: Literal[True] = True


class DeletedJobs(BaseModel):
    """The outcome of deleting jobs by their metadata."""

    model_config = ALWAYS_SENT

    object: Literal["job_deletion"] = "job_deletion"
    jobs: int = Field(description="jobs that were deleted")
    lines: int = Field(description="lines of batches that were deleted, with or without a job")
    open: int = Field(
        description="matching jobs and lines that were not deleted because they or their batch "
        "have not ended, plus batches that are still being validated; if not 0, repeat the "
        "deletion later"
    )


class JobSummary(BaseModel):
    """A job in a list; the whole job is at `GET /v1/jobs/{id}`."""

    model_config = ALWAYS_SENT

    id: str
    object: Literal["job"] = "job"
    metric: str
    status: JobStatus
    verdict: VerdictWord | None = Field(description="verdict of a metric's result")
    score: float | None = Field(description="score of a metric's result; null if undefined")
    decision: str | None = Field(
        description="the explained decision, as sent or else as stated in the explanation"
    )
    batch_id: str | None
    metadata: dict[str, str]
    created_at: int = Field(description="unix seconds")
    started_at: int | None = Field(description="unix seconds")
    finished_at: int | None = Field(description="unix seconds")


class JobBrief(BaseModel):
    """A short form of a job; the rest is at `GET /v1/jobs/{id}`."""

    model_config = ALWAYS_SENT

    id: str
    object: Literal["job"] = "job"
    metric: str
    status: JobStatus


def error_responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI error responses of a route. `statuses` are added to those that every route
    has."""
    listed = {status: {"model": ProblemSchema} for status in (*statuses, 401, 429, 503)}
    return dict(sorted(listed.items()))


def schema_response(
    component: str, description: str, headers: Iterable[str] = ()
) -> dict[str, Any]:
    """Return an OpenAPI response whose body has this schema."""
    content = {"application/json": {"schema": {"$ref": TEMPLATE.format(model=component)}}}
    return {
        "description": description,
        "content": content,
        "headers": {name: {} for name in headers},
    }


def body_schema(*messages: type[BaseModel], **more: Any) -> dict[str, Any]:
    """Return the OpenAPI description of a JSON body that is one of these types. `more` holds
    additional keys of the media type."""
    kinds = [{"$ref": TEMPLATE.format(model=message.__name__)} for message in messages]
    schema: dict[str, Any] = kinds[0] if len(kinds) == 1 else {"anyOf": kinds}
    content = {"application/json": {"schema": schema, **more}}
    return {"requestBody": {"required": True, "content": content}}


@dataclass(frozen=True)
class ProgressEvent:
    """An event in a stream about a job or batch. `number` is its id."""

    number: int
    name: str
    data: dict[str, Any]


def of_job(job: Job) -> list[ProgressEvent]:
    """Return the events of a job: queued, every attempt, and the end. They do not contain the
    result."""
    events = [_job(1, job, "queued", attempts=0, at=to_timestamp(job.created_at))]
    for attempt in range(1, job.attempts + 1):
        started = to_timestamp(job.started_at) if attempt == 1 else None
        events.append(_job(1 + attempt, job, "running", attempts=attempt, at=started))
    if job.is_final:
        number = 2 + job.attempts
        ended = to_timestamp(job.finished_at)
        events.append(_job(number, job, job.status, attempts=job.attempts, at=ended))
    return events


def of_batch(batch: Batch) -> list[ProgressEvent]:
    """Return an event with the current state of the batch. Its number grows with every change of
    the batch."""
    return [ProgressEvent(batch.revision, f"batch.{batch.status}", batch_json(batch))]


def _job(number: int, job: Job, status: str, *, attempts: int, at: int | None) -> ProgressEvent:
    data = {"id": job.id, "object": "job", "status": status, "attempts": attempts, "at": at}
    return ProgressEvent(number, f"job.{status}", data)


class StoredFileSchema(BaseModel):
    """A file."""

    model_config = ALWAYS_SENT

    id: str
    object: Literal["file"] = "file"
    bytes: int
    created_at: int = Field(description="unix seconds")
    expires_at: int | None = Field(description="unix seconds")
    filename: str
    purpose: Purpose
    status: Literal["processed"] = "processed"


class FileList(ListPage[StoredFileSchema]):
    """A page of files."""


class BatchFault(BaseModel):
    """An error in an input file."""

    code: str
    message: str
    param: str | None = Field(description="JSON pointer into the line")
    line: int | None = Field(description="line number in the input file, from 1")


class BatchFaults(BaseModel):
    """The errors in the input file, up to 100."""

    model_config = ALWAYS_SENT

    object: Literal["list"] = "list"
    data: list[BatchFault]


class RequestCounts(BaseModel):
    """Counts of a batch's lines."""

    total: int
    completed: int
    failed: int


class BatchSchema(BaseModel):
    """A batch in any state. All times are unix seconds, null until the event happens."""

    model_config = ALWAYS_SENT

    id: str
    object: Literal["batch"] = "batch"
    endpoint: str
    metric: str
    errors: BatchFaults | None
    input_file_id: str
    completion_window: Literal["24h"] = "24h"
    status: BatchStatus
    output_file_id: str | None
    error_file_id: str | None
    created_at: int
    in_progress_at: int | None
    expires_at: int
    finalizing_at: int | None
    completed_at: int | None
    failed_at: int | None
    expired_at: int | None
    cancelling_at: int | None
    cancelled_at: int | None
    request_counts: RequestCounts
    erased: int = Field(description="number of lines deleted on request; the counts include them")
    metadata: dict[str, str]


class BatchList(ListPage[BatchSchema]):
    """A page of batches."""


def file_json(file: File) -> dict[str, Any]:
    return {
        "id": file.id,
        "object": "file",
        "bytes": file.bytes,
        "created_at": to_timestamp(file.created_at),
        "expires_at": to_timestamp(file.expires_at),
        "filename": file.filename,
        "purpose": file.purpose,
        "status": "processed",
    }


def batch_json(batch: Batch) -> dict[str, Any]:
    errors = None if batch.errors is None else {"object": "list", "data": batch.errors}
    return {
        "id": batch.id,
        "object": "batch",
        "endpoint": batch.endpoint,
        "metric": batch.metric,
        "errors": errors,
        "input_file_id": batch.input_file_id,
        "completion_window": "24h",
        "status": batch.status,
        "output_file_id": batch.output_file_id,
        "error_file_id": batch.error_file_id,
        **{moment: to_timestamp(getattr(batch, moment)) for moment in MOMENTS},
        "request_counts": {
            "total": batch.total,
            "completed": batch.completed,
            "failed": batch.failed,
        },
        "erased": batch.erased,
        "metadata": batch.metadata,
    }
