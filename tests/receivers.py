"""Webhook receivers for tests: real HTTP servers on this machine, each with a temper of its own."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler

from tests.http_server import HttpServer


@dataclass(frozen=True)
class Received:
    """A request as it arrived."""

    path: str
    headers: dict[str, str]  # lower-case names
    body: bytes


@dataclass
class Receiver:
    """A running receiver. status, headers, body: of its answers; before: what it does first.
    chooses: the status of this answer, where not all are the same."""

    status: int = 204
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    before: Callable[[Received], None] = lambda _: None
    chooses: Callable[[Received], int] | None = None
    received: list[Received] = field(default_factory=list)
    port: int = 0
    sent_bytes: int = 0
    names: list[str | None] = field(default_factory=list)  # that TLS clients asked for

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}/hooks"

    @property
    def ids(self) -> list[str]:
        """The webhook-id of each request."""
        return [one.headers["webhook-id"] for one in self.received]


def until(ended: threading.Event) -> Callable[[Received], None]:
    """Hang until this happens."""

    def hang(_received: Received) -> None:
        ended.wait()

    return hang


@contextmanager
def receiving(
    receiver: Receiver, tls: ssl.SSLContext | None = None, at: tuple[str, int] = ("127.0.0.1", 0)
) -> Iterator[Receiver]:
    """Serve until the block is left."""
    server = HttpServer(at, _handler(receiver))
    if tls is not None:
        tls.sni_callback = lambda _socket, name, _context: receiver.names.append(name)
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    server.block_on_close = False
    server.handle_error = lambda *_: None  # type: ignore[method-assign]  # who hangs up is no news
    receiver.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _handler(receiver: Receiver) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            received = Received(self.path, headers, self.rfile.read(length))
            receiver.received.append(received)
            receiver.before(received)
            chosen = receiver.chooses(received) if receiver.chooses else receiver.status
            self.send_response(chosen)
            for name, value in receiver.headers.items():
                self.send_header(name, value)
            if "Content-Length" not in receiver.headers:
                self.send_header("Content-Length", str(len(receiver.body)))
            self.end_headers()
            for start in range(0, len(receiver.body), 16_384):
                receiver.sent_bytes += self.wfile.write(receiver.body[start : start + 16_384])

        def log_message(self, *_: object) -> None:
            """Quiet."""

    return Handler
