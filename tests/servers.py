"""Real servers for tests: the very engines of production, from wheels, in a folder of their own."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import redis
from sqlalchemy import Engine

from cli.stack.servers import Child, free_port, redis_child, redis_url
from shared.ledger import jobs, leases
from tests.ledger import must_claim
from tests.patience import looks


@contextmanager
def redis_server(folder: Path) -> Iterator[str]:
    """A Redis that answers; its URL."""
    port = free_port()
    password = secrets.token_urlsafe(8)
    child: Child = redis_child(folder / "redis", port, password)
    child.start(folder)
    url = redis_url(port, password)
    try:
        _await_redis(url)
        yield url
    finally:
        child.stop()


def _await_redis(url: str) -> None:
    with redis.Redis.from_url(url) as client:
        for _ in looks():
            try:
                client.ping()
            except redis.exceptions.RedisError:
                continue
            return
    raise RuntimeError("Redis did not start")


def finish_next(engine: Engine, result: dict[str, Any]) -> None:
    """Do a worker's work on the next job that appears: claim it, and succeed with this result."""
    for _ in looks():
        with engine.begin() as connection:
            found, _more = jobs.page_of(connection, jobs.JobPage(limit=1, status="queued"))
            if found:
                claim = must_claim(connection, found[0].id)
                assert leases.succeed(connection, claim, result)
                return
    raise RuntimeError("no job appeared")
