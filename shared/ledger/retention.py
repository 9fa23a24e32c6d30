"""Deletes old rows in portions, and lists input files whose text must not be kept."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from sqlalchemy import Connection, and_, delete, exists, func, or_, select, update

from shared.ledger.jobs import first_id, is_expired
from shared.ledger.tables import (
    ENDED,
    OPEN,
    batches,
    deliveries,
    endpoints,
    files,
    idempotency_keys,
    jobs,
    review_queues,
)
from shared.ledger.tenants import kept_for

PORTION = 1_000  # rows per transaction
CLOCKS = timedelta(hours=1)  # ids of a gateway whose clock is ahead by no more are purged in time


def purge_jobs(connection: Connection, older_than: timedelta, tenant: str | None = None) -> int:
    """Delete jobs without a batch that ended longer ago than `older_than`, of one tenant or of all.
    Return how many. A tenant's own retention replaces `older_than`."""
    of_tenant = () if tenant is None else (jobs.c.tenant == tenant,)
    old = (
        select(jobs.c.id)
        .where(jobs.c.id < latest_id(older_than), is_expired(older_than), *of_tenant)
        .order_by(jobs.c.id)
        .limit(PORTION)
        .with_for_update(skip_locked=True)
    )
    return connection.execute(delete(jobs).where(jobs.c.id.in_(old))).rowcount


def latest_id(older_than: timedelta) -> str:
    """Return an upper bound for the ids of jobs that ended more than `older_than` ago."""
    return first_id(datetime.now(UTC) - older_than + CLOCKS)


def oldest_batch(
    connection: Connection, older_than: timedelta, but: Sequence[str] = ()
) -> str | None:
    """Return the id of the oldest batch that ended longer ago than its retention period, or None.
    The period is `older_than`, unless the tenant has its own. Batches in `but` are skipped."""
    ended = func.coalesce(
        batches.c.completed_at, batches.c.cancelled_at, batches.c.expired_at, batches.c.failed_at
    )
    old = (
        select(batches.c.id)
        .where(
            batches.c.status.in_(ENDED),
            ended < func.now() - kept_for(batches.c.tenant, older_than),
            batches.c.id.not_in(but),
        )
        .order_by(batches.c.id)
        .limit(1)
    )
    return connection.execute(old).scalar_one_or_none()


def purge_batch(connection: Connection, batch_id: str) -> int:
    """Delete some jobs of this batch. If none is left, delete the batch with its lines. Return the
    number of deleted rows. Returns 0 if another scheduler has locked the batch."""
    locked = select(batches.c.id).where(batches.c.id == batch_id).with_for_update(skip_locked=True)
    if connection.execute(locked).one_or_none() is None:
        return 0
    some = select(jobs.c.id).where(jobs.c.batch_id == batch_id).limit(PORTION)
    gone = connection.execute(delete(jobs).where(jobs.c.id.in_(some))).rowcount
    if gone == 0:
        gone = connection.execute(delete(batches).where(batches.c.id == batch_id)).rowcount
    return gone


def delete_batch(connection: Connection, batch_id: str) -> int:
    """Delete this batch with its lines. Its jobs can no longer be read and are dropped later with
    their day's partition. Returns the number of deleted batches, or 0 if another scheduler has
    locked the batch."""
    some = select(batches.c.id).where(batches.c.id == batch_id).with_for_update(skip_locked=True)
    return connection.execute(delete(batches).where(batches.c.id.in_(some))).rowcount


def purge_idempotency(connection: Connection, older_than: timedelta) -> int:
    """Delete idempotency keys older than this, and return their number."""
    forgotten = 0
    for table in (batches, files, endpoints, review_queues):
        is_old = table.c.key.is_not(None), table.c.created_at < func.now() - older_than
        forgotten += connection.execute(update(table).where(*is_old).values(key=None)).rowcount
    return forgotten + purge_idempotency_keys(connection, older_than)


class FinishedInput(NamedTuple):
    """An input file that is used only by batches that have ended, with data of one of these
    batches."""

    batch_id: str
    file_id: str
    keeps_text: bool  # of what was read
    read_bytes: int
    bytes: int


def finished_inputs(connection: Connection, limit: int, after: str = "") -> list[FinishedInput]:
    """Return input files of ended batches whose texts must not be kept, or whose file was only read
    in part. Files that an open batch uses are left out. Only batches with an id greater than
    `after` are searched."""
    unread = and_(batches.c.in_progress_at.is_(None), batches.c.read_bytes < files.c.bytes)
    other = batches.alias()
    in_use = exists().where(other.c.input_file_id == files.c.id, other.c.status.in_(OPEN))
    rows = connection.execute(
        select(batches.c.id, files.c.id, batches.c.keeps_text, batches.c.read_bytes, files.c.bytes)
        .select_from(batches.join(files, files.c.id == batches.c.input_file_id))
        .where(batches.c.status.not_in(OPEN), or_(~batches.c.keeps_text, unread), ~in_use)
        .where(batches.c.id > after)
        .order_by(batches.c.id)
        .limit(limit)
    )
    return [FinishedInput(*row) for row in rows]


def mark_read(connection: Connection, file: FinishedInput, *, keeps_text: bool) -> None:
    """Record that the batch's input file has been read completely. `keeps_text` is True if the
    service may keep the file's text."""
    connection.execute(
        update(batches)
        .where(batches.c.id == file.batch_id)
        .values(keeps_text=keeps_text, read_bytes=file.bytes)
    )


def purge_idempotency_keys(connection: Connection, older_than: timedelta) -> int:
    """Delete idempotency keys older than this; return how many."""
    gone = connection.execute(
        delete(idempotency_keys).where(idempotency_keys.c.created_at < func.now() - older_than)
    )
    return gone.rowcount


def purge_deliveries(connection: Connection, older_than: timedelta) -> int:
    """Delete ended deliveries older than this, and return their number."""
    old = deliveries.c.ended_at < func.now() - kept_for(deliveries.c.tenant, older_than)
    return connection.execute(delete(deliveries).where(old)).rowcount
