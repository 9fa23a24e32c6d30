"""Redis for a request that must not wait for it."""

from __future__ import annotations

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from shared.settings import Settings


def prompt_redis(chosen: Settings, seconds: float) -> Redis:
    """A client for the event loop; a server that takes longer than this counts as away."""
    return Redis.from_url(
        chosen.redis_url.get_secret_value(),
        socket_timeout=seconds,
        socket_connect_timeout=seconds,
        retry=Retry(NoBackoff(), 1),
        decode_responses=True,
    )
