"""One stack a folder, one server a port: said at once, not found out later."""

from __future__ import annotations

import fcntl
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class NotReady(RuntimeError):
    """The service cannot come up, or did not in time."""


@contextmanager
def occupied(folder: Path) -> Iterator[None]:
    """Hold this folder; the lock goes with our process. Raises NotReady where another holds it."""
    with (folder / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise NotReady(f"another stack uses {folder}; choose another --var") from None
        yield


def demand_free(host: str, port: int) -> None:
    """Raises NotReady where somebody listens on this port already."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise NotReady(f"cannot listen on {host}:{port}: {error.strerror}") from None
