"""The callers of the API: their keys, browser sessions, rate limits and open streams.

Keys are cached, so a revoked key still works for a few seconds.

A browser session is a random token in a cookie. Redis stores the token's SHA-256 hash and the key's
id, encrypted with `TOUCHSTONE_SECRET_KEYS`. Write access to Redis is therefore not enough to open a
session. Emptying Redis logs everybody out. Revoking a key ends its sessions.

The rate limit is a token bucket that all gateways share through Redis. A key may send
`requests_per_minute` requests at once, and the bucket refills within a minute. While Redis is
unavailable, there is no rate limit. The limit of open jobs still applies. The response headers
follow draft-ietf-httpapi-ratelimit-headers-10.
"""

from __future__ import annotations

import math
import secrets
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from cachetools import TTLCache
from redis.exceptions import RedisError
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Send
from starlette.types import Scope as AsgiScope

from shared.contracts.errors import QuotaExceeded, Unavailable
from shared.contracts.messages import AnyJob, with_untrained_languages
from shared.ledger.jobs import Owner
from shared.ledger.keys import Key, Scope, hash_key
from shared.ledger.tables import DEFAULT_TENANT
from shared.process import telemetry
from shared.process.encryption import Sealer, Unreadable, new_key, secret_sealer
from shared.process.redis_client import async_client
from shared.process.settings import Settings

REMEMBERED_SECONDS = 10.0
MOST_REMEMBERED = 10_000
MOST_OPEN_BATCHES = 100  # of one tenant
MOST_FILES = 1_000  # uploaded, of one tenant
SESSION_SECONDS = 12 * 3_600
SESSION_ANSWER_SECONDS = 2.0
REQUESTS_POLICY = "requests"
WINDOW_SECONDS = 60
LIMITER_SECONDS = 0.5  # a Redis that takes longer counts as away
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
UPLOADS_POLICY = "uploads"
HELD_RETRY_SECONDS = 10

logger = telemetry.logger(__name__)


@dataclass(frozen=True)
class Caller:
    """The caller of a request. `key` is None if no keys are required; then only the limit of open
    jobs applies."""

    tenant: str
    scopes: frozenset[Scope]
    key: Key | None = None

    def has_scope(self, *scopes: Scope) -> bool:
        """Return True if the caller has one of these scopes; `admin` includes all."""
        return "admin" in self.scopes or not self.scopes.isdisjoint(scopes)

    @property
    def accepts_untrained_languages(self) -> bool:
        """Return True if this caller's requests accept languages without training data by
        default."""
        return self.key is not None and self.key.accept_untrained_languages

    def apply_defaults(self, request: AnyJob) -> AnyJob:
        """Return the request with missing settings filled in from the caller's key."""
        return with_untrained_languages(request) if self.accepts_untrained_languages else request

    def owner(self, settings: Settings) -> Owner:
        """Return the owner to store with objects that this caller creates."""
        if self.key is None:
            return Owner(self.tenant, most_open=settings.open_jobs)
        return Owner(
            self.tenant,
            most_open=settings.open_jobs,
            most_batches=MOST_OPEN_BATCHES,
            most_files=MOST_FILES,
            most_bytes=settings.stored_bytes,
        )


ANYBODY = Caller(DEFAULT_TENANT, frozenset({"admin"}))


class KeyCache:
    """A cache of the keys that this process has seen. Use it only in the event loop's thread."""

    def __init__(self, settings: Settings) -> None:
        self._required = {"keys": True, "none": False, "auto": None}[settings.authentication]
        self._none_made: TTLCache[str, bool] = TTLCache(1, REMEMBERED_SECONDS)
        self._callers: TTLCache[str, Caller] = TTLCache(MOST_REMEMBERED, REMEMBERED_SECONDS)

    @property
    def required(self) -> bool | None:
        """Return True if keys are required and False if not. None means that only the jobs database
        can tell."""
        return False if self._required is None and "none" in self._none_made else self._required

    def set_required(self) -> None:
        """Require keys from now on."""
        self._required = True

    def update(self, *, any_made: bool) -> None:
        """Record if any API key was ever created. If so, keys are required from now on."""
        if any_made:
            self.set_required()
        else:
            self._none_made["none"] = True

    def get(self, secret: str) -> Caller | None:
        return self._callers.get(hash_key(secret))

    def store(self, secret: str, key: Key) -> Caller:
        caller = Caller(key.tenant, frozenset(key.scopes), key)
        self._callers[hash_key(secret)] = caller
        return caller


class SessionStore:
    """The open sessions of all gateways, stored in Redis."""

    def __init__(self, settings: Settings) -> None:
        self._redis = async_client(SESSION_ANSWER_SECONDS, settings)
        self._sealer = secret_sealer(settings) or Sealer(new_key())  # a key of this process alone

    async def open(self, key: Key) -> str:
        """Open a session for this key and return its token. Raises Unavailable."""
        token = secrets.token_urlsafe(32)
        name = _session_name(token)
        signed = self._sealer.seal(f"{name} {key.id}")
        await self._execute(self._redis.set(name, signed, ex=SESSION_SECONDS))
        return token

    async def key_of(self, token: str) -> str | None:
        """Return the id of the key that opened the session. Return None if there is no such
        session. Raises Unavailable."""
        name = _session_name(token)
        sealed: str | None = await self._execute(self._redis.get(name))
        if sealed is None:
            return None
        try:
            signed_name, key_id = self._sealer.open(sealed, most_seconds=SESSION_SECONDS).split()
        except Unreadable:
            return None
        return key_id if signed_name == name else None

    async def end(self, token: str) -> None:
        """End the session. Ending it twice has no further effect. Raises Unavailable."""
        await self._execute(self._redis.delete(_session_name(token)))

    async def close(self) -> None:
        await self._redis.aclose()

    @staticmethod
    async def _execute(command: Any) -> Any:
        try:
            return await command
        except (RedisError, OSError, TimeoutError) as error:
            raise Unavailable(
                "the login cannot be checked, because Redis is unavailable; try again later"
            ) from error


def _session_name(token: str) -> str:
    return f"touchstone:session:{hash_key(token)}"


@dataclass(frozen=True)
class RateLimit:
    """The rate limit of a key at one moment. `left` is the number of requests allowed at once; it
    may be fractional."""

    quota: int
    left: float
    granted: bool

    @property
    def headers(self) -> Mapping[str, str]:
        """Return the RateLimit headers. Their field `t` is the seconds until the whole quota is
        available again."""
        full = math.ceil((self.quota - self.left) * WINDOW_SECONDS / self.quota)
        return {
            "RateLimit-Policy": f'"{REQUESTS_POLICY}";q={self.quota};w={WINDOW_SECONDS}',
            "RateLimit": f'"{REQUESTS_POLICY}";r={int(self.left)};t={full}',
        }

    @property
    def retry_after(self) -> int:
        """Return the seconds until the next request is allowed."""
        return max(1, math.ceil((1 - self.left) * WINDOW_SECONDS / self.quota))


class Limiter:
    """The rate limits of all keys, one token bucket per key."""

    def __init__(self, settings: Settings) -> None:
        self._quota = settings.requests_per_minute
        self._redis = async_client(LIMITER_SECONDS, settings)
        self._bucket: Any = self._redis.register_script(BUCKET)
        self._rests_until = 0.0  # monotonic seconds

    async def take(self, key: Key) -> RateLimit | None:
        """Count one request against this key's limit. Return None while Redis is unavailable."""
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
        return RateLimit(quota, float(left), bool(granted))

    @staticmethod
    def check(grant: RateLimit | None) -> None:
        """Raise QuotaExceeded if the limiter did not grant the request. Without a grant there is no
        limit."""
        if grant is not None and not grant.granted:
            raise QuotaExceeded(
                f"this key has used its {grant.quota} requests per minute; wait "
                f"{grant.retry_after} s",
                policy=REQUESTS_POLICY,
                retry_after=grant.retry_after,
            )

    async def close(self) -> None:
        await self._redis.aclose()


class RateLimitMiddleware:
    """ASGI middleware that adds the caller's remaining requests to every response."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            grant: RateLimit | None = scope.get("state", {}).get("rate_limit")
            if message["type"] == "http.response.start" and grant is not None:
                MutableHeaders(scope=message).update(grant.headers)
            await send(message)

        await self.app(scope, receive, send_with_headers)


@dataclass
class CountLimit:
    """A limit on objects open at the same time, per process and per key. `policy` is its name in
    errors. `what` names the objects in the plural."""

    policy: str
    what: str
    most: int
    most_of_a_key: int


STREAMS = CountLimit("open-streams", "event streams", 1_000, 20)
# bodies of 16 MiB, held until their jobs are committed
BULK_CALLS = CountLimit("bulk-calls", "calls of :batchCreate", 16, 4)
# each takes a thread for up to two seconds
PREVIEWS = CountLimit(UPLOADS_POLICY, "previews of tables", 6, 2)


class ConcurrentLimiter:
    """A counter of the streams or other long-lived objects of each key. Use it only in the event
    loop's thread."""

    def __init__(self, limit: CountLimit) -> None:
        self._limit = limit
        self._open: Counter[str | None] = Counter()  # key's id; None: where keys are not asked for

    @contextmanager
    def acquire(self, caller: Caller) -> Iterator[None]:
        """Count one more open object of the caller while the block runs. Raises QuotaExceeded if
        the caller or the service has too many."""
        key, limit, detail = None if caller.key is None else caller.key.id, self._limit, ""
        if self._open.total() >= limit.most:
            detail = f"the service has reached its maximum number of {limit.what}; try again later"
        elif key is not None and self._open[key] >= limit.most_of_a_key:
            detail = (
                f"this key may have at most {limit.most_of_a_key} {limit.what} at a time; wait "
                "until one has ended"
            )
        if detail:
            raise QuotaExceeded(detail, policy=limit.policy, retry_after=HELD_RETRY_SECONDS)
        self._open[key] += 1
        try:
            yield
        finally:
            self._open[key] -= 1
            if not self._open[key]:
                del self._open[key]
