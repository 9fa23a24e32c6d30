"""What is old is forgotten: ended jobs, final batches, idempotency keys; a portion at a time."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import Connection, delete, func, select, update

from shared.ledger.batch_tables import ENDED, batches
from shared.ledger.idempotency import purge as purge_keys
from shared.ledger.tables import FINAL, jobs

PORTION = 1_000  # rows a transaction


def purge_jobs(connection: Connection, older_than: timedelta) -> int:
    """Delete ended jobs of no batch that ended longer ago than this; how many."""
    old = (
        select(jobs.c.id)
        .where(
            jobs.c.status.in_(FINAL),
            jobs.c.finished_at < func.now() - older_than,
            jobs.c.batch_id.is_(None),
        )
        .limit(PORTION)
        .with_for_update(skip_locked=True)
    )
    return connection.execute(delete(jobs).where(jobs.c.id.in_(old))).rowcount


def purge_batches(connection: Connection, older_than: timedelta) -> int:
    """Delete the jobs of batches that were final longer ago than this, then the batch with its
    lines; how many rows of jobs and batches."""
    ended = func.coalesce(
        batches.c.completed_at, batches.c.cancelled_at, batches.c.expired_at, batches.c.failed_at
    )
    old = (
        select(batches.c.id)
        .where(batches.c.status.in_(ENDED), ended < func.now() - older_than)
        .order_by(batches.c.id)
        .limit(1)
        .with_for_update(skip_locked=True)
    )
    found = connection.execute(old).one_or_none()
    if found is None:
        return 0
    some = select(jobs.c.id).where(jobs.c.batch_id == found.id).limit(PORTION)
    gone = connection.execute(delete(jobs).where(jobs.c.id.in_(some))).rowcount
    if gone == 0:
        gone = connection.execute(delete(batches).where(batches.c.id == found.id)).rowcount
    return gone


def purge_idempotency(connection: Connection, older_than: timedelta) -> int:
    """Forget keys of this age, of jobs and of batches; how many."""
    forgotten = connection.execute(
        update(batches)
        .where(batches.c.key.is_not(None), batches.c.created_at < func.now() - older_than)
        .values(key=None)
    )
    return forgotten.rowcount + purge_keys(connection, older_than)
