"""Who has logged in to the pages: a token in a cookie, its SHA-256 and the key's id in Redis.

The key itself is kept nowhere. What Redis holds is encrypted and authenticated with
`TOUCHSTONE_SECRET_KEYS`, which Redis does not hold: who can write there can open no session. A
flushed Redis logs everybody out; a revoked key ends its sessions.
"""

from __future__ import annotations

import secrets
from typing import Any

from redis.exceptions import RedisError

from services.gateway.prompt_redis import prompt_redis
from shared.encryption import Sealer, Unreadable, new_key, secret_sealer
from shared.errors import Unavailable
from shared.ledger.keys import Key, hashed
from shared.settings import Settings

SECONDS = 12 * 3_600
ANSWER_SECONDS = 2.0


class Sessions:
    """The open sessions of all gateways."""

    def __init__(self, chosen: Settings) -> None:
        self._redis = prompt_redis(chosen, ANSWER_SECONDS)
        self._sealer = secret_sealer(chosen) or Sealer(new_key())  # a key of this process alone

    async def open(self, key: Key) -> str:
        """A new session's token. Raises Unavailable."""
        token = secrets.token_urlsafe(32)
        name = _name(token)
        signed = self._sealer.seal(f"{name} {key.id}")
        await self._asked(self._redis.set(name, signed, ex=SECONDS))
        return token

    async def key_of(self, token: str) -> str | None:
        """The id of the key that opened this session, if it is open. Raises Unavailable."""
        name = _name(token)
        found: str | None = await self._asked(self._redis.get(name))
        if found is None:
            return None
        try:
            signed_name, key_id = self._sealer.open(found, most_seconds=SECONDS).split()
        except Unreadable:
            return None
        return key_id if signed_name == name else None

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
