"""Workers say what they serve and what they wait for; the gateway reads it in plain words."""

from __future__ import annotations

import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from shared.models.catalogue.availability import STALE_SECONDS
from shared.process import redis_client
from shared.process.settings import Settings
from shared.queue import worker_board
from shared.queue.worker_board import BOARD, WorkerSender, WorkerStatus, read
from tests.patience import eventually

SERVICES = ("ftc", "haf", "ice")
MODELS = {"worker": "is starting", "a": "is not loaded yet", "b": "is not loaded yet"}
WARM = {"worker": "is warming up by scoring the examples of its services"}


@pytest.fixture(autouse=True)
def _fresh_client(chosen: Settings) -> None:
    redis_client.board_client.cache_clear()


def test_a_service_is_ready_with_one_worker_that_is() -> None:
    WorkerSender(["ftc", "haf"], lambda: MODELS).report()
    assert read(SERVICES) == {
        "ftc": "its worker is loading 2 models",
        "haf": "its worker is loading 2 models",
        "ice": "no worker",
    }
    WorkerSender(["haf"], lambda: {}).report()
    WorkerSender(["haf", "ice"], lambda: WARM).report()
    assert read(SERVICES) == {
        "ftc": "its worker is loading 2 models",
        "haf": "ready",
        "ice": "its worker is warming up by scoring the examples of its services",
    }


def test_a_worker_says_each_change_and_that_it_ends() -> None:
    obstacles = dict(WARM)
    worker = WorkerSender(["ice"], lambda: obstacles)
    worker.start()
    eventually(lambda: read(["ice"])["ice"].startswith("its worker is warming up"))
    obstacles.clear()
    eventually(lambda: read(["ice"]) == {"ice": "ready"})
    worker.stop()
    assert read(["ice"]) == {"ice": "no worker"}


def test_the_dead_are_not_believed_and_are_forgotten(chosen: Settings) -> None:
    with redis.Redis.from_url(chosen.redis_url.get_secret_value()) as client:
        old = client.time()[0] - STALE_SECONDS - 5
        dead = WorkerStatus(services=("ice",), waits_for=None, at=old)
        client.hset(BOARD, "dead", dead.model_dump_json())
        client.hset(BOARD, "other", "of another version")
        assert read(["ice"]) == {"ice": "no worker"}
        WorkerSender(["ftc"], dict).report()
        assert client.hlen(BOARD) == 1
        assert client.ttl(BOARD) > STALE_SECONDS


def test_without_redis_nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    away = redis.Redis(port=1, retry=Retry(NoBackoff(), 0))
    monkeypatch.setattr(worker_board, "board_client", lambda: away)
    assert read(SERVICES) == {}
