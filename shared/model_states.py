"""How the models of this process are: loading, ready, or failed for a reason that stands here.

Source: specs "models" §2.4: one model never blocks another.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from time import monotonic
from typing import Literal

State = Literal["loading", "ready", "failed"]


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
