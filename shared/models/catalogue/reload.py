"""Reloads `models.toml`, on SIGHUP or after `touchstone models reload`. A request for a reload
increments a counter in Redis, which every process checks regularly. Unchanged models stay loaded.
An invalid file changes nothing, and the reason is logged."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from redis.exceptions import RedisError

from shared.models.catalogue.catalogue import Catalogue, load_catalogue
from shared.models.catalogue.models_file import is_away
from shared.process import telemetry
from shared.process.redis_client import board_client

REQUESTS = "touchstone:models-reload"  # number of requests
LOOK_SECONDS = 3.0

logger = telemetry.logger(__name__)


def request_reload() -> None:
    """Let every process reload its `models.toml` within seconds. Raises RedisError."""
    board_client().incr(REQUESTS)


class CatalogueReload:
    def __init__(
        self, catalogue: Catalogue, file: Path, changed: Callable[[list[str]], None] | None = None
    ) -> None:
        """Call `changed` with the names of models that were added, removed or changed."""
        self._catalogue, self._file, self._changed = catalogue, file, changed
        self._requested = threading.Event()
        self._seen: object = None
        self._lock = threading.Lock()
        self._written = _modified_time(file)  # of the file when it was last read

    def start(self) -> None:
        threading.Thread(target=self._run, name="models-reload", daemon=True).start()

    def on_signal(self) -> None:
        """Reload on SIGHUP. Call from the main thread."""
        signal.signal(signal.SIGHUP, lambda *_: self._requested.set())

    def update(self) -> None:
        """Let the catalogue reload a changed file if a request names an unknown model. Another
        process may have reloaded the file earlier and sent the new name."""
        self._catalogue.renew = self._read_if_changed

    def _read_if_changed(self) -> None:
        if _modified_time(self._file) != self._written:
            self.read()

    def read(self) -> list[str]:
        """Reload once, and return the names of the models that changed."""
        with self._lock:
            self._written = _modified_time(self._file)
            try:
                newer = load_catalogue(self._file)
            except ValueError as error:
                logger.error("models.not_reloaded", detail=str(error))
                return []
            changed = self._catalogue.take(newer)
            logger.info("models.reloaded", file=str(self._file), changed=changed)
            if changed and self._changed is not None:
                self._changed(changed)
            return changed

    def _run(self) -> None:
        with suppress(RedisError):
            self._seen = board_client().get(REQUESTS)
        while True:
            requested = self._requested.wait(LOOK_SECONDS)
            self._requested.clear()
            with suppress(RedisError):
                number = board_client().get(REQUESTS)
                requested, self._seen = requested or number != self._seen, number
            if requested or self._has_returned():
                try:
                    self.read()
                except Exception:  # retried the next time
                    logger.exception("models.reload_failed")

    def _has_returned(self) -> bool:
        """Return True if the missing folder of an invalid entry exists again."""
        missing = (fault.missing for fault in self._catalogue.faults)
        return any(folder is not None and not is_away(folder) for folder in missing)


def _modified_time(file: Path) -> int | None:
    try:
        return file.stat().st_mtime_ns
    except OSError:
        return None
