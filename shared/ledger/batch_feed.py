"""Batches in progress: a window of their lines has jobs, the rest waits as rows.

Lines that ask the same share a job. A job is made and its lines marked in one transaction; the
message is sent after the commit, and what is lost then is re-sent like any other. The lines are
read from the file while no row is locked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import (
    ARRAY,
    Connection,
    String,
    and_,
    exists,
    func,
    insert,
    literal,
    select,
    update,
)

from shared.ledger.batches import NOTICE, try_acquire
from shared.ledger.tables import IS_OPEN, IS_QUEUED, IS_WAITING, OPEN, batch_lines, batches, jobs

SETTLING = 7_236_154_028  # an advisory lock: one scheduler settles at a time

WAITING = and_(batch_lines.c.batch_id == batches.c.id, batch_lines.c.status == "waiting")


@dataclass(frozen=True)
class OpenBatch:
    """A batch in progress that has lines without a job."""

    id: str
    metric: str
    tenant: str
    input_file_id: str
    left: int  # lines without an answer
    waiting_for_models: int = 0  # jobs
    request_id: str | None = None  # of the HTTP request that made it
    accept_untrained_languages: bool = False


@dataclass(frozen=True)
class WaitingLine:
    number: int
    start: int
    length: int
    fingerprint: str


@dataclass(frozen=True)
class NewJob:
    """The job of all lines with this fingerprint."""

    id: str
    fingerprint: str
    request: Mapping[str, Any]


def open_batches(connection: Connection) -> list[OpenBatch]:
    """Batches with waiting lines, those first that were fed longest ago."""
    waiting = (
        select(func.count()).where(jobs.c.batch_id == batches.c.id, IS_WAITING).scalar_subquery()
    )
    left = batches.c.total - batches.c.completed - batches.c.failed
    rows = connection.execute(
        select(
            batches.c.id,
            batches.c.metric,
            batches.c.tenant,
            batches.c.input_file_id,
            left.label("left"),
            waiting.label("waiting_for_models"),
            batches.c.request_id,
            batches.c.accept_untrained_languages,
        )
        .where(batches.c.status == "in_progress", exists().where(WAITING))
        .order_by(batches.c.fed_at.nulls_first(), batches.c.id)
    )
    return [OpenBatch(**row._asdict()) for row in rows]


@dataclass(frozen=True)
class Load:
    """A batch's jobs in a metric's batch queue now."""

    metric: str
    tenant: str
    batch_id: str
    jobs: int  # queued and running
    queued: int


def open_jobs(connection: Connection) -> list[Load]:
    """The open jobs of all batches; those that wait for a model hold no place."""
    queued = func.count().filter(IS_QUEUED)
    whose = (jobs.c.metric, jobs.c.tenant, jobs.c.batch_id)
    rows = connection.execute(
        select(*whose, func.count(), queued)
        .where(jobs.c.batch_id.is_not(None), IS_OPEN, ~IS_WAITING)
        .group_by(*whose)
    )
    return [Load(*row) for row in rows]


def take(connection: Connection, batch_id: str, count: int) -> list[WaitingLine]:
    """The next waiting lines of this batch, one a fingerprint; none where it is another's.

    No other scheduler feeds the batch until the transaction ends.
    """
    if not try_acquire(connection, batch_id):
        return []
    rows = connection.execute(
        select(
            batch_lines.c.number,
            batch_lines.c.start,
            batch_lines.c.length,
            batch_lines.c.fingerprint,
        )
        .where(batch_lines.c.batch_id == batch_id, batch_lines.c.status == "waiting")
        .order_by(batch_lines.c.number)
        .limit(count)
    )
    first: dict[str, WaitingLine] = {}
    for row in rows:
        first.setdefault(row.fingerprint, WaitingLine(**row._asdict()))
    return list(first.values())


def acquire_active(connection: Connection, batch_id: str) -> bool:
    """Whether the batch is in progress; nobody cancels it until the transaction ends."""
    query = select(batches.c.id).where(batches.c.id == batch_id, batches.c.status == "in_progress")
    return connection.execute(query.with_for_update()).one_or_none() is not None


def feed(
    connection: Connection, batch: OpenBatch, made: Sequence[NewJob], resend_after: timedelta
) -> bool:
    """Make these jobs, and give each to all lines that ask for the same; False where the batch is
    in progress no more."""
    if not acquire_active(connection, batch.id):
        return False
    _insert(connection, batch, made, resend_after)
    fed = (
        func.unnest(
            literal([new.fingerprint for new in made], ARRAY(String)),
            literal([new.id for new in made], ARRAY(String)),
        )
        .table_valued("fingerprint", "job_id")
        .render_derived("fed")
    )
    connection.execute(
        update(batch_lines)
        .where(
            batch_lines.c.batch_id == batch.id,
            batch_lines.c.status == "waiting",
            batch_lines.c.fingerprint == fed.c.fingerprint,
        )
        .values(status="open", job_id=fed.c.job_id)
    )
    connection.execute(update(batches).where(batches.c.id == batch.id).values(fed_at=func.now()))
    return True


def _insert(
    connection: Connection, batch: OpenBatch, made: Sequence[NewJob], resend_after: timedelta
) -> None:
    connection.execute(
        insert(jobs).values(
            metric=batch.metric,
            batch_id=batch.id,
            resend_at=func.now() + resend_after,
            tenant=batch.tenant,
            request_id=batch.request_id,
        ),
        [{"id": new.id, "request": new.request} for new in made],
    )


def fail_input(connection: Connection, batch_id: str) -> None:
    """The input file cannot be read any more: the lines without a job fail."""
    if not acquire_active(connection, batch_id):
        return
    lost = connection.execute(
        update(batch_lines)
        .where(batch_lines.c.batch_id == batch_id, batch_lines.c.status == "waiting")
        .values(status="failed")
    )
    _count(connection, batch_id, failed=lost.rowcount)


def finish_lines(connection: Connection, only: Sequence[str] | None = None) -> int:
    """Lines whose jobs have ended are answered; how many. One scheduler does it at a time.
    only: of these batches; None: of all."""
    named = [] if only is None else [batches.c.id.in_(only)]
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
            *named,
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
