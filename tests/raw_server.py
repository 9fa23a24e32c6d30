"""An HTTP server of raw bytes: answers that no HTTP library would write."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress


@contextmanager
def raw_server(pieces: Iterable[bytes], pause: float = 0.0) -> Iterator[str]:
    """Answer every connection with these pieces, and a pause after each; yield its URL."""
    over = threading.Event()
    server = socket.create_server(("127.0.0.1", 0))
    server.settimeout(0.02)

    def answer(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            connection.settimeout(5)
            connection.recv(65_536)
            for piece in pieces:
                if over.is_set():
                    return
                connection.sendall(piece)
                time.sleep(pause)

    def serve() -> None:
        while not over.is_set():
            with suppress(TimeoutError):
                connection, _ = server.accept()
                threading.Thread(target=answer, args=(connection,), daemon=True).start()

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
    finally:
        over.set()
        thread.join()
        server.close()
