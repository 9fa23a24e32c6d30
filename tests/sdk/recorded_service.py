"""Answers of a real run over real HTTP, whatever is asked for, so that what a command prints can be
compared letter by letter; and one that keeps silent where a test wants it to."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.end_to_end.service import ROOT
from tests.gateway.results import recorded
from tests.http_server import HttpServer

DESCRIPTION = ROOT / "docs" / "openapi.json"
PLACES = {
    "GET /v1/jobs": "list_jobs", "GET /v1/batches": "list_batches", "GET /v1/files": "list_files",
    "GET /v1/models": "list_models", "GET /v1/webhook-endpoints": "list_webhook_endpoints",
    "GET /v1/batches/ID/report": "get_batch_report", "GET /v1/batches/ID": "get_batch",
    "GET /v1/jobs/ID": "get_job", "POST /v1/files": "create_file",
    "POST /v1/batches": "create_batch", "POST /v1/scores/hatexscore": "score_hatexscore",
    "POST /v1/webhook-endpoints": "create_webhook_endpoint", "GET /healthz": "get_health",
    "GET /v1/webhook-endpoints/ID/deliveries": "list_webhook_deliveries",
    "POST /v1/jobs/ID/cancel": "cancel_job", "POST /v1/batches/ID/cancel": "cancel_batch",
    "POST /v1/reports": "report_hatexscore", "GET /v1/files/ID": "get_file",
}  # fmt: skip
IDS = ("job_", "batch_", "file_", "we_")


class RecordedService(HttpServer):
    """silent: operations that are not answered while the test lasts; changed: operation -> what
    is answered in place of what was recorded (bytes as they are); asked: operations so far; sent:
    operation -> the last body of a known length; queries: operation -> the last query."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.silent: set[str] = set()
        self.changed: dict[str, Any] = {}
        self.asked: list[str] = []
        self.sent: dict[str, bytes] = {}
        self.queries: dict[str, str] = {}
        self.over = threading.Event()
        self.url = f"http://127.0.0.1:{self.server_address[1]}"

    def answer(self, operation: str) -> tuple[int, bytes]:
        """Status and body."""
        if operation in self.changed:
            found = self.changed[operation]
        elif operation == "GET /openapi.json":
            return 200, DESCRIPTION.read_bytes()
        elif operation in PLACES:
            found = recorded(PLACES[operation])
            if "has_more" in found:
                found["has_more"] = False
        else:
            problem = {"type": "x/not-found", "title": "Not found", "status": 404, "detail": "no"}
            return 404, json.dumps(problem).encode()
        return 200, found if isinstance(found, bytes) else json.dumps(found).encode()


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    server: RecordedService
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """All methods."""
        left = int(self.headers.get("Content-Length") or 0)
        if self.headers.get("Transfer-Encoding") == "chunked":
            while size := int(self.rfile.readline(), 16):
                self.rfile.read(size + 2)
            self.rfile.readline()
        body_sent = self.rfile.read(left)
        address, _, query = self.path.partition("?")
        path = "/".join("ID" if part.startswith(IDS) else part for part in address.split("/"))
        operation = f"{self.command} {path}"
        self.server.asked.append(operation)
        self.server.sent[operation] = body_sent
        self.server.queries[operation] = query
        if operation in self.server.silent:
            self.server.over.wait(60)
            self.close_connection = True
            return
        status, body = self.server.answer(operation)
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("x-touchstone-version", "0.1.0")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        try:
            self.wfile.write(body)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    do_POST = do_DELETE = do_PATCH = do_GET  # noqa: N815 - http.server's own names

    def log_message(self, *_: object) -> None:
        """Nobody reads it."""


@contextmanager
def recorded_service() -> Iterator[RecordedService]:
    """Until the end of the block."""
    with RecordedService() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield server
        finally:
            server.over.set()
            server.shutdown()
            thread.join()
