"""Counts how often a step of a batch was attempted. An attempt is counted before it begins, so that
attempts that kill their process are counted too.

A process that returns from a step resets the count to 0. A count above 0 means that a process was
killed, or that a step has just begun. To exclude the second case, a new attempt waits for a pause
after the last one."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta

from sqlalchemy import Connection, func, or_, select, update

from shared.ledger.batches import try_acquire
from shared.ledger.tables import batches


def count_open(connection: Connection, batch_id: str) -> int:
    """Return how many attempts at the batch's step began but did not end. Return 0 for a deleted
    batch."""
    rows = connection.execute(select(batches.c.attempts).where(batches.c.id == batch_id))
    return rows.scalar_one_or_none() or 0


def begin(connection: Connection, batch_id: str, seen: int, pause: timedelta) -> bool:
    """Count one more attempt to process the batch, if the count still equals `seen`. Commit before
    the attempt begins. Return False if another scheduler works on this batch, or began within
    `pause`."""
    if not try_acquire(connection, batch_id):
        return False
    counted = connection.execute(
        update(batches)
        .where(
            batches.c.id == batch_id,
            batches.c.attempts == seen,
            or_(batches.c.attempts == 0, batches.c.attempted_at <= func.now() - pause),
        )
        .values(attempts=seen + 1, attempted_at=func.now())
    )
    return counted.rowcount == 1


def clear(connection: Connection, batch_ids: Collection[str]) -> None:
    """Reset the counts of these batches after their attempts have returned."""
    connection.execute(
        update(batches)
        .where(batches.c.id.in_(batch_ids), batches.c.attempts > 0)
        .values(attempts=0, attempted_at=None)
    )
