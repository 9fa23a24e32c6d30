"""A worker is ready when its models are loaded, and waits until they are."""

from __future__ import annotations

import threading

import httpx
import pytest

from services.stack.redis_server import HOST, free_port
from shared.errors import ScoringError
from shared.worker import preloading
from shared.worker.health import Health, serve
from shared.worker.preloading import preload
from tests.patience import SECONDS


class Stubborn:
    """A model that loads at the third attempt."""

    def __init__(self) -> None:
        self.attempts = 0

    def load(self, _name: str) -> None:
        self.attempts += 1
        if self.attempts < 3:
            raise ScoringError("its weights are broken")


def test_a_model_that_cannot_be_loaded_keeps_the_worker_from_being_ready(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(preloading, "RETRY_SECONDS", 0.0)
    health, model = Health(), Stubborn()
    health.clear("worker")
    reasons: list[dict[str, str]] = []

    def pause(_seconds: float) -> None:
        reasons.append(health.obstacles)

    monkeypatch.setattr("shared.worker.preloading.time.sleep", pause)
    preload(model.load, ["fake"], health)
    assert reasons == [{"fake": "its weights are broken"}] * 2
    assert health.obstacles == {}


def test_probes_tell_what_is_missing() -> None:
    health, port = Health(), free_port()
    server = serve(health, HOST, port)
    url = f"http://{HOST}:{port}"
    client = httpx.Client(timeout=SECONDS)
    try:
        assert client.get(f"{url}/healthz").status_code == 200
        not_ready = client.get(f"{url}/readyz")
        assert (not_ready.status_code, not_ready.json()["worker"]) == (503, "is starting")
        threading.Thread(target=health.clear, args=("worker",)).start()
        while (ready := client.get(f"{url}/readyz")).status_code != 200:
            pass
        assert ready.json() == {"status": "ok"}
        assert "touchstone_jobs_finished_total" in client.get(f"{url}/metrics").text
        assert client.get(f"{url}/nothing").status_code == 404
    finally:
        client.close()
        server.shutdown()
        server.server_close()
