"""The models of a process: each loaded once and for itself; and their states, for everybody to see.

A model is loaded by one thread and fails for itself alone. Who asks for one that cannot be loaded
learns why at once, so that no thread is spent on it again and again; who asks for one that another
thread is loading waits as long as the process says. Source: specs "models" §2.4.

Processes that hold models report their states to the gateway in a hash in Redis that runs out.
Nothing rests on it: a holder that dies, or a Redis that is flushed, leaves the gateway without news
until the next ones come. Times are Redis's own, since machines' clocks differ.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from time import monotonic
from typing import Any, Generic, Literal, TypeVar
from uuid import uuid4

import redis
from pydantic import ValidationError
from redis.exceptions import RedisError

from shared import telemetry
from shared.contracts import Message
from shared.errors import JobStopped, ModelNotReady, ScoringError
from shared.job_context import SLICE_SECONDS, check
from shared.redis_client import client

State = Literal["loading", "ready", "failed"]
BOARD = "touchstone:model-states"  # "<holder> <model>" → ModelStatus
TELL_SECONDS, STALE_SECONDS, FORGOTTEN_SECONDS = 10.0, 35.0, 600
SOCKET_SECONDS = 0.5  # whoever reads would rather know nothing than wait
BEST_FIRST: tuple[State, ...] = ("ready", "loading", "failed")
AGAIN_SECONDS, LONGEST_SECONDS = 10.0, 60.0  # before a failed load is tried again: it doubles
Model = TypeVar("Model")

logger = telemetry.logger(__name__)


class LoadedModels(Generic[Model]):
    """The models that were asked for so far."""

    def __init__(self, states: ModelStates | None = None, patience: float | None = None) -> None:
        """patience: seconds to wait for another thread that loads; None: as long as it takes."""
        self._states = states or ModelStates()
        self._patience = patience
        self._models: dict[str, Model] = {}
        self._loading: dict[str, threading.Event] = {}
        self._failures: dict[str, _Failure] = {}
        self._lock = threading.Lock()

    def get(self, name: str, load: Callable[[], Model]) -> Model:
        """The model, loaded now if it is not yet. Raises ModelNotReady."""
        while True:
            with self._lock:
                if name in self._models:
                    return self._models[name]
                self._refuse_if_failed(name)
                loaded = self._loading.get(name)
                if loaded is None:
                    self._loading[name] = threading.Event()
            if loaded is None:
                return self._load(name, load)
            if not self._awaited(loaded):
                raise ModelNotReady(f"the model {name!r} is being loaded", model=name)

    def _awaited(self, loaded: threading.Event) -> bool:
        """Whether the other thread ended within our patience. Raises JobStopped."""
        patience = math.inf if self._patience is None else self._patience
        until = monotonic() + patience
        while not loaded.wait(min(SLICE_SECONDS, max(0.0, until - monotonic()))):
            check()
            if monotonic() >= until:
                return False
        return True

    def _refuse_if_failed(self, name: str) -> None:
        failure = self._failures.get(name)
        if failure is not None and monotonic() < failure.until:
            raise ModelNotReady(failure.reason, model=name)

    def _load(self, name: str, load: Callable[[], Model]) -> Model:
        if name not in self._failures:  # one that failed is called so until it is loaded
            self._states.set(name, "loading")
        started = monotonic()
        try:
            model = load()
        except Exception as error:
            raise self._failed(name, error) from error
        else:
            with self._lock:
                self._models[name] = model
                self._failures.pop(name, None)
            self._states.set(name, "ready")
            logger.info("model.loaded", model=name, seconds=round(monotonic() - started, 1))
            return model
        finally:
            with self._lock:
                self._loading.pop(name).set()

    def _failed(self, name: str, error: Exception) -> ScoringError:
        """The error that callers get; remembered for a while."""
        if isinstance(error, JobStopped):  # the caller's affair; the next one loads it
            return error
        reason = error.detail if isinstance(error, ScoringError) else unloadable(name, error)
        with self._lock:
            before = self._failures.get(name)
            pause = AGAIN_SECONDS if before is None else min(LONGEST_SECONDS, 2 * before.pause)
            self._failures[name] = _Failure(reason, pause, monotonic() + pause)
        self._states.set(name, "failed", reason)
        logger.error("model.failed", model=name, detail=reason, again_seconds=pause)
        return ModelNotReady(reason, model=name)


@dataclass
class _Failure:
    reason: str
    pause: float  # seconds
    until: float  # monotonic


def unloadable(name: str, error: Exception) -> str:
    """Why a model cannot be loaded, whatever its library raised."""
    words = str(error).strip() or "no reason given"
    named = words if isinstance(error, OSError | ValueError) else f"{type(error).__name__}: {words}"
    return f"the model {name!r} cannot be loaded: {named}"


@dataclass(frozen=True)
class ModelState:
    """How one model is. since: monotonic seconds at which it became so."""

    state: State
    reason: str
    since: float

    @property
    def seconds(self) -> float:
        """How long it has been so."""
        return monotonic() - self.since


class ModelStates:
    """name → state, for any number of threads."""

    def __init__(self) -> None:
        self._states: dict[str, ModelState] = {}
        self._lock = threading.Lock()
        self.changed = threading.Event()  # whoever tells others waits for it, and clears it

    def set(self, name: str, state: State, reason: str = "") -> None:
        """The model is so from now on; one that fails again fails since the first time."""
        with self._lock:
            before = self._states.get(name)
            same = before is not None and (before.state, before.reason) == (state, reason)
            if not same:
                self._states[name] = ModelState(state, reason, monotonic())
                self.changed.set()

    def get(self, name: str) -> ModelState | None:
        """How it is; None: nobody has asked for it yet."""
        with self._lock:
            return self._states.get(name)

    def all(self) -> dict[str, ModelState]:
        """A copy."""
        with self._lock:
            return dict(self._states)


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
                state=one.state, reason=one.reason, seconds=one.seconds, at=now
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
        name: Status(state=status.state, reason=status.reason, since=status.at - status.seconds)
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
