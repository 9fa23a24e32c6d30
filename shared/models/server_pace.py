"""Requests to one model server a minute, of all workers together: counted in Redis.

In any sixty seconds there are at most as many as the entry's `requests_per_minute`; who comes too
early waits. Without Redis nobody knows of the others, and each process counts for itself. Source:
specs "models" §1.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections import deque
from functools import lru_cache
from typing import Any

import redis
from redis.exceptions import RedisError

from shared.job_context import pause
from shared.models.entry import ModelEntry
from shared.redis_client import client

KEY = "touchstone:server-requests:"  # + the model's name → times of its requests
MINUTE = 60.0  # seconds
SOCKET_SECONDS = 0.5
TAKE = """
local now = redis.call('TIME')
now = now[1] * 1000000 + now[2]
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - 60000000)
if redis.call('ZCARD', KEYS[1]) < tonumber(ARGV[1]) then
  redis.call('ZADD', KEYS[1], now, ARGV[2])
  redis.call('PEXPIRE', KEYS[1], 60000)
  return 0
end
return redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')[2] + 60000000 - now
"""


@lru_cache(maxsize=1)
def _redis() -> tuple[redis.Redis, Any]:
    made = client(SOCKET_SECONDS, patient=False)
    return made, made.register_script(TAKE)


class ServerPace:
    """Of one model, for any number of threads."""

    def __init__(self, entry: ModelEntry) -> None:
        self._key = KEY + entry.name
        self._most = entry.requests_per_minute
        self._own: deque[float] = deque()
        self._lock = threading.Lock()

    def wait(self) -> None:
        """Until a request may go; it is counted then. Raises JobStopped."""
        if self._most is None:
            return
        while (seconds := self._too_early(self._most)) > 0:
            pause(seconds)

    def _too_early(self, most: int) -> float:
        """Seconds until there is room again; 0: a request was counted."""
        try:
            _, take = _redis()
            return float(take(keys=[self._key], args=[most, secrets.token_hex(8)])) / 1e6
        except RedisError:
            return self._too_early_here(most)

    def _too_early_here(self, most: int) -> float:
        with self._lock:
            now = time.monotonic()
            while self._own and self._own[0] <= now - MINUTE:
                self._own.popleft()
            if len(self._own) < most:
                self._own.append(now)
                return 0.0
            return self._own[0] + MINUTE - now
