"""Redis and PostgreSQL live, and refuse: no writes, no memory, no connections."""

from __future__ import annotations

import time

import psycopg
import redis

from cli.stack.servers import HOST, free_port
from shared.ledger.engine import libpq_url
from tests.chaos.faults import AWAY_SECONDS
from tests.end_to_end.service import Service

OURS = "touchstone-%"  # how sessions of the service are named
END_OURS = (
    "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE application_name LIKE %s"
)
TAKEN_SECONDS = 0.1  # before it is looked whether another is free


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
    """Somebody else takes each that is free; the service's own are ended, so that it needs new
    ones."""
    url = libpq_url(service.database_url)
    held = [psycopg.connect(url, autocommit=True)]
    deadline = time.monotonic() + AWAY_SECONDS
    try:
        while time.monotonic() < deadline:
            try:
                held.append(psycopg.connect(url, autocommit=True))
            except psycopg.OperationalError:
                held[0].execute(END_OURS, (OURS,))
                time.sleep(TAKEN_SECONDS)
        return f"{len(held)} held by somebody else"
    finally:
        for one in held:
            one.close()
