"""Batches' files: the input is validated in steps, output and error file are written as a stream.

Neither holds up the feeding: this runs in threads of its own. Tenants take turns: a step validates
some lines of one batch, and then it is another's turn.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import IO, Any

from sqlalchemy import Connection, Engine

from services.scheduler.answers import unwritable, written
from services.scheduler.boundary import Boundary
from services.scheduler.fairness import Rotation
from services.scheduler.feeding import reader_for
from services.scheduler.lines import InvalidLine
from services.scheduler.steps import Steps
from shared import log
from shared.catalogue import Catalogue
from shared.errors import UnknownFile
from shared.files import FileStore
from shared.ledger import ending, files, reading
from shared.ledger.batches import Batch, Turn
from shared.ledger.ending import Answer, Kind
from shared.ledger.engine import transaction
from shared.ledger.files import NewFile
from shared.ledger.reading import Fault, Step
from shared.settings import Settings

KINDS: tuple[Kind, ...] = ("output", "error")
STEPS_AT_ONCE = 8  # of each of the two
PATIENCE_SECONDS = 0.25

logger = log.logger(__name__)


@dataclass
class Paperwork:
    """One of the two things that are done with files: whose turn it is, and what is under way."""

    name: str
    waiting: Callable[[Connection], list[Turn]]
    work: Callable[[str], bool]
    rotation: Rotation = field(default_factory=Rotation)
    steps: Steps = field(default_factory=lambda: Steps(STEPS_AT_ONCE))
    worked: list[str] = field(default_factory=list)

    def done(self) -> int:
        """How many batches were worked on since the last time."""
        worked, self.worked = self.worked, []
        return len(worked)


class Filing:
    """What one scheduler needs to read and write the files of batches.

    patience: seconds that a round waits for its steps; the slower ones go on beside the next round.
    """

    def __init__(
        self,
        engine: Engine,
        chosen: Settings,
        catalogue: Catalogue,
        *,
        boundary: Boundary | None = None,
        patience: float = PATIENCE_SECONDS,
    ) -> None:
        self._engine = engine
        self._chosen = chosen
        self._catalogue = catalogue
        self._store = FileStore(chosen.files_url)
        self._boundary = boundary or Boundary(engine)
        self._patience = patience
        self._duties = (
            Paperwork("validating", reading.validating, self._read),
            Paperwork("writing", ending.unwritten, self._write),
        )

    def round(self) -> int:
        """A step of one validated batch of each tenant, and the files of one ended batch of each.

        How many batches were worked on: 0 means that nothing is to be done. Raises Unavailable.
        """
        with transaction(self._engine) as connection:
            waiting = [duty.waiting(connection) for duty in self._duties]
        for duty, turns in zip(self._duties, waiting, strict=True):
            self._begin(duty, turns)
        until = time.monotonic() + self._patience
        for duty in self._duties:
            duty.steps.wait(max(0.0, until - time.monotonic()))
        return sum(duty.done() + duty.steps.count for duty in self._duties)

    def _begin(self, duty: Paperwork, turns: list[Turn]) -> None:
        duty.rotation.forget_others(turns)
        able = [
            turn
            for turn in turns
            if not self._boundary.rests(duty.name, turn.id) and duty.steps.may_start(turn)
        ]
        for turn in duty.rotation.order(able):
            if duty.steps.may_start(turn):
                duty.rotation.serve(turn)
                duty.steps.start(turn, partial(self._guarded, duty, turn.id))

    def _guarded(self, duty: Paperwork, batch_id: str) -> None:
        with self._boundary.around(duty.name, batch_id):
            if duty.work(batch_id):
                duty.worked.append(batch_id)

    def _read(self, batch_id: str) -> bool:
        with transaction(self._engine) as connection:
            batch = reading.take(connection, batch_id)
            if batch is None:
                return False
            reading.advance(connection, batch, self._step(batch))
        return True

    def _step(self, batch: Batch) -> Step:
        try:
            reader = reader_for(batch.metric, self._chosen, self._catalogue)
            with self._store.reading(batch.input_file_id, batch.read_bytes) as stream:
                return reader.step(stream, batch)
        except (UnknownFile, InvalidLine) as error:
            fault = Fault(error.slug.replace("-", "_"), error.detail)
            return Step([], [fault], batch.read_bytes, batch.read_lines, at_end=True, fatal=True)

    def _write(self, batch_id: str) -> bool:
        with transaction(self._engine) as connection:
            batch = ending.take(connection, batch_id)
            if batch is None:
                return False
            ids = {kind: ending.file_id(batch.id, kind) for kind in KINDS}
            counts = self._stream(connection, batch, ids)
            noted = {kind: self._note(connection, batch, kind, counts[kind]) for kind in KINDS}
            ending.close(connection, batch, noted["output"], noted["error"])
            forgotten = self._forget_input(connection, batch)
        logger.info("batch.ended", batch=batch.id, status=batch.ending, total=batch.total)
        unneeded = [ids[kind] for kind in KINDS if noted[kind] is None]
        for file_id in [*unneeded, *([batch.input_file_id] if forgotten else [])]:
            self._store.remove(file_id)
        return True

    def _stream(
        self, connection: Connection, batch: Batch, ids: dict[Kind, str]
    ) -> dict[Kind, int]:
        """Write every line's answer into one of the two files; the bytes of each."""
        counts = dict.fromkeys(KINDS, 0)
        with ExitStack() as opened:
            streams: dict[Kind, IO[Any]] = {
                kind: opened.enter_context(self._store.writing(ids[kind])) for kind in KINDS
            }
            for answer in ending.answers(connection, batch.id):
                kind, line = _line(batch, answer)
                counts[kind] += streams[kind].write(line)
        return counts

    def _note(self, connection: Connection, batch: Batch, kind: Kind, size: int) -> str | None:
        """Make the file known; None where it is empty."""
        if size == 0:
            return None
        new = NewFile(
            id=ending.file_id(batch.id, kind),
            purpose="batch_output",
            filename=f"{batch.id}_{kind}.jsonl",
            bytes=size,
            kept_for=files.term(batch.output_seconds, self._chosen.file_retention_hours),
            tenant=batch.tenant,
        )
        return files.note(connection, new).id

    def _forget_input(self, connection: Connection, batch: Batch) -> bool:
        """Lines that keep no text do not keep it in the input file either."""
        if batch.keeps_text:
            return False
        return bool(files.forget_unused(connection, [batch.input_file_id]))


def _line(batch: Batch, answer: Answer) -> tuple[Kind, bytes]:
    try:
        return written(batch, answer)
    except Exception:  # one answer that cannot be shown does not keep the others back
        logger.exception("batch.answer_crashed", batch=batch.id, line=answer.number)
        return unwritable(batch, answer)
