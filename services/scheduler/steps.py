"""Processes batches in threads: a few at a time, at most two per tenant and one thread per batch. A
hanging step blocks only its own batch. Steps that are interrupted when the process ends are
repeated by the next process."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from shared.contracts.errors import Unavailable
from shared.ledger.batches import DueBatch

OF_A_TENANT = 2  # the second one starts while the first one hangs


class Steps:
    """Tracks the threads that now process batches. Call the methods from a single thread."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._running: dict[DueBatch, threading.Thread] = {}
        self._began: dict[DueBatch, float] = {}  # monotonic seconds
        self._raised: list[BaseException] = []
        self._new: list[threading.Thread] = []  # not yet waited for

    def can_start(self, turn: DueBatch) -> bool:
        """Return True if work on this batch may start now."""
        self._remove_finished()
        of_tenant = sum(batch.tenant == turn.tenant for batch in self._running)
        return (
            turn not in self._running
            and of_tenant < OF_A_TENANT
            and len(self._running) < self._most
        )

    def start(self, turn: DueBatch, work: Callable[[], object]) -> None:
        """Start work on a batch. Call `can_start` first."""
        thread = threading.Thread(target=self._do, args=(work,), name=turn.id, daemon=True)
        self._running[turn] = thread
        self._began[turn] = time.monotonic()
        self._new.append(thread)
        thread.start()

    def wait(self, seconds: float) -> None:
        """Wait at most `seconds` for the work started since the last call. If no work was started,
        wait for all running work. Raises one of the errors of finished work, preferably
        Unavailable."""
        until = time.monotonic() + seconds
        new, self._new = self._new, []
        for thread in new or self._running.values():
            thread.join(max(0.0, until - time.monotonic()))
        self._remove_finished()
        raised, self._raised = self._raised, []
        for error in sorted(raised, key=lambda error: not isinstance(error, Unavailable)):
            raise error

    @property
    def count(self) -> int:
        self._remove_finished()
        return len(self._running)

    def running_for(self, seconds: float) -> list[DueBatch]:
        """Return the batches on which work has been running for at least `seconds`."""
        self._remove_finished()
        before = time.monotonic() - seconds
        return [turn for turn in self._running if self._began[turn] <= before]

    def _do(self, work: Callable[[], object]) -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 (it is raised where somebody waits)
            self._raised.append(error)

    def _remove_finished(self) -> None:
        for turn in [turn for turn, thread in self._running.items() if not thread.is_alive()]:
            del self._running[turn], self._began[turn]
