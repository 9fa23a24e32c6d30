"""Redis clients, with their timeouts and retries."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import redis
from redis.asyncio import Redis as AsyncRedis
from redis.asyncio.retry import Retry as AsyncRetry
from redis.backoff import NoBackoff
from redis.retry import Retry

from shared.process.settings import Settings, settings

LEAST_WAIT_SECONDS = 0.01  # of a blocking command: less than a millisecond is "for ever" to Redis
BOARD_SECONDS = 0.5  # readers of states prefer no answer to a wait
RETRIES = 1  # at once, for readers that do not wait


def timeouts(seconds: float) -> dict[str, Any]:
    """Return the options that set the timeout after which a server counts as unreachable."""
    return {"socket_timeout": seconds, "socket_connect_timeout": seconds}


def client(seconds: float, *, patient: bool, url: str | None = None, **more: Any) -> redis.Redis:
    """Return a client for threads. A server that takes longer than `seconds` counts as unreachable.

    With `patient` it retries as often as the library does, with pauses; otherwise once, without a
    pause. `url` is the Redis of a service's queues (`Settings.redis_of`), or None for the default
    Redis. `more` holds options of `redis.Redis`.
    """
    retry: dict[str, Any] = {} if patient else {"retry": Retry(NoBackoff(), RETRIES)}
    address = url or settings().redis_url.get_secret_value()
    return redis.Redis.from_url(address, **timeouts(seconds) | retry | more)


@lru_cache(maxsize=1)
def board_client() -> redis.Redis:
    """Return a Redis client for reading and writing the status that processes share. Replies are
    decoded to strings. The timeout is short because callers cannot wait long."""
    return client(BOARD_SECONDS, patient=False, decode_responses=True)


def async_client(seconds: float, settings: Settings) -> AsyncRedis:
    """Return a client for the event loop that decodes answers to strings and does not retry."""
    return AsyncRedis.from_url(
        settings.redis_url.get_secret_value(),
        **timeouts(seconds),
        retry=AsyncRetry(NoBackoff(), RETRIES),
        decode_responses=True,
    )
