"""Redis and PostgreSQL live, and refuse: no writes, no memory, no connections."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import psycopg
import redis

from services.stack.redis_server import HOST, free_port
from shared.ledger.engine import libpq_url
from tests.chaos.faults import AWAY_SECONDS
from tests.end_to_end.service import Service

OURS = "touchstone-%"  # how sessions of the service are named
END_OURS = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE %s"
MOST = "SELECT setting::int FROM pg_settings WHERE name = 'max_connections'"


def redis_read_only(service: Service) -> None:
    """A replica of somebody who is not there, as after a failover that the service missed."""
    with redis.Redis.from_url(service.redis_url) as client:
        client.replicaof(HOST, str(free_port()))
        try:
            time.sleep(AWAY_SECONDS)
        finally:
            client.replicaof("NO", "ONE")


def redis_over_its_memory(service: Service) -> None:
    """Whatever needs memory is refused, and nothing is evicted."""
    with redis.Redis.from_url(service.redis_url) as client:
        client.config_set("maxmemory", 1)
        try:
            time.sleep(AWAY_SECONDS)
        finally:
            client.config_set("maxmemory", 0)


def postgres_out_of_connections(service: Service) -> str:
    """Somebody else holds them all; the service's own are ended, so that it needs new ones."""
    with _crowd(service.database_url) as held:
        time.sleep(AWAY_SECONDS)
        return f"{len(held)} held by others"


@contextmanager
def _crowd(url: str) -> Iterator[list[psycopg.Connection]]:
    """All connections that there are."""
    held = [psycopg.connect(libpq_url(url), autocommit=True)]
    try:
        (most,) = held[0].execute(MOST).fetchone() or (0,)
        deadline = time.monotonic() + AWAY_SECONDS
        while len(held) < most and time.monotonic() < deadline:
            with suppress(psycopg.OperationalError):
                held.append(psycopg.connect(libpq_url(url), autocommit=True))
                continue
            held[0].execute(END_OURS, (OURS,))
        yield held
    finally:
        for one in held:
            one.close()
