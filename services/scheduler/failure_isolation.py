"""Makes sure that a batch with an error fails alone. After an unexpected error, the batch is tried
again later. After a few tries it fails with the reason. An unavailable database counts against no
batch. If the file store is unavailable, the batches that need it wait."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from services.scheduler.attempts import MOST, Attempts, TooManyDeaths
from shared.contracts.errors import FileStoreAway, ModelNotReady, Unavailable
from shared.ledger import batch_attempts, batches
from shared.ledger.batches import Fault, find
from shared.ledger.engine import transaction
from shared.process import telemetry

TRIES = 3  # of a batch's step
REST_SECONDS = 1.0  # after the first, then longer
LONGEST_REST_SECONDS = 60.0
SCHEMA = {"42703", "42704", "42883", "42P01"}  # SQLSTATE: no such column, type, function, table
HANGING = "reading or writing the batch's file takes more than a minute"
MOST_DOUBLINGS = 16  # of the first pause: a store may be away for a day
MOST_REMEMBERED = 10_000  # batches with errors; the oldest are forgotten

logger = telemetry.logger(__name__)


def is_schema_error(error: Exception) -> bool:
    """Return True if a database table or column is not as this version expects. Such an error is
    not the fault of a batch."""
    state = getattr(getattr(error, "orig", None), "sqlstate", None)
    return isinstance(error, DBAPIError) and state in SCHEMA


@dataclass
class StepErrors:
    """The recent errors in one kind of work on a batch."""

    away: int = 0  # how often the file store was away
    errors: int = 0
    until: float = 0.0  # end of the pause

    def postpone(self, first_seconds: float) -> None:
        """Delay the next try. Each delay is twice as long as the one before, up to a limit."""
        seconds = first_seconds * 2.0 ** min(self.away + self.errors - 1, MOST_DOUBLINGS)
        self.until = time.monotonic() + min(seconds, LONGEST_REST_SECONDS)


class FailureIsolation:
    """Remembers which batches failed in one scheduler process, and delays their next try.
    Thread-safe."""

    def __init__(
        self,
        engine: Engine,
        *,
        tries: int = TRIES,
        rest_seconds: float = REST_SECONDS,
        attempts: Attempts | None = None,
    ) -> None:
        self._engine = engine
        self._tries = tries
        self._rest_seconds = rest_seconds
        self._troubles: dict[tuple[str, str], StepErrors] = {}
        self._lock = threading.Lock()
        self._attempts = attempts or Attempts(engine)

    def should_wait(self, step: str, batch_id: str) -> bool:
        """Return True if this work failed recently and must wait before the next try."""
        trouble = self._troubles.get((step, batch_id))
        return trouble is not None and time.monotonic() < trouble.until

    @contextmanager
    def attempt(self, step: str, batch_id: str) -> Iterator[bool]:
        """Count an attempt at this step of the batch while the block runs. Yield False if the step
        must not start now. Errors in the block are recorded and may end the batch. Raises
        Unavailable if the jobs database cannot be reached."""
        with self.guard(step, batch_id):
            try:
                with self._attempts.count(batch_id) as begins:
                    yield begins
                return
            except TooManyDeaths:
                message = f"{step} this batch ended the scheduler's process {MOST} times"
            self._end(batch_id, Fault("attempts_exhausted", message))
            telemetry.BATCHES_FAILED.labels(step).inc()
            yield False

    def close(self) -> None:
        """End the running attempts without counting them as deaths, because this process ends
        normally."""
        self._attempts.close()

    @contextmanager
    def guard(self, step: str, batch_id: str) -> Iterator[None]:
        """Log errors in the block and record them for the batch. Raises Unavailable if the jobs
        database cannot be reached, and errors of the database schema."""
        try:
            yield
        except (FileStoreAway, ModelNotReady) as error:
            logger.warning("batch.waits", batch=batch_id, step=step, detail=error.detail)
            self._record_error(step, batch_id, away=1)
            with transaction(self._engine) as connection:
                batches.set_waiting(connection, batch_id, error.detail)
        except Unavailable:
            raise
        except Exception as error:
            if is_schema_error(error):
                raise
            self._failed(step, batch_id, error)  # any other error is this batch's
        else:
            with self._lock:
                self._troubles.pop((step, batch_id), None)

    def note_hanging(self, connection: Connection, batch_id: str) -> None:
        """Record that work on this batch hangs. The batch is then not blamed if the process is
        killed."""
        batches.set_waiting(connection, batch_id, HANGING)
        batch_attempts.clear(connection, [batch_id])

    def for_each_batch(
        self, step: str, work: Callable[[Connection, Sequence[str] | None], object]
    ) -> None:
        """Run `work` for all batches in one transaction. If that fails, run it once for each batch.
        `work` gets the ids of its batches, or None for all. Raises Unavailable."""
        try:
            with transaction(self._engine) as connection:
                work(connection, None)
            return
        except Exception as error:
            if isinstance(error, Unavailable) or is_schema_error(error):
                raise
            logger.exception("batches.crashed", step=step)
        with transaction(self._engine) as connection:
            open_batches = batches.open_batches(connection)
        for batch in open_batches:
            if not self.should_wait(step, batch.id):
                with self.guard(step, batch.id), transaction(self._engine) as connection:
                    work(connection, [batch.id])

    def _failed(self, step: str, batch_id: str, error: Exception) -> None:
        """Log the error under an id that the caller also gets. After the last try, fail the
        batch."""
        error_id = f"err_{secrets.token_hex(8)}"
        logger.error("batch.crashed", batch=batch_id, step=step, error_id=error_id, exc_info=error)
        telemetry.BATCH_ERRORS.labels(step).inc()
        if self._record_error(step, batch_id, errors=1).errors < self._tries:
            return
        reason = f"{step} failed {self._tries} times: {type(error).__name__}"
        self._end(
            batch_id,
            Fault("internal", f"{reason}; quote the error id {error_id} when you report this"),
        )
        telemetry.BATCHES_FAILED.labels(step).inc()

    def _record_error(
        self, step: str, batch_id: str, *, away: int = 0, errors: int = 0
    ) -> StepErrors:
        with self._lock:
            if len(self._troubles) >= MOST_REMEMBERED:
                self._troubles.clear()
            trouble = self._troubles.setdefault((step, batch_id), StepErrors())
            trouble.away += away
            trouble.errors += errors
            trouble.postpone(self._rest_seconds)
            return trouble

    def _end(self, batch_id: str, fault: Fault) -> None:
        """Fail the batch and write its results, or fail it without results if they cannot be
        written."""
        try:
            with transaction(self._engine) as connection:
                status = batches.fail(connection, batch_id, fault)
                batch_attempts.clear(connection, [batch_id])  # the count belongs to one step
        except Unavailable:
            raise
        except Exception:
            logger.exception("batch.crashed", batch=batch_id, step="failing")
            status = self._fail_batch(batch_id, fault)
        logger.error("batch.failed", batch=batch_id, status=status, reason=fault.message)

    def _fail_batch(self, batch_id: str, fault: Fault) -> str:
        """Mark the batch as failed and delete its waiting lines, without writing its files. Return
        "failed", or "stuck" if this raises an error."""
        try:
            with transaction(self._engine) as connection:
                batches.fail_batch(connection, find(connection, batch_id), [vars(fault)])
            with transaction(self._engine) as connection:
                batches.delete_waiting(connection, batch_id)
        except Unavailable:
            raise
        except Exception:
            logger.exception("batch.crashed", batch=batch_id, step="failing outright")
            return "stuck"
        return "failed"
