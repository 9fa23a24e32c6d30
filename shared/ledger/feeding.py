"""Batches in progress: a window of their lines has jobs, the rest waits as rows.

Lines that ask the same share a job. A job is made and its lines marked in one transaction; the
message is sent after the commit, and what is lost then is re-sent like any other.
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

from shared.ledger.batch_tables import batch_lines, batches
from shared.ledger.batches import NOTICE
from shared.ledger.tables import IS_WAITING, jobs

SETTLING = 7_236_154_028  # an advisory lock: one scheduler settles at a time

OPEN_JOB = jobs.c.status.in_(("queued", "running"))
WAITING = and_(batch_lines.c.batch_id == batches.c.id, batch_lines.c.status == "waiting")


@dataclass(frozen=True)
class Hungry:
    """A batch in progress that has lines without a job."""

    id: str
    metric: str
    tenant: str
    input_file_id: str
    left: int  # lines without an answer
    waiting_for_models: int = 0  # jobs


@dataclass(frozen=True)
class Waiting:
    """A line without a job."""

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


def hungry(connection: Connection) -> list[Hungry]:
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
        )
        .where(batches.c.status == "in_progress", exists().where(WAITING))
        .order_by(batches.c.fed_at.nulls_first(), batches.c.id)
    )
    return [Hungry(**row._asdict()) for row in rows]


def open_jobs(connection: Connection) -> dict[tuple[str, str], int]:
    """(metric, batch) → its queued and running jobs; those that wait for a model hold no place."""
    rows = connection.execute(
        select(jobs.c.metric, jobs.c.batch_id, func.count())
        .where(jobs.c.batch_id.is_not(None), OPEN_JOB, ~IS_WAITING)
        .group_by(jobs.c.metric, jobs.c.batch_id)
    )
    return {(metric, batch_id): count for metric, batch_id, count in rows}


def take(connection: Connection, batch_id: str, count: int) -> list[Waiting]:
    """The next waiting lines of this batch, one a fingerprint; none where it is another's.

    The batch is held until the transaction ends: nobody cancels it meanwhile.
    """
    held = connection.execute(
        select(batches.c.id)
        .where(batches.c.id == batch_id, batches.c.status == "in_progress")
        .with_for_update(skip_locked=True)
    ).one_or_none()
    if held is None:
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
    first: dict[str, Waiting] = {}
    for row in rows:
        first.setdefault(row.fingerprint, Waiting(**row._asdict()))
    return list(first.values())


def feed(
    connection: Connection, batch: Hungry, made: Sequence[NewJob], resend_after: timedelta
) -> None:
    """Make these jobs, and give each to all lines that ask for the same."""
    resend_at = func.now() + resend_after
    tenant = select(batches.c.tenant).where(batches.c.id == batch.id).scalar_subquery()
    connection.execute(
        insert(jobs).values(
            metric=batch.metric, batch_id=batch.id, resend_at=resend_at, tenant=tenant
        ),
        [{"id": new.id, "request": new.request} for new in made],
    )
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


def lose_input(connection: Connection, batch_id: str) -> None:
    """The input file cannot be read any more: the lines without a job fail."""
    lost = connection.execute(
        update(batch_lines)
        .where(batch_lines.c.batch_id == batch_id, batch_lines.c.status == "waiting")
        .values(status="failed")
    )
    _count(connection, batch_id, failed=lost.rowcount)


def settle(connection: Connection) -> int:
    """Lines whose jobs have ended are answered; how many. One scheduler does it at a time."""
    if not connection.execute(select(func.pg_try_advisory_xact_lock(SETTLING))).scalar():
        return 0
    ended = (
        update(batch_lines)
        .where(
            batch_lines.c.status == "open",
            jobs.c.id == batch_lines.c.job_id,
            jobs.c.finished_at.is_not(None),
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
