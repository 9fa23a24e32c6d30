"""Who has logged in to the pages: a token in a cookie, its SHA-256 and the key's id in Redis.

The key itself is kept nowhere. A flushed Redis logs everybody out; a revoked key ends its sessions.
"""

from __future__ import annotations

import secrets
from typing import Any

from redis.exceptions import RedisError

from services.gateway.prompt_redis import prompt_redis
from shared.errors import Unavailable
from shared.ledger.keys import Key, hashed
from shared.settings import Settings

HOURS = 12
ANSWER_SECONDS = 2.0


class Sessions:
    """The open sessions of all gateways."""

    def __init__(self, chosen: Settings) -> None:
        self._redis = prompt_redis(chosen, ANSWER_SECONDS)

    async def open(self, key: Key) -> str:
        """A new session's token. Raises Unavailable."""
        token = secrets.token_urlsafe(32)
        await self._asked(self._redis.set(_name(token), key.id, ex=HOURS * 3_600))
        return token

    async def key_of(self, token: str) -> str | None:
        """The id of the key that opened this session, if it is open. Raises Unavailable."""
        found: str | None = await self._asked(self._redis.get(_name(token)))
        return found

    async def end(self, token: str) -> None:
        """Log out; a second time changes nothing. Raises Unavailable."""
        await self._asked(self._redis.delete(_name(token)))

    async def close(self) -> None:
        """Let go of the connections."""
        await self._redis.aclose()

    @staticmethod
    async def _asked(command: Any) -> Any:
        try:
            return await command
        except (RedisError, OSError, TimeoutError) as error:
            raise Unavailable("the log-in cannot be checked: the broker is away") from error


def _name(token: str) -> str:
    return f"touchstone:session:{hashed(token)}"
