"""The services that have a worker ready to take jobs, as workers report them to the gateway.

Each worker writes its services, and its reason for not taking jobs, into a Redis hash that expires.
Nothing depends on it. A dead worker is forgotten after a while, and after a flush the workers write
again. Times are those of Redis, because machines' clocks differ.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from uuid import uuid4

from pydantic import ValidationError
from redis.exceptions import RedisError

from shared.contracts.messages import Message
from shared.models.catalogue.availability import (
    FORGOTTEN_SECONDS,
    STALE_SECONDS,
    TELL_SECONDS,
)
from shared.process.redis_client import board_client

BOARD = "touchstone:workers"  # holder → WorkerStatus
LOOK_SECONDS = 0.5
READY = "ready"
NO_WORKER = "no worker"


class WorkerStatus(Message):
    """The status of one worker. `at` is the time of the status by the clock of Redis, in unix
    seconds. `waits_for` is the reason why the worker takes no jobs yet, or None."""

    services: tuple[str, ...]
    waits_for: str | None
    at: float


class WorkerSender:
    """Reports this process's state from a separate thread, at each change and periodically."""

    def __init__(self, services: Iterable[str], obstacles: Callable[[], Mapping[str, str]]) -> None:
        """Create a sender of worker reports. `obstacles` returns the reasons by name why the
        process cannot take jobs."""
        self._services = tuple(services)
        self._obstacles = obstacles
        self._holder = uuid4().hex
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="worker-board", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join()
        with suppress(RedisError):
            board_client().hdel(BOARD, self._holder)

    def report(self) -> None:
        """Send a report on this worker to Redis. Raises RedisError."""
        now = float(board_client().time()[0])
        status = WorkerStatus(services=self._services, waits_for=self._reason, at=now)
        stale = [
            holder
            for holder, value in board_client().hgetall(BOARD).items()
            if holder != self._holder and _parse_status(str(value), now) is None
        ]
        with board_client().pipeline(transaction=True) as trip:
            trip.hset(BOARD, self._holder, status.model_dump_json())
            if stale:
                trip.hdel(BOARD, *stale)
            trip.expire(BOARD, FORGOTTEN_SECONDS)
            trip.execute()

    @property
    def _reason(self) -> str | None:
        """Return why the worker is not ready, or None. All callers may read the text, so it names
        no model."""
        obstacles = dict(self._obstacles())
        worker = obstacles.pop("worker", None)
        if not obstacles:
            return None if worker is None else f"its worker {worker}"
        left = "a model" if len(obstacles) == 1 else f"{len(obstacles)} models"
        return f"its worker is loading {left}"

    def _run(self) -> None:
        reported, due = "", 0.0
        while not self._stopping.wait(LOOK_SECONDS):
            reason = self._reason or READY
            if reason == reported and time.monotonic() < due:
                continue
            with suppress(RedisError):  # retried at the next report
                self.report()
                reported, due = reason, time.monotonic() + TELL_SECONDS


def read(services: Iterable[str]) -> dict[str, str]:
    """Map each service to `ready` or to the reason why its jobs wait, by the status of its workers.
    Return {} if Redis is unreachable."""
    try:
        with board_client().pipeline(transaction=False) as trip:
            trip.time()
            trip.hgetall(BOARD)
            (now, _), board = trip.execute()
    except RedisError:
        return {}
    states = dict.fromkeys(services, NO_WORKER)
    for worker in filter(None, (_parse_status(value, now) for value in board.values())):
        for name in states.keys() & set(worker.services):
            if worker.waits_for is None:
                states[name] = READY
            elif states[name] != READY:
                states[name] = worker.waits_for
    return states


def _parse_status(value: str, now: float) -> WorkerStatus | None:
    with suppress(ValidationError):  # written by another version
        status = WorkerStatus.model_validate_json(value)
        return status if now - status.at < STALE_SECONDS else None
    return None
