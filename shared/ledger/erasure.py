"""Deletes jobs on request, together with everything that holds their texts.

An interrupted deletion can be repeated, because the rows of a batch are deleted in the transaction
that blanks its files. This transaction locks the input file, so deletions at the same time do not
overwrite each other's files. Rows that refer to a job, and reports on it or on its batch, are
deleted with it. Equal lines of a batch share a job and are deleted together.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic_core import from_json
from sqlalchemy import (
    ARRAY,
    ColumnElement,
    Connection,
    Engine,
    Integer,
    String,
    and_,
    cast,
    column,
    delete,
    exists,
    func,
    literal,
    or_,
    select,
    tuple_,
    update,
)

from shared.contracts.errors import ScoringError
from shared.ledger import files
from shared.ledger.batches import try_acquire
from shared.ledger.engine import transaction
from shared.ledger.file_store import FileStore
from shared.ledger.jobs import find, has_metadata
from shared.ledger.tables import FINAL, OPEN, batch_lines, batches, jobs, result_facts

INTEGERS, STRINGS = ARRAY(Integer), ARRAY(String)
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
TABLE = "table"  # key of metadata: the uploaded table that a batch was made from


class StillOpen(ScoringError):
    """The job or its batch has not ended."""

    status = 409
    slug = "still-open"
    title = "The job or its batch has not ended"
    cure = "Cancel the job or the batch, or wait for its end, then delete the job."


@dataclass(frozen=True)
class Erasure:
    """Finished jobs and batch lines to delete. `open` counts the matching jobs that have not ended,
    and the matching jobs and lines whose batch has not ended."""

    jobs: Sequence[str]
    lines: Mapping[str, Sequence[int]]  # batch → numbers
    open: int = 0


def of_job(connection: Connection, job_id: str, tenant: str) -> Erasure:
    """Select one job. Raises UnknownJob, or StillOpen if it has not ended."""
    job = find(connection, job_id, tenant=tenant)
    is_line_of_job = and_(batch_lines.c.batch_id == job.batch_id, batch_lines.c.job_id == job_id)
    erasure = _select(connection, tenant, jobs.c.id == job_id, is_line_of_job)
    if erasure.open:
        raise StillOpen(f"the job is {job.status}, or it belongs to a batch that has not ended")
    return erasure


def of_metadata(connection: Connection, tenant: str, metadata: Mapping[str, str]) -> Erasure:
    """Select the jobs and batch lines whose metadata has all of these keys and values. The result's
    `lines` also has the ended batches whose input file was never read to its end, since the file
    may have matching lines. Open batches of this kind are counted in `open`."""
    erasure = _select(
        connection,
        tenant,
        has_metadata(jobs.c.request, metadata),
        has_metadata(batch_lines.c.caller, metadata),
    )
    unread = connection.execute(
        select(batches.c.id, batches.c.status.in_(OPEN)).where(
            batches.c.tenant == tenant, batches.c.in_progress_at.is_(None)
        )
    ).all()
    lines = {batch_id: () for batch_id, is_open in unread if not is_open} | dict(erasure.lines)
    is_open = sum(is_open for _, is_open in unread)
    return replace(erasure, lines=lines, open=erasure.open + is_open)


def _select(
    connection: Connection, tenant: str, job: ColumnElement[bool], line: ColumnElement[bool]
) -> Erasure:
    """Select the jobs that match `job` or have a line that matches `line`, with all their lines.
    Also select matching lines without a job."""
    matching = (
        select(batch_lines.c.batch_id, batch_lines.c.number, batch_lines.c.job_id)
        .join(batches, and_(batches.c.id == batch_lines.c.batch_id, batches.c.tenant == tenant))
        .where(line)
        .cte("matching")
    )
    batch_ended = func.coalesce(batches.c.status.not_in(OPEN), True)
    rows = connection.execute(
        select(jobs.c.id, jobs.c.batch_id, and_(jobs.c.status.in_(FINAL), batch_ended))
        .select_from(jobs.outerjoin(batches, batches.c.id == jobs.c.batch_id))
        .where(jobs.c.tenant == tenant, or_(job, jobs.c.id.in_(select(matching.c.job_id))))
    ).all()
    ids = [job_id for job_id, _, ended in rows if ended]
    batch_ids = {batch_id for _, batch_id, ended in rows if ended and batch_id}
    number = tuple_(batch_lines.c.batch_id, batch_lines.c.number)
    jobless = select(matching.c.batch_id, matching.c.number).where(matching.c.job_id.is_(None))
    lines = connection.execute(
        select(batch_lines.c.batch_id, batch_lines.c.number)
        .join(batches, batches.c.id == batch_lines.c.batch_id)
        .where(
            batches.c.status.not_in(OPEN),
            or_(
                and_(
                    batch_lines.c.batch_id == func.any(_array(batch_ids)),
                    batch_lines.c.job_id == func.any(_array(ids)),
                ),
                number.in_(jobless),
            ),
        )
    ).all()
    numbers: defaultdict[str, list[int]] = defaultdict(list)
    for batch_id, line_number in lines:
        numbers[batch_id].append(line_number)
    open_lines = connection.execute(
        select(func.count())
        .select_from(matching.join(batches, batches.c.id == matching.c.batch_id))
        .where(batches.c.status.in_(OPEN), matching.c.job_id.is_(None))
    ).scalar_one()
    return Erasure(ids, numbers, open=len(rows) - len(ids) + open_lines)


def erase_lines(
    engine: Engine,
    store: FileStore,
    batch_id: str,
    numbers: Sequence[int],
    job_ids: Sequence[str],
    metadata: Mapping[str, str],
) -> int | None:
    """Blank these lines in the files of an ended batch, and delete their rows and the batch's jobs
    among `job_ids`. Lines erased earlier are blanked again. If the input file was never read to its
    end, blank its lines that have this metadata. If lines were erased, delete the table from which
    the batch was made. Return the number of erased lines, or None if another deletion writes the
    files. Raises FileStoreAway if the file store cannot be reached."""
    with transaction(engine) as connection:
        is_batch = batches.c.id == batch_id
        batch = connection.execute(select(batches).where(is_batch)).one_or_none()
        if batch is None:  # purged
            return 0
        if not try_acquire(connection, batch.input_file_id):  # batches may share it
            return None
        of_batch = batch_lines.c.batch_id == batch_id
        selected = func.any(literal(numbers, INTEGERS))
        kept = connection.execute(
            select(batch_lines.c.number, batch_lines.c.custom_id).where(
                of_batch, ~(batch_lines.c.number == selected)
            )
        ).all()
        kept_numbers, kept_ids = {row.number for row in kept}, {row.custom_id for row in kept}
        named = [batch.input_file_id, batch.output_file_id, batch.error_file_id]

        sizes = files.sizes_of(connection, [*filter(None, named)])
        unread: set[int] = set()  # such lines may have no row
        if batch.in_progress_at is None and batch.input_file_id in sizes:
            with store.open_read(batch.input_file_id, size=sizes[batch.input_file_id]) as source:
                lines = enumerate(source, 1)
                unread = {number for number, raw in lines if line_has_metadata(raw, metadata)}
            if not unread:
                del sizes[batch.input_file_id]

        def is_kept_input(number: int, _: bytes) -> bool:
            return number not in unread if unread else number in kept_numbers

        def is_kept_output(_: int, raw: bytes) -> bool:
            return json.loads(raw)["custom_id"] in kept_ids

        for file_id, size in sizes.items():
            is_input = file_id == batch.input_file_id
            blank_lines(store, file_id, size, is_kept_input if is_input else is_kept_output)
        connection.execute(
            delete(result_facts).where(
                result_facts.c.batch_id == batch_id, result_facts.c.line == selected
            )
        )
        is_erased = and_(of_batch, batch_lines.c.number == selected)
        rows = connection.execute(delete(batch_lines).where(is_erased)).rowcount
        count = max(rows, len(unread))
        if not count:
            return 0
        values = {"erased": batches.c.erased + count, "revision": batches.c.revision + 1}
        connection.execute(update(batches).where(is_batch).values(values))
        delete_jobs(connection, batch.tenant, job_ids, batch_id)
        table = files.names_of(connection, [batch.metadata.get(TABLE, "")], batch.tenant)
        tables = files.delete_unused(connection, [*table])
    for file_id in tables:
        store.remove(file_id)
    return count


def line_has_metadata(raw: bytes, metadata: Mapping[str, str]) -> bool:
    """Return True if the request in this line of an input file has these metadata. A line that is
    not JSON has none."""
    try:
        values = from_json(raw.removeprefix(BYTE_ORDER_MARK))["body"]["metadata"].items()
    except (ValueError, LookupError, TypeError, AttributeError):
        return False
    return bool(metadata) and all(pair in values for pair in metadata.items())


def blank_lines(
    store: FileStore, file_id: str, size: int, is_kept: Callable[[int, bytes], bool]
) -> None:
    """Overwrite all lines of a file for which `is_kept` is False with spaces, so that its size and
    line numbers stay the same. `size` is the number of bytes. Raises FileStoreAway."""
    read = store.open_read(file_id, size=size)
    with read as source, store.open_write(file_id) as target:
        for number, line in enumerate(source, 1):
            ending = b"\n" if line.endswith(b"\n") else b""
            keeps = not line.strip() or is_kept(number, line)
            target.write(line if keeps else b" " * (len(line) - len(ending)) + ending)


def delete_jobs(
    connection: Connection, tenant: str, ids: Sequence[str], batch_id: str | None = None
) -> None:
    """Delete the jobs with these ids, or only the ones in `batch_id` if it is given. Also delete
    the tenant's reports that name a deleted job or this batch."""
    is_selected = [jobs.c.id == func.any(_array(ids))]
    is_selected += [] if batch_id is None else [jobs.c.batch_id == batch_id]
    gone = connection.execute(delete(jobs).where(*is_selected).returning(jobs.c.id)).scalars()
    named = _array([*gone, *([] if batch_id is None else [batch_id])])
    request = cast(jobs.c.request, String)
    ids_in = func.regexp_matches(request, "(?:job|batch)_[0-9a-f]{32}", "g")
    match = ids_in.table_valued(column("ids", STRINGS)).render_derived()
    is_report = jobs.c.tenant == tenant, jobs.c.metric.endswith("-report")
    names = exists(select(1).select_from(match).where(match.c.ids[1] == func.any(named)))
    connection.execute(delete(jobs).where(*is_report, names))


def _array(ids: Iterable[str]) -> ColumnElement[Any]:
    return literal(list(ids), STRINGS)
