"""Input files of batches that must not keep their text are deleted, however their batch ended.

Whether a file holds such a line is known of every line that was read. Of what was not read, since
the batch failed, was cancelled or expired first, the bytes are searched for the field's name.
"""

from __future__ import annotations

from sqlalchemy import Engine

from services.scheduler.lines import PRIVATE
from shared import log
from shared.errors import UnknownFile
from shared.files import FileStore
from shared.ledger import files, private_inputs
from shared.ledger.engine import transaction
from shared.ledger.private_inputs import EndedInput
from shared.settings import Settings

PIECE_BYTES = 1_048_576
AT_ONCE = 20  # files in a round

logger = log.logger(__name__)


class PrivateInputs:
    """What one scheduler looks for."""

    def __init__(self, engine: Engine, chosen: Settings) -> None:
        self._engine = engine
        self._store = FileStore(chosen.files_url)

    def round(self) -> int:
        """How many files were deleted. Raises Unavailable."""
        with transaction(self._engine) as connection:
            found = private_inputs.ended(connection, AT_ONCE)
        gone = 0
        for one in found:
            keeps_text = one.keeps_text and not self._names_the_field(one)
            with transaction(self._engine) as connection:
                private_inputs.was_read(connection, one, keeps_text=keeps_text)
                forgotten = [] if keeps_text else files.forget_unused(connection, [one.file_id])
            for file_id in forgotten:
                self._store.remove(file_id)
                logger.info("batch.input_forgotten", batch=one.batch_id, file=file_id)
            gone += len(forgotten)
        return gone

    def _names_the_field(self, one: EndedInput) -> bool:
        """Whether what nobody read says anywhere that its text must not be stored."""
        try:
            with self._store.reading(one.file_id, one.read_bytes) as stream:
                kept = b""
                while piece := stream.read(PIECE_BYTES):
                    if PRIVATE in kept + piece:
                        return True
                    kept = piece[-len(PRIVATE) :]
        except UnknownFile:
            return False
        return False
