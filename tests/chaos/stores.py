"""Redis and PostgreSQL live, and refuse (no writes, no memory, no connections), or come back as
somebody else."""

from __future__ import annotations

import time

import psycopg
import redis

from cli.stack.servers import HOST, free_port
from shared.ledger.engine import libpq_url
from tests.chaos.faults import AWAY_SECONDS, await_redis, kill_redis
from tests.end_to_end.service import Service

OURS = "touchstone-%"  # how sessions of the service are named
END_OURS = (
    "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE application_name LIKE %s"
)
STANDBY_SECONDS = 10  # of a standby that becomes the primary
SNAPSHOT_SECONDS = 10  # between the snapshot and the crash
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


def fail_over(service: Service) -> None:
    """Every connection is closed, and for ten seconds whoever connects can only read."""
    with psycopg.connect(libpq_url(service.database_url), autocommit=True) as connection:
        for mode, seconds in (("on", STANDBY_SECONDS), ("off", 0)):
            connection.execute(f"ALTER SYSTEM SET default_transaction_read_only = {mode}")
            connection.execute("SELECT pg_reload_conf()")
            connection.execute(END_OURS, (OURS,))
            time.sleep(seconds)


def redis_from_an_older_snapshot(service: Service) -> str:
    """It is killed, and what comes back is as it was ten seconds before."""
    with redis.Redis.from_url(service.redis_url) as client:
        older = {key: client.dump(key) for key in client.scan_iter()}
        time.sleep(SNAPSHOT_SECONDS)
        with client.pipeline(transaction=True) as trip:
            trip.flushall()
            for key, value in older.items():
                if value is not None:
                    trip.restore(key, 0, value)
            trip.execute()
    kill_redis(service)
    await_redis(service)
    return f"{len(older)} keys"
