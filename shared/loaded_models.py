"""Models of a process by name: each is loaded once, by one thread, and fails for itself alone.

Who asks for a model that cannot be loaded is told why at once, so that no thread is spent on it
again and again; who asks for one that another thread is loading waits as long as the process says.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import Generic, TypeVar

from shared import log
from shared.errors import JobStopped, ModelNotReady, ScoringError
from shared.job_context import SLICE_SECONDS, check
from shared.model_states import ModelStates

AGAIN_SECONDS, LONGEST_SECONDS = 10.0, 60.0  # before a failed load is tried again: it doubles

Model = TypeVar("Model")

logger = log.logger(__name__)


@dataclass
class _Failure:
    reason: str
    pause: float  # seconds
    until: float  # monotonic


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
        """What callers are told; remembered for a while."""
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


def unloadable(name: str, error: Exception) -> str:
    """Why a model cannot be loaded, whatever its library raised."""
    said = str(error).strip() or "no reason given"
    named = said if isinstance(error, OSError | ValueError) else f"{type(error).__name__}: {said}"
    return f"the model {name!r} cannot be loaded: {named}"
