"""How often a key may call: a token bucket in Redis, in one script, so that gateways share it.

A key may call `requests_per_minute` times at once, and the bucket fills evenly within a minute.
Headers: draft-ietf-httpapi-ratelimit-headers-10 (`RateLimit-Policy`, `RateLimit`).

While Redis is away nobody is limited, and the headers are missing: a limit protects us from haste,
and an absent broker must not close the door. The quota of open jobs stands in the ledger and holds.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from redis.exceptions import RedisError
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from services.gateway.prompt_redis import prompt_redis
from shared import log
from shared.errors import QuotaExceeded
from shared.ledger.keys import Key
from shared.settings import Settings

POLICY = "requests"
WINDOW_SECONDS = 60
ANSWER_SECONDS = 0.5  # a Redis that takes longer counts as away
REST_SECONDS = 1.0  # and is left alone for so long

# The time is Redis's own, one clock for all gateways. Answers 1 or 0, and what is left.
BUCKET = """
local quota, window = tonumber(ARGV[1]), tonumber(ARGV[2])
local clock = redis.call('TIME')
local now = clock[1] + clock[2] / 1000000
local held = redis.call('HMGET', KEYS[1], 'left', 'at')
local passed = math.max(0, now - (tonumber(held[2]) or now))
local left = math.min(quota, (tonumber(held[1]) or quota) + passed * quota / window)
local granted = 0
if left >= 1 then
  left = left - 1
  granted = 1
end
redis.call('HSET', KEYS[1], 'left', string.format('%.6f', left), 'at', string.format('%.6f', now))
redis.call('PEXPIRE', KEYS[1], math.ceil(window * 1000))
return {granted, string.format('%.6f', left)}
"""

logger = log.logger(__name__)


@dataclass(frozen=True)
class Grant:
    """What the bucket said. left: requests that may follow at once, with a fraction."""

    quota: int
    left: float
    granted: bool

    @property
    def headers(self) -> Mapping[str, str]:
        """`t` is when the whole quota is there again, in seconds."""
        full = math.ceil((self.quota - self.left) * WINDOW_SECONDS / self.quota)
        return {
            "RateLimit-Policy": f'"{POLICY}";q={self.quota};w={WINDOW_SECONDS}',
            "RateLimit": f'"{POLICY}";r={int(self.left)};t={full}',
        }

    @property
    def retry_after(self) -> int:
        """Seconds until one more is allowed."""
        return max(1, math.ceil((1 - self.left) * WINDOW_SECONDS / self.quota))


class Limiter:
    """The buckets of all keys."""

    def __init__(self, chosen: Settings) -> None:
        self._quota = chosen.requests_per_minute
        self._redis = prompt_redis(chosen, ANSWER_SECONDS)
        self._bucket: Any = self._redis.register_script(BUCKET)
        self._rests_until = 0.0  # monotonic seconds

    async def take(self, key: Key) -> Grant | None:
        """Take one from this key's bucket; None while Redis is away."""
        if time.monotonic() < self._rests_until:
            return None
        quota = key.requests_per_minute or self._quota
        name = f"touchstone:rate:{key.id}"
        try:
            granted, left = await self._bucket(keys=[name], args=[quota, WINDOW_SECONDS])
        except (RedisError, OSError, TimeoutError) as error:
            self._rests_until = time.monotonic() + REST_SECONDS
            logger.warning("rate_limit.off", error=type(error).__name__)
            return None
        return Grant(quota, float(left), bool(granted))

    @staticmethod
    def demand(grant: Grant | None) -> None:
        """Raises QuotaExceeded where the bucket was empty."""
        if grant is not None and not grant.granted:
            raise QuotaExceeded(
                f"this key may call {grant.quota} times a minute",
                policy=POLICY,
                retry_after=grant.retry_after,
            )

    async def close(self) -> None:
        """Let go of the connections."""
        await self._redis.aclose()


class RateLimitHeaders:
    """ASGI middleware: whatever the answer is, it says what is left."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, and add the headers on the way out."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def say(message: Message) -> None:
            grant: Grant | None = scope.get("state", {}).get("rate_limit")
            if message["type"] == "http.response.start" and grant is not None:
                MutableHeaders(scope=message).update(grant.headers)
            await send(message)

        await self.app(scope, receive, say)
