"""A small process that answers probes, and does what the files in its folder tell it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.stack import liveness, startup
from cli.stack.servers import HOST, Child, Probe, free_port
from tests.patience import eventually

ANSWERS = """
import http.server, json, pathlib, subprocess, sys, time

folder, port, wish = pathlib.Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        told = {path.name for path in folder.iterdir()}
        if "shut" in told:
            server.socket.close()  # nobody is heard any more, and nobody ends
            time.sleep(600)
        if "refuses" in told and self.path == "/healthz":
            self.answer(503, {"status": "a job does not end"})
        elif "loads" in told and self.path == "/readyz":
            self.answer(503, {"status": "not ready", "large-model": "is not loaded yet"})
        else:
            self.answer(200, {"status": "ok"})

    def answer(self, status, body):
        self.send_response(status)
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def log_message(self, *_):
        pass

if wish == "dies":
    sys.exit("the model file is broken")
if wish == "sleeps":
    time.sleep(600)
if wish == "offspring":
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
while wish == "computes" and not (folder / "done").exists():
    sum(range(1000))
server = http.server.HTTPServer(("127.0.0.1", port), Handler)
server.serve_forever()
"""


class Clock:
    """What the watch of a process takes for the time: moved by hand, so that no machine that stands
    still is taken for a process that does."""

    sleep = staticmethod(time.sleep)

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1_000.0
        for module in (liveness, startup):
            monkeypatch.setattr(module, "time", self)

    def monotonic(self) -> float:
        return self.now

    def move(
        self, seconds: float, seen: Callable[[], float], sign: Callable[[], object] = str
    ) -> None:
        """So long; then a sign of life, until somebody has seen it at the new time."""
        self.now += seconds
        sign()
        eventually(lambda: seen() == self.now)


def answering(folder: Path, wish: str = "") -> Child:
    """It obeys the files `loads`, `refuses` and `shut` of this folder.

    wish: `dies`, `sleeps` or `computes` before it answers; `offspring`: it starts a process.
    """
    port = free_port()
    command = (sys.executable, "-c", ANSWERS, str(folder), str(port), wish)
    return Child("answering", command, probe=Probe(f"http://{HOST}:{port}"))
