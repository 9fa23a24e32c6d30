"""Nothing is kept for ever: results, files and keys go after their term.

A blob goes after its row; one that has no row (whoever wrote it died) goes after a day.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from sqlalchemy import Connection, Engine

from shared import log
from shared.files import FileStore
from shared.ledger import files, retention
from shared.ledger.engine import transaction
from shared.ledger.webhooks import deliveries
from shared.settings import Settings

FILES_AT_ONCE = 100
STRAY_AGE = timedelta(days=1)  # older than any upload takes

logger = log.logger(__name__)


class Retention:
    """What one scheduler forgets."""

    def __init__(self, engine: Engine, chosen: Settings) -> None:
        self._engine = engine
        self._chosen = chosen
        self._store = FileStore(chosen.files_url)

    def round(self) -> None:
        """Forget everything whose term is over. Raises Unavailable."""
        results = timedelta(hours=self._chosen.job_retention_hours)
        keys = timedelta(hours=self._chosen.idempotency_hours)
        told = timedelta(days=self._chosen.webhook_days)
        gone = {
            "jobs": self._all(lambda connection: retention.purge_jobs(connection, results)),
            "batches": self._all(lambda connection: retention.purge_batches(connection, results)),
            "keys": self._all(lambda connection: retention.purge_idempotency(connection, keys)),
            "deliveries": self._all(lambda connection: deliveries.purge(connection, told)),
            "files": self._files(),
            "strays": self._strays(),
        }
        if any(gone.values()):
            logger.info("retention.purged", **gone)

    def _all(self, portion: Callable[[Connection], int]) -> int:
        """Portion after portion, each in its own transaction, until nothing is left."""
        total = 0
        while True:
            with transaction(self._engine) as connection:
                gone = portion(connection)
            if gone == 0:
                return total
            total += gone

    def _files(self) -> int:
        total = 0
        while True:
            with transaction(self._engine) as connection:
                expired = files.forget_unused(connection, files.expired(connection, FILES_AT_ONCE))
            for file_id in expired:
                self._store.remove(file_id)
            total += len(expired)
            if not expired:
                return total

    def _strays(self) -> int:
        """Blobs without a row: their writer, or who removed their row, died before the rest."""
        old = list(self._store.untouched_for(STRAY_AGE))
        strays = []
        for start in range(0, len(old), FILES_AT_ONCE):
            some = old[start : start + FILES_AT_ONCE]
            with transaction(self._engine) as connection:
                known = files.known(connection, some)
            strays += [file_id for file_id in some if file_id not in known]
        for file_id in strays:
            self._store.remove(file_id)
        return len(strays)
