"""Formats a job as JSON for the API, the output files of batches and the client's `Local()`."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from shared.contracts.answers import shown_result
from shared.contracts.problems import to_public
from shared.ledger.jobs import Job


def job_json(job: Job, *, with_request: bool = False, details: bool = False) -> dict[str, Any]:
    """Return the JSON object of a job. `error` has no internal fields. The request is null unless
    `with_request` is True and its texts are stored. `details` includes the details of a metric's
    result."""
    is_shown = with_request and not job.request.get("do_not_store_text")
    return {
        "id": job.id,
        "object": "job",
        "metric": job.metric,
        "status": job.status,
        "created_at": to_timestamp(job.created_at),
        "started_at": to_timestamp(job.started_at),
        "finished_at": to_timestamp(job.finished_at),
        "timing": job_times(job),
        "attempts": job.attempts,
        "request_id": job.request_id,
        "batch_id": job.batch_id,
        "waiting_for": job.waiting_for if job.status == "queued" else None,
        "metadata": job.request.get("metadata", {}),
        "context": job.request.get("context"),
        "trace": job.request.get("trace"),
        "request": job.request if is_shown else None,
        "result": shown_result(job.result, details=details),
        "error": None if job.error is None else to_public(job.error, job.request_id),
    }


def to_timestamp(instant: datetime | None) -> int | None:
    """Return whole unix seconds, or None for None."""
    return None if instant is None else int(instant.timestamp())


def job_times(job: Job) -> dict[str, float | None]:
    """Return the job's durations in seconds, with fractions."""
    left_queue = job.started_at or job.finished_at
    return {
        "queued_seconds": _length(job.created_at, left_queue),
        "run_seconds": _length(job.started_at, job.finished_at),
    }


def _length(begin: datetime | None, end: datetime | None) -> float | None:
    if begin is None or end is None:
        return None
    return round(max(0.0, (end - begin).total_seconds()), 3)
