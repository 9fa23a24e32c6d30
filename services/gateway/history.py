"""What has happened to a job or a batch, as events with ids that grow.

The ids follow from the ledger's row: whoever comes back with the last id it saw gets what it
missed, from any gateway.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from services.gateway.batch_views import batch_shown
from services.gateway.views import seconds
from shared.ledger.batches import Batch
from shared.ledger.jobs import Job


@dataclass(frozen=True)
class Happening:
    """One event. number: its id in the stream."""

    number: int
    name: str
    data: dict[str, Any]


def of_job(job: Job) -> list[Happening]:
    """Queued, every attempt, and the end; thin: the result is at `GET /v1/jobs/{id}`."""
    told = [_job(1, job, "queued", attempts=0, at=seconds(job.created_at))]
    for attempt in range(1, job.attempts + 1):
        started = seconds(job.started_at) if attempt == 1 else None
        told.append(_job(1 + attempt, job, "running", attempts=attempt, at=started))
    if job.is_final:
        number = 2 + job.attempts
        ended = seconds(job.finished_at)
        told.append(_job(number, job, job.status, attempts=job.attempts, at=ended))
    return told


def of_batch(batch: Batch) -> list[Happening]:
    """The batch as it is now; its revision grows with every change."""
    return [Happening(batch.revision, f"batch.{batch.status}", batch_shown(batch))]


def _job(number: int, job: Job, status: str, *, attempts: int, at: float | None) -> Happening:
    data = {"id": job.id, "object": "job", "status": status, "attempts": attempts, "at": at}
    return Happening(number, f"job.{status}", data)
