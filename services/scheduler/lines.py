"""A batch's file, line by line: what each asks, or what is wrong with it.

A line is `{"custom_id", "method": "POST", "url", "body"}` (OpenAI Batch API); the body is read as
strictly as the gateway reads a request to that url.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import IO, Annotated, Any, Literal

from pydantic import AfterValidator, Field, JsonValue, StringConstraints, ValidationError
from pydantic_core import PydanticCustomError

from shared import log
from shared.catalogue import Catalogue
from shared.contracts import JobRequest, Message, ServiceContract
from shared.errors import BadInput, TooCostly
from shared.ledger.batches import Batch
from shared.ledger.idempotency import fingerprint
from shared.ledger.private_requests import demand_key
from shared.ledger.reading import Fault, Line, Step
from shared.problems import pointer, validation_problem
from shared.strictness import read_strictly
from shared.work import WorkLimit

LINES_AT_ONCE = 500
BYTES_AT_ONCE = 4_000_000  # at least one line, however long
SECONDS_AT_ONCE = 1.0  # from a slow store at least one line, too
ENVELOPE_BYTES = 4_096  # what a line may have beside its body
CALLER = {"metadata", "context"}  # given back with the answer; the score does not depend on them
PRIVATE = b"do_not_store_text"  # the field, as a line that cannot be read may still name it
BYTE_ORDER_MARK = b"\xef\xbb\xbf"

logger = log.logger(__name__)


def _storable(text: str) -> str:
    """PostgreSQL keeps every character but this one; an id that was changed would be no id."""
    if "\x00" in text:
        raise PydanticCustomError("nul", "must not contain the character U+0000")
    return text


class BatchLine(Message):
    """One request of a batch."""

    custom_id: Annotated[
        str, StringConstraints(min_length=1, max_length=256), AfterValidator(_storable)
    ]
    method: Literal["POST"] = Field(description="nothing else is possible")
    url: str = Field(description="the batch's endpoint")
    body: dict[str, JsonValue] = Field(description="a request to that endpoint")


@dataclass(frozen=True)
class Reader:
    """What a batch's lines are measured against."""

    room: ServiceContract
    endpoint: str
    catalogue: Catalogue
    most_lines: int
    most_body_bytes: int
    work_limit: WorkLimit

    def step(self, stream: IO[bytes], batch: Batch) -> Step:
        """Read on from where the batch stands: some lines, not the whole file."""
        lines: list[Line] = []
        faults: list[Fault] = []
        keeps_text = True
        start, number = batch.read_bytes, batch.read_lines
        until = time.monotonic() + SECONDS_AT_ONCE
        for raw, length in self._raw(stream):
            number += 1
            if number > self.most_lines:
                fault = Fault("too_many_lines", f"at most {self.most_lines} lines", number)
                done = Step(lines, [*faults, fault], start, number, at_end=True, fatal=True)
                return replace(done, keeps_text=keeps_text)
            found = self.line(raw, number, start, length)
            if isinstance(found, Fault):
                faults.append(found)
                keeps_text &= PRIVATE not in raw and len(raw) == length
            elif found is not None:
                lines.append(found)
                keeps_text &= found.keeps_text
            start += length
            if (
                number - batch.read_lines >= LINES_AT_ONCE
                or start - batch.read_bytes > BYTES_AT_ONCE
                or time.monotonic() > until
            ):
                return Step(lines, faults, start, number, at_end=False, keeps_text=keeps_text)
        return Step(lines, faults, start, number, at_end=True, keeps_text=keeps_text)

    def _raw(self, stream: IO[bytes]) -> Iterator[tuple[bytes, int]]:
        """Each line, cut off where it is too long, and its true length in bytes."""
        limit = self.most_body_bytes + ENVELOPE_BYTES
        while raw := stream.readline(limit + 1):
            length, piece = len(raw), raw
            while not piece.endswith(b"\n") and (piece := stream.readline(limit)):
                length += len(piece)
            yield raw, length

    def line(self, raw: bytes, number: int, start: int, length: int) -> Line | Fault | None:
        """One line; None where it is blank."""
        if length > self.most_body_bytes + ENVELOPE_BYTES:
            return Fault("line_too_long", f"the body may have {self.most_body_bytes} bytes", number)
        if number == 1:
            raw = raw.removeprefix(BYTE_ORDER_MARK)
        if not raw.strip():
            return None
        try:
            return self._valid(raw, number, start, length)
        except InvalidLine as error:
            return Fault(error.slug, error.detail, number, error.pointer)
        except TooCostly as error:
            return Fault("too_costly", error.detail, number, f"#/body{error.pointer or ''}")
        except Exception:  # whatever a line can hold, it is this line's fault alone
            logger.exception("batch.line_crashed", line=number)
            return Fault("unreadable_line", "this line cannot be read", number, "#")

    def _valid(self, raw: bytes, number: int, start: int, length: int) -> Line:
        custom_id, asked = self.read(raw)
        self.work_limit.check(self.catalogue.work(self.room, asked))
        request = asked.model_dump(mode="json")
        caller = {name: request.pop(name) for name in CALLER}
        return Line(
            number=number,
            custom_id=custom_id,
            start=start,
            length=length,
            fingerprint=fingerprint(self.room.name, request),
            caller=caller if any(caller.values()) else None,
            keeps_text=not asked.do_not_store_text,
        )

    def read(self, raw: bytes) -> tuple[str, JobRequest]:
        """The line's custom_id and its request. Raises InvalidLine."""
        line = self._envelope(raw.removeprefix(BYTE_ORDER_MARK))
        if line.url != self.endpoint:
            raise InvalidLine(
                f"the batch is for {self.endpoint}", slug="mismatched_url", pointer="#/url"
            )
        try:
            body = json.dumps(line.body, ensure_ascii=False, allow_nan=False)
            asked = read_strictly(self.room.request, body, line.body)
            self.catalogue.demand(self.room, asked.model)
            demand_key(asked)
        except ValidationError as error:
            raise InvalidLine.of(validation_problem(error, line.body), "/body") from None
        except BadInput as error:
            place = f"#/body{error.pointer or ''}"
            raise InvalidLine(error.detail, slug="invalid_request", pointer=place) from None
        except ValueError as error:  # NaN and infinity
            raise InvalidLine(str(error), slug="invalid_request", pointer="#/body") from None
        return line.custom_id, asked

    def _envelope(self, raw: bytes) -> BatchLine:
        try:
            return BatchLine.model_validate_json(raw, strict=True)
        except ValidationError as error:
            first = error.errors(include_url=False, include_context=False, include_input=False)[0]
            if first["type"] == "json_invalid":
                raise InvalidLine(first["msg"], slug="invalid_json", pointer="#") from None
            place = pointer(step for step in first["loc"] if isinstance(step, str))
            raise InvalidLine(first["msg"], slug="invalid_line", pointer=place) from None


class InvalidLine(BadInput):
    """A line that asks for nothing that could be done; `slug` is the error's code."""

    def __init__(self, detail: str, *, slug: str, pointer: str) -> None:
        super().__init__(detail, pointer=pointer)
        self.slug = slug

    @classmethod
    def of(cls, problem: dict[str, Any], at: str) -> InvalidLine:
        """The first fault of a validation problem, its pointer moved to this place."""
        first = problem["errors"][0]
        where = "#" + at + first["pointer"].removeprefix("#")
        return cls(first["detail"], slug="invalid_request", pointer=where)
