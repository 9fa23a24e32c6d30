"""A proxy before a real service that does what networks do: refuses, breaks off, holds back."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler

import httpx

from tests.http_server import HttpServer

HOP = {"connection", "transfer-encoding", "content-length", "content-encoding", "host"}
Headers = dict[str, str]


@dataclass(frozen=True)
class Fault:
    """What becomes of one request.

    status: it is not passed on, but answered with this. lost: it is passed on, but its answer is
    not passed back. bytes: of its answer, before the connection breaks. held: its answer never
    comes.
    """

    status: int = 0
    headers: Headers = field(default_factory=dict)
    body: bytes = b""
    lost: bool = False
    bytes: int | None = None
    held: bool = False


PASS = Fault()
Choose = Callable[[str, str, int], Fault]  # method, path, how many such requests came before


@dataclass
class Proxy:
    """A running proxy. seen: (method, path, headers) of every request, in order."""

    service: str
    choose: Choose
    url: str = ""
    seen: list[tuple[str, str, Headers]] = field(default_factory=list)
    ended: threading.Event = field(default_factory=threading.Event)

    def count(self, method: str, path: str) -> int:
        return sum(1 for one in self.seen if one[:2] == (method, path))

    def keys(self, path: str) -> list[str]:
        """The Idempotency-Key of each POST there."""
        return [
            headers["idempotency-key"]
            for method, seen, headers in self.seen
            if (method, seen) == ("POST", path)
        ]


class Server(HttpServer):
    """Requests on threads of their own; who hangs up on purpose is no news."""

    block_on_close = False

    def __init__(self, proxy: Proxy) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.proxy = proxy

    def handle_error(self, *_: object) -> None:
        return


@contextmanager
def proxying(service: str, choose: Choose) -> Iterator[Proxy]:
    """Serve until the block is left."""
    proxy = Proxy(service, choose)
    with Server(proxy) as server:
        proxy.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield proxy
        finally:
            proxy.ended.set()
            server.shutdown()
            thread.join()


class Handler(BaseHTTPRequestHandler):
    """One request through the proxy."""

    server: Server

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def do_PATCH(self) -> None:
        self._serve()

    def do_DELETE(self) -> None:
        self._serve()

    def _serve(self) -> None:
        proxy = self.server.proxy
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        path = self.path.partition("?")[0]
        fault = proxy.choose(self.command, path, proxy.count(self.command, path))
        proxy.seen.append((self.command, path, headers))
        self.close_connection = True
        if fault.status:
            self._answer(fault.status, fault.headers)
            self.wfile.write(fault.body)
        elif fault.held:
            self._answer(200, {"Content-Type": "text/event-stream"})
            self.wfile.flush()
            proxy.ended.wait()
        else:
            self._pass(headers, body, fault)

    def _pass(self, headers: Headers, body: bytes, fault: Fault) -> None:
        sent = {name: value for name, value in headers.items() if name not in HOP}
        address = f"{self.server.proxy.service}{self.path}"
        with httpx.stream(
            self.command, address, headers=sent, content=body or None, timeout=120
        ) as answer:
            if fault.lost:
                answer.read()
                return
            kept = {n: v for n, v in answer.headers.items() if n.lower() not in HOP}
            if fault.bytes is None:
                self._answer(answer.status_code, kept)
                for piece in answer.iter_bytes():
                    self.wfile.write(piece)
                    self.wfile.flush()
                return
            # a longer length than what comes: so that its end is no end
            self._answer(answer.status_code, kept | {"Content-Length": "1000000"})
            self.wfile.write(next(answer.iter_bytes(), b"")[: fault.bytes])

    def _answer(self, status: int, headers: Headers) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Connection", "close")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Quiet."""
