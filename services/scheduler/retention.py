"""Deletes results, files and keys after their retention time. A file that was never registered in
the database is deleted after a day. Errors are logged and tried again in the next round. Input
files with private texts are deleted even if their batch failed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial

from sqlalchemy import Connection, Engine

from shared.contracts.errors import FileStoreAway, Unavailable
from shared.contracts.redaction import PRIVATE, PRIVATE_BYTES
from shared.ledger import files, partitions, retention, score_hours, tenants
from shared.ledger.engine import transaction
from shared.ledger.file_store import FileStore
from shared.ledger.retention import FinishedInput
from shared.process import telemetry
from shared.process.settings import Settings

IDEMPOTENCY_TERM = timedelta(hours=24)  # retention of an `Idempotency-Key`
FILES_AT_ONCE = 100
STRAY_AGE = timedelta(days=1)  # older than any upload takes
PIECE_BYTES = 1_048_576
AT_ONCE = 20  # files in a round

logger = telemetry.logger(__name__)


class Retention:
    """The periodic task that deletes old data."""

    def __init__(self, engine: Engine, settings: Settings) -> None:
        self._engine = engine
        self._settings = settings
        self._store = FileStore(settings.files_url, engine)

    def round(self) -> None:
        """Delete everything whose retention time has passed. Raises Unavailable."""
        term = timedelta(hours=self._settings.retention_hours)
        purges: dict[str, Callable[[], int]] = {
            **self._jobs(term),
            "jobs of tenants": lambda: self._jobs_of_tenants(term),
            "keys": self._all(
                lambda connection: retention.purge_idempotency(connection, IDEMPOTENCY_TERM)
            ),
            "deliveries": self._all(
                lambda connection: retention.purge_deliveries(connection, term)
            ),
            "score hours": self._all(score_hours.delete_before),
            "files": self._files,
            "strays": self._delete_unknown_files,
        }
        gone = {kind: _run_one(kind, purge) for kind, purge in purges.items()}
        if any(gone.values()):
            logger.info("retention.purged", **gone)

    def _jobs(self, term: timedelta) -> dict[str, Callable[[], int]]:
        """Return the functions that delete expired jobs and batches, by name. If the jobs table is
        partitioned by day, whole days are deleted."""
        with transaction(self._engine) as connection:
            by_day = partitions.is_partitioned(connection)
        if not by_day:
            partitions.remove_boundary(self._engine)
            return {
                "jobs": self._all(lambda connection: retention.purge_jobs(connection, term)),
                "batches": lambda: self._batches(term, retention.purge_batch),
            }
        now, late = datetime.now(UTC), term + partitions.GRACE
        return {
            "partitions": lambda: partitions.maintain(self._engine, now),
            "batches": lambda: self._batches(term, retention.delete_batch),
            "referring": lambda: self._referring(term),
            "days": lambda: partitions.drop_expired(self._engine, term, now),
            "jobs": self._all(lambda connection: retention.purge_jobs(connection, late)),
        }

    def _jobs_of_tenants(self, default: timedelta) -> int:
        """Delete the old jobs of tenants whose retention time is shorter than `default`. Return the
        number of deleted rows."""
        with transaction(self._engine) as connection:
            terms = tenants.shorter_terms(connection, default)
        return sum(
            self._all(partial(retention.purge_jobs, older_than=term, tenant=name))()
            for name, term in terms
        )

    def _referring(self, older_than: timedelta) -> int:
        """Delete rows that refer to expired jobs, such as rows of pages and idempotency keys. Each
        portion of rows is deleted in a separate transaction. Return the number of portions."""
        portions = 0
        for column in partitions.REFERRING:
            after: str | None = ""
            while after is not None:
                with transaction(self._engine) as connection:
                    after = partitions.forget_referring(connection, column, older_than, after)
                portions += after is not None
        return portions

    def _all(self, portion: Callable[[Connection], int]) -> Callable[[], int]:
        """Return a function that deletes one portion per transaction until nothing is left. It
        returns the number of deleted rows."""

        def purge() -> int:
            total = 0
            while True:
                with transaction(self._engine) as connection:
                    gone = portion(connection)
                if gone == 0:
                    return total
                total += gone

        return purge

    def _batches(self, older_than: timedelta, purge: Callable[[Connection, str], int]) -> int:
        """Purge one batch after the other and return the total. A batch that cannot be purged waits
        for the next round."""
        total, stuck = 0, list[str]()
        while True:
            with transaction(self._engine) as connection:
                batch_id = retention.oldest_batch(connection, older_than, stuck)
            if batch_id is None:
                return total
            try:
                with transaction(self._engine) as connection:
                    gone = purge(connection, batch_id)
            except Unavailable:
                raise
            except Exception:
                logger.exception("retention.batch_crashed", batch=batch_id)
                gone = 0
            if gone == 0:  # or another scheduler purges it
                stuck.append(batch_id)
            total += gone

    def _files(self) -> int:
        total = 0
        while True:
            with transaction(self._engine) as connection:
                expired = files.delete_unused(connection, files.expired(connection, FILES_AT_ONCE))
            for file_id in expired:
                self._store.remove(file_id)
            total += len(expired)
            if not expired:
                return total

    def _delete_unknown_files(self) -> int:
        """Delete old stored files that have no row in the database, and return their number. Such
        files remain if a process dies while writing, or if the store is unavailable."""
        self._store.remove_unfinished(STRAY_AGE)
        old = list(self._store.list_by_age(STRAY_AGE))
        strays = []
        for start in range(0, len(old), FILES_AT_ONCE):
            some = old[start : start + FILES_AT_ONCE]
            with transaction(self._engine) as connection:
                with_rows = files.sizes_of(connection, some)
            strays += [file_id for file_id in some if file_id not in with_rows]
        for file_id in strays:
            self._store.remove(file_id)
        return len(strays)


def _run_one(kind: str, purge: Callable[[], int]) -> int:
    """Delete one kind of old data. An error does not stop the others. Raises Unavailable if the
    jobs database cannot be reached."""
    try:
        return purge()
    except FileStoreAway as error:
        logger.warning("retention.waits", kind=kind, detail=error.detail)
    except Unavailable:
        raise
    except Exception:
        logger.exception("retention.crashed", kind=kind)
    return 0


class PrivateInputs:
    """The periodic task that deletes input files with private texts."""

    def __init__(self, engine: Engine, settings: Settings) -> None:
        self._engine = engine
        self._store = FileStore(settings.files_url, engine)
        self._after = ""  # the last batch of a round, so that files that are away block no others

    def round(self) -> int:
        """Delete input files with private texts and return their number. Raises Unavailable."""
        with transaction(self._engine) as connection:
            inputs = retention.finished_inputs(connection, AT_ONCE, self._after)
        self._after = inputs[-1].batch_id if len(inputs) == AT_ONCE else ""
        gone = 0
        for file in inputs:
            try:
                keeps_text = file.keeps_text and not self._contains_field(file)
            except FileStoreAway as error:
                logger.warning("private_inputs.waits", file=file.file_id, detail=error.detail)
                continue
            with transaction(self._engine) as connection:
                retention.mark_read(connection, file, keeps_text=keeps_text)
                forgotten = [] if keeps_text else files.delete_unused(connection, [file.file_id])
            for file_id in forgotten:
                self._store.remove(file_id)
                logger.info("batch.input_forgotten", batch=file.batch_id, file=file_id)
            gone += len(forgotten)
        return gone

    def _contains_field(self, file: FinishedInput) -> bool:
        """Return True if the part of the file that was not validated contains `do_not_store_text`.
        Raises FileStoreAway."""
        with self._store.open_read(file.file_id, file.read_bytes, size=file.bytes) as stream:
            tail = b""
            while piece := stream.read(PIECE_BYTES):
                if PRIVATE.search(tail + piece):
                    return True
                tail = piece[-PRIVATE_BYTES:]
        return False
