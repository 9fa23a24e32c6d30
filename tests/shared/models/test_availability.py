"""A model is loaded once, by one thread; one that cannot be is told of, and tried again later.

Workers tell how their models are; the gateway reads the best of the living.
"""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import redis

from shared.errors import JobCancelled, ModelNotReady, ScoringError
from shared.models import availability
from shared.models.availability import (
    BOARD,
    STALE_SECONDS,
    LoadedModels,
    ModelStates,
    ModelStatus,
    StatusSender,
    read,
)
from shared.settings import Settings


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Seconds, moved by hand."""
    now = [0.0]
    monkeypatch.setattr("shared.models.availability.monotonic", lambda: now[0])
    return now


def test_many_threads_get_the_one_that_was_loaded_once() -> None:
    loads: list[int] = []
    models: LoadedModels[object] = LoadedModels()

    def load() -> object:
        loads.append(1)
        return object()

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: models.get("m", load), range(40)))
    assert len(set(found)) == len(loads) == 1


def test_a_failure_is_told_at_once_and_tried_again_ever_later(clock: list[float]) -> None:
    states, loads = ModelStates(), []
    models: LoadedModels[str] = LoadedModels(states)

    def load() -> str:
        loads.append(clock[0])
        if len(loads) < 4:
            raise KeyError("hidden_size")
        return "model"

    for clock[0] in range(70):  # time passes
        with pytest.raises(ModelNotReady) as caught:
            models.get("m", load)
        assert caught.value.model == "m"
        assert caught.value.detail == "the model 'm' cannot be loaded: KeyError: 'hidden_size'"
        found = states.all()["m"]
        assert (found.state, found.reason) == ("failed", caught.value.detail)
        assert found.since == 0  # since it failed first
    clock[0] = 70
    assert models.get("m", load) == "model"
    assert loads == [0, 10, 30, 70]
    assert states.all()["m"].state == "ready"


def test_no_model_waits_for_another_and_no_thread_for_long() -> None:
    states = ModelStates()
    models: LoadedModels[str] = LoadedModels(states, patience=0.01)
    begun, go_on = threading.Event(), threading.Event()

    def slow() -> str:
        begun.set()
        go_on.wait()
        return "slow"

    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(models.get, "slow", slow)
        begun.wait()
        assert models.get("quick", lambda: "quick") == "quick"
        with pytest.raises(ModelNotReady, match="is being loaded"):
            models.get("slow", slow)
        assert states.all()["slow"].state == "loading"
        go_on.set()
        assert first.result() == "slow"
    assert models.get("slow", slow) == "slow"


def test_who_waits_learns_of_the_failure() -> None:
    models: LoadedModels[str] = LoadedModels()
    begun, go_on = threading.Event(), threading.Event()

    def broken() -> str:
        begun.set()
        go_on.wait()
        raise ScoringError("its weights are altered")

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(models.get, "m", broken)
        begun.wait()
        second = pool.submit(models.get, "m", broken)
        go_on.set()
        for asked in (first, second):
            with pytest.raises(ModelNotReady, match="its weights are altered"):
                asked.result()


def test_a_job_that_is_stopped_while_it_loads_says_nothing_of_the_model() -> None:
    states = ModelStates()
    models: LoadedModels[str] = LoadedModels(states)

    def stopped() -> str:
        raise JobCancelled("enough")

    with pytest.raises(JobCancelled):
        models.get("m", stopped)
    assert models.get("m", lambda: "model") == "model"


@pytest.fixture(autouse=True)
def _fresh_client(chosen: Settings) -> None:
    availability._redis.cache_clear()


def test_the_best_holder_speaks_for_a_model() -> None:
    first, second = ModelStates(), ModelStates()
    first.set("a", "failed", "its files are gone")
    first.set("b b", "failed", "its files are gone")
    second.set("a", "loading")
    second.set("a", "ready")
    for states in (first, second):
        StatusSender(states).report()
    found = read()
    assert {name: (one.state, one.reason) for name, one in found.items()} == {
        "a": ("ready", ""),
        "b b": ("failed", "its files are gone"),
    }


def test_the_dead_are_not_believed_and_are_forgotten(chosen: Settings) -> None:
    with redis.Redis.from_url(chosen.redis_url.get_secret_value()) as client:
        now = client.time()[0]
        old = ModelStatus(state="ready", reason="", seconds=1, at=now - STALE_SECONDS - 5)
        client.hset(BOARD, "gone m", old.model_dump_json())
        client.hset(BOARD, "other m", "of another version")
        assert read() == {}
        states = ModelStates()
        states.set("m", "failed", "no weights")
        StatusSender(states).report()
        assert client.hlen(BOARD) == 1
        assert client.ttl(BOARD) > STALE_SECONDS
    assert read()["m"].state == "failed"


def test_without_redis_nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    availability._redis.cache_clear()
    away = redis.Redis(port=1, socket_connect_timeout=0.1)
    monkeypatch.setattr(availability, "_redis", lambda: away)
    assert read() == {}
