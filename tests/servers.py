"""Real servers for tests: the very engines of production, from wheels, in a folder of their own."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import redis

from services.stack.child import Child
from services.stack.redis_server import HOST, free_port, redis_child


@contextmanager
def redis_server(folder: Path) -> Iterator[str]:
    """A Redis that answers; its URL."""
    port = free_port()
    child: Child = redis_child(folder / "redis", port)
    child.start(folder)
    url = f"redis://{HOST}:{port}/0"
    try:
        _await_redis(url)
        yield url
    finally:
        child.stop()


def _await_redis(url: str) -> None:
    client = redis.Redis.from_url(url)
    for _ in range(100):
        try:
            client.ping()
        except redis.exceptions.RedisError:
            time.sleep(0.05)
        else:
            client.close()
            return
    raise RuntimeError("Redis did not start")
