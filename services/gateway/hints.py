"""Job ids on their way to the queue: a thread of its own sends them, so that nobody waits for it.

A hint may be lost: the ledger has the job, and the scheduler sends what nobody claims. So a broker
that is stuck or away costs the callers nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from queue import Empty, Full, Queue

from shared import log, queue
from shared.errors import Unavailable
from shared.queue import Hint
from shared.tracing import carried

MOST = 10_000  # hints that wait for a stuck broker; more are left to the scheduler
ONE_TRIP = 100  # hints in one message to the broker: who came while the last one travelled
PATIENCE_SECONDS = 5.0  # at the end, for what still waits

logger = log.logger(__name__)


class Hints:
    """What is still to be sent."""

    def __init__(self) -> None:
        self._waiting: Queue[Hint | None] = Queue(MOST)

    def add(self, metric: str, job_id: str) -> None:
        """Send this soon. Never blocks."""
        try:
            self._waiting.put_nowait(Hint(metric, job_id, trace=carried()))
        except Full:
            logger.warning("job.not_sent", job=job_id, detail="too many hints wait")

    @contextmanager
    def sending(self) -> Iterator[None]:
        """Send until the block is left, and then what waits."""
        thread = threading.Thread(target=self._send_all, name="hints", daemon=True)
        thread.start()
        try:
            yield
        finally:
            try:
                self._waiting.put(None, timeout=PATIENCE_SECONDS)
            except Full:
                logger.warning("hints.left", waiting=self._waiting.qsize())
            thread.join(PATIENCE_SECONDS)

    def _send_all(self) -> None:
        while (first := self._waiting.get()) is not None:
            hints = [first, *self._more()]
            try:
                queue.send_all(hints)
            except Unavailable as error:
                dropped = len(hints) - 1 + self._drop()
                logger.warning(
                    "job.not_sent", job=first.job_id, detail=error.detail, dropped_too=dropped
                )

    def _more(self) -> list[Hint]:
        """What waits besides, as far as one trip takes it."""
        found: list[Hint] = []
        with suppress(Empty):
            while len(found) < ONE_TRIP - 1:
                hint = self._waiting.get_nowait()
                if hint is None:
                    self._waiting.put(None)  # the sign to end stays
                    break
                found.append(hint)
        return found

    def _drop(self) -> int:
        """Forget what waits: the broker is away, and each try would take its time."""
        dropped = 0
        try:
            while (hint := self._waiting.get_nowait()) is not None:
                dropped += 1
        except Empty:
            return dropped
        self._waiting.put(hint)  # the sign to end stays
        return dropped
