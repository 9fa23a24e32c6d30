"""Batches at their end: all answered, cancelled, expired or failed; then their files are written.

`ending` is what a batch becomes once its files are there. Files have ids that follow from the
batch's, so that a scheduler that writes them again writes the same files.

What is done for many batches at once takes `only`: the batches to do it for, None for all. So who
calls can try one after the other where it fails for all together.
"""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Sequence
from datetime import timedelta
from typing import Any, Literal, NamedTuple

from sqlalchemy import ColumnElement, Connection, exists, func, literal, or_, select, update

from shared.ledger.batch_tables import OPEN, batch_lines, batches
from shared.ledger.batches import NOTICE, SHOWN, Batch, Turn, batch_of, held, turns
from shared.ledger.jobs import FINISHED_CHANNEL, Job
from shared.ledger.jobs import SHOWN as JOB_SHOWN
from shared.ledger.reading import Fault
from shared.ledger.tables import jobs
from shared.ledger.telling import TOLD, tell, tell_batch

ROWS_AT_ONCE = 100  # of lines with their results in memory

Kind = Literal["output", "error"]
Only = Sequence[str] | None
STILL_OPEN = exists().where(batch_lines.c.batch_id == batches.c.id, batch_lines.c.status == "open")
ANSWERED = batches.c.completed + batches.c.failed == batches.c.total


class Answer(NamedTuple):
    """A line of the batch and its job, if it ever had one."""

    custom_id: str
    number: int
    status: str
    caller: dict[str, Any] | None
    job: Job | None


def file_id(batch_id: str, kind: Kind) -> str:
    """The id of the batch's output or error file."""
    moment = batch_id.removeprefix("batch_")[:12]
    return f"file_{moment}{hashlib.sha256(f'{batch_id} {kind}'.encode()).hexdigest()[:20]}"


def of(only: Only) -> list[ColumnElement[bool]]:
    """The condition that a batch is one of these."""
    return [] if only is None else [batches.c.id.in_(only)]


def open_batches(connection: Connection) -> list[Turn]:
    """All batches that are not final."""
    return turns(connection, batches.c.status.in_(OPEN))


def finish_answered(connection: Connection, only: Only = None) -> int:
    """Batches whose every line is answered go on to their files; how many."""
    return _turn(
        connection,
        (batches.c.status == "in_progress", ANSWERED, *of(only)),
        {"status": "finalizing", "finalizing_at": func.now(), "ending": "completed"},
    )


def expire(connection: Connection, only: Only = None) -> int:
    """Batches past their time: what waits or runs is given up; how many are ready for their files.

    A job that ended just before is settled first: its line counts.
    """
    late = (
        batches.c.status.in_(("validating", "in_progress")),
        batches.c.expires_at <= func.now(),
        *of(only),
    )
    _give_up(connection, _ids(connection, *late), "expired", ("queued", "running"))
    return _turn(
        connection,
        (*late, ~STILL_OPEN),
        {"status": "finalizing", "finalizing_at": func.now(), "ending": "expired"},
    )


def wind_up(connection: Connection, patience: timedelta, only: Only = None) -> int:
    """Batches that are cancelled: what waits is given up, what runs may end for so long.

    How many are ready for their files.
    """
    cancelling = (batches.c.status == "cancelling", batches.c.ending.is_(None), *of(only))
    late = or_(batches.c.cancelling_at < func.now() - patience, batches.c.expires_at <= func.now())
    _give_up(connection, _ids(connection, *cancelling), "cancelled", ("queued",))
    _give_up(connection, _ids(connection, *cancelling, late), "cancelled", ("queued", "running"))
    return _turn(connection, (*cancelling, ~STILL_OPEN), {"ending": "cancelled"})


def unwritten(connection: Connection) -> list[Turn]:
    """The batches whose files are to be written."""
    return turns(
        connection,
        batches.c.ending.is_not(None),
        batches.c.status.in_(("finalizing", "cancelling")),
    )


def take(connection: Connection, batch_id: str) -> Batch | None:
    """The batch whose files are to be written; None where another scheduler writes them."""
    if not held(connection, batch_id):
        return None
    row = connection.execute(
        select(*SHOWN).where(
            batches.c.id == batch_id, batches.c.status.in_(("finalizing", "cancelling"))
        )
    ).one_or_none()
    return None if row is None else batch_of(row)


def answers(connection: Connection, batch_id: str) -> Generator[Answer, None, None]:
    """Every line in the order of the input, through a server-side cursor."""
    query = (
        select(
            batch_lines.c.custom_id,
            batch_lines.c.number,
            batch_lines.c.status.label("line_status"),
            batch_lines.c.caller,
            *JOB_SHOWN,
        )
        .select_from(batch_lines.outerjoin(jobs, jobs.c.id == batch_lines.c.job_id))
        .where(batch_lines.c.batch_id == batch_id)
        .order_by(batch_lines.c.number)
    )
    with connection.execute(query, execution_options={"yield_per": ROWS_AT_ONCE}) as rows:
        for row in rows:
            job = None if row.id is None else Job(*row[4:])
            yield Answer(row.custom_id, row.number, row.line_status, row.caller, job)


def close(connection: Connection, batch: Batch, output: str | None, error: str | None) -> bool:
    """The files are written: the batch is final. False where it was already."""
    row = connection.execute(
        update(batches)
        .where(batches.c.id == batch.id, batches.c.status == batch.status)
        .values(
            {
                "status": batch.ending,
                f"{batch.ending}_at": func.now(),
                "output_file_id": output,
                "error_file_id": error,
                "revision": batches.c.revision + 1,
            }
        )
        .returning(NOTICE)
    ).one_or_none()
    if row is None:
        return False
    counts = {"total": batch.total, "completed": batch.completed, "failed": batch.failed}
    tell_batch(connection, batch.id, batch.tenant, str(batch.ending), counts)
    return True


def fail(connection: Connection, batch_id: str, fault: Fault) -> str | None:
    """The batch cannot go on: it fails, with this reason; what it is then, None where it had ended.

    One that is in progress keeps the results that it has: its files are written first. One that is
    validated has none, and one whose files cannot be written has none that could be shown.
    """
    row = connection.execute(
        select(*SHOWN).where(batches.c.id == batch_id, batches.c.status.in_(OPEN)).with_for_update()
    ).one_or_none()
    if row is None:
        return None
    batch = batch_of(row)
    errors = [*(batch.errors or []), vars(fault)]
    if batch.status == "validating" or batch.ending is not None:
        fail_outright(connection, batch, errors)
        return "failed"
    _give_up(connection, [batch_id], "cancelled", ("queued", "running"))
    connection.execute(  # what has ended is written, but no longer counted: that may be what fails
        update(batch_lines)
        .where(
            batch_lines.c.batch_id == batch_id,
            batch_lines.c.status == "open",
            jobs.c.id == batch_lines.c.job_id,
            jobs.c.finished_at.is_not(None),
        )
        .values(status=jobs.c.status)
    )
    values = {"status": "finalizing", "finalizing_at": func.now(), "ending": "failed"}
    _turn(connection, (batches.c.id == batch_id,), values | {"errors": errors})
    return "finalizing"


def fail_outright(connection: Connection, batch: Batch, errors: list[dict[str, Any]]) -> None:
    """The batch has failed, without files. Nothing but its own row is touched."""
    values = {"status": "failed", "failed_at": func.now(), "ending": None, "errors": errors}
    if _turn(connection, (batches.c.id == batch.id, batches.c.status.in_(OPEN)), values):
        counts = {"total": batch.total, "completed": batch.completed, "failed": batch.failed}
        tell_batch(connection, batch.id, batch.tenant, "failed", counts)


def _ids(connection: Connection, *conditions: Any) -> list[str]:
    return [turn.id for turn in turns(connection, *conditions)]


def _turn(connection: Connection, conditions: Sequence[Any], values: dict[str, Any]) -> int:
    rows = connection.execute(
        update(batches)
        .where(*conditions)
        .values(values | {"revision": batches.c.revision + 1})
        .returning(NOTICE)
    )
    return len(rows.all())


def _give_up(
    connection: Connection, batch_ids: list[str], line_status: str, job_statuses: tuple[str, ...]
) -> None:
    """Lines without a job end here; jobs in one of these states are cancelled."""
    if not batch_ids:
        return
    connection.execute(
        update(batch_lines)
        .where(batch_lines.c.batch_id.in_(batch_ids), batch_lines.c.status == "waiting")
        .values(status=line_status)
    )
    cancelled = connection.execute(
        update(jobs)
        .where(jobs.c.batch_id.in_(batch_ids), jobs.c.status.in_(job_statuses))
        .values(status="cancelled", finished_at=func.now(), lease_expires_at=None)
        .returning(*TOLD, func.pg_notify(FINISHED_CHANNEL, jobs.c.id))
    ).all()
    for row in cancelled:
        tell(connection, row)
    ended = [row.id for row in cancelled]
    connection.execute(
        update(batch_lines)
        .where(batch_lines.c.status == "open", batch_lines.c.job_id.in_(ended))
        .values(status=literal(line_status))
    )
