"""How models are, carried from the processes that hold them to the gateway.

Each holder writes the states of its models into a hash in Redis that runs out. Nothing rests on
it: a holder that dies, or a Redis that is flushed, leaves the gateway without news until the next
ones come. Times are Redis's own, since machines' clocks differ. Source: specs "models" §2.4.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any
from uuid import uuid4

import redis
from pydantic import ValidationError
from redis.exceptions import RedisError

from shared.contracts import Message
from shared.errors import ModelState
from shared.models.availability import ModelStates, Placement
from shared.redis_client import client

BOARD = "touchstone:model-states"  # "<holder> <model>" → ModelStatus
TELL_SECONDS, STALE_SECONDS, FORGOTTEN_SECONDS = 10.0, 35.0, 600
SOCKET_SECONDS = 0.5  # whoever reads would rather know nothing than wait
BEST_FIRST: tuple[ModelState, ...] = (
    "ready",
    "loading",
    "downloading",
    "waiting",
    "away",
    "failed",
    "absent",
)


class StatusSender:
    """Reports this process's models, from a thread of its own: at each change and by the clock."""

    def __init__(self, states: ModelStates) -> None:
        self._states = states
        self._holder = uuid4().hex

    def start(self) -> None:
        threading.Thread(target=self._run, name="model-board", daemon=True).start()

    def report(self) -> None:
        """Once. Raises RedisError."""
        now = float(_redis().time()[0])
        states = {
            f"{self._holder} {name}": ModelStatus(
                state=one.state,
                reason=one.reason,
                seconds=one.seconds,
                at=now,
                placement=one.placement,
            ).model_dump_json()
            for name, one in self._states.all().items()
        }
        board = _redis().hgetall(BOARD)
        gone = [str(field) for field, value in board.items() if _fresh(str(value), now) is None]
        _write(states, [field for field in gone if field not in states])

    def _run(self) -> None:
        while True:
            self._states.changed.wait(TELL_SECONDS)
            self._states.changed.clear()
            with suppress(RedisError):  # the next time will do
                self.report()


class ModelStatus(Message):
    """One holder's word on one model. at: unix seconds, Redis's; seconds: in this state so far."""

    state: ModelState
    reason: str
    seconds: float
    at: float
    placement: Placement | None = None


class Status(Message):
    """How a model is, as its best holder says."""

    state: ModelState
    reason: str
    since: float  # unix seconds
    placement: Placement | None = None


@lru_cache(maxsize=1)
def _redis() -> redis.Redis:
    return client(SOCKET_SECONDS, patient=False, decode_responses=True)


def read() -> dict[str, Status]:
    """model → status, of those that a live holder reports; nothing where Redis is away."""
    try:
        with _redis().pipeline(transaction=False) as trip:
            trip.time()
            trip.hgetall(BOARD)
            (seconds, _), board = trip.execute()
    except RedisError:
        return {}
    found: dict[str, ModelStatus] = {}
    for field, value in board.items():
        status = _fresh(value, seconds)
        name = field.partition(" ")[2]
        if status is not None and (name not in found or _rank(status) < _rank(found[name])):
            found[name] = status
    return {
        name: Status(
            state=status.state,
            reason=status.reason,
            since=status.at - status.seconds,
            placement=status.placement,
        )
        for name, status in sorted(found.items())
    }


def _rank(status: ModelStatus) -> tuple[int, float]:
    return BEST_FIRST.index(status.state), -status.seconds


def _fresh(value: str, now: float) -> ModelStatus | None:
    with suppress(ValidationError):  # of another version of us
        status = ModelStatus.model_validate_json(value)
        return status if now - status.at < STALE_SECONDS else None
    return None


def _write(states: Mapping[Any, Any], gone: Sequence[str]) -> None:
    with _redis().pipeline(transaction=True) as trip:
        if states:
            trip.hset(BOARD, mapping=states)
        if gone:
            trip.hdel(BOARD, *gone)
        trip.expire(BOARD, FORGOTTEN_SECONDS)
        trip.execute()
