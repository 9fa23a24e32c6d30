"""`models.toml` is read again: on SIGHUP, or when `touchstone models reload` asks everybody to.

Who asks counts up a number in Redis; every process looks at it now and then. Models that did not
change stay loaded. A file that cannot be understood changes nothing, and the log says why.
"""

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

ASKED = "touchstone:models-reload"  # how often it was asked for
LOOK_SECONDS = 3.0

logger = telemetry.logger(__name__)


def request_reload() -> None:
    """Every process reads its `models.toml` again within seconds. Raises RedisError."""
    board_client().incr(ASKED)


class CatalogueReload:
    """Keeps one process's catalogue as its file is, from a thread of its own."""

    def __init__(
        self, catalogue: Catalogue, file: Path, changed: Callable[[list[str]], None] | None = None
    ) -> None:
        """changed: is told the names of models that came, went or changed."""
        self._catalogue, self._file, self._changed = catalogue, file, changed
        self._asked = threading.Event()
        self._seen: object = None
        self._lock = threading.Lock()
        self._written = _modified_time(file)  # of the file as it was read last

    def start(self) -> None:
        threading.Thread(target=self._run, name="models-reload", daemon=True).start()

    def on_signal(self) -> None:
        """SIGHUP asks for it; to be called from the main thread."""
        signal.signal(signal.SIGHUP, lambda *_: self._asked.set())

    def update(self) -> None:
        """Read the file again, if it changed, before a name is said to be unknown: for processes
        whose names another one has accepted, which may have read it a moment earlier."""
        self._catalogue.renew = self._read_if_changed

    def _read_if_changed(self) -> None:
        if _modified_time(self._file) != self._written:
            self.read()

    def read(self) -> list[str]:
        """Once; the names of the models that changed."""
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
            self._seen = board_client().get(ASKED)
        while True:
            asked = self._asked.wait(LOOK_SECONDS)
            self._asked.clear()
            with suppress(RedisError):
                number = board_client().get(ASKED)
                asked, self._seen = asked or number != self._seen, number
            if asked or self._has_returned():
                try:
                    self.read()
                except Exception:  # the next time will do
                    logger.exception("models.reload_failed")

    def _has_returned(self) -> bool:
        """True if a folder is there now without which an entry could not be understood."""
        missing = (fault.missing for fault in self._catalogue.faults)
        return any(folder is not None and not is_away(folder) for folder in missing)


def _modified_time(file: Path) -> int | None:
    """Nanoseconds since 1970; None where there is no such file."""
    try:
        return file.stat().st_mtime_ns
    except OSError:
        return None
