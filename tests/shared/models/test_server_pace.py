"""`requests_per_minute`: no minute holds more, whoever sends; without Redis a process's own."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
import redis

from shared.models import server_connection
from shared.models.catalogue.entry import ModelEntry
from shared.models.server_connection import PACE_KEY, Connection, ServerRateLimiter
from shared.process.settings import Settings
from tests.shared.models.openai.stub import Stub, listening


def entry(most: int | None, url: str = "http://127.0.0.1:1/v1") -> ModelEntry:
    keys = {} if most is None else {"requests_per_minute": most}
    return ModelEntry(name="m", kind="causal", source=f"openai:{url}", **keys)


@pytest.fixture
def broker(chosen: Settings) -> Iterator[redis.Redis]:
    server_connection._redis.cache_clear()
    made = redis.Redis.from_url(chosen.redis_url.get_secret_value())
    made.delete(PACE_KEY + "m")
    yield made
    server_connection._redis.cache_clear()


def move(broker: redis.Redis, microseconds: int) -> None:
    """The oldest request was so much later."""
    found: Any = broker.zrange(PACE_KEY + "m", 0, 0)
    broker.zincrby(PACE_KEY + "m", microseconds, found[0])


def oldest(broker: redis.Redis) -> float:
    """When the oldest request of this minute was sent, in microseconds by Redis's clock."""
    found: Any = broker.zrange(PACE_KEY + "m", 0, 0, withscores=True)
    return float(found[0][1])


def is_rest_of_a_minute(seconds: float, since: float) -> bool:
    """Whether so much of a minute is left that began after this monotonic second."""
    return 60 - (time.monotonic() - since) <= seconds <= 60


def test_two_workers_share_what_a_minute_allows(broker: redis.Redis) -> None:
    first, second = ServerRateLimiter(entry(4)), ServerRateLimiter(entry(4))
    begun = time.monotonic()
    assert [pace._too_early(4) for pace in (first, second, first, second)] == [0.0] * 4
    assert is_rest_of_a_minute(first._too_early(4), begun)
    assert broker.zcard(PACE_KEY + "m") == 4  # who waits is not counted
    move(broker, -60_000_000)
    assert second._too_early(4) == 0
    assert first._too_early(4) > 0


def test_a_request_waits_for_its_turn_and_then_goes(broker: redis.Redis) -> None:
    with listening(Stub("openai")) as url:
        connection = Connection(entry(1, url))
        connection.get("/models")
        move(broker, -59_700_000)
        before = oldest(broker)
        connection.get("/models")
    assert oldest(broker) - before >= 60_000_000


def test_without_redis_a_process_counts_for_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    def away(**_: object) -> float:
        raise redis.ConnectionError("no Redis")

    monkeypatch.setattr(server_connection, "_redis", lambda: (None, away))
    pace, done, begun = ServerRateLimiter(entry(3)), list[float](), time.monotonic()
    threads = [threading.Thread(target=lambda: done.append(pace._too_early(3))) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(done)[:3] == [0.0] * 3
    assert all(is_rest_of_a_minute(seconds, begun) for seconds in sorted(done)[3:])


def test_without_a_limit_nobody_waits_and_nobody_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_connection, "_redis", lambda: pytest.fail("Redis was asked"))
    ServerRateLimiter(entry(None)).wait()
