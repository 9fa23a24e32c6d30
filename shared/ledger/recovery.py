"""Finds jobs whose message or worker was lost, for the scheduler."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, column, func, literal, select, table, update

from shared.ledger.claim_order import EXPIRED, MetricQueue
from shared.ledger.jobs import FINISHED_CHANNEL
from shared.ledger.tables import (
    IS_OPEN,
    IS_QUEUED,
    IS_RUNNING,
    IS_WAITING,
    jobs,
    tried_attempts,
)
from shared.ledger.webhooks import EVENT_COLUMNS, job_ended

SESSIONS = table(
    "pg_stat_activity", column("pid"), column("application_name"), column("state_change")
)


def queued_count(connection: Connection, queue: MetricQueue) -> int:
    """Return how many jobs of this queue wait to be claimed, excluding those that wait for a
    model."""
    return connection.execute(
        select(func.count()).where(IS_QUEUED, ~IS_WAITING, *queue.job_filters)
    ).scalar_one()


def take_waiting(
    connection: Connection, queue: MetricQueue, *, limit: int, again_after: timedelta
) -> list[str]:
    """Take at most `limit` jobs of this queue that wait for a model and are due to try again."""
    return _take(connection, (IS_WAITING, *queue.job_filters), limit=limit, again_after=again_after)


def take_unclaimed(
    connection: Connection, queue: MetricQueue, *, limit: int, again_after: timedelta
) -> list[str]:
    """Return the ids of at most `limit` queued jobs of this queue whose message was probably lost,
    oldest first. Postpone their next check by `again_after`."""
    return _take(
        connection,
        (IS_QUEUED, ~IS_WAITING, *queue.job_filters),
        limit=limit,
        again_after=again_after,
    )


def take_orphans(
    connection: Connection,
    queue: MetricQueue,
    *,
    limit: int,
    again_after: timedelta,
    max_attempts: int,
) -> list[str]:
    """Return the ids of running jobs of this queue that lost their worker and have more than one
    attempt left. Postpone their next check by `again_after`."""
    innocent = tried_attempts < max_attempts - 1
    conditions = (*EXPIRED, innocent, *queue.job_filters)
    return _take(connection, conditions, limit=limit, again_after=again_after)


def take_suspect(
    connection: Connection, queue: MetricQueue, *, again_after: timedelta, max_attempts: int
) -> list[str]:
    """Take the oldest suspect of this queue, unless another suspect runs or it is too early. A
    suspect is a job whose workers all died and that has one attempt left. It may kill its worker,
    so it gets this attempt without other suspects."""
    trial = (IS_RUNNING, jobs.c.lease_expires_at >= func.now())
    on_trial = select(jobs.c.id).where(*trial, tried_attempts >= max_attempts, *queue.job_filters)
    suspects = (*EXPIRED, tried_attempts == max_attempts - 1, *queue.job_filters)
    oldest = select(func.min(jobs.c.id)).where(*suspects, ~on_trial.exists())
    rows = connection.execute(
        update(jobs)
        .where(jobs.c.id == oldest.scalar_subquery(), jobs.c.resend_at <= func.now(), *suspects)
        .values(resend_at=func.now() + again_after)
        .returning(jobs.c.id)
    )
    return [row.id for row in rows]


def fail_exhausted(
    connection: Connection,
    *,
    max_attempts: int,
    error: Mapping[str, Any],
    silent_for: timedelta | None = None,
) -> list[tuple[str, str]]:
    """Fail the jobs that lost their worker in the last attempt. Return (id, metric) of each job.
    With `silent_for`, fail only jobs whose worker is alive but has not responded for this long."""
    silent = () if silent_for is None else (_is_silent(silent_for),)
    rows = connection.execute(
        update(jobs)
        .where(*EXPIRED, tried_attempts >= max_attempts, *silent)
        .values(
            status="failed",
            error=literal(error, jobs.c.error.type),
            finished_at=func.now(),
            lease_expires_at=None,
        )
        .returning(*EVENT_COLUMNS, func.pg_notify(FINISHED_CHANNEL, jobs.c.id))
    ).all()
    for row in rows:
        job_ended(connection, row)
    return [(row.id, row.metric) for row in rows]


def _is_silent(silent_for: timedelta) -> ColumnElement[bool]:
    """Return the SQL condition that the process that claimed a job has database sessions, all
    inactive for `silent_for`. A dead process has no session. A working process is active every
    second while it holds a claim."""
    ours = select(SESSIONS.c.pid).where(SESSIONS.c.application_name == jobs.c.claimed_by)
    spoke = ours.where(SESSIONS.c.state_change > func.now() - silent_for)
    return and_(ours.exists(), ~spoke.exists())


def open_queues(connection: Connection) -> list[MetricQueue]:
    rows = connection.execute(
        select(jobs.c.metric, jobs.c.batch_id.is_not(None).label("batch")).where(IS_OPEN).distinct()
    )
    return sorted(MetricQueue(row.metric, row.batch) for row in rows)


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
