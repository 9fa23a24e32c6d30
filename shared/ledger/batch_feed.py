"""Creates jobs for the lines of batches in progress. Only a limited number of lines have jobs; the
other lines wait as rows.

Lines with the same fingerprint share a job. A job is created and its lines are marked in one
transaction. The message is sent after the commit, and a lost message is sent again like any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import (
    ARRAY,
    ColumnElement,
    Connection,
    Integer,
    String,
    and_,
    exists,
    func,
    insert,
    literal,
    null,
    select,
    update,
)

from shared.ledger.batches import NOTICE, try_acquire
from shared.ledger.jobs import new_id
from shared.ledger.tables import IS_OPEN, IS_QUEUED, IS_WAITING, OPEN, batch_lines, batches, jobs

SETTLING = 7_236_154_028  # an advisory lock: one scheduler settles at a time

WAITING = and_(batch_lines.c.batch_id == batches.c.id, batch_lines.c.status == "waiting")


@dataclass(frozen=True)
class OpenBatch:
    """A batch in progress that has lines without a job."""

    id: str
    metric: str
    tenant: str
    left: int  # lines without an answer
    waiting_for_models: int = 0  # jobs


def open_batches(connection: Connection) -> list[OpenBatch]:
    """Return the batches with lines that have no job yet, least recently served first."""
    waiting = (
        select(func.count()).where(jobs.c.batch_id == batches.c.id, IS_WAITING).scalar_subquery()
    )
    left = batches.c.total - batches.c.completed - batches.c.failed
    rows = connection.execute(
        select(
            batches.c.id,
            batches.c.metric,
            batches.c.tenant,
            left.label("left"),
            waiting.label("waiting_for_models"),
        )
        .where(batches.c.status == "in_progress", exists().where(WAITING))
        .order_by(batches.c.fed_at.nulls_first(), batches.c.id)
    )
    return [OpenBatch(**row._asdict()) for row in rows]


def model_waited_for(connection: Connection, batch_id: str) -> dict[str, str] | None:
    """Return the `model` that a job of this batch waits for, with `state` and `detail`. Return None
    if none waits for a model."""
    query = select(jobs.c.waiting_for).where(jobs.c.batch_id == batch_id, IS_WAITING)
    return connection.execute(query.limit(1)).scalar_one_or_none()


@dataclass(frozen=True)
class Load:
    """The number of open jobs that a batch has in a metric's batch queue."""

    metric: str
    tenant: str
    batch_id: str
    jobs: int  # queued and running
    queued: int


def open_jobs(connection: Connection) -> list[Load]:
    """Count the open and the queued jobs of each batch, without those that wait for a model."""
    queued = func.count().filter(IS_QUEUED)
    group = (jobs.c.metric, jobs.c.tenant, jobs.c.batch_id)
    rows = connection.execute(
        select(*group, func.count(), queued)
        .where(jobs.c.batch_id.is_not(None), IS_OPEN, ~IS_WAITING)
        .group_by(*group)
    )
    return [Load(*row) for row in rows]


def feed(connection: Connection, batch_id: str, count: int, resend_after: timedelta) -> list[str]:
    """Create jobs for at most `count` waiting lines of the batch, and return their ids. Equal lines
    share a job. Return [] if another scheduler is processing the batch, or if the batch is no
    longer in progress."""
    if not (try_acquire(connection, batch_id) and _acquire_active(connection, batch_id)):
        return []
    is_waiting = and_(batch_lines.c.batch_id == batch_id, batch_lines.c.status == "waiting")
    rows = connection.execute(
        select(batch_lines.c.fingerprint, batch_lines.c.number)
        .where(is_waiting)
        .order_by(batch_lines.c.number)
        .limit(count)
    )
    first: dict[str, int] = {}
    for row in rows:
        first.setdefault(row.fingerprint, row.number)
    if not first:
        return []
    ids = sorted(new_id() for _ in first)
    fed = (
        func.unnest(
            literal(ids, ARRAY(String)),
            literal(list(first.values()), ARRAY(Integer)),
            literal(list(first), ARRAY(String)),
        )
        .table_valued("job_id", "number", "fingerprint")
        .render_derived("made")
    )
    values: dict[str, ColumnElement[Any]] = {
        "id": fed.c.job_id,
        "metric": batches.c.metric,
        "tenant": batches.c.tenant,
        "request": batch_lines.c.request,  # a sealed request is copied as it is
        "resend_at": func.now() + resend_after,
        "batch_id": batches.c.id,
        "request_id": batches.c.request_id,
    }
    lines = (
        select(*values.values())
        .select_from(
            batch_lines.join(batches, batches.c.id == batch_lines.c.batch_id).join(
                fed, fed.c.number == batch_lines.c.number
            )
        )
        .where(is_waiting)
    )
    connection.execute(insert(jobs).from_select(list(values), lines))
    connection.execute(
        update(batch_lines)
        .where(is_waiting, batch_lines.c.fingerprint == fed.c.fingerprint)
        .values(status="open", job_id=fed.c.job_id, request=null())
    )
    connection.execute(update(batches).where(batches.c.id == batch_id).values(fed_at=func.now()))
    return ids


def _acquire_active(connection: Connection, batch_id: str) -> bool:
    """Return True if the batch is in progress. Its status then stays unchanged until the
    transaction ends."""
    query = select(batches.c.id).where(batches.c.id == batch_id, batches.c.status == "in_progress")
    return connection.execute(query.with_for_update()).one_or_none() is not None


def finish_lines(connection: Connection, only: Sequence[str] | None = None) -> int:
    """Copy the outcome of ended jobs to their batch lines and return the number of lines. Only one
    scheduler does this at a time; others get 0. `only` restricts it to these batches."""
    in_batches = [] if only is None else [batches.c.id.in_(only)]
    if not connection.execute(select(func.pg_try_advisory_xact_lock(SETTLING))).scalar():
        return 0
    ended = (
        update(batch_lines)
        .where(
            batch_lines.c.status == "open",
            jobs.c.id == batch_lines.c.job_id,
            jobs.c.finished_at.is_not(None),
            batches.c.id == batch_lines.c.batch_id,
            batches.c.status.in_(OPEN),
            *in_batches,
        )
        .values(status=jobs.c.status)
        .returning(batch_lines.c.batch_id, batch_lines.c.status)
        .cte("ended")
    )
    succeeded = func.count().filter(ended.c.status == "succeeded")
    rows = connection.execute(
        select(ended.c.batch_id, succeeded.label("good"), func.count().label("all")).group_by(
            ended.c.batch_id
        )
    ).all()
    for row in rows:
        _count(connection, row.batch_id, completed=row.good, failed=row.all - row.good)
    return sum(row.all for row in rows)


def _count(connection: Connection, batch_id: str, *, completed: int = 0, failed: int = 0) -> None:
    connection.execute(
        update(batches)
        .where(batches.c.id == batch_id)
        .values(
            completed=batches.c.completed + completed,
            failed=batches.c.failed + failed,
            revision=batches.c.revision + 1,
        )
        .returning(NOTICE)
    )
