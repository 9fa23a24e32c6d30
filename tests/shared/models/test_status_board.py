"""Workers say how their models are; the gateway reads the best of the living."""

from __future__ import annotations

import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from shared.models.catalogue import availability
from shared.models.catalogue.availability import (
    BOARD,
    STALE_SECONDS,
    ModelStates,
    ModelStatus,
    StatusSender,
    read_statuses,
)
from shared.process import redis_client
from shared.process.settings import Settings


@pytest.fixture(autouse=True)
def _fresh_client(chosen: Settings) -> None:
    redis_client.board_client.cache_clear()


def test_the_best_holder_speaks_for_a_model() -> None:
    first, second = ModelStates(), ModelStates()
    first.set("a", "failed", "its files are gone")
    first.set("b b", "failed", "its files are gone")
    second.set("a", "loading")
    second.set("a", "ready")
    for states in (first, second):
        StatusSender(states).report()
    found = read_statuses()
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
        assert read_statuses() == {}
        states = ModelStates()
        states.set("m", "failed", "no weights")
        StatusSender(states).report()
        assert client.hlen(BOARD) == 1
        assert client.ttl(BOARD) > STALE_SECONDS
    assert read_statuses()["m"].state == "failed"


def test_without_redis_nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    redis_client.board_client.cache_clear()
    away = redis.Redis(port=1, retry=Retry(NoBackoff(), 0))
    monkeypatch.setattr(availability, "board_client", lambda: away)
    assert read_statuses() == {}
