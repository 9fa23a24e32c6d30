"""Reads and writes the files of batches: validates input files, and writes output and error files.

The formats follow the OpenAI Batch API. An input line is `{"custom_id", "method": "POST", "url",
"body"}`. The body is checked like a request to that url. An output line is `{id, custom_id,
response {status_code, request_id, body}, error}`. Tenants take turns.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from math import isfinite
from typing import IO, Annotated, Any, Literal

from pydantic import AfterValidator, Field, JsonValue, StringConstraints, ValidationError
from pydantic_core import PydanticCustomError
from sqlalchemy import Connection, Engine

from services.explanations.explained_requests import as_checked
from services.registry import contracts
from services.scheduler.failure_isolation import FailureIsolation
from services.scheduler.fair_allocation import Rotation
from services.scheduler.steps import Steps
from shared.contracts.errors import BadInput, TooCostly, Unavailable
from shared.contracts.messages import JobRequest, Message, with_untrained_languages
from shared.contracts.problems import (
    parse_strict,
    pointer,
    repeated_key,
    type_name,
    validation_problem,
)
from shared.contracts.redaction import PRIVATE, untold
from shared.contracts.request_cost import WorkLimit
from shared.contracts.service import ServiceContract
from shared.contracts.validation_messages import first_fault, plain
from shared.ledger import batch_validation, batches, files
from shared.ledger.batch_validation import ValidationStep, ValidLine
from shared.ledger.batches import Batch, DueBatch, Fault, Kind, LineResult
from shared.ledger.engine import transaction
from shared.ledger.erasure import BYTE_ORDER_MARK
from shared.ledger.file_store import FileStore
from shared.ledger.files import NewFile
from shared.ledger.job_json import job_json
from shared.ledger.jobs import fingerprint
from shared.ledger.private_requests import check_encryption_key
from shared.models.catalogue.catalogue import Catalogue
from shared.process import telemetry
from shared.process.settings import Settings

KINDS: tuple[Kind, ...] = ("output", "error")
STEPS_AT_ONCE = 8  # of each task
PATIENCE_SECONDS = 0.25
HANGING_SECONDS = 60.0  # of a step
LINES_AT_ONCE = 500
BYTES_AT_ONCE = 4_000_000  # at least one line, however long
SECONDS_AT_ONCE = 1.0  # from a slow store at least one line, too
ENVELOPE_BYTES = 4_096  # of a line, in addition to its body
CALLER = ("metadata", "context", "trace")  # given back; the score does not depend on them
NOTHING: dict[str, Any] = {"metadata": {}, "context": None, "trace": None}

logger = telemetry.logger(__name__)


@dataclass
class FileTask:
    """A periodic task that validates or writes the files of batches. `rotation` orders the
    batches."""

    name: str
    waiting: Callable[[Connection], list[DueBatch]]
    work: Callable[[str], bool]
    rotation: Rotation = field(default_factory=Rotation)
    steps: Steps = field(default_factory=lambda: Steps(STEPS_AT_ONCE))
    worked: list[str] = field(default_factory=list)

    def done(self) -> int:
        """Return how many batches were processed since the last call."""
        worked, self.worked = self.worked, []
        return len(worked)


class BatchFileWorker:
    """Reads and writes the files of batches. `patience` is how many seconds to wait for work in
    progress; slower work continues in the background."""

    def __init__(
        self,
        engine: Engine,
        settings: Settings,
        catalogue: Catalogue,
        *,
        isolation: FailureIsolation | None = None,
        patience: float = PATIENCE_SECONDS,
    ) -> None:
        self._engine = engine
        self._settings = settings
        self._catalogue = catalogue
        self._store = FileStore(settings.files_url, engine)
        self._isolation = isolation or FailureIsolation(engine)
        self._patience = patience
        self._duties = (
            FileTask("validating", batch_validation.list_to_validate, self._read),
            FileTask("writing", batches.list_to_write, self._write),
        )

    def round(self) -> int:
        """Validate and write files for one batch per tenant. Return the number of batches
        processed, 0 if nothing is left to do. Raises Unavailable."""
        with transaction(self._engine) as connection:
            waiting = [duty.waiting(connection) for duty in self._duties]
            for duty in self._duties:
                for turn in duty.steps.running_for(HANGING_SECONDS):
                    self._isolation.note_hanging(connection, turn.id)
        for duty, turns in zip(self._duties, waiting, strict=True):
            self._begin(duty, turns)
        until = time.monotonic() + self._patience
        for duty in self._duties:
            duty.steps.wait(max(0.0, until - time.monotonic()))
        return sum(duty.done() + duty.steps.count for duty in self._duties)

    def _begin(self, duty: FileTask, turns: list[DueBatch]) -> None:
        duty.rotation.remove_missing(turns)
        able = [
            turn
            for turn in turns
            if not self._isolation.should_wait(duty.name, turn.id) and duty.steps.can_start(turn)
        ]
        for turn in duty.rotation.order(able):
            if duty.steps.can_start(turn):
                duty.rotation.take_turn(turn)
                duty.steps.start(turn, partial(self._guarded, duty, turn.id))

    def _guarded(self, duty: FileTask, batch_id: str) -> None:
        with self._isolation.attempt(duty.name, batch_id) as begins:
            if begins and duty.work(batch_id):
                duty.worked.append(batch_id)

    def _read(self, batch_id: str) -> bool:
        with transaction(self._engine) as connection:
            batch = batch_validation.take(connection, batch_id)
            if batch is None:
                return False
            sizes = files.sizes_of(connection, [batch.input_file_id])
            size = sizes.get(batch.input_file_id)
            batch_validation.save_step(connection, batch, self._step(batch, size))
        return True

    def _step(self, batch: Batch, size: int | None) -> ValidationStep:
        """Validate the next lines. `size` is the size of the input file in bytes, or None if the
        file was deleted. Raises FileStoreAway."""
        if size is None:
            return _failed(
                batch,
                Fault(
                    "unknown_file",
                    "the batch's input file was deleted; upload it again and create a new batch",
                ),
            )
        try:
            reader = reader_for(batch, self._settings, self._catalogue)
        except InvalidLine as error:
            return _failed(batch, Fault(error.slug, error.detail))
        with self._store.open_read(batch.input_file_id, batch.read_bytes, size=size) as stream:
            return reader.step(stream, batch)

    def _write(self, batch_id: str) -> bool:
        with transaction(self._engine) as connection:
            batch = batches.take_to_write(connection, batch_id)
            if batch is None:
                return False
            ids = {kind: batches.file_id(batch.id, kind) for kind in KINDS}
            counts = self._stream(connection, batch, ids)
            noted = {
                kind: self._register_file(connection, batch, kind, counts[kind]) for kind in KINDS
            }
            batches.close(connection, batch, noted["output"], noted["error"])
            deleted: list[str] = []
            if not batch.keeps_text:  # the input file has private lines
                deleted = files.delete_unused(connection, [batch.input_file_id])
        logger.info("batch.ended", batch=batch.id, status=batch.ending, total=batch.total)
        unneeded = [ids[kind] for kind in KINDS if noted[kind] is None]
        for file_id in [*unneeded, *deleted]:
            self._store.remove(file_id)
        return True

    def _stream(
        self, connection: Connection, batch: Batch, ids: dict[Kind, str]
    ) -> dict[Kind, int]:
        """Write each line's result to the output or error file. Return the size of each file in
        bytes."""
        counts = dict.fromkeys(KINDS, 0)
        with ExitStack() as opened:
            streams: dict[Kind, IO[Any]] = {
                kind: opened.enter_context(self._store.open_write(ids[kind])) for kind in KINDS
            }
            for answer in batches.iter_lines(connection, batch.id):
                kind, line = _line(batch, answer)
                counts[kind] += streams[kind].write(line)
        return counts

    def _register_file(
        self, connection: Connection, batch: Batch, kind: Kind, size: int
    ) -> str | None:
        """Insert the file's row and return its id. Return None if the file is empty."""
        if size == 0:
            return None
        new = NewFile(
            id=batches.file_id(batch.id, kind),
            purpose="batch_output",
            filename=f"{batch.id}_{kind}.jsonl",
            bytes=size,
            kept_hours=self._settings.retention_hours,
            requested_seconds=batch.output_seconds,
            tenant=batch.tenant,
        )
        return files.insert_file(connection, new).id


def _failed(batch: Batch, fault: Fault) -> ValidationStep:
    """Return a step that ends the validation because of an error in the whole file."""
    return ValidationStep([], [fault], batch.read_bytes, batch.read_lines, at_end=True, fatal=True)


def _line(batch: Batch, answer: LineResult) -> tuple[Kind, bytes]:
    try:
        return output_line(batch, answer)
    except Exception:  # an answer that cannot be shown does not stop the others
        logger.exception("batch.answer_crashed", batch=batch.id, line=answer.number)
        return error_line(batch, answer)


def _sanitize(text: str) -> str:
    """Return the text unchanged. Raises PydanticCustomError for the NUL character, which PostgreSQL
    cannot store."""
    if "\x00" in text:
        raise PydanticCustomError("nul", "must not contain the character U+0000")
    return text


class BatchLine(Message):
    """A line of a batch's input file."""

    custom_id: Annotated[
        str, StringConstraints(min_length=1, max_length=256), AfterValidator(_sanitize)
    ]
    method: Literal["POST"] = Field(description="the only possible value")
    url: str = Field(description="the batch's endpoint")
    body: dict[str, JsonValue] = Field(description="a request to that endpoint")


@dataclass
class PartRead:
    """The valid lines and errors in one part of a batch's file. `read_bytes` and `read_lines` are
    the position after this part, counted from the beginning of the file."""

    read_bytes: int
    read_lines: int
    lines: list[ValidLine] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    keeps_text: bool = True

    def add(self, line: ValidLine | Fault | None, *, private: bool) -> None:
        """Add a validated line or its error. `private` is True if an invalid line may contain
        `do_not_store_text`."""
        if isinstance(line, Fault):
            self.faults.append(line)
            self.keeps_text &= not private
        elif line is not None:
            self.lines.append(line)
            self.keeps_text &= line.keeps_text

    def step(self, *, at_end: bool, fatal: bool = False) -> ValidationStep:
        return ValidationStep(
            self.lines,
            self.faults,
            self.read_bytes,
            self.read_lines,
            at_end=at_end,
            fatal=fatal,
            keeps_text=self.keeps_text,
        )


@dataclass(frozen=True)
class Reader:
    """Validates the lines of a batch."""

    contract: ServiceContract
    endpoint: str
    catalogue: Catalogue
    most_lines: int
    most_body_bytes: int
    work_limit: WorkLimit
    accept_untrained_languages: bool = False  # default for lines
    language: str | None = None  # default for lines

    def step(self, stream: IO[bytes], batch: Batch) -> ValidationStep:
        """Read and validate the next lines, starting at the batch's position in the file."""
        part = PartRead(batch.read_bytes, batch.read_lines)
        until = time.monotonic() + SECONDS_AT_ONCE
        for raw, length in self._raw(stream):
            part.read_lines += 1
            if part.read_lines > self.most_lines:
                limit = f"the file may have at most {self.most_lines} lines"
                part.faults.append(Fault("too_many_lines", limit, part.read_lines))
                return part.step(at_end=True, fatal=True)
            line = self.line(raw, part.read_lines, length)
            part.add(line, private=bool(PRIVATE.search(raw)) or len(raw) != length)
            part.read_bytes += length
            if (
                part.read_lines - batch.read_lines >= LINES_AT_ONCE
                or part.read_bytes - batch.read_bytes > BYTES_AT_ONCE
                or time.monotonic() > until
            ):
                return part.step(at_end=False)
        return part.step(at_end=True)

    def _raw(self, stream: IO[bytes]) -> Iterator[tuple[bytes, int]]:
        """Yield each line with its full length in bytes. Lines that are too long are cut off."""
        limit = self.most_body_bytes + ENVELOPE_BYTES
        while raw := stream.readline(limit + 1):
            length, piece = len(raw), raw
            while not piece.endswith(b"\n") and (piece := stream.readline(limit)):
                length += len(piece)
            yield raw, length

    def line(self, raw: bytes, number: int, length: int) -> ValidLine | Fault | None:
        """Return the validated line, or its error, or None for a blank line. `length` is the line's
        full length in bytes. `raw` may be cut off."""
        if length > self.most_body_bytes + ENVELOPE_BYTES:
            return Fault(
                "line_too_long", f"the body may have at most {self.most_body_bytes} bytes", number
            )
        raw = raw.removeprefix(BYTE_ORDER_MARK)
        if not raw.strip():
            return None
        try:
            custom_id, request = self.read(raw)
            fields = request.model_dump(mode="json")
            scored = {name: value for name, value in fields.items() if name not in CALLER}
            caller = {name: fields[name] for name in CALLER if name in fields}
            return ValidLine(
                number=number,
                custom_id=custom_id,
                fingerprint=fingerprint(self.contract.name, scored),
                request=fields,
                caller=caller if any(caller.values()) else None,
                keeps_text=not request.do_not_store_text,
            )
        except InvalidLine as error:
            return Fault(error.slug, error.detail, number, error.pointer)
        except Unavailable:  # no fault of the line: it is read again
            raise
        except Exception as error:  # any other error is a fault of this line only
            logged = untold(error) if PRIVATE.search(raw) else error
            logger.error("batch.line_crashed", line=number, exc_info=logged)
            return Fault("unreadable_line", "this line could not be read", number, "#")

    def read(self, raw: bytes) -> tuple[str, JobRequest]:
        """Return the custom_id and the request of the line. Raises InvalidLine."""
        line = self._envelope(raw)
        if line.url != self.endpoint:
            raise InvalidLine(
                f"the batch is for {self.endpoint}", slug="mismatched_url", pointer="#/url"
            )
        try:
            sent = self._with_language(line.body)
            body = json.dumps(sent, ensure_ascii=False, allow_nan=False)
            request = parse_strict(self.contract.request, body, sent)
            if self.accept_untrained_languages:
                request = with_untrained_languages(request)
            check_encryption_key(request)
            with as_checked(self.contract, request) as (service, checked):
                self.catalogue.check_request(service, checked.model, checked)
                self.work_limit.check(self.catalogue.work(service, checked))
        except ValidationError as error:
            raise InvalidLine.of(validation_problem(error, line.body), "/body") from None
        except BadInput as error:
            slug = "too_costly" if isinstance(error, TooCostly) else "invalid_request"
            position = f"#/body{error.pointer or ''}"
            raise InvalidLine(error.detail, slug=slug, pointer=position) from None
        except ValueError as error:
            position = pointer(("body", *next(not_finite(line.body), ())))
            detail = "NaN and Infinity are not JSON, and a number must be below 1.8e308"
            detail = str(error) if position == "#/body" else detail
            raise InvalidLine(detail, slug="invalid_request", pointer=position) from None
        return line.custom_id, request

    def _with_language(self, body: dict[str, JsonValue]) -> dict[str, JsonValue]:
        """Return the body with the batch's language, unless the body states its own language."""
        states_one = body.get("language", "auto") != "auto"
        has_field = "language" in self.contract.request.model_fields
        if self.language is None or states_one or not has_field:
            return body
        return {**body, "language": self.language}

    def _envelope(self, raw: bytes) -> BatchLine:
        if (twice := repeated_key(raw)) is not None:
            raise InvalidLine(twice, slug="invalid_request", pointer="#")
        try:
            return BatchLine.model_validate_json(raw, strict=True)
        except ValidationError as error:
            first = first_fault(error)
            if first["type"] == "json_invalid":
                raise InvalidLine(plain(first), slug="invalid_json", pointer="#") from None
            position = pointer(step for step in first["loc"] if isinstance(step, str))
            raise InvalidLine(plain(first), slug="invalid_line", pointer=position) from None


def not_finite(value: JsonValue) -> Iterator[tuple[str | int, ...]]:
    """Yield the paths of NaN and infinite numbers in this value."""
    if isinstance(value, float) and not isfinite(value):
        yield ()
    inside: Iterable[tuple[str | int, JsonValue]] = ()
    if isinstance(value, dict):
        inside = value.items()
    elif isinstance(value, list):
        inside = enumerate(value)
    for step, child in inside:
        yield from ((step, *rest) for rest in not_finite(child))


class InvalidLine(BadInput):
    """A line without a valid request. `slug` is the error's code."""

    def __init__(self, detail: str, *, slug: str, pointer: str) -> None:
        super().__init__(detail, pointer=pointer)
        self.slug = slug

    @classmethod
    def of(cls, problem: dict[str, Any], at: str) -> InvalidLine:
        """Return the first error of a problem document as an InvalidLine. `at` is a JSON pointer
        that is prepended to the pointer of the error."""
        first = problem["errors"][0]
        where = "#" + at + first["pointer"].removeprefix("#")
        return cls(first["detail"], slug="invalid_request", pointer=where)


LINE_ENDS = {ord(end): f"\\u{ord(end):04x}" for end in "\x85\u2028\u2029"}  # to `splitlines`


def output_line(batch: Batch, answer: LineResult) -> tuple[Kind, bytes]:
    """Return the line to write for a result, and the file to which it belongs (output or
    errors)."""
    job = answer.job
    good = job is not None and job.status == "succeeded"
    line = {
        "id": _id(batch, answer),
        "custom_id": answer.custom_id,
        "response": _response(answer),
        "error": None if good else _error(batch, answer),
    }
    text = json.dumps(line, ensure_ascii=False, separators=(",", ":")).translate(LINE_ENDS)
    return "output" if good else "error", text.encode() + b"\n"


def error_line(batch: Batch, answer: LineResult) -> tuple[Kind, bytes]:
    """Return the file kind `error` and an error line, for a result that cannot be written to the
    output file. The job itself can still be read."""
    line = {
        "id": _id(batch, answer),
        "custom_id": answer.custom_id,
        "response": None,
        "error": {"code": "internal", "message": "the answer to this line could not be written"},
    }
    return "error", json.dumps(line).encode() + b"\n"


def _id(batch: Batch, answer: LineResult) -> str:
    return f"batch_req_{batch.id.removeprefix('batch_')}_{answer.number}"


def _response(answer: LineResult) -> dict[str, Any] | None:
    """Return the field `response` of a line in the output file: the JSON of `GET /v1/jobs/{id}`
    with this line's metadata. Return None if the job has no result or error."""
    job = answer.job
    if job is None or job.status not in ("succeeded", "failed"):
        return None
    body = job_json(job, details=True) | NOTHING | (answer.caller or {})
    status = 200 if job.error is None else job.error.get("status", 500)
    return {"status_code": status, "request_id": job.id, "body": body}


def _error(batch: Batch, answer: LineResult) -> dict[str, str]:
    job = answer.job
    if job is not None and job.error is not None:
        return {"code": type_name(job.error), "message": str(job.error["detail"])}
    if batch.ending == "completed":
        return {"code": "job_cancelled", "message": "the job was cancelled"}
    how = "failed" if batch.ending == "failed" else f"was {batch.ending}"
    message = f"the batch {how} before this line had a result"
    return {"code": f"batch_{batch.ending}", "message": message}


def reader_for(batch: Batch, settings: Settings, catalogue: Catalogue) -> Reader:
    """Return the validator for lines of this batch. Raises InvalidLine."""
    contract = contracts().get(batch.metric)
    if contract is None:
        detail = f"there is no metric {batch.metric!r}"
        raise InvalidLine(detail, slug="unknown_metric", pointer="#/url")
    return Reader(
        contract,
        contract.path,
        catalogue,
        most_lines=settings.max_batch_lines,
        most_body_bytes=settings.max_body_bytes,
        work_limit=settings.work_limit,
        accept_untrained_languages=batch.accept_untrained_languages,
        language=batch.language,
    )
