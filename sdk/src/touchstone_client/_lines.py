"""Files of JSON Lines: what a batch reads, and what it answers.

Source of both lines: OpenAI Batch API.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, BinaryIO

from pydantic import BaseModel

from touchstone_client._base import JobMessage, Result
from touchstone_client._wire import Fields, encoded, fields_of, job_of
from touchstone_client.errors import JobCancelled, JobFailed, TouchstoneError

Source = str | PathLike[str] | BinaryIO | Iterable[Fields | BaseModel]
READ_BYTES = 1_048_576


@dataclass(frozen=True)
class BatchLine:
    """The answer to one line of a batch: a result, or why there is none."""

    custom_id: str
    job: JobMessage | None
    error: TouchstoneError | None

    @property
    def result(self) -> Any:
        """As its metric says. Raises the line's error where it has none."""
        if self.error is not None:
            raise self.error
        return None if self.job is None else self.job.result


def answer_of(raw: str | bytes) -> BatchLine:
    """A line of an output or error file."""
    line = json.loads(raw)
    body = (line.get("response") or {}).get("body")
    job = job_of(body) if isinstance(body, dict) and body.get("object") == "job" else None
    if job is not None and isinstance(job.result, Result):
        job.result._job = job  # noqa: SLF001 - a result knows its job
    return BatchLine(line["custom_id"], job, _error(line, body))


def _error(line: Fields, body: Any) -> TouchstoneError | None:
    error = line.get("error")
    if error is None:
        return None
    if isinstance(body, dict) and body.get("status") == "cancelled":
        return JobCancelled(body["id"])
    problem = body.get("error") if isinstance(body, dict) else None
    told = problem or {"type": str(error.get("code")), "detail": str(error.get("message"))}
    return JobFailed(body.get("id") if isinstance(body, dict) else None, told)


@contextmanager
def batch_file(source: Source, endpoint: str) -> Iterator[tuple[str, BinaryIO]]:
    """(name, content) of a file of batch lines. Plain requests become lines: an `id` is the
    custom_id, else the line's number is. Raises ValueError for what is no JSON object."""
    if isinstance(source, str | PathLike):
        path = Path(source)
        with path.open("rb") as stream, _wrapped(stream, endpoint) as content:
            yield path.name, content
    elif isinstance(source, io.IOBase):
        with _wrapped(source, endpoint) as content:
            yield "lines.jsonl", content
    else:
        lines = (encoded(one) for one in source)
        with TemporaryFile() as made:
            _write(made, lines, endpoint)
            yield "lines.jsonl", made


@contextmanager
def _wrapped(stream: BinaryIO, endpoint: str) -> Iterator[BinaryIO]:
    """The stream itself where its first line is a line of a batch."""
    first = next((raw for raw in stream if raw.strip()), b"")
    stream.seek(0)
    if first and _is_batch_line(_object(first, 1)):
        yield stream
        return
    with TemporaryFile() as made:
        _write(made, stream, endpoint)
        yield made


def _write(made: BinaryIO, lines: Iterable[bytes], endpoint: str) -> None:
    for number, raw in enumerate(lines, 1):
        text = raw.removeprefix(b"\xef\xbb\xbf")
        if not text.strip():
            continue
        found = _object(text, number)
        if not _is_batch_line(found):
            custom_id = str(found.pop("id", number))
            found = line_of(custom_id, endpoint, found)
        made.write(encoded(found) + b"\n")
    made.seek(0)


def line_of(custom_id: str, endpoint: str, body: Fields | BaseModel) -> dict[str, Any]:
    """A line of a batch."""
    fields = fields_of(body, {})
    return {"custom_id": custom_id, "method": "POST", "url": endpoint, "body": fields}


def _is_batch_line(found: Fields) -> bool:
    return {"custom_id", "url", "body"} <= found.keys()


def _object(raw: bytes, number: int) -> dict[str, Any]:
    try:
        found = json.loads(raw)
    except ValueError as error:
        raise ValueError(f"line {number} is not JSON: {error}") from None
    if not isinstance(found, dict):
        raise ValueError(f"line {number} is not a JSON object")
    return found
