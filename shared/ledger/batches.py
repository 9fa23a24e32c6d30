"""Batches from the gateway's side: made, looked up, listed, cancelled; one report each."""

from __future__ import annotations

import contextlib
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from sqlalchemy import ColumnElement, Connection, Row, func, select, update
from sqlalchemy.dialects.postgresql import insert

from shared.errors import UnknownBatch, UnknownJob
from shared.ledger import jobs
from shared.ledger.batch_tables import ENDED, batches
from shared.ledger.idempotency import Accepted, KeyReused
from shared.ledger.jobs import FINISHED_CHANNEL
from shared.ledger.owner import ANYBODY, Owner, check_batches, take_batch_turn
from shared.ledger.pagination import Slice, sliced
from shared.ledger.tables import DEFAULT_TENANT

BatchStatus = Literal[
    "validating",
    "failed",
    "in_progress",
    "finalizing",
    "completed",
    "expired",
    "cancelling",
    "cancelled",
]
OUR_FAULT = 500  # problems from this status on are not the caller's
NOTICE = func.pg_notify(FINISHED_CHANNEL, batches.c.id)  # who waits for this batch looks again


@dataclass(frozen=True)
class Batch:
    """A batch, as the API shows it."""

    id: str
    tenant: str
    metric: str
    endpoint: str
    status: BatchStatus
    ending: str | None
    input_file_id: str
    output_file_id: str | None
    error_file_id: str | None
    output_seconds: int | None
    metadata: dict[str, str]
    errors: list[dict[str, Any]] | None
    read_bytes: int
    read_lines: int
    total: int
    completed: int
    failed: int
    revision: int
    keeps_text: bool
    report_job_id: str | None
    created_at: datetime
    in_progress_at: datetime | None
    finalizing_at: datetime | None
    completed_at: datetime | None
    failed_at: datetime | None
    expired_at: datetime | None
    cancelling_at: datetime | None
    cancelled_at: datetime | None
    expires_at: datetime

    @property
    def is_final(self) -> bool:
        """Whether nothing can change this batch any more."""
        return self.status in ENDED


SHOWN = tuple(batches.c[name] for name in Batch.__dataclass_fields__)


@dataclass(frozen=True)
class NewBatch:
    """What a caller asks for, checked."""

    metric: str
    endpoint: str
    input_file_id: str
    metadata: Mapping[str, str]
    output_seconds: int | None
    expires_after: timedelta
    tenant: str = DEFAULT_TENANT


@dataclass(frozen=True)
class Turn:
    """A batch that has something to be done, and whose it is."""

    id: str
    tenant: str


def turns(connection: Connection, *conditions: ColumnElement[bool]) -> list[Turn]:
    """The batches of which this is true, oldest first."""
    query = select(batches.c.id, batches.c.tenant).where(*conditions).order_by(batches.c.id)
    return [Turn(*row) for row in connection.execute(query)]


def held(connection: Connection, batch_id: str) -> bool:
    """Keep other schedulers off this batch until the transaction ends; False where one has it.

    No row is locked: who cancels or counts does not wait.
    """
    turn = func.pg_try_advisory_xact_lock(func.hashtextextended(batch_id, 0))
    return bool(connection.execute(select(turn)).scalar())


def batch_of(row: Row[Any]) -> Batch:
    """A fetched row as a batch."""
    return Batch(**row._asdict())


def make(
    connection: Connection, new: NewBatch, *, key: str | None, owner: Owner = ANYBODY
) -> tuple[Batch, bool]:
    """A new batch, or under a known key the one that is there already; and whether it was.

    Raises KeyReused where the key belongs to another request, QuotaExceeded where the owner has
    too many open batches.
    """
    take_batch_turn(connection, owner)
    asked = {
        "metric": new.metric,
        "endpoint": new.endpoint,
        "input_file_id": new.input_file_id,
        "metadata": dict(new.metadata),
        "output_seconds": new.output_seconds,
    }
    row = connection.execute(
        insert(batches)
        .values(
            id=f"batch_{time.time_ns() // 1_000_000:012x}{secrets.token_hex(10)}",
            tenant=new.tenant,
            key=key,
            expires_at=func.now() + new.expires_after,
            **asked,
        )
        .on_conflict_do_nothing(constraint="uq_batches_key")
        .returning(*SHOWN)
    ).one_or_none()
    if row is not None:
        check_batches(connection, owner)
        return batch_of(row), False
    earlier = batch_of(
        connection.execute(
            select(*SHOWN).where(batches.c.tenant == new.tenant, batches.c.key == key)
        ).one()
    )
    if any(getattr(earlier, name) != value for name, value in asked.items()):
        raise KeyReused("the first request with this key had another body", pointer="")
    return earlier, True


def find(connection: Connection, batch_id: str, *, tenant: str | None = None) -> Batch:
    """The batch with this id; of this tenant, where one is named. Raises UnknownBatch."""
    query = select(*SHOWN).where(batches.c.id == batch_id)
    if tenant is not None:
        query = query.where(batches.c.tenant == tenant)
    row = connection.execute(query).one_or_none()
    if row is None:
        raise UnknownBatch(f"there is no batch {batch_id!r}")
    return batch_of(row)


def page_of(connection: Connection, page: Slice) -> tuple[list[Batch], bool]:
    """The batches of a page, and whether others follow."""
    rows, more = sliced(connection, select(*SHOWN), batches, page)
    return [batch_of(row) for row in rows], more


def cancel(connection: Connection, batch_id: str, *, tenant: str | None = None) -> Batch:
    """Begin to cancel; what is finalizing or final stays as it is. Raises UnknownBatch."""
    find(connection, batch_id, tenant=tenant)
    connection.execute(
        update(batches)
        .where(batches.c.id == batch_id, batches.c.status.in_(("validating", "in_progress")))
        .values(status="cancelling", cancelling_at=func.now(), revision=batches.c.revision + 1)
        .returning(NOTICE)
    )
    return find(connection, batch_id)


def report_of(
    connection: Connection, batch: Batch, metric: str, resend_after: timedelta
) -> Accepted:
    """The job that reports on this batch; a new one at the first ask, or where the last one failed
    for reasons of our own."""
    held = select(batches.c.report_job_id).where(batches.c.id == batch.id).with_for_update()
    job_id = connection.execute(held).scalar_one()
    if job_id is not None:
        with contextlib.suppress(UnknownJob):  # purged
            job = jobs.find(connection, job_id)
            if job.error is None or job.error["status"] < OUR_FAULT:
                return Accepted(job, replayed=True)
    request = {"batch": batch.id}
    job = jobs.insert_job(
        connection, jobs.new_id(), metric, request, resend_after, tenant=batch.tenant
    )
    connection.execute(update(batches).where(batches.c.id == batch.id).values(report_job_id=job.id))
    return Accepted(job, replayed=False)
