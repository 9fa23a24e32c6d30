"""The scheduler's HTTP endpoints on `TOUCHSTONE_METRICS_PORT`: `/healthz`, `/readyz`, `/metrics`.
The scheduler is healthy while each periodic task runs on schedule."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from prometheus_client import make_wsgi_app
from prometheus_client.exposition import ThreadingWSGIServer


class TaskMonitor:
    """Records when each periodic task last began."""

    def __init__(self, longest_seconds: float) -> None:
        self._longest = longest_seconds
        self._began: dict[str, float] = {}

    def begin(self, duty: str) -> None:
        self._began[duty] = time.monotonic()

    def late(self) -> list[str]:
        """Return the tasks that are overdue, because their thread ended or hangs."""
        before = time.monotonic() - self._longest
        return [duty for duty, began in self._began.copy().items() if began < before]


class _NoLogHandler(WSGIRequestHandler):
    def log_message(self, *_: object) -> None:
        """Log nothing, since probes are frequent."""


def start_server(rounds: TaskMonitor, host: str, port: int) -> WSGIServer:
    """Answer health probes in a separate thread. Return the server, which the caller can shut
    down."""
    metrics = make_wsgi_app()

    def answer(environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        if environ["PATH_INFO"] not in ("/healthz", "/readyz"):
            scraped: Iterable[bytes] = metrics(environ, start)
            return scraped
        late = rounds.late()
        body = {"status": "ok"} if not late else dict.fromkeys(late, "has not run for a long time")
        status = "503 Service Unavailable" if late else "200 OK"
        start(status, [("Content-Type", "application/json")])
        return [json.dumps(body).encode()]

    server = make_server(host, port, answer, ThreadingWSGIServer, handler_class=_NoLogHandler)
    threading.Thread(target=server.serve_forever, name="health", daemon=True).start()
    return server
