"""Steps of batches, in threads of their own.

A few at a time, two of a tenant, one of a batch. A step that hangs (a store that does not answer)
holds its own batch and nobody else's. The threads are daemons: what a process that ends cuts off,
the next one does again.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from shared.contracts.errors import Unavailable
from shared.ledger.batches import DueBatch

OF_A_TENANT = 2  # the second one starts while the first one hangs


class Steps:
    """The steps that are under way. For one thread that starts and waits."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._running: dict[DueBatch, threading.Thread] = {}
        self._raised: list[BaseException] = []
        self._new: list[threading.Thread] = []  # nobody has waited for them

    def can_start(self, turn: DueBatch) -> bool:
        """Whether there is a thread for this batch's next step."""
        self._remove_finished()
        of_tenant = sum(one.tenant == turn.tenant for one in self._running)
        return (
            turn not in self._running
            and of_tenant < OF_A_TENANT
            and len(self._running) < self._most
        )

    def start(self, turn: DueBatch, work: Callable[[], object]) -> None:
        """Begin; `can_start` has said that it can."""
        thread = threading.Thread(target=self._do, args=(work,), name=turn.id, daemon=True)
        self._running[turn] = thread
        self._new.append(thread)
        thread.start()

    def wait(self, seconds: float) -> None:
        """Until those have ended that nobody has waited for, but no longer than this.

        Raises what one of them raised: Unavailable first, since that ends the round.
        """
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

    def _do(self, work: Callable[[], object]) -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 (it is raised where somebody waits)
            self._raised.append(error)

    def _remove_finished(self) -> None:
        for turn in [turn for turn, thread in self._running.items() if not thread.is_alive()]:
            del self._running[turn]
