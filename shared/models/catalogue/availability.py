"""The models of a process, each loaded once and for itself, and their states, for everybody to see.

A model is loaded by one thread and fails for itself alone. Who asks for one that cannot be loaded
learns why at once, so that no thread is spent on it again and again; who asks for one that another
thread is loading waits as long as the process says.

`StatusSender` carries the states to the gateway: each holder writes its models' into a hash in
Redis that runs out. Nothing rests on it: a holder that dies, or a Redis that is flushed, leaves the
gateway without news until the next ones come. Times are Redis's own, since machines' clocks differ.
Source: specs "models" §2.4.

Deviates: that page names a table of the ledger. States change every few seconds and are worthless
once their holder is gone, so they are kept where they run out by themselves.
"""

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

UNUSABLE: frozenset[ModelState] = frozenset({"failed", "absent"})  # until somebody mends it
AGAIN_SECONDS, LONGEST_SECONDS = 10.0, 60.0  # before a failed load is tried again: it doubles
Model = TypeVar("Model")


class LoadingError(ScoringError):
    """A model cannot be loaded, for a reason that its state names better than `failed` does.

    again: whether another try may end otherwise; if not, it is made only when `models.toml` is read
    again and the entry or the files have changed.
    """

    slug = "model-not-ready"
    title = "The model is not ready"

    def __init__(self, detail: str, state: ModelState, *, again: bool = True) -> None:
        super().__init__(detail)
        self.state = state
        self.again = again


class Placement(Message):
    """How a model is loaded. size: of its files; memory: that it needs, an estimate; in bytes.
    sha256: of the weights, as `folder_sha256`."""

    size: int
    memory: int
    device: str
    dtype: str
    sha256: str | None = None

    def __str__(self) -> str:
        return f"{self.size / 1e9:.1f} GB, {self.device} {self.dtype}"


logger = telemetry.logger(__name__)


class LoadedModels(Generic[Model]):
    """The models that were asked for so far."""

    def __init__(self, states: ModelStates | None = None, patience: float | None = None) -> None:
        """patience: seconds to wait for another thread that loads; None: as long as it takes."""
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
        """The model, loaded now if it is not yet. Raises ModelNotReady.

        idle_seconds: for so long it is kept after its last use, whoever else needs the room.
        """
        while True:
            with self._lock:
                self._uses[name] = _Use(monotonic(), idle_seconds)
                if name in self._models:
                    return self._models[name]
                failure = self._failures.get(name)
                if failure is not None and monotonic() < failure.until:
                    raise ModelNotReady(failure.reason, model=name, state=failure.state)
                loaded = self._loading.get(name)
                if loaded is None:
                    self._loading[name] = threading.Event()
            if loaded is None:
                return self._load(name, load)
            if not self._wait_for(loaded):
                detail = f"the model {name!r} is being loaded"
                raise ModelNotReady(detail, model=name, state="loading")

    def _remove(self, name: str) -> None:
        """Let go of this model: who uses it now keeps it for so long; the next one loads it."""
        with self._lock:
            self._models.pop(name, None)
            self._failures.pop(name, None)

    def _idle(self) -> list[str]:
        """Loaded models that nobody has asked for in their time."""
        with self._lock:
            now = monotonic()
            used = {name: self._uses[name] for name in self._models}
            return [name for name, use in used.items() if now - use.last >= use.idle]

    def _wait_for(self, loaded: threading.Event) -> bool:
        """Whether the other thread ended within our patience. Raises JobStopped."""
        patience = math.inf if self._patience is None else self._patience
        until = monotonic() + patience
        while not loaded.wait(min(SLICE_SECONDS, max(0.0, until - monotonic()))):
            check()
            if monotonic() >= until:
                return False
        return True

    def _load(self, name: str, load: Callable[[], Model]) -> Model:
        if name not in self._failures:  # one that failed is called so until it is loaded
            self._states.set(name, "loading")
        started = monotonic()
        noted = _noted.set(lambda placement: self._states.place(name, placement))
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
            _noted.reset(noted)
            with self._lock:
                self._loading.pop(name).set()

    def _free_and_load(self, load: Callable[[], Model]) -> Model:
        """Without enough memory once more, after the idle models are released."""
        try:
            return load()
        except LoadingError as error:
            if error.state != "waiting" or not self._states.release_idle():
                raise
        return load()

    def _failed(self, name: str, error: Exception) -> ScoringError:
        """The error that callers get; remembered for a while."""
        if isinstance(error, JobStopped):  # the caller's affair; the next one loads it
            return error
        reason = error.detail if isinstance(error, ScoringError) else load_error(name, error)
        state: ModelState = "waiting" if isinstance(error, Unavailable) else "failed"
        state = error.state if isinstance(error, LoadingError) else state
        with self._lock:
            before = self._failures.get(name)
            pause = AGAIN_SECONDS if before is None else min(LONGEST_SECONDS, 2 * before.pause)
            if isinstance(error, LoadingError) and not error.again:
                pause = math.inf
            self._failures[name] = _Failure(reason, state, pause, monotonic() + pause)
        self._states.set(name, state, reason)
        known = {} if math.isinf(pause) else {"again_seconds": pause}
        logger.error(f"model.{state}", model=name, detail=reason, **known)
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
    """For loaders: the model that this thread is loading is going to be placed so."""
    if (note := _noted.get()) is not None:
        note(placement)


def load_error(name: str, error: Exception) -> str:
    """Why a model cannot be loaded, whatever its library raised."""
    words = str(error).strip() or "no reason given"
    named = words if isinstance(error, OSError | ValueError) else f"{type(error).__name__}: {words}"
    return f"the model {name!r} cannot be loaded: {named}"


@dataclass(frozen=True)
class StateRecord:
    """How one model is. since: monotonic seconds at which it became so."""

    state: ModelState
    reason: str
    since: float
    placement: Placement | None = None

    @property
    def seconds(self) -> float:
        """How long it has been so."""
        return monotonic() - self.since


class ModelStates:
    """name → state, for any number of threads."""

    def __init__(self) -> None:
        self._states: dict[str, StateRecord] = {}
        self._forgetters: list[Callable[[str], None]] = []
        self._idlers: list[Callable[[], list[str]]] = []
        self._lock = threading.Lock()
        self.changed = threading.Event()  # whoever tells others waits for it, and clears it

    def set(self, name: str, state: ModelState, reason: str = "") -> None:
        """The model is so from now on; one that fails again fails since the first time."""
        with self._lock:
            before = self._states.get(name)
            same = before is not None and (before.state, before.reason) == (state, reason)
            if not same:
                placement = before.placement if before else None
                self._states[name] = StateRecord(state, reason, monotonic(), placement)
                self.changed.set()
        telemetry.MODEL_READY.labels(name).set(state == "ready")

    def place(self, name: str, placement: Placement) -> None:
        """It is loaded, or will be, so."""
        with self._lock:
            if (found := self._states.get(name)) is not None:
                self._states[name] = replace(found, placement=placement)
                self.changed.set()

    def on_remove(self, forget: Callable[[str], None]) -> None:
        """Whoever holds models is told which to let go of."""
        self._forgetters.append(forget)

    def on_full(self, idle: Callable[[], list[str]]) -> None:
        """Whoever holds models is asked which of them are idle, where another needs the room."""
        self._idlers.append(idle)

    def release_idle(self) -> list[str]:
        """The names of the models that were; who asks for one again loads it."""
        names = [name for idle in self._idlers for name in idle()]
        for name in names:
            logger.info("model.unloaded", model=name)
            self.remove(name)
        if names:
            gc.collect()  # a model and its queue hold each other
        return names

    def remove(self, name: str) -> None:
        """It is configured in another way now, or not any more."""
        for forget in self._forgetters:
            forget(name)
        with self._lock:
            if self._states.pop(name, None) is not None:
                self.changed.set()
                telemetry.MODEL_READY.remove(name)

    def check_server(self, name: str) -> None:
        """Raises ModelNotReady where the model's server is known to be away."""
        found = self.get(name)
        if found is not None and found.state == "away":
            raise ModelNotReady(found.reason, model=name, state="away")

    def get(self, name: str) -> StateRecord | None:
        """How it is; None: nobody has asked for it yet."""
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
    """Reports this process's models, from a thread of its own: at each change and by the clock."""

    def __init__(self, states: ModelStates) -> None:
        self._states = states
        self._holder = uuid4().hex

    def start(self) -> None:
        threading.Thread(target=self._run, name="model-board", daemon=True).start()

    def report(self) -> None:
        """Once. Raises RedisError."""
        now = float(board_client().time()[0])
        states: dict[Any, Any] = {
            f"{self._holder} {name}": ModelStatus(
                state=one.state,
                reason=one.reason,
                seconds=one.seconds,
                at=now,
                placement=one.placement,
            ).model_dump_json()
            for name, one in self._states.all().items()
        }
        board = board_client().hgetall(BOARD)
        gone = [
            str(field) for field, value in board.items() if _parse_status(str(value), now) is None
        ]
        gone = [field for field in gone if field not in states]
        with board_client().pipeline(transaction=True) as trip:
            if states:
                trip.hset(BOARD, mapping=states)
            if gone:
                trip.hdel(BOARD, *gone)
            trip.expire(BOARD, FORGOTTEN_SECONDS)
            trip.execute()

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


def read_statuses() -> dict[str, Status]:
    """model → status, of those that a live holder reports; nothing where Redis is away."""
    try:
        with board_client().pipeline(transaction=False) as trip:
            trip.time()
            trip.hgetall(BOARD)
            (seconds, _), board = trip.execute()
    except RedisError:
        return {}
    statuses: dict[str, list[ModelStatus]] = {}
    for field, value in board.items():
        if (status := _parse_status(value, seconds)) is not None:
            statuses.setdefault(field.partition(" ")[2], []).append(status)
    found = {
        name: min(some, key=lambda one: (BEST_FIRST.index(one.state), -one.seconds))
        for name, some in statuses.items()
    }
    return {
        name: Status(
            state=status.state,
            reason=status.reason,
            since=status.at - status.seconds,
            placement=status.placement,
        )
        for name, status in sorted(found.items())
    }


def _parse_status(value: str, now: float) -> ModelStatus | None:
    with suppress(ValidationError):  # of another version of us
        status = ModelStatus.model_validate_json(value)
        return status if now - status.at < STALE_SECONDS else None
    return None
