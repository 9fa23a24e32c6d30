"""Jobs from the gateway's side: accept, look up, list, cancel."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from sqlalchemy import ColumnElement, Connection, Row, Select, func, insert, select, update

from shared.errors import UnknownJob
from shared.ledger.tables import DEFAULT_TENANT, FINAL, jobs, tried_attempts
from shared.ledger.telling import TOLD, tell

JobStatus = Literal["queued", "running", "succeeded", "failed", "cancelled"]
FINISHED_CHANNEL = "touchstone_job_finished"  # PostgreSQL NOTIFY, payload: the job's id


@dataclass(frozen=True)
class Job:
    """A row of the ledger, as the API shows it."""

    id: str
    metric: str
    tenant: str
    status: JobStatus
    request: dict[str, Any]
    attempts: int
    result: dict[str, Any] | None
    error: dict[str, Any] | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    batch_id: str | None
    waiting_for: dict[str, str] | None = None  # `model` and `detail`

    @property
    def is_final(self) -> bool:
        """Whether nothing can change this job any more."""
        return self.status in FINAL


SHOWN = tuple(
    tried_attempts.label("attempts") if name == "attempts" else jobs.c[name]
    for name in Job.__dataclass_fields__
)
IN_A_LINE = (
    *(jobs.c[name] for name in ("id", "metric", "status", "created_at")),
    jobs.c.result["range"].is_not(None),  # a metric's result
    jobs.c.result["score"],
)


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
    *,
    tenant: str = DEFAULT_TENANT,
) -> Job:
    """A new queued job. If nobody claims it within `resend_after`, the scheduler sends it again."""
    resend_at = func.now() + resend_after
    created_at = connection.execute(
        insert(jobs)
        .values(id=job_id, metric=metric, tenant=tenant, request=request, resend_at=resend_at)
        .returning(jobs.c.created_at)  # the rest is known: no text travels back
    ).scalar_one()
    return Job(
        id=job_id,
        metric=metric,
        tenant=tenant,
        status="queued",
        request=dict(request),
        attempts=0,
        result=None,
        error=None,
        created_at=created_at,
        started_at=None,
        finished_at=None,
        batch_id=None,
    )


def find(connection: Connection, job_id: str, *, tenant: str | None = None) -> Job:
    """The job with this id; of this tenant, where one is named. Raises UnknownJob."""
    query = select(*SHOWN).where(jobs.c.id == job_id)
    if tenant is not None:
        query = query.where(jobs.c.tenant == tenant)
    row = connection.execute(query).one_or_none()
    if row is None:
        raise UnknownJob(f"there is no job {job_id!r}")
    return job_of(row)


@dataclass(frozen=True)
class Page:
    """What a list request asks for: newest first, strictly older than `after`.

    tenant: whose jobs; None: everybody's.
    """

    limit: int
    tenant: str | None = None
    after: str | None = None
    status: JobStatus | None = None
    metric: str | None = None
    batch: str | None = None


def page_of(connection: Connection, page: Page) -> tuple[list[Job], bool]:
    """The jobs of a page, and whether older ones follow."""
    found = [job_of(row) for row in connection.execute(_of(page, *SHOWN))]
    return found[: page.limit], len(found) > page.limit


@dataclass(frozen=True)
class Summary:
    """A job in one line. score: None where undefined, and where `is_scored` is false."""

    id: str
    metric: str
    status: JobStatus
    created_at: datetime
    is_scored: bool
    score: float | None


def summaries(connection: Connection, page: Page) -> tuple[list[Summary], bool]:
    """The same page without requests and results: what is large stays in the ledger."""
    found = [Summary(*row) for row in connection.execute(_of(page, *IN_A_LINE))]
    return found[: page.limit], len(found) > page.limit


def _of(page: Page, *columns: ColumnElement[Any]) -> Select[Any]:
    """One more than the page holds. The rows come first: no result is opened only to be sorted."""
    query = select(jobs.c.id).order_by(jobs.c.id.desc()).limit(page.limit + 1)
    if page.tenant is not None:
        query = query.where(jobs.c.tenant == page.tenant)
    if page.after is not None:
        query = query.where(jobs.c.id < page.after)
    if page.status is not None:
        query = query.where(jobs.c.status == page.status)
    if page.metric is not None:
        query = query.where(jobs.c.metric == page.metric)
    if page.batch is not None:
        query = query.where(jobs.c.batch_id == page.batch)
    rows = query.subquery()
    return select(*columns).join(rows, jobs.c.id == rows.c.id).order_by(jobs.c.id.desc())


def cancel(connection: Connection, job_id: str, *, tenant: str | None = None) -> Job:
    """Cancel an open job at once; a final one stays as it is. Raises UnknownJob.

    A worker that still computes it is fenced off: its finish finds the job no longer running.
    """
    find(connection, job_id, tenant=tenant)
    rows = connection.execute(
        update(jobs)
        .where(jobs.c.id == job_id, jobs.c.status.in_(("queued", "running")))
        .values(status="cancelled", finished_at=func.now(), lease_expires_at=None)
        .returning(*TOLD, func.pg_notify(FINISHED_CHANNEL, jobs.c.id))
    )
    for row in rows:
        tell(connection, row)
    return find(connection, job_id)


def open_counts(connection: Connection) -> dict[tuple[str, str], int]:
    """(metric, status) → how many jobs are queued or running."""
    rows = connection.execute(
        select(jobs.c.metric, jobs.c.status, func.count())
        .where(jobs.c.status.in_(("queued", "running")))
        .group_by(jobs.c.metric, jobs.c.status)
    )
    return {(metric, status): count for metric, status, count in rows}
