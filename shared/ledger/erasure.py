"""Deletes jobs on request, together with everything that holds their texts.

An interrupted deletion can be repeated, because it has three steps: select the jobs, blank their
lines in the files of their batches, delete the rows. Rows that refer to a job are deleted with it.
Equal lines of a batch share a job and are deleted together.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import (
    ARRAY,
    ColumnElement,
    Connection,
    Integer,
    String,
    and_,
    delete,
    func,
    literal,
    or_,
    select,
    tuple_,
    update,
)

from shared.contracts.errors import ScoringError
from shared.ledger import files
from shared.ledger.file_store import FileStore
from shared.ledger.jobs import find, has_metadata
from shared.ledger.tables import FINAL, OPEN, batch_lines, batches, jobs, result_facts


class StillOpen(ScoringError):
    """The job or its batch has not ended."""

    status = 409
    slug = "still-open"
    title = "The job or its batch has not ended"
    cure = "Cancel the job or the batch, or wait for its end, then delete the job."


@dataclass
class FileLines:
    """Lines of files to overwrite with spaces. Lines of an input file are given by number, lines of
    an output file by `custom_id`."""

    size: int = 0  # bytes of the file
    numbers: set[int] = field(default_factory=set)
    custom_ids: set[str] = field(default_factory=set)

    def matches(self, number: int, line: bytes) -> bool:
        if number in self.numbers:
            return True
        return bool(self.custom_ids and line.strip()) and (
            json.loads(line)["custom_id"] in self.custom_ids
        )


@dataclass(frozen=True)
class Erasure:
    """Finished jobs to delete. `open` holds matching jobs that have not ended, or whose batch has
    not ended."""

    jobs: Sequence[str]
    lines: Mapping[str, Sequence[int]]  # batch → numbers
    files: Mapping[str, FileLines]
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
    """Select the jobs and batch lines whose metadata has all of these keys and values."""
    return _select(
        connection,
        tenant,
        has_metadata(jobs.c.request, metadata),
        has_metadata(batch_lines.c.caller, metadata),
    )


def _select(
    connection: Connection, tenant: str, job: ColumnElement[bool], line: ColumnElement[bool]
) -> Erasure:
    """Select the jobs that match or have a matching line, and all their lines."""
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
        select(
            batch_lines.c.batch_id,
            batch_lines.c.number,
            batch_lines.c.custom_id,
            batches.c.input_file_id,
            batches.c.output_file_id,
            batches.c.error_file_id,
        )
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
    in_files: defaultdict[str, FileLines] = defaultdict(FileLines)
    for row in lines:
        numbers[row.batch_id].append(row.number)
        in_files[row.input_file_id].numbers.add(row.number)
        for file_id in filter(None, (row.output_file_id, row.error_file_id)):
            in_files[file_id].custom_ids.add(row.custom_id)
    sizes = files.sizes_of(connection, list(in_files))
    in_stored = {file_id: replace(in_files[file_id], size=size) for file_id, size in sizes.items()}
    return Erasure(ids, numbers, in_stored, open=len(rows) - len(ids))


def blank_lines(store: FileStore, erasure: Erasure) -> None:
    """Overwrite the lines in their files with spaces, so that file sizes and line numbers stay the
    same. Raises FileStoreAway."""
    for file_id, lines in erasure.files.items():
        read = store.open_read(file_id, size=lines.size)
        with read as source, store.open_write(file_id) as target:
            for number, line in enumerate(source, 1):
                ending = b"\n" if line.endswith(b"\n") else b""
                is_erased = lines.matches(number, line)
                blank = b" " * (len(line) - len(ending)) + ending
                target.write(blank if is_erased else line)


def delete_rows(connection: Connection, erasure: Erasure) -> None:
    """Delete the jobs and lines, and record the number of deleted lines in their batches."""
    for batch_id, numbers in erasure.lines.items():
        for column, number in (
            (batch_lines.c.batch_id, batch_lines.c.number),
            (result_facts.c.batch_id, result_facts.c.line),
        ):
            condition = column == batch_id, number == func.any(literal(numbers, ARRAY(Integer)))
            connection.execute(delete(column.table).where(*condition))
        connection.execute(
            update(batches)
            .where(batches.c.id == batch_id)
            .values(erased=batches.c.erased + len(numbers), revision=batches.c.revision + 1)
        )
    connection.execute(delete(jobs).where(jobs.c.id == func.any(_array(erasure.jobs))))


def _array(ids: Iterable[str]) -> ColumnElement[Any]:
    return literal(list(ids), ARRAY(String))
