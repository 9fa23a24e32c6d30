"""What the holders of models tell the gateway about them: a hash in Redis that runs out.

Nothing rests on it: a holder that dies, or a Redis that is flushed, leaves the gateway without news
until the next ones come. Times are Redis's own, since machines' clocks differ.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any, Literal
from uuid import uuid4

import redis
from pydantic import ValidationError
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

from shared.contracts import Message
from shared.model_states import ModelStates, State
from shared.settings import settings

BOARD = "touchstone:model-states"  # "<holder> <model>" → Told
TELL_SECONDS, STALE_SECONDS, FORGOTTEN_SECONDS = 10.0, 35.0, 600
SOCKET_SECONDS = 0.5  # whoever reads would rather know nothing than wait
BEST_FIRST: tuple[State, ...] = ("ready", "loading", "failed")


class Told(Message):
    """One holder's word on one model. at: unix seconds, Redis's; seconds: in this state so far."""

    state: State
    reason: str
    seconds: float
    at: float


class Status(Message):
    """How a model is, as its best holder says."""

    state: Literal["loading", "ready", "failed"]
    reason: str
    since: float  # unix seconds


@lru_cache(maxsize=1)
def _redis() -> redis.Redis:
    return redis.Redis.from_url(
        settings().redis_url.get_secret_value(),
        socket_timeout=SOCKET_SECONDS,
        socket_connect_timeout=SOCKET_SECONDS,
        retry=Retry(NoBackoff(), 1),
        decode_responses=True,
    )


def read() -> dict[str, Status]:
    """model → status, of those that somebody alive tells of; nothing where Redis is away."""
    try:
        with _redis().pipeline(transaction=False) as trip:
            trip.time()
            trip.hgetall(BOARD)
            (seconds, _), board = trip.execute()
    except RedisError:
        return {}
    found: dict[str, Told] = {}
    for field, value in board.items():
        told = _fresh(value, seconds)
        name = field.partition(" ")[2]
        if told is not None and (name not in found or _rank(told) < _rank(found[name])):
            found[name] = told
    return {
        name: Status(state=told.state, reason=told.reason, since=told.at - told.seconds)
        for name, told in sorted(found.items())
    }


def _rank(told: Told) -> tuple[int, float]:
    return BEST_FIRST.index(told.state), -told.seconds


def _fresh(value: str, now: float) -> Told | None:
    with suppress(ValidationError):  # of another version of us
        told = Told.model_validate_json(value)
        return told if now - told.at < STALE_SECONDS else None
    return None


class Teller:
    """Tells of this process's models, from a thread of its own: at each change and by the clock."""

    def __init__(self, states: ModelStates) -> None:
        self._states = states
        self._holder = uuid4().hex

    def start(self) -> None:
        """From now on, until the process ends."""
        threading.Thread(target=self._run, name="model-board", daemon=True).start()

    def tell(self) -> None:
        """Once. Raises RedisError."""
        now = float(_redis().time()[0])
        told = {
            f"{self._holder} {name}": Told(
                state=one.state, reason=one.reason, seconds=one.seconds, at=now
            ).model_dump_json()
            for name, one in self._states.all().items()
        }
        board = _redis().hgetall(BOARD)
        gone = [str(field) for field, value in board.items() if _fresh(str(value), now) is None]
        _write(told, [field for field in gone if field not in told])

    def _run(self) -> None:
        while True:
            self._states.changed.wait(TELL_SECONDS)
            self._states.changed.clear()
            with suppress(RedisError):  # the next time will do
                self.tell()


def _write(told: Mapping[Any, Any], gone: Sequence[str]) -> None:
    with _redis().pipeline(transaction=True) as trip:
        if told:
            trip.hset(BOARD, mapping=told)
        if gone:
            trip.hdel(BOARD, *gone)
        trip.expire(BOARD, FORGOTTEN_SECONDS)
        trip.execute()
