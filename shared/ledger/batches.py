"""Batches from creation to end. Once every line has a result or an error, the output files are
written.

`ending` is the status that a batch gets after its files are written. File ids are derived from the
batch's id, so a scheduler that repeats this step writes the same files. Functions for many batches
take `only`, the ids of the batches to process, or None for all. If processing all batches together
fails, the caller can thus retry each batch separately."""

from __future__ import annotations

import contextlib
import hashlib
import secrets
import time
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    delete,
    exists,
    func,
    literal,
    null,
    or_,
    select,
    update,
)
from sqlalchemy.dialects.postgresql import insert

from shared.contracts.errors import UnknownBatch, UnknownJob
from shared.ledger import jobs
from shared.ledger.clock import IS_STEADY
from shared.ledger.engine import Slice, fetch_page
from shared.ledger.jobs import (
    ANYBODY,
    FINISHED_CHANNEL,
    Accepted,
    Job,
    Owner,
    check_batches,
    take_batch_turn,
)
from shared.ledger.jobs import SHOWN as JOB_SHOWN
from shared.ledger.request_keys import KeyReused
from shared.ledger.tables import DEFAULT_TENANT, ENDED, OPEN, batch_lines, batches
from shared.ledger.tables import jobs as jobs_table
from shared.ledger.webhooks import EVENT_COLUMNS, batch_changed, job_ended
from shared.process.telemetry import request_id

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
NOTICE = func.pg_notify(FINISHED_CHANNEL, batches.c.id)  # wakes those that wait for this batch
Kind = Literal["output", "error"]
Only = Sequence[str] | None
STILL_OPEN = exists().where(batch_lines.c.batch_id == batches.c.id, batch_lines.c.status == "open")
ANSWERED = batches.c.completed + batches.c.failed == batches.c.total
ROWS_AT_ONCE = 100  # of lines with their results in memory


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
    erased: int
    revision: int
    keeps_text: bool
    accept_untrained_languages: bool
    language: str | None
    report_job_id: str | None
    waits: str | None  # why its step waits
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
        """True if the batch is in a final state."""
        return self.status in ENDED


SHOWN = tuple(batches.c[name] for name in Batch.__dataclass_fields__)


@dataclass(frozen=True)
class NewBatch:
    """A validated request to create a batch."""

    metric: str
    endpoint: str
    input_file_id: str
    metadata: Mapping[str, str]
    output_seconds: int | None
    expires_after: timedelta
    tenant: str = DEFAULT_TENANT
    accept_untrained_languages: bool = False  # default for lines
    language: str | None = None  # default for lines


@dataclass(frozen=True)
class DueBatch:
    """A batch that needs processing, and its tenant."""

    id: str
    tenant: str


@dataclass(frozen=True)
class Fault:
    """An error in a line or in the file. `param` is a JSON pointer into the line."""

    code: str
    message: str
    line: int | None = None
    param: str | None = None


class LineResult(NamedTuple):
    """A line of the batch and its job, if a job was created for it."""

    custom_id: str
    number: int
    status: str
    caller: dict[str, Any] | None
    job: Job | None


def due_batches(connection: Connection, *conditions: ColumnElement[bool]) -> list[DueBatch]:
    """Return the batches that meet all conditions, oldest first."""
    query = select(batches.c.id, batches.c.tenant).where(*conditions).order_by(batches.c.id)
    return [DueBatch(*row) for row in connection.execute(query)]


def try_acquire(connection: Connection, batch_id: str) -> bool:
    """Lock the batch against other schedulers until the transaction ends. Return False if another
    scheduler holds the lock. No row is locked, so cancelling and counting do not wait."""
    turn = func.pg_try_advisory_xact_lock(func.hashtextextended(batch_id, 0))
    return bool(connection.execute(select(turn)).scalar())


def batch_of(row: Row[Any]) -> Batch:
    return Batch(**row._asdict())


def make(
    connection: Connection, new: NewBatch, *, key: str | None, owner: Owner = ANYBODY
) -> tuple[Batch, bool]:
    """Create a batch, or return the batch that this idempotency key created. The second value is
    True if it existed. Raises KeyReused if the key belongs to another request, and QuotaExceeded if
    the owner has too many open batches."""
    take_batch_turn(connection, owner)
    values = {
        "metric": new.metric,
        "endpoint": new.endpoint,
        "input_file_id": new.input_file_id,
        "metadata": dict(new.metadata),
        "output_seconds": new.output_seconds,
        "accept_untrained_languages": new.accept_untrained_languages,
        "language": new.language,
    }
    row = connection.execute(
        insert(batches)
        .values(
            id=f"batch_{time.time_ns() // 1_000_000:012x}{secrets.token_hex(10)}",
            tenant=new.tenant,
            key=key,
            expires_at=func.now() + new.expires_after,
            request_id=request_id(),
            **values,
        )
        .on_conflict_do_nothing(constraint="uq_batches_key")
        .returning(*SHOWN)
    ).one_or_none()
    if row is None:
        return _find_previous(connection, new.tenant, key, values), True
    check_batches(connection, owner)
    return batch_of(row), False


def _find_previous(
    connection: Connection, tenant: str, key: str | None, values: Mapping[str, Any]
) -> Batch:
    """Return the batch that this idempotency key created. Raises KeyReused if the batch was created
    with other values."""
    earlier = batch_of(
        connection.execute(
            select(*SHOWN).where(batches.c.tenant == tenant, batches.c.key == key)
        ).one()
    )
    if any(getattr(earlier, name) != value for name, value in values.items()):
        raise KeyReused(
            "another request was already sent with this Idempotency-Key; use a new key", pointer=""
        )
    return earlier


def find_by_key(connection: Connection, tenant: str, key: str | None) -> Batch | None:
    """Return the batch that the tenant created with this idempotency key, or None."""
    if key is None:
        return None
    query = select(*SHOWN).where(batches.c.tenant == tenant, batches.c.key == key)
    row = connection.execute(query).one_or_none()
    return None if row is None else batch_of(row)


def find(connection: Connection, batch_id: str, *, tenant: str | None = None) -> Batch:
    """Return the batch with this id. Raises UnknownBatch if there is no such batch, or if it
    belongs to another tenant."""
    query = select(*SHOWN).where(batches.c.id == batch_id)
    if tenant is not None:
        query = query.where(batches.c.tenant == tenant)
    row = connection.execute(query).one_or_none()
    if row is None:
        raise UnknownBatch(f"there is no batch {batch_id!r}")
    return batch_of(row)


def page_of(connection: Connection, page: Slice) -> tuple[list[Batch], bool]:
    """Return the batches of a page, and True if more follow."""
    rows, more = fetch_page(connection, select(*SHOWN), batches, page)
    return [batch_of(row) for row in rows], more


RECENT = 5  # batches for the median time of a line


def seconds_per_line(connection: Connection, tenant: str, metric: str) -> float | None:
    """Return the median seconds per line over the tenant's recent batches of this metric, or None
    if none has ended."""
    took = func.extract("epoch", batches.c.completed_at - batches.c.in_progress_at)
    recent = (
        select((took / batches.c.total).label("seconds"))
        .where(batches.c.tenant == tenant, batches.c.metric == metric, batches.c.total > 0)
        .where(batches.c.status == "completed", batches.c.in_progress_at.is_not(None))
        .order_by(batches.c.id.desc())
        .limit(RECENT)
        .subquery()
    )
    median = func.percentile_cont(0.5).within_group(recent.c.seconds)
    seconds = connection.execute(select(median)).scalar_one()
    return None if seconds is None else float(seconds)


def cancel(connection: Connection, batch_id: str, *, tenant: str | None = None) -> Batch:
    """Start to cancel the batch, unless its files are being written or it has ended. Raises
    UnknownBatch."""
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
    """Return the job that computes the batch's report. A new job is created at the first call, and
    after a failure that the service caused."""
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


def find_report(connection: Connection, batch: Batch) -> Job | None:
    if batch.report_job_id is None:
        return None
    with contextlib.suppress(UnknownJob):  # purged
        return jobs.find(connection, batch.report_job_id)
    return None


def file_id(batch_id: str, kind: Kind) -> str:
    """Return the id of the batch's output or error file."""
    moment = batch_id.removeprefix("batch_")[:12]
    return f"file_{moment}{hashlib.sha256(f'{batch_id} {kind}'.encode()).hexdigest()[:20]}"


def of(only: Only) -> list[ColumnElement[bool]]:
    return [] if only is None else [batches.c.id.in_(only)]


def open_batches(connection: Connection) -> list[DueBatch]:
    return due_batches(connection, batches.c.status.in_(OPEN))


def finish_answered(connection: Connection, only: Only = None) -> int:
    """Set batches in which every line has a result or an error to `finalizing`, so that their
    files are written. Return the number of these batches."""
    return _turn(
        connection,
        (batches.c.status == "in_progress", ANSWERED, *of(only)),
        {"status": "finalizing", "finalizing_at": func.now(), "ending": "completed"},
    )


def expire(connection: Connection, only: Only = None) -> int:
    """End the unfinished lines of overdue batches. Return how many batches are ready to have their
    files written. A job that has just ended keeps its result."""
    late = (
        batches.c.status.in_(("validating", "in_progress")),
        batches.c.expires_at <= func.now(),
        IS_STEADY,
        *of(only),
    )
    _cancel_open(connection, _ids(connection, *late), "expired", ("queued", "running"))
    return _turn(
        connection,
        (*late, ~STILL_OPEN),
        {"status": "finalizing", "finalizing_at": func.now(), "ending": "expired"},
    )


def wind_up(connection: Connection, patience: timedelta, only: Only = None) -> int:
    """Cancel the waiting lines of cancelled batches, and their running jobs once `patience` has
    passed. Return the number of batches whose result files can now be written."""
    cancelling = (batches.c.status == "cancelling", batches.c.ending.is_(None), *of(only))
    late = or_(batches.c.cancelling_at < func.now() - patience, batches.c.expires_at <= func.now())
    _cancel_open(connection, _ids(connection, *cancelling), "cancelled", ("queued",))
    overdue = _ids(connection, *cancelling, late, IS_STEADY)
    _cancel_open(connection, overdue, "cancelled", ("queued", "running"))
    return _turn(connection, (*cancelling, ~STILL_OPEN), {"ending": "cancelled"})


def list_to_write(connection: Connection) -> list[DueBatch]:
    """Return the batches whose files are to be written."""
    return due_batches(
        connection,
        batches.c.ending.is_not(None),
        batches.c.status.in_(("finalizing", "cancelling")),
    )


def take_to_write(connection: Connection, batch_id: str) -> Batch | None:
    """Lock and return the batch whose files are to be written, or None if another scheduler writes
    them."""
    if not try_acquire(connection, batch_id):
        return None
    row = connection.execute(
        select(*SHOWN).where(
            batches.c.id == batch_id, batches.c.status.in_(("finalizing", "cancelling"))
        )
    ).one_or_none()
    return None if row is None else batch_of(row)


def iter_lines(connection: Connection, batch_id: str) -> Generator[LineResult, None, None]:
    """Yield every line in the order of the input, through a server-side cursor."""
    query = (
        select(
            batch_lines.c.custom_id,
            batch_lines.c.number,
            batch_lines.c.status.label("line_status"),
            batch_lines.c.caller,
            *JOB_SHOWN,
        )
        .select_from(batch_lines.outerjoin(jobs_table, jobs_table.c.id == batch_lines.c.job_id))
        .where(batch_lines.c.batch_id == batch_id)
        .order_by(batch_lines.c.number)
    )
    with connection.execute(query, execution_options={"yield_per": ROWS_AT_ONCE}) as rows:
        for row in rows:
            job = None if row.id is None else Job(*row[4:])
            yield LineResult(row.custom_id, row.number, row.line_status, row.caller, job)


def close(connection: Connection, batch: Batch, output: str | None, error: str | None) -> bool:
    """End the batch after its files are written. Return False if it had ended already."""
    row = connection.execute(
        update(batches)
        .where(batches.c.id == batch.id, batches.c.status == batch.status)
        .values(
            {
                "status": batch.ending,
                f"{batch.ending}_at": func.now(),
                "output_file_id": output,
                "error_file_id": error,
                "waits": None,
                "revision": batches.c.revision + 1,
            }
        )
        .returning(NOTICE)
    ).one_or_none()
    if row is None:
        return False
    counts = {"total": batch.total, "completed": batch.completed, "failed": batch.failed}
    batch_changed(connection, batch.id, batch.tenant, str(batch.ending), counts)
    return True


def fail(connection: Connection, batch_id: str, fault: Fault) -> str | None:
    """Fail the batch for this reason. Return its new status, or None if it had ended. A batch in
    progress keeps its results: it becomes `finalizing` until its files are written."""
    row = connection.execute(
        select(*SHOWN).where(batches.c.id == batch_id, batches.c.status.in_(OPEN)).with_for_update()
    ).one_or_none()
    if row is None:
        return None
    batch = batch_of(row)
    errors = [*(batch.errors or []), vars(fault)]
    if batch.status == "validating" or batch.ending is not None:
        delete_waiting(connection, batch_id)
        fail_batch(connection, batch, errors)
        return "failed"
    _cancel_open(connection, [batch_id], "cancelled", ("queued", "running"))
    connection.execute(  # counting may be what fails, so it is skipped
        update(batch_lines)
        .where(
            batch_lines.c.batch_id == batch_id,
            batch_lines.c.status == "open",
            jobs_table.c.id == batch_lines.c.job_id,
            jobs_table.c.finished_at.is_not(None),
        )
        .values(status=jobs_table.c.status)
    )
    values = {"status": "finalizing", "finalizing_at": func.now(), "ending": "failed"}
    _turn(connection, (batches.c.id == batch_id,), values | {"errors": errors})
    return "finalizing"


def set_waiting(connection: Connection, batch_id: str, reason: str) -> None:
    """Record why the batch's next step waits. The step clears the reason when it is done."""
    is_news = batches.c.waits.is_distinct_from(reason)
    connection.execute(
        update(batches)
        .where(batches.c.id == batch_id, batches.c.status.in_(OPEN), is_news)
        .values(waits=reason, revision=batches.c.revision + 1)
        .returning(NOTICE)
    )


def count_waiting(connection: Connection) -> int:
    """Return the number of open batches that wait for the file store or a model's folder."""
    waiting = select(func.count()).where(batches.c.status.in_(OPEN), batches.c.waits.is_not(None))
    return connection.execute(waiting).scalar_one()


def delete_waiting(connection: Connection, batch_id: str) -> None:
    """Delete the lines without a job. They hold texts, and no job will be created for them."""
    is_waiting = batch_lines.c.status == "waiting"
    connection.execute(delete(batch_lines).where(batch_lines.c.batch_id == batch_id, is_waiting))


def fail_batch(connection: Connection, batch: Batch, errors: list[dict[str, Any]]) -> None:
    """Mark the batch as failed, without output or error files. Its jobs are not changed."""
    values = {"status": "failed", "failed_at": func.now(), "ending": None, "errors": errors}
    if _turn(connection, (batches.c.id == batch.id, batches.c.status.in_(OPEN)), values):
        counts = {"total": batch.total, "completed": batch.completed, "failed": batch.failed}
        batch_changed(connection, batch.id, batch.tenant, "failed", counts)


def _ids(connection: Connection, *conditions: Any) -> list[str]:
    return [turn.id for turn in due_batches(connection, *conditions)]


def _turn(connection: Connection, conditions: Sequence[Any], values: dict[str, Any]) -> int:
    rows = connection.execute(
        update(batches)
        .where(*conditions)
        .values(values | {"waits": None, "revision": batches.c.revision + 1})
        .returning(NOTICE)
    )
    return len(rows.all())


def _cancel_open(
    connection: Connection, batch_ids: list[str], line_status: str, job_statuses: tuple[str, ...]
) -> None:
    """Cancel the jobs of these batches that are in one of these states. Give their lines, and
    waiting lines without a job, the status `line_status`."""
    if not batch_ids:
        return
    connection.execute(
        update(batch_lines)
        .where(batch_lines.c.batch_id.in_(batch_ids), batch_lines.c.status == "waiting")
        .values(status=line_status, request=null())
    )
    cancelled = connection.execute(
        update(jobs_table)
        .where(jobs_table.c.batch_id.in_(batch_ids), jobs_table.c.status.in_(job_statuses))
        .values(status="cancelled", finished_at=func.now(), lease_expires_at=None)
        .returning(*EVENT_COLUMNS, func.pg_notify(FINISHED_CHANNEL, jobs_table.c.id))
    ).all()
    for row in cancelled:
        job_ended(connection, row)
    ended = [row.id for row in cancelled]
    connection.execute(
        update(batch_lines)
        .where(batch_lines.c.status == "open", batch_lines.c.job_id.in_(ended))
        .values(status=literal(line_status))
    )
