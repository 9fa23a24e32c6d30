"""A worker process: its probes on `TOUCHSTONE_METRICS_PORT`, and the loading of its models.

`/readyz` is 200 if this worker takes jobs, which it does once it has tried to load each model. A
model that cannot be loaded, or takes long, affects only its own jobs and is listed under `models`.
`/readyz?model=NAME` is 200 once that model is loaded. `/healthz` is 503 if a computation cannot be
stopped; a supervisor then ends the process.

Each model is loaded by a separate thread. The worker takes no jobs until each model was tried once,
or until `FIRST_TRIES_SECONDS` are over. Afterwards jobs of a missing model wait for it, and its
thread keeps trying.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from shared.contracts.errors import BadInput, ScoringError
from shared.models.catalogue.availability import ModelStates
from shared.process import telemetry

RELOAD_SECONDS = 10.0
LOADERS = 3  # models at a time, in the order of the file
FIRST_TRIES_SECONDS = 15.0  # for models that take long
Load = Callable[[str], object]  # a model's name → it is loaded, or an exception

logger = telemetry.logger(__name__)


class Health:
    """The reasons why this worker is not ready, by name. It is ready if there are none."""

    def __init__(self, models: ModelStates | None = None) -> None:
        self.models = models or ModelStates()
        self.ailment: Callable[[], str | None] = lambda: None  # why it should be ended
        self._obstacles: dict[str, str] = {"worker": "is starting"}
        self._lock = threading.Lock()

    def obstruct(self, name: str, reason: str) -> None:
        with self._lock:
            self._obstacles[name] = reason

    def clear(self, name: str) -> None:
        """Remove the obstacle with this name."""
        with self._lock:
            self._obstacles.pop(name, None)

    @property
    def obstacles(self) -> dict[str, str]:
        """Return a copy of the reasons why this worker is not ready, by name."""
        with self._lock:
            return dict(self._obstacles)


def start_server(health: Health, host: str, port: int) -> ThreadingHTTPServer:
    """Answer probes in a separate thread. Returns the server, so that it can be shut down."""

    class HealthHandler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, kind, body = _build_response(self.path, health)
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Write no log line for a probe."""

    class Server(ThreadingHTTPServer):
        def handle_error(self, request: Any, client_address: Any) -> None:
            """Ignore the error: the client has disconnected."""
            if not isinstance(sys.exception(), ConnectionError):
                super().handle_error(request, client_address)

    server = Server((host, port), HealthHandler)
    threading.Thread(target=server.serve_forever, name="health", daemon=True).start()
    return server


def _build_response(path: str, health: Health) -> tuple[int, str, bytes]:
    if path == "/metrics":
        return 200, CONTENT_TYPE_LATEST, generate_latest()
    if path == "/healthz":
        ailment = health.ailment()
        body = {"status": "ok"} if ailment is None else {"status": "not alive", "worker": ailment}
        return (200 if ailment is None else 503), "application/json", json.dumps(body).encode()
    if urlsplit(path).path == "/readyz":
        ready, body = _readiness(health, parse_qs(urlsplit(path).query).get("model"))
        return (200 if ready else 503), "application/json", json.dumps(body).encode()
    return 404, "application/json", b'{"status": "not found"}'


def _readiness(health: Health, asked: list[str] | None) -> tuple[bool, dict[str, Any]]:
    """Return True if the worker, or the requested model, is ready, and the reasons if not."""
    models = {
        name: {
            "state": one.state,
            "reason": one.reason or str(one.placement or ""),
            "seconds": round(one.seconds, 1),
        }
        for name, one in sorted(health.models.all().items())
    }
    if asked:
        found = models.get(
            asked[-1], {"state": "unknown", "reason": "no job has used the model yet"}
        )
        return found["state"] == "ready", found
    obstacles = health.obstacles
    known = {"models": models} if models else {}
    return not obstacles, {"status": "not ready" if obstacles else "ok", **obstacles, **known}


def preload(load: Load, names: Sequence[str], health: Health) -> threading.Thread:
    """Load these models with retries, in a thread that ends when all are loaded. Return the thread
    after the first tries or a timeout. Until then, the worker takes no jobs."""
    for name in names:
        health.obstruct(name, "is not loaded yet")
    tried = threading.Event()
    thread = load_in_background(load, names, health, tried)
    tried.wait(FIRST_TRIES_SECONDS)
    for name in names:
        health.clear(name)
    return thread


def load_in_background(
    load: Load, names: Sequence[str], health: Health, tried: threading.Event | None = None
) -> threading.Thread:
    """Start a background thread that loads these models, and return it. The event `tried` is set
    after the first attempt to load each model."""
    loading = _Loading(load, health, list(names), tried or threading.Event())
    thread = threading.Thread(target=loading.run, name="preloading", daemon=True)
    thread.start()
    return thread


class _Loading:
    """Loads each model in a separate thread, a few at a time. A slow model does not delay the
    others."""

    def __init__(
        self, load: Load, health: Health, names: list[str], tried: threading.Event
    ) -> None:
        self._load, self._health, self._tried = load, health, tried
        self._names, self._untried = names, set(names)
        self._places = threading.Semaphore(LOADERS)
        self._lock = threading.Lock()

    def run(self) -> None:
        """Run until all models are loaded or no longer configured."""
        if not self._names:
            self._tried.set()
        threads = [
            threading.Thread(target=self._retry, args=(name,), name=f"load-{name}", daemon=True)
            for name in self._names
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _retry(self, name: str) -> None:
        before = ""  # a reason is logged once
        while True:
            with self._places:
                reason = _try_load(self._load, name)
            self._health.clear(name)
            with self._lock:
                self._untried.discard(name)
                if not self._untried:
                    self._tried.set()
            if reason is None:
                return
            if reason != before:
                logger.warning("model.not_loaded", model=name, detail=reason)
            before = reason
            time.sleep(RELOAD_SECONDS)


def _try_load(load: Load, name: str) -> str | None:
    """Return why the model is not loaded. None if it is loaded, or is no longer configured."""
    try:
        load(name)
    except BadInput as error:
        logger.warning("model.not_configured", model=name, detail=error.detail)
        return None
    except ScoringError as error:
        return error.detail
    except Exception as error:
        logger.exception("model.crashed", model=name)
        return f"{type(error).__name__}: {error}"
    return None
