"""A worker is ready when each of its models was tried; one that cannot be loaded is told of."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest

from cli.stack.servers import HOST, free_port
from shared.contracts.errors import ScoringError
from shared.worker import process
from shared.worker.process import Health, preload, start_server
from tests.patience import SECONDS


@contextmanager
def probes(health: Health) -> Iterator[str]:
    """The address of the probes."""
    port = free_port()
    server = start_server(health, HOST, port)
    try:
        yield f"http://{HOST}:{port}"
    finally:
        server.shutdown()
        server.server_close()


class Several:
    """Models, of which some load at a later attempt; `held` loads when it is let go."""

    def __init__(self, **failures: int) -> None:
        self.failures = failures
        self.attempts: dict[str, int] = {}
        self.let_go = threading.Event()

    def load(self, name: str) -> None:
        self.attempts[name] = self.attempts.get(name, 0) + 1
        if name == "held":
            self.let_go.wait()
        if self.attempts[name] <= self.failures.get(name, 0):
            raise ScoringError("its weights are broken") if name == "bad" else KeyError("size")


@pytest.mark.parametrize("bad", ["bad", "worse"])
def test_a_model_that_cannot_be_loaded_holds_up_nobody_and_is_tried_again(
    bad: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "RELOAD_SECONDS", 0.01)
    health, models = Health(), Several(**{bad: 3})
    health.clear("worker")
    thread = preload(models.load, [bad, "good"], health)
    assert models.attempts["good"] == 1
    assert health.obstacles == {}
    thread.join(SECONDS)
    assert models.attempts == {bad: 4, "good": 1}


def test_a_model_that_takes_long_is_waited_for_a_while_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(process, "FIRST_TRIES_SECONDS", 0.05)
    health, models = Health(), Several()
    health.clear("worker")
    thread = preload(models.load, ["held", "good"], health)
    assert thread.is_alive()
    assert health.obstacles == {}
    models.let_go.set()
    thread.join(SECONDS)
    assert models.attempts == {"held": 1, "good": 1}


def test_a_worker_is_not_ready_before_its_models_were_tried(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(process, "LOADERS", 1)
    health, models, seen = Health(), Several(), []
    load = models.load

    def watched(name: str) -> None:
        seen.append(health.obstacles)
        load(name)

    health.clear("worker")
    preload(watched, ["a", "b"], health)
    told = "is not loaded yet"
    assert seen == [{"a": told, "b": told}, {"b": told}]


def test_probes_tell_what_is_missing() -> None:
    health = Health()
    with probes(health) as url:
        assert httpx.get(f"{url}/healthz", timeout=SECONDS).status_code == 200
        not_ready = httpx.get(f"{url}/readyz", timeout=SECONDS)
        assert (not_ready.status_code, not_ready.json()["worker"]) == (503, "is starting")
        threading.Thread(target=health.clear, args=("worker",)).start()
        while (ready := httpx.get(f"{url}/readyz", timeout=SECONDS)).status_code != 200:
            pass
        assert ready.json() == {"status": "ok"}
        assert "touchstone_jobs_finished_total" in httpx.get(f"{url}/metrics", timeout=SECONDS).text
        assert httpx.get(f"{url}/nothing", timeout=SECONDS).status_code == 404


def test_probes_tell_how_each_model_is() -> None:
    health = Health()
    health.clear("worker")
    health.models.set("good", "ready")
    health.models.set("bad", "failed", "its weights are broken")
    with probes(health) as url:
        ready = httpx.get(f"{url}/readyz", timeout=SECONDS)
        assert ready.status_code == 200  # the worker is, whatever its models are
        told = ready.json()["models"]
        assert told["good"]["state"] == "ready"
        assert (told["bad"]["state"], told["bad"]["reason"]) == ("failed", "its weights are broken")
        assert told["bad"]["seconds"] >= 0
        asked = {
            name: httpx.get(f"{url}/readyz?model={name}", timeout=SECONDS)
            for name in ("good", "bad", "new")
        }
    assert {name: one.status_code for name, one in asked.items()} == {
        "good": 200,
        "bad": 503,
        "new": 503,
    }
    assert asked["bad"].json()["reason"] == "its weights are broken"
