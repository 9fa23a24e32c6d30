"""Jobs from the gateway's side: accept, look up, list, cancel."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from sqlalchemy import Connection, Row, func, insert, select, update

from shared.errors import UnknownJob
from shared.ledger.tables import FINAL, jobs

JobStatus = Literal["queued", "running", "succeeded", "failed", "cancelled"]
FINISHED_CHANNEL = "touchstone_job_finished"  # PostgreSQL NOTIFY, payload: the job's id


@dataclass(frozen=True)
class Job:
    """A row of the ledger, as the API shows it."""

    id: str
    metric: str
    status: JobStatus
    request: dict[str, Any]
    attempts: int
    result: dict[str, Any] | None
    error: dict[str, Any] | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    batch_id: str | None

    @property
    def is_final(self) -> bool:
        """Whether nothing can change this job any more."""
        return self.status in FINAL


SHOWN = tuple(jobs.c[name] for name in Job.__dataclass_fields__)


def new_id() -> str:
    """`job_` and 32 hex digits: 48 bits of milliseconds, then 80 random bits; ids sort by time."""
    return f"job_{time.time_ns() // 1_000_000:012x}{secrets.token_hex(10)}"


def job_of(row: Row[Any]) -> Job:
    """A fetched row as a job."""
    return Job(**row._asdict())


def insert_job(
    connection: Connection,
    job_id: str,
    metric: str,
    request: Mapping[str, Any],
    resend_after: timedelta,
) -> Job:
    """A new queued job. If nobody claims it within `resend_after`, the scheduler sends it again."""
    row = connection.execute(
        insert(jobs)
        .values(id=job_id, metric=metric, request=request, resend_at=func.now() + resend_after)
        .returning(*SHOWN)
    ).one()
    return job_of(row)


def find(connection: Connection, job_id: str) -> Job:
    """The job with this id. Raises UnknownJob."""
    row = connection.execute(select(*SHOWN).where(jobs.c.id == job_id)).one_or_none()
    if row is None:
        raise UnknownJob(f"there is no job {job_id!r}")
    return job_of(row)


@dataclass(frozen=True)
class Page:
    """What a list request asks for: newest first, strictly older than `after`."""

    limit: int
    after: str | None = None
    status: JobStatus | None = None
    metric: str | None = None
    batch: str | None = None


def page_of(connection: Connection, page: Page) -> tuple[list[Job], bool]:
    """The jobs of a page, and whether older ones follow."""
    query = select(*SHOWN).order_by(jobs.c.id.desc()).limit(page.limit + 1)
    if page.after is not None:
        query = query.where(jobs.c.id < page.after)
    if page.status is not None:
        query = query.where(jobs.c.status == page.status)
    if page.metric is not None:
        query = query.where(jobs.c.metric == page.metric)
    if page.batch is not None:
        query = query.where(jobs.c.batch_id == page.batch)
    found = [job_of(row) for row in connection.execute(query)]
    return found[: page.limit], len(found) > page.limit


def cancel(connection: Connection, job_id: str) -> Job:
    """Cancel an open job at once; a final one stays as it is. Raises UnknownJob.

    A worker that still computes it is fenced off: its finish finds the job no longer running.
    """
    connection.execute(
        update(jobs)
        .where(jobs.c.id == job_id, jobs.c.status.in_(("queued", "running")))
        .values(status="cancelled", finished_at=func.now(), lease_expires_at=None)
        .returning(func.pg_notify(FINISHED_CHANNEL, jobs.c.id))
    )
    return find(connection, job_id)


def open_counts(connection: Connection) -> dict[tuple[str, str], int]:
    """(metric, status) → how many jobs are queued or running."""
    rows = connection.execute(
        select(jobs.c.metric, jobs.c.status, func.count())
        .where(jobs.c.status.in_(("queued", "running")))
        .group_by(jobs.c.metric, jobs.c.status)
    )
    return {(metric, status): count for metric, status, count in rows}
