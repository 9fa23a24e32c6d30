"""Batches during validation: the position reached in the file, and the faults found.

A step is one transaction. Lines, faults and the position in the file are saved together, so another
scheduler can continue after a crash. No row is locked while the file is read. A file store that
hangs therefore blocks no cancellation, expiry or count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, delete, func, select, update
from sqlalchemy.dialects.postgresql import insert

from shared.ledger.batches import (
    NOTICE,
    SHOWN,
    Batch,
    DueBatch,
    Fault,
    batch_of,
    due_batches,
    try_acquire,
)
from shared.ledger.tables import batch_lines, batches
from shared.ledger.webhooks import batch_changed

STORED = ("number", "custom_id", "fingerprint", "request", "caller")
MOST_FAULTS = 100  # validation stops here


@dataclass(frozen=True)
class ValidLine:
    number: int  # in the file, from 1
    custom_id: str
    fingerprint: str
    request: Mapping[str, Any]
    caller: Mapping[str, Any] | None = None  # metadata and context
    keeps_text: bool = True


@dataclass(frozen=True)
class ValidationStep:
    """The part of a file read in one step, and the offset of the next part."""

    lines: Sequence[ValidLine]
    faults: Sequence[Fault]
    read_bytes: int
    read_lines: int
    at_end: bool
    fatal: bool = False  # validation stops here
    keeps_text: bool = True  # no line, valid or faulty, sets `do_not_store_text`


def list_to_validate(connection: Connection) -> list[DueBatch]:
    """Return the batches whose input files must be validated."""
    return due_batches(connection, batches.c.status == "validating")


def take(connection: Connection, batch_id: str) -> Batch | None:
    """Lock the batch until the transaction ends. Return None if another scheduler has locked it, or
    if its file is not being validated."""
    if not try_acquire(connection, batch_id):
        return None
    row = connection.execute(
        select(*SHOWN).where(batches.c.id == batch_id, batches.c.status == "validating")
    ).one_or_none()
    return None if row is None else batch_of(row)


def save_step(connection: Connection, batch: Batch, step: ValidationStep) -> None:
    """Save the lines and faults found in one step of validation. After the last step the batch is
    in progress or has failed. Nothing is saved if the batch was cancelled or has expired."""
    unchanged = (batches.c.status == "validating", batches.c.read_bytes == batch.read_bytes)
    locked = select(batches.c.id).where(batches.c.id == batch.id, *unchanged).with_for_update()
    if connection.execute(locked).one_or_none() is None:
        return
    repeated = _insert(connection, batch.id, step.lines)
    values = _values_after(batch, step, repeated)
    failed = values.get("status") == "failed"
    if failed:
        connection.execute(delete(batch_lines).where(batch_lines.c.batch_id == batch.id))
    connection.execute(
        update(batches).where(batches.c.id == batch.id).values(values).returning(NOTICE)
    )
    if failed:
        nothing = {"total": 0, "completed": 0, "failed": 0}
        batch_changed(connection, batch.id, batch.tenant, "failed", nothing)


def _values_after(batch: Batch, step: ValidationStep, repeated: Sequence[Fault]) -> dict[str, Any]:
    """Return the new values of the batch's columns after this validation step. They include the
    status if validation has ended."""
    faults = sorted([*step.faults, *repeated], key=lambda fault: fault.line or 0)
    errors = [*(batch.errors or []), *(vars(fault) for fault in faults)][:MOST_FAULTS]
    total = batch.total + len(step.lines) - len(repeated)
    over = step.at_end or step.fatal or len(errors) == MOST_FAULTS
    if over and not errors and total == 0:
        errors = [vars(Fault("empty_file", "the file contains no lines"))]
    values: dict[str, Any] = {
        "read_bytes": step.read_bytes,
        "read_lines": step.read_lines,
        "total": total,
        "errors": errors or None,
        "keeps_text": batch.keeps_text and step.keeps_text,
        "waits": None,
        "revision": batches.c.revision + 1,
    }
    if over and errors:
        values |= {"status": "failed", "failed_at": func.now(), "total": 0}
    elif over:
        values |= {"status": "in_progress", "in_progress_at": func.now()}
    return values


def _insert(connection: Connection, batch_id: str, lines: Sequence[ValidLine]) -> list[Fault]:
    if not lines:
        return []
    rows = [
        {"batch_id": batch_id} | {name: getattr(line, name) for name in STORED} for line in lines
    ]
    inserted = connection.execute(
        insert(batch_lines)
        .on_conflict_do_nothing(constraint="uq_batch_lines_custom_id")
        .returning(batch_lines.c.number),
        rows,
    )
    new = {row.number for row in inserted}
    return [
        Fault(
            "duplicate_custom_id",
            f"the custom_id {line.custom_id!r} is used by an earlier line; give each line its own",
            line.number,
            "#/custom_id",
        )
        for line in lines
        if line.number not in new
    ]
