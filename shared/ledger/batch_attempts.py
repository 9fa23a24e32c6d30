"""Attempts at a batch's step, counted before they begin: one that kills its scheduler counts, too.

Who comes back says so, however the step ended, and the count is 0 again. What is left of a count
is of processes that were killed, or of one that has just begun: hence the pause.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta

from sqlalchemy import Connection, func, or_, select, update

from shared.ledger.batches import try_acquire
from shared.ledger.tables import batches


def count_open(connection: Connection, batch_id: str) -> int:
    """How many attempts began and did not come back; 0 of a batch that is gone."""
    found = connection.execute(select(batches.c.attempts).where(batches.c.id == batch_id))
    return found.scalar_one_or_none() or 0


def begin(connection: Connection, batch_id: str, seen: int, pause: timedelta) -> bool:
    """Count one more, where so many were seen. To be committed before the step begins.

    False where another scheduler works on this batch, or began within this pause.
    """
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
    """The attempts at these came back: nothing is counted against them."""
    connection.execute(
        update(batches)
        .where(batches.c.id.in_(batch_ids), batches.c.attempts > 0)
        .values(attempts=0, attempted_at=None)
    )
