"""The models of a process and their states. Each model is loaded once, by one thread.

A model that fails does not affect others. Callers of a failed model get the reason at once. While
one thread loads a model, other callers wait for it, up to a limit of the process.

`StatusSender` reports the states to the gateway, in a Redis hash that expires. Nothing depends on
these reports. Times are those of Redis, because machines' clocks differ.

The states are not stored in the jobs database, because they change every few seconds and mean
nothing once their process has ended."""

from __future__ import annotations

import gc
import math
import threading
from collections.abc import Callable
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any, Generic, TypeVar
from uuid import uuid4

from pydantic import ValidationError
from redis.exceptions import RedisError

from shared.contracts.errors import JobStopped, ModelNotReady, ModelState, ScoringError, Unavailable
from shared.contracts.messages import Message
from shared.process import telemetry
from shared.process.redis_client import board_client
from shared.queue.job_context import SLICE_SECONDS, check

UNUSABLE: frozenset[ModelState] = frozenset({"failed", "absent"})  # until an operator repairs it
AGAIN_SECONDS, LONGEST_SECONDS = 10.0, 60.0  # pause before a failed load is retried; it doubles
Model = TypeVar("Model")


class LoadingError(ScoringError):
    """A model cannot be loaded. `again` is True if a retry may succeed. Otherwise the model is
    retried only after `models.toml` was reloaded with another entry or other files."""

    slug = "model-not-ready"
    title = "The model is not ready"

    def __init__(self, detail: str, state: ModelState, *, again: bool = True) -> None:
        super().__init__(detail)
        self.state = state
        self.again = again


class Placement(Message):
    """The size, device and dtype of a loaded model."""

    size: int  # bytes of its files
    memory: int  # bytes, an estimate
    device: str
    dtype: str
    sha256: str | None = None  # of the weights, as `folder_sha256`

    def __str__(self) -> str:
        return f"{self.size / 1e9:.1f} GB, {self.device} {self.dtype}"


logger = telemetry.logger(__name__)


class LoadedModels(Generic[Model]):
    """The models that a process has loaded or tried to load."""

    def __init__(self, states: ModelStates | None = None, patience: float | None = None) -> None:
        """Wait at most `patience` seconds for another thread that loads a model; None means no
        limit."""
        self._states = states or ModelStates()
        self._states.on_remove(self._remove)
        self._states.on_full(self._idle)
        self._patience = patience
        self._models: dict[str, Model] = {}
        self._loading: dict[str, threading.Event] = {}
        self._failures: dict[str, _Failure] = {}
        self._uses: dict[str, _Use] = {}
        self._lock = threading.Lock()

    def get(self, name: str, load: Callable[[], Model], idle_seconds: float = math.inf) -> Model:
        """Return the model, and load it if necessary. Raises ModelNotReady. The model stays loaded
        for at least `idle_seconds` after its last use."""
        while True:
            with self._lock:
                self._uses[name] = _Use(monotonic(), idle_seconds)
                if name in self._models:
                    return self._models[name]
                failure = self._failures.get(name)
                if failure is not None and monotonic() < failure.until:
                    raise ModelNotReady(failure.reason, model=name, state=failure.state)
                loading = self._loading.get(name)
                if loading is None:
                    self._loading[name] = threading.Event()
            if loading is None:
                return self._load(name, load)
            if not self._wait_for(loading):
                detail = f"the model {name!r} is being loaded"
                raise ModelNotReady(detail, model=name, state="loading")

    def _remove(self, name: str) -> None:
        """Release this model. Current users keep it; the next caller loads it again."""
        with self._lock:
            self._models.pop(name, None)
            self._failures.pop(name, None)

    def _idle(self) -> list[str]:
        with self._lock:
            now = monotonic()
            used = {name: self._uses[name] for name in self._models}
            return [name for name, use in used.items() if now - use.last >= use.idle]

    def _wait_for(self, event: threading.Event) -> bool:
        """Wait until another thread has loaded the model. Return False if this takes longer than
        `patience`. Raises JobStopped."""
        patience = math.inf if self._patience is None else self._patience
        until = monotonic() + patience
        while not event.wait(min(SLICE_SECONDS, max(0.0, until - monotonic()))):
            check()
            if monotonic() >= until:
                return False
        return True

    def _load(self, name: str, load: Callable[[], Model]) -> Model:
        if name not in self._failures:  # a failed one keeps this state until it is loaded
            self._states.set(name, "loading")
        started = monotonic()
        token = _noted.set(lambda placement: self._states.place(name, placement))
        try:
            model = self._free_and_load(load)
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
            _noted.reset(token)
            with self._lock:
                self._loading.pop(name).set()

    def _free_and_load(self, load: Callable[[], Model]) -> Model:
        """Load the model. If memory is short, release idle models and retry once."""
        try:
            return load()
        except LoadingError as error:
            if error.state != "waiting" or not self._states.release_idle():
                raise
        return load()

    def _failed(self, name: str, error: Exception) -> ScoringError:
        if isinstance(error, JobStopped):  # only this caller stops; the next one loads it
            return error
        reason = error.detail if isinstance(error, ScoringError) else load_error(name, error)
        state: ModelState = "waiting" if isinstance(error, Unavailable) else "failed"
        state = error.state if isinstance(error, LoadingError) else state
        with self._lock:
            previous = self._failures.get(name)
            pause = AGAIN_SECONDS if previous is None else min(LONGEST_SECONDS, 2 * previous.pause)
            if isinstance(error, LoadingError) and not error.again:
                pause = math.inf
            self._failures[name] = _Failure(reason, state, pause, monotonic() + pause)
        self._states.set(name, state, reason)
        retry = {} if math.isinf(pause) else {"again_seconds": pause}
        logger.error(f"model.{state}", model=name, detail=reason, **retry)
        return ModelNotReady(reason, model=name, state=state)


@dataclass
class _Failure:
    reason: str
    state: ModelState
    pause: float  # seconds
    until: float  # monotonic


@dataclass
class _Use:
    last: float  # monotonic
    idle: float  # seconds after which it may be unloaded


_noted: ContextVar[Callable[[Placement], None] | None] = ContextVar("noted", default=None)


def placed(placement: Placement) -> None:
    """Record the size, device and dtype of the model that this thread is loading."""
    if (note := _noted.get()) is not None:
        note(placement)


def load_error(name: str, error: Exception) -> str:
    """Return the reason why a model cannot be loaded, for an error of any library."""
    words = str(error).strip() or "no reason given"
    reason = (
        words if isinstance(error, OSError | ValueError) else f"{type(error).__name__}: {words}"
    )
    return f"the model {name!r} cannot be loaded: {reason}"


@dataclass(frozen=True)
class StateRecord:
    """The state of a model."""

    state: ModelState
    reason: str
    since: float  # monotonic seconds
    placement: Placement | None = None

    @property
    def seconds(self) -> float:
        """Return the seconds in this state."""
        return monotonic() - self.since


class ModelStates:
    """The state of each model by name. Thread-safe."""

    def __init__(self) -> None:
        self._states: dict[str, StateRecord] = {}
        self._forgetters: list[Callable[[str], None]] = []
        self._idlers: list[Callable[[], list[str]]] = []
        self._lock = threading.Lock()
        self.changed = threading.Event()  # set on each change; StatusSender clears it

    def set(self, name: str, state: ModelState, reason: str = "") -> None:
        """Set a model's state. Setting the same state and reason again keeps the time of the first
        call."""
        with self._lock:
            previous = self._states.get(name)
            is_same = previous is not None and (previous.state, previous.reason) == (state, reason)
            if not is_same:
                placement = previous.placement if previous else None
                self._states[name] = StateRecord(state, reason, monotonic(), placement)
                self.changed.set()
        telemetry.MODEL_READY.labels(name).set(state == "ready")

    def place(self, name: str, placement: Placement) -> None:
        """Record how the model is loaded."""
        with self._lock:
            if (record := self._states.get(name)) is not None:
                self._states[name] = replace(record, placement=placement)
                self.changed.set()

    def on_remove(self, forget: Callable[[str], None]) -> None:
        """Register a function to call with the name of each model to release."""
        self._forgetters.append(forget)

    def on_full(self, idle: Callable[[], list[str]]) -> None:
        """Register a function that releases idle models and returns their names. The function is
        called when memory is short."""
        self._idlers.append(idle)

    def release_idle(self) -> list[str]:
        """Release idle models and return their names."""
        names = [name for idle in self._idlers for name in idle()]
        for name in names:
            logger.info("model.unloaded", model=name)
            self.remove(name)
        if names:
            gc.collect()  # a model and its queue refer to each other
        return names

    def remove(self, name: str) -> None:
        """Delete the state of a model that was removed or reconfigured."""
        for forget in self._forgetters:
            forget(name)
        with self._lock:
            if self._states.pop(name, None) is not None:
                self.changed.set()
                telemetry.MODEL_READY.remove(name)

    def check_server(self, name: str) -> None:
        """Raise ModelNotReady if the model's server is known to be unreachable."""
        record = self.get(name)
        if record is not None and record.state == "away":
            raise ModelNotReady(record.reason, model=name, state="away")

    def get(self, name: str) -> StateRecord | None:
        """Return the state, or None if the model has not been requested yet."""
        with self._lock:
            return self._states.get(name)

    def all(self) -> dict[str, StateRecord]:
        with self._lock:
            return dict(self._states)


BOARD = "touchstone:model-states"  # "<holder> <model>" → ModelStatus
TELL_SECONDS, STALE_SECONDS, FORGOTTEN_SECONDS = 10.0, 35.0, 600
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
    """Reports this process's models from a separate thread, at each change and at regular
    intervals."""

    def __init__(self, states: ModelStates) -> None:
        self._states = states
        self._holder = uuid4().hex

    def start(self) -> None:
        threading.Thread(target=self._run, name="model-board", daemon=True).start()

    def report(self) -> None:
        """Send a report on this process's models to Redis. Raises RedisError."""
        now = float(board_client().time()[0])
        states: dict[Any, Any] = {
            f"{self._holder} {name}": ModelStatus(
                state=record.state,
                reason=record.reason,
                seconds=record.seconds,
                at=now,
                placement=record.placement,
            ).model_dump_json()
            for name, record in self._states.all().items()
        }
        expired = [
            str(field)
            for field, value in board_client().hgetall(BOARD).items()
            if _parse_status(str(value), now) is None and str(field) not in states
        ]
        with board_client().pipeline(transaction=True) as pipe:
            if states:
                pipe.hset(BOARD, mapping=states)
            if expired:
                pipe.hdel(BOARD, *expired)
            pipe.expire(BOARD, FORGOTTEN_SECONDS)
            pipe.execute()

    def _run(self) -> None:
        while True:
            self._states.changed.wait(TELL_SECONDS)
            self._states.changed.clear()
            with suppress(RedisError):  # retried the next time
                self.report()


class ModelStatus(Message):
    """The state of a model in one process."""

    state: ModelState
    reason: str
    seconds: float  # in this state so far
    at: float  # unix seconds, Redis's
    placement: Placement | None = None


class Status(Message):
    """The best state that any process reports for a model."""

    state: ModelState
    reason: str
    since: float  # unix seconds
    placement: Placement | None = None


def read_statuses() -> dict[str, Status]:
    """Return the status of each model, as reported by live processes, or {} if Redis is
    unreachable."""
    try:
        with board_client().pipeline(transaction=False) as pipe:
            pipe.time()
            pipe.hgetall(BOARD)
            (seconds, _), board = pipe.execute()
    except RedisError:
        return {}
    statuses: dict[str, list[ModelStatus]] = {}
    for field, value in board.items():
        if (status := _parse_status(value, seconds)) is not None:
            statuses.setdefault(field.partition(" ")[2], []).append(status)
    best = {
        name: min(reports, key=lambda report: (BEST_FIRST.index(report.state), -report.seconds))
        for name, reports in statuses.items()
    }
    return {
        name: Status(
            state=status.state,
            reason=status.reason,
            since=status.at - status.seconds,
            placement=status.placement,
        )
        for name, status in sorted(best.items())
    }


def _parse_status(value: str, now: float) -> ModelStatus | None:
    with suppress(ValidationError):  # of another version
        status = ModelStatus.model_validate_json(value)
        return status if now - status.at < STALE_SECONDS else None
    return None
