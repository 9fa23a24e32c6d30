"""The stack with two Redis servers: queues of some services, and of the models, in the second."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest
import redis

from cli.stack.servers import Child, free_port, redis_child, redis_url
from services.registry import metrics
from tests.answers import CheckedClient
from tests.end_to_end.load import finished
from tests.end_to_end.service import serving
from tests.patience import SECONDS, looks

pytestmark = pytest.mark.end_to_end


def started(folder: Path) -> tuple[Child, str]:
    """A second Redis that answers."""
    port = free_port()
    child, url = redis_child(folder / "second", port, "second"), redis_url(port, "second")
    child.start(folder)
    with redis.Redis.from_url(url) as client:
        for _ in looks():
            try:
                client.ping()
            except redis.RedisError:
                continue
            return child, url
    raise RuntimeError("Redis did not start")


def test_queues_in_two_redis_servers(tmp_path: Path) -> None:
    """A metric in the first asks models in the second, one in the second too; readiness names the
    one that is away, and what waited is scored once it is back."""
    child, url = started(tmp_path)
    options = ("--separate", "--services", "hatexscore", "ice", "inference")
    named = f"ice={url} inference={url}"
    try:
        with (
            serving(tmp_path / "stack", *options, TOUCHSTONE_QUEUE_REDIS=named) as service,
            CheckedClient(base_url=service.url, timeout=SECONDS) as client,
        ):
            for metric in ("hatexscore", "ice"):
                body = next(iter(metrics()[metric].examples.values()))
                job = finished(client, f"/v1/scores/{metric}", body)
                assert job["status"] == "succeeded"
                assert job["result"]["score"] is not None
            _assert_queues_are_parted(service.redis_url, url)
            child.stop()
            away = httpx.get(f"{service.url}/readyz", timeout=SECONDS)
            assert away.status_code == 503
            assert "broker of ice, inference" in away.json()["detail"]
            child.start(tmp_path)
            job = finished(client, "/v1/scores/ice", body)
            assert job["status"] == "succeeded"
            assert service.is_ready()
    finally:
        child.stop()


def _assert_queues_are_parted(first: str, second: str) -> None:
    """By the commands that each Redis was given: nobody pushes where nobody takes."""
    with redis.Redis.from_url(first) as one, redis.Redis.from_url(second) as other:
        assert "cmdstat_lpush" in one.info("commandstats")
        assert "cmdstat_lpush" in other.info("commandstats")
        assert not [key for key in one.keys("_kombu.binding.*") if b"ice" in key]
        assert [key for key in other.keys("_kombu.binding.*") if b"ice" in key]
