"""A lock for resources that only one thread can use. Waiting tenants get the lock in turn.
Interactive work gets the larger share."""

from __future__ import annotations

import threading

from shared.queue.job_context import party
from shared.queue.priority import FairQueue


class PriorityLock:
    """A lock that serves waiting tenants in turn, interactive work first. It is used like
    `threading.Lock`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_held = False
        self._waiting: FairQueue[threading.Event] = FairQueue()

    def acquire(self, timeout: float | None = None) -> bool:
        """Wait for the lock, at most `timeout` seconds; return True if acquired."""
        whom, mine = party(), threading.Event()
        with self._lock:
            if not self._is_held:
                self._is_held = True
                return True
            self._waiting.add(whom, mine)
        is_ours = False
        try:
            is_ours = mine.wait(timeout)
        finally:
            if not is_ours:  # it may have become ours just now
                with self._lock:
                    is_ours = not self._waiting.remove(whom, mine)
        return is_ours

    def release(self) -> None:
        """Release the lock to the next waiting thread."""
        with self._lock:
            if self._waiting:
                self._waiting.pop().set()
            else:
                self._is_held = False

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()
