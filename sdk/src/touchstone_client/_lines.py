"""JSON Lines files, the input and output of batches, in the format of the OpenAI Batch API."""

from __future__ import annotations

import io
import json
from collections.abc import Collection, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from os import PathLike
from tempfile import TemporaryFile
from typing import Any, BinaryIO, cast

from pydantic import BaseModel

from touchstone_client._base import Answered, JobMessage
from touchstone_client._wire import Fields, encoded, fields_of, job_of
from touchstone_client.data._columns import IDS
from touchstone_client.data.addresses import Place, form_of, is_folder, name_of, opened
from touchstone_client.data.mapping import ColumnMapping, Columns
from touchstone_client.data.readers import (
    AS_NAMED,
    Reading,
    json_lines,
    table_of,
)
from touchstone_client.errors import JobCancelled, JobFailed, TouchstoneError

Source = str | PathLike[str] | BinaryIO | Iterable[Fields | BaseModel]


@dataclass(frozen=True)
class BatchLine:
    """The outcome of one line of a batch: a result or an error."""

    custom_id: str
    job: JobMessage | None
    error: TouchstoneError | None

    @property
    def result(self) -> Any:
        """Return the metric's result. Raises the line's error if there is none."""
        if self.error is not None:
            raise self.error
        return None if self.job is None else self.job.result


def answer_of(raw: str | bytes) -> BatchLine:
    """Parse a line of an output or error file."""
    line = json.loads(raw)
    body = (line.get("response") or {}).get("body")
    job = job_of(body) if isinstance(body, dict) and body.get("object") == "job" else None
    if job is not None and isinstance(job.result, Answered):
        job.result._job = job  # noqa: SLF001 - a result knows its job
    return BatchLine(line["custom_id"], job, _error(line, body))


def _error(line: Fields, body: Any) -> TouchstoneError | None:
    error = line.get("error")
    if error is None:
        return None
    if isinstance(body, dict) and body.get("status") == "cancelled":
        return JobCancelled(body["id"])
    problem = body.get("error") if isinstance(body, dict) else None
    fields = problem or {"type": str(error.get("code")), "detail": str(error.get("message"))}
    return JobFailed(body.get("id") if isinstance(body, dict) else None, fields)


@contextmanager
def batch_file(
    source: Source,
    endpoint: str,
    columns: Columns | None = None,
    reading: Reading = AS_NAMED,
) -> Iterator[tuple[str, BinaryIO]]:
    """Yield (name, content) of a batch file made from the source. Plain requests become batch
    lines. Their custom_id is `custom_id`, or else `id`, or else the line's number. Raises
    ValueError for invalid JSON unless `reading` skips it, for a table with unknown columns, and for
    a file without requests."""
    if not isinstance(source, str | PathLike | io.IOBase):
        requests = cast("Iterable[Fields | BaseModel]", source)
        with TemporaryFile() as lines_file:
            lines = _requests(requests, columns)
            _require(_write(lines_file, lines, endpoint, AS_NAMED), "the input")
            yield "lines.jsonl", lines_file
        return
    location = source if isinstance(source, str | PathLike) else None
    name = "lines.jsonl" if location is None else name_of(location)
    if columns is not None or is_table(location, reading):
        with TemporaryFile() as lines_file:
            count = _write_rows(lines_file, source, endpoint, columns, reading)
            _require(count, name, reading)
            yield f"{name}.jsonl", lines_file
        return
    with ExitStack() as stack:
        stream = (
            cast(BinaryIO, source) if location is None else stack.enter_context(opened(location))
        )
        yield name, stack.enter_context(_wrapped(stream, endpoint, name, reading))


def _require(count: int, name: str, reading: Reading = AS_NAMED) -> None:
    if not count:
        refused = sorted((reading.refused or {}).items())
        why = "".join(f": line {number}: {reason}" for number, reason in refused[:1])
        more = f", and {len(refused) - 1} more" if len(refused) > 1 else ""
        raise ValueError(f"{name} contains no request{why}{more}")


def is_table(location: Place | None, reading: Reading = AS_NAMED) -> bool:
    """Return True if the source is a table with columns. `location` is None for a stream."""
    form = reading.form or ("jsonl" if location is None else form_of(location))
    return form != "jsonl" or (location is not None and is_folder(location))


def _requests(source: Iterable[Fields | BaseModel], columns: Columns | None) -> Iterator[bytes]:
    for number, request in enumerate(source, 1):
        if columns is None:
            yield encoded(request)
        else:
            mapping, row = ColumnMapping(columns), fields_of(request, {})
            yield encoded({"id": mapping.custom_id(row, number), **mapping.request(row)})


def _write_rows(
    target: BinaryIO, source: Any, endpoint: str, columns: Columns | None, reading: Reading
) -> int:
    """Write the rows as batch lines and return their number."""
    metric = endpoint.rpartition("/")[2]
    count = 0
    with table_of(source, reading) as table:
        names = table.names
        mapping = (
            ColumnMapping(columns or {}, metric)
            if names is None
            else ColumnMapping.of(columns, metric, names)
        )
        numbered = Numbered(target, reading)
        for position, (number, row) in enumerate(table.rows, 1):
            fields = mapping.request(row)
            if unclear := mapping.unclear(fields):
                reading.leave_out(number, ValueError(unclear))
                continue
            line = line_of(mapping.custom_id(row, position), endpoint, fields)
            count += numbered.write(number, line)
    target.seek(0)
    return count


@dataclass
class Numbered:
    """Writes each line at its line number in the source file. Skipped numbers become empty
    lines."""

    target: BinaryIO
    reading: Reading
    last: int = 0

    def write(self, number: int, line: Fields) -> bool:
        """Write a line and return True. Skip an invalid line and return False, or raise ValueError
        with the line number if invalid lines are not skipped."""
        try:
            raw = encoded(line)
        except (ValueError, RecursionError) as error:
            self.reading.leave_out(number, error)
            return False
        self.target.write(b"\n" * (number - self.last - 1) + raw + b"\n")
        self.last = number
        return True


@contextmanager
def _wrapped(stream: BinaryIO, endpoint: str, name: str, reading: Reading) -> Iterator[BinaryIO]:
    """Yield `stream` if its first line is a batch line. Otherwise yield a temporary file that
    contains the requests of `stream` as batch lines."""
    looked_at = replace(reading, refused=None if reading.refused is None else {})
    _, first = next(json_lines(stream, looked_at), (0, {}))
    stream.seek(0)
    if _is_batch_line(first):
        yield stream
        return
    with TemporaryFile() as wrapped:
        _require(_write(wrapped, stream, endpoint, reading), name, reading)
        yield wrapped


@contextmanager
def blanked(content: BinaryIO, numbers: Collection[int]) -> Iterator[BinaryIO]:
    """Yield a copy of the file in which these lines (counted from 1) are blank."""
    content.seek(0)
    with TemporaryFile() as copy:
        for number, raw in enumerate(content, 1):
            copy.write(b"\n" if number in numbers else raw)
        copy.seek(0)
        yield copy


def _write(target: BinaryIO, lines: Iterable[bytes], endpoint: str, reading: Reading) -> int:
    """Write requests as batch lines and return their number."""
    count, numbered = 0, Numbered(target, reading)
    for number, line in json_lines(lines, reading):
        if not _is_batch_line(line):
            ids = [line.pop(name, None) for name in IDS]
            custom_id = next((value for value in ids if value is not None), number)
            line = line_of(str(custom_id), endpoint, line)
        count += numbered.write(number, line)
    target.seek(0)
    return count


def line_of(custom_id: str, endpoint: str, body: Fields | BaseModel) -> dict[str, Any]:
    """Return a request as a line of a batch file."""
    fields = fields_of(body, {})
    return {"custom_id": custom_id, "method": "POST", "url": endpoint, "body": fields}


def _is_batch_line(line: Fields) -> bool:
    return {"custom_id", "url", "body"} <= line.keys()
