"""Jobs from the scheduler's side: what was lost is found again."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, func, literal, select, update

from shared.ledger.jobs import FINISHED_CHANNEL
from shared.ledger.tables import IS_WAITING, jobs, tried_attempts
from shared.ledger.telling import TOLD, tell

EXPIRED = (jobs.c.status == "running", jobs.c.lease_expires_at < func.now())


class Lane(NamedTuple):
    """One of a metric's two lanes."""

    metric: str
    batch: bool

    @property
    def its_jobs(self) -> tuple[ColumnElement[bool], ...]:
        """The jobs that travel in it."""
        return (jobs.c.metric == self.metric, jobs.c.batch_id.is_not(None) == self.batch)


def queued_count(connection: Connection, lane: Lane) -> int:
    """How many jobs of this lane wait to be claimed; those that wait for a model do not."""
    return connection.execute(
        select(func.count()).where(jobs.c.status == "queued", ~IS_WAITING, *lane.its_jobs)
    ).scalar_one()


def take_waiting(
    connection: Connection, lane: Lane, *, limit: int, again_after: timedelta
) -> list[str]:
    """Jobs of this lane that wait for a model and shall look for it now, at most `limit`."""
    return _take(connection, (IS_WAITING, *lane.its_jobs), limit=limit, again_after=again_after)


def take_unclaimed(
    connection: Connection, lane: Lane, *, limit: int, again_after: timedelta
) -> list[str]:
    """Queued jobs of this lane whose message seems lost, oldest first, at most `limit`."""
    return _take(
        connection,
        (jobs.c.status == "queued", ~IS_WAITING, *lane.its_jobs),
        limit=limit,
        again_after=again_after,
    )


def take_orphans(
    connection: Connection, lane: Lane, *, limit: int, again_after: timedelta, max_attempts: int
) -> list[str]:
    """Running jobs of this lane whose worker let the lease expire; suspects are left alone."""
    innocent = tried_attempts < max_attempts - 1
    conditions = (*EXPIRED, innocent, *lane.its_jobs)
    return _take(connection, conditions, limit=limit, again_after=again_after)


def take_suspect(
    connection: Connection, lane: Lane, *, again_after: timedelta, max_attempts: int
) -> list[str]:
    """The oldest suspect of this lane, while no other is on trial; nobody where that is too early.

    A suspect is a job that has lost all its workers and has one attempt left. One of them may be
    what kills, and who runs beside it dies with it: so each has its last attempt without the
    others, and only the guilty one uses it up.
    """
    trial = (jobs.c.status == "running", jobs.c.lease_expires_at >= func.now())
    on_trial = select(jobs.c.id).where(*trial, tried_attempts >= max_attempts, *lane.its_jobs)
    suspects = (*EXPIRED, tried_attempts == max_attempts - 1, *lane.its_jobs)
    oldest = select(func.min(jobs.c.id)).where(*suspects, ~on_trial.exists())
    rows = connection.execute(
        update(jobs)
        .where(jobs.c.id == oldest.scalar_subquery(), jobs.c.resend_at <= func.now(), *suspects)
        .values(resend_at=func.now() + again_after)
        .returning(jobs.c.id)
    )
    return [row.id for row in rows]


def fail_exhausted(
    connection: Connection, *, max_attempts: int, error: Mapping[str, Any]
) -> list[tuple[str, str]]:
    """End the jobs whose last attempt died too: (id, metric) of each."""
    rows = connection.execute(
        update(jobs)
        .where(*EXPIRED, tried_attempts >= max_attempts)
        .values(
            status="failed",
            error=literal(error, jobs.c.error.type),
            finished_at=func.now(),
            lease_expires_at=None,
        )
        .returning(*TOLD, func.pg_notify(FINISHED_CHANNEL, jobs.c.id))
    ).all()
    for row in rows:
        tell(connection, row)
    return [(row.id, row.metric) for row in rows]


def open_lanes(connection: Connection) -> list[Lane]:
    """The lanes that have queued or running jobs."""
    rows = connection.execute(
        select(jobs.c.metric, jobs.c.batch_id.is_not(None).label("batch"))
        .where(jobs.c.status.in_(("queued", "running")))
        .distinct()
    )
    return sorted(Lane(row.metric, row.batch) for row in rows)


def _take(
    connection: Connection,
    conditions: tuple[ColumnElement[bool], ...],
    *,
    limit: int,
    again_after: timedelta,
) -> list[str]:
    due = (
        select(jobs.c.id)
        .where(*conditions, jobs.c.resend_at <= func.now())
        .order_by(jobs.c.resend_at)
        .limit(limit)
        .with_for_update(skip_locked=True)
    )
    rows = connection.execute(
        update(jobs)
        .where(jobs.c.id.in_(due))
        .values(resend_at=func.now() + again_after)
        .returning(jobs.c.id)
    )
    return [row.id for row in rows]
