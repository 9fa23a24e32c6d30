"""What `serve` says of models: never more than their workers said."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from threading import Thread
from typing import ClassVar

import pytest
from rich.console import Console

from cli.stack.model_watch import ModelWatch
from cli.stack.servers import Child, Probe
from tests.http_server import HttpServer
from tests.patience import SECONDS, eventually

REASON = "it waits for 8 GB of memory"
REASONS = {"failed": "no files", "waiting": REASON}


class Worker(BaseHTTPRequestHandler):
    """Answers /readyz with these states; None: with nothing that can be read."""

    states: ClassVar[dict[str, str] | None] = {}
    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.asked.append(self.path)
        models = {
            name: {"state": state, "reason": REASONS.get(state, ""), "seconds": 1}
            for name, state in (self.states or {}).items()
        }
        body = b"busy" if self.states is None else json.dumps({"models": models}).encode()
        self.send_response(503)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def said() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def watch(said: io.StringIO) -> Iterator[ModelWatch]:
    server = HttpServer(("127.0.0.1", 0), Worker)
    Thread(target=server.serve_forever, daemon=True).start()
    probe = Probe(f"http://127.0.0.1:{server.server_port}")
    child = Child("worker", ("true",), {}, probe)
    yield ModelWatch([child], Console(file=said, width=200))
    server.shutdown()
    server.server_close()


def test_a_worker_that_does_not_answer_makes_no_model_ready(
    watch: ModelWatch, said: io.StringIO
) -> None:
    Worker.states = {"mine": "loading", "broken": "failed"}
    watch.update()
    Worker.states = None
    watch.update()
    assert "ready" not in said.getvalue()
    Worker.states = {"mine": "ready", "broken": "failed"}
    watch.update()
    assert "ready mine" in said.getvalue()
    assert "ready broken" not in said.getvalue()
    Worker.states = {"mine": "ready"}
    watch.update()
    assert "broken is no longer configured" in said.getvalue()
    assert "ready broken" not in said.getvalue()


def test_waiting_for_all_models_needs_an_answer(watch: ModelWatch) -> None:
    Worker.states = None
    Worker.asked.clear()
    waiting = Thread(target=watch.wait, daemon=True)
    waiting.start()
    eventually(lambda: len(Worker.asked) > 1)  # the first answer was not enough
    assert waiting.is_alive()
    Worker.states = {"mine": "ready"}
    waiting.join(SECONDS)
    assert not waiting.is_alive()


def test_watching_ends_when_it_is_told(watch: ModelWatch) -> None:
    Worker.states = {"mine": "ready"}
    looks = iter([False, False, True])
    watch.watch(until=lambda: next(looks))
