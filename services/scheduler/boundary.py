"""An error boundary around each batch: one that cannot go on fails alone, and nobody else waits.

An unexpected error in a step of a batch is logged and counted, and the batch rests before it is
tried again. After a few tries it fails, with its reason. A ledger that is away is no batch's fault:
that ends the round. Neither is a file store that is away: then its batch rests, the others go on.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from shared import log, metrics
from shared.errors import FileStoreAway, Unavailable
from shared.ledger import ending
from shared.ledger.batches import find
from shared.ledger.engine import transaction
from shared.ledger.reading import Fault

TRIES = 3  # a batch's step may fail so often; a store that answers with nonsense may be mended
REST_SECONDS = 1.0  # after the first, then longer
LONGEST_REST_SECONDS = 60.0
SCHEMA = {"42703", "42704", "42883", "42P01"}  # SQLSTATE: no such column, type, function, table
MOST_REMEMBERED = 10_000  # batches in trouble; who comes after them is tried anew

logger = log.logger(__name__)


def is_of_the_schema(error: Exception) -> bool:
    """Whether a table or a column is not as this version knows it: no batch's fault either."""
    state = getattr(getattr(error, "orig", None), "sqlstate", None)
    return isinstance(error, DBAPIError) and state in SCHEMA


@dataclass
class Trouble:
    """What a batch's step has failed of late."""

    away: int = 0  # times that the file store was
    errors: int = 0
    until: float = 0.0  # it rests

    def rest(self, first_seconds: float) -> None:
        """Before the next try: twice as long as before the one before."""
        seconds = first_seconds * 2.0 ** (self.away + self.errors - 1)
        self.until = time.monotonic() + min(seconds, LONGEST_REST_SECONDS)


class Boundary:
    """The batches in trouble, as this scheduler has seen them. For any thread."""

    def __init__(
        self, engine: Engine, *, tries: int = TRIES, rest_seconds: float = REST_SECONDS
    ) -> None:
        self._engine = engine
        self._tries = tries
        self._rest_seconds = rest_seconds
        self._troubles: dict[tuple[str, str], Trouble] = {}
        self._lock = threading.Lock()

    def rests(self, step: str, batch_id: str) -> bool:
        """Whether this step of the batch is to wait."""
        trouble = self._troubles.get((step, batch_id))
        return trouble is not None and time.monotonic() < trouble.until

    @contextmanager
    def around(self, step: str, batch_id: str) -> Iterator[None]:
        """What goes wrong in here stays here. Raises Unavailable where the ledger is away."""
        try:
            yield
        except FileStoreAway as error:
            logger.warning("batch.waits", batch=batch_id, step=step, detail=error.detail)
            self._note(step, batch_id, away=1)
        except Unavailable:
            raise
        except Exception as error:
            if is_of_the_schema(error):
                raise
            self._failed(step, batch_id, error)  # whatever it is, it is this batch's
        else:
            with self._lock:
                self._troubles.pop((step, batch_id), None)

    def each(self, step: str, work: Callable[[Connection, Sequence[str] | None], object]) -> None:
        """Do this for all batches in one transaction; where it fails, for each in one of its own.

        work: with the batches to do it for; None: all. Raises Unavailable.
        """
        try:
            with transaction(self._engine) as connection:
                work(connection, None)
            return
        except Exception as error:
            if isinstance(error, Unavailable) or is_of_the_schema(error):
                raise
            logger.exception("batches.crashed", step=step)
        with transaction(self._engine) as connection:
            found = ending.open_batches(connection)
        for turn in found:
            if not self.rests(step, turn.id):
                with self.around(step, turn.id), transaction(self._engine) as connection:
                    work(connection, [turn.id])

    def _failed(self, step: str, batch_id: str, error: Exception) -> None:
        """Log it under an id that the caller is told, too; after the last try the batch fails."""
        error_id = f"err_{secrets.token_hex(8)}"
        logger.error("batch.crashed", batch=batch_id, step=step, error_id=error_id, exc_info=error)
        metrics.BATCH_ERRORS.labels(step).inc()
        if self._note(step, batch_id, errors=1).errors < self._tries:
            return
        reason = f"{step} failed {self._tries} times: {type(error).__name__}"
        self._end(batch_id, Fault("internal", f"{reason}; quote {error_id} when you ask"))
        metrics.BATCHES_FAILED.labels(step).inc()

    def _note(self, step: str, batch_id: str, *, away: int = 0, errors: int = 0) -> Trouble:
        with self._lock:
            if len(self._troubles) >= MOST_REMEMBERED:
                self._troubles.clear()
            trouble = self._troubles.setdefault((step, batch_id), Trouble())
            trouble.away += away
            trouble.errors += errors
            trouble.rest(self._rest_seconds)
            return trouble

    def _end(self, batch_id: str, fault: Fault) -> None:
        """With the results that it has; where even that fails, without."""
        try:
            with transaction(self._engine) as connection:
                status = ending.fail(connection, batch_id, fault)
        except Unavailable:
            raise
        except Exception:
            logger.exception("batch.crashed", batch=batch_id, step="failing")
            status = self._end_outright(batch_id, fault)
        logger.error("batch.failed", batch=batch_id, status=status, reason=fault.message)

    def _end_outright(self, batch_id: str, fault: Fault) -> str:
        """Nothing but the batch's row; where even that fails, it rests and is tried again."""
        try:
            with transaction(self._engine) as connection:
                ending.fail_outright(connection, find(connection, batch_id), [vars(fault)])
        except Unavailable:
            raise
        except Exception:
            logger.exception("batch.crashed", batch=batch_id, step="failing outright")
            return "stuck"
        return "failed"
