"""How soon a worker starts the next job of a batch, so that interactive jobs find a processor free.

On a machine that computes batches without a pause an interactive job waits for a processor at each
step of its way (gateway, database, queue, worker, database, gateway). While somebody has asked
interactively in the last seconds, jobs of batches start only so often that they take their share
of one processor; else at once.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from shared.priority import RECENT_SECONDS

WEIGHT = 0.1  # of the last job in the mean
ELSEWHERE_SECONDS = (
    0.012  # of a processor, for one job: scheduler, queue, database, gateway; measured
)


class BatchPace:
    """The pace of one worker. share: of one processor, (0, 1], with what a job costs elsewhere."""

    def __init__(self, share: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._share = share
        self._clock = clock
        self._lock = threading.Lock()
        self._asked_at: float | None = None
        self._due = 0.0
        self._mean: float | None = None  # processor seconds of a job in this worker

    def saw_interactive(self) -> None:
        """An interactive job has come."""
        self._asked_at = self._clock()

    def rest(self) -> float:
        """Seconds until the next job of a batch may start; 0: now."""
        now = self._clock()
        if self._asked_at is None or now - self._asked_at > RECENT_SECONDS:
            return 0.0
        return max(0.0, self._due - now)

    def started(self) -> None:
        """A job of a batch starts."""
        with self._lock:
            cost = (self._mean or 0.0) + ELSEWHERE_SECONDS
            self._due = max(self._due, self._clock()) + cost / self._share

    def ended(self, seconds: float) -> None:
        """It took so many seconds of a processor in this worker."""
        with self._lock:
            before = seconds if self._mean is None else self._mean
            self._mean = before + WEIGHT * (seconds - before)
