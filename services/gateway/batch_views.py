"""How files and batches look over HTTP: the OpenAI shapes, times in whole unix seconds."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, Field

from shared.ledger.batches import Batch, BatchStatus
from shared.ledger.files import File, Purpose

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


class FileView(BaseModel):
    """A file."""

    id: str
    object: Literal["file"] = "file"
    bytes: int
    created_at: int = Field(description="unix seconds")
    expires_at: int | None = Field(description="unix seconds")
    filename: str
    purpose: Purpose
    status: Literal["processed"] = "processed"


class FileList(BaseModel):
    """A page of files."""

    object: Literal["list"] = "list"
    data: list[FileView]
    first_id: str | None
    last_id: str | None = Field(description="pass it as `after` to get the next page")
    has_more: bool


class DeletedFile(BaseModel):
    """A file that is no more."""

    id: str
    object: Literal["file"] = "file"
    deleted: Literal[True] = True


class BatchFault(BaseModel):
    """What is wrong with the input file."""

    code: str
    message: str
    param: str | None = Field(description="JSON pointer into the line")
    line: int | None = Field(description="of the input file, from 1")


class BatchFaults(BaseModel):
    """All of it; the reading stops at 100."""

    object: Literal["list"] = "list"
    data: list[BatchFault]


class RequestCounts(BaseModel):
    """Lines of the batch."""

    total: int
    completed: int
    failed: int


class BatchView(BaseModel):
    """A batch, whatever its state. All times are unix seconds, null until it happens."""

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
    metadata: dict[str, str]


class BatchList(BaseModel):
    """A page of batches."""

    object: Literal["list"] = "list"
    data: list[BatchView]
    first_id: str | None
    last_id: str | None = Field(description="pass it as `after` to get the next page")
    has_more: bool


def file_shown(file: File) -> dict[str, Any]:
    """A file's JSON."""
    return {
        "id": file.id,
        "object": "file",
        "bytes": file.bytes,
        "created_at": _seconds(file.created_at),
        "expires_at": _seconds(file.expires_at),
        "filename": file.filename,
        "purpose": file.purpose,
        "status": "processed",
    }


def batch_shown(batch: Batch) -> dict[str, Any]:
    """A batch's JSON."""
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
        **{moment: _seconds(getattr(batch, moment)) for moment in MOMENTS},
        "request_counts": {
            "total": batch.total,
            "completed": batch.completed,
            "failed": batch.failed,
        },
        "metadata": batch.metadata,
    }


def _seconds(instant: datetime | None) -> int | None:
    return None if instant is None else int(instant.timestamp())
