"""Handles jumps of the database's clock, which measures leases and deadlines. Schedulers record in
one row when they last compared the clock with a monotonic clock. After a jump this row is far from
the current time. No lease and no batch expires until a scheduler has moved the deadlines."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import Column, Connection, exists, func, select, update
from sqlalchemy.dialects.postgresql import insert

from shared.ledger.tables import (
    IS_OPEN,
    IS_RUNNING,
    OPEN,
    batches,
    clock,
    deliveries,
    endpoints,
    jobs,
)

TOLERANCE = timedelta(seconds=10)  # heartbeats leave more than that before a lease ends

_seen = clock.c.seen_at
IS_RECENT = _seen.between(func.now() - TOLERANCE, func.now() + TOLERANCE)
IS_STEADY = ~exists().where(~IS_RECENT)  # also if no scheduler ever compared them


def note_steady(connection: Connection) -> tuple[datetime, bool]:
    """Return the database's time, and True if it is close to the time that a scheduler last
    recorded. If so, record the new time."""
    connection.execute(insert(clock).values(id=True).on_conflict_do_nothing())
    noted = update(clock).where(IS_RECENT).values(seen_at=func.now()).returning(_seen)
    seen = connection.execute(noted).scalar_one_or_none()
    if seen is not None:
        return seen, True
    return connection.execute(select(func.now())).scalar_one(), False


def note(connection: Connection) -> bool:
    """Record that the database's clock is reliable again. Return False if another scheduler has
    just done so."""
    noted = update(clock).where(~IS_RECENT).values(seen_at=func.now()).returning(_seen)
    return connection.execute(noted).one_or_none() is not None


def move_deadlines(
    connection: Connection, step: timedelta, lease: timedelta, resend_after: timedelta
) -> None:
    """Move all deadlines by `step`, after the clock was set forwards or back. Running jobs get a
    whole new lease. `lease` and `resend_after` are the usual durations for a job."""
    connection.execute(update(jobs).where(IS_RUNNING).values(lease_expires_at=func.now() + lease))
    soon = func.now() + resend_after
    connection.execute(update(jobs).where(IS_OPEN, jobs.c.resend_at > soon).values(resend_at=soon))
    times = (batches.c.expires_at, batches.c.cancelling_at, batches.c.attempted_at)
    connection.execute(
        update(batches).where(batches.c.status.in_(OPEN)).values(_moved(step, *times))
    )
    connection.execute(
        update(deliveries)
        .where(deliveries.c.status == "pending")
        .values(_moved(step, deliveries.c.due_at, deliveries.c.claimed_until))
    )
    connection.execute(
        update(endpoints)
        .where(endpoints.c.held_until.is_not(None))
        .values(_moved(step, endpoints.c.held_until))
    )


def _moved(step: timedelta, *columns: Column[datetime]) -> dict[str, object]:
    return {column.name: column + step for column in columns}
