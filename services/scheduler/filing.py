"""Batches' files: the input is validated in steps, output and error file are written as a stream.

Neither holds up the feeding: this runs in a thread of its own.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import IO, Any

from sqlalchemy import Connection, Engine

from services.scheduler.answers import written
from services.scheduler.feeding import reader_for
from services.scheduler.lines import InvalidLine
from shared import log
from shared.catalogue import Catalogue
from shared.errors import UnknownFile
from shared.files import FileStore
from shared.ledger import ending, files, reading
from shared.ledger.batches import Batch
from shared.ledger.engine import transaction
from shared.ledger.files import NewFile
from shared.ledger.reading import Fault, Step
from shared.settings import Settings

KINDS: tuple[ending.Kind, ...] = ("output", "error")

logger = log.logger(__name__)


class Filing:
    """What one scheduler needs to read and write the files of batches."""

    def __init__(self, engine: Engine, chosen: Settings, catalogue: Catalogue) -> None:
        self._engine = engine
        self._chosen = chosen
        self._catalogue = catalogue
        self._store = FileStore(chosen.files_url)

    def round(self) -> int:
        """A step of every batch that is validated, then the files of one that has ended.

        How many batches were worked on: 0 means that nothing is to be done. Raises Unavailable.
        """
        with transaction(self._engine) as connection:
            unread, unwritten = reading.validating(connection), ending.unwritten(connection)
        worked = sum(self._read(batch_id) for batch_id in unread)
        return worked + sum(self._write(batch_id) for batch_id in unwritten[:1])

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
        for kind in KINDS:
            if noted[kind] is None:
                self._store.remove(ids[kind])
        if forgotten:
            self._store.remove(batch.input_file_id)
        logger.info("batch.ended", batch=batch.id, status=batch.ending, total=batch.total)
        return True

    def _stream(
        self, connection: Connection, batch: Batch, ids: dict[ending.Kind, str]
    ) -> dict[ending.Kind, int]:
        """Write every line's answer into one of the two files; the bytes of each."""
        counts = dict.fromkeys(KINDS, 0)
        with ExitStack() as opened:
            streams: dict[ending.Kind, IO[Any]] = {
                kind: opened.enter_context(self._store.writing(ids[kind])) for kind in KINDS
            }
            for answer in ending.answers(connection, batch.id):
                kind, line = written(batch, answer)
                counts[kind] += streams[kind].write(line)
        return counts

    def _note(
        self, connection: Connection, batch: Batch, kind: ending.Kind, size: int
    ) -> str | None:
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
