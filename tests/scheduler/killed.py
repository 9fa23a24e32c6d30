"""A scheduler whose validation is killed by a certain text, as by memory: its batches, until told.

`python -m tests.scheduler.killed FINAL...`: ends when the batches of these ids are final.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

from services.scheduler.batch_feed import Feeder
from services.scheduler.batch_files import BatchFileWorker, Reader
from services.scheduler.failure_isolation import FailureIsolation
from shared.ledger import batches
from shared.ledger.engine import ledger, transaction
from shared.models.catalogue.catalogue import load_catalogue
from shared.process.settings import settings

DEADLY = b"kills its reader"


def main(waited_for: list[str]) -> None:
    """Rounds, as the scheduler's process makes them."""
    real = Reader.line

    def line(reader: Reader, raw: bytes, *place: Any) -> Any:
        if DEADLY in raw:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(reader, raw, *place)

    Reader.line = line  # type: ignore[method-assign, assignment]
    chosen, engine = settings(), ledger()
    catalogue, isolation = load_catalogue(chosen.models_file), FailureIsolation(engine)
    filing = BatchFileWorker(engine, chosen, catalogue, isolation=isolation)
    feeder = Feeder(engine, chosen, isolation=isolation)
    while True:
        filing.round()
        feeder.round()
        with transaction(engine) as connection:
            if all(batches.find(connection, one).is_final for one in waited_for):
                return


if __name__ == "__main__":
    main(sys.argv[1:])
