"""Stops a job that runs past its deadline in several steps, so that it does not end its process.

1. At the deadline `shared.queue.job_context.check` ends a computation that calls it.
2. A grace period later the exception `Interrupted` is raised in a thread that never checks. That
   ends pure Python. It may arrive anywhere, so it is used only if the process is at risk. A late
   computation never reaches a lock of the batchers, since `check` comes first. A cancelled job is
   not interrupted before its deadline.
3. Two grace periods later the thread counts as lost in compiled code. Its job ends as too costly,
   the liveness probe fails, and no more jobs are taken. The process ends when the other jobs have
   ended, or after a lease.

A thread that holds the interpreter's lock, for example in a backtracking pattern, prevents all of
this. For that case a thread of `faulthandler`, which needs no lock, ends the process unless it is
reset every second, and logs all stacks. It waits longer than a lease. By then the process has lost
its claims, and the scheduler has seen a live but silent worker.
"""

from __future__ import annotations

import ctypes
import faulthandler
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from shared.process import telemetry
from shared.process.settings import settings
from shared.queue.job_context import JobContext

LOOK_SECONDS = 1.0
GRACE_SECONDS = 15.0  # between two steps: the deadline, the interrupt, the loss of the thread
STDERR = 2
RETIRED = 70  # exit status: EX_SOFTWARE of sysexits.h

logger = telemetry.logger(__name__)


class Interrupted(BaseException):
    """An exception raised in the thread of a job that is past its deadline. It stops jobs that do
    not call their `check` function."""


@dataclass(eq=False)
class Watched:
    """The job that a thread computes. `give_up` ends the job if its thread is lost (cannot be
    stopped)."""

    context: JobContext
    give_up: Callable[[], None] | None
    thread: int = field(default_factory=threading.get_ident)
    interrupted: bool = False
    lost: bool = False

    @property
    def delay(self) -> float:
        """Return the seconds past the deadline. They are negative before it."""
        return time.monotonic() - self.context.deadline


class Watchdog:
    """A thread that checks this process's computations every second and interrupts those that are
    past their deadline. A computation that cannot be interrupted is given up."""

    def __init__(self) -> None:
        self._watched: set[Watched] = set()
        self._lock = threading.Lock()
        self._looked: float | None = None  # monotonic second of the last look; None: not started
        self._retires_at: float | None = None
        self._armed = False

    @contextmanager
    def watch(
        self, context: JobContext, give_up: Callable[[], None] | None = None
    ) -> Iterator[None]:
        """Monitor this thread's computation while the block runs. A job past its deadline is
        stopped by raising Interrupted in the block. Without `give_up` nothing is raised, and only a
        hanging process is ended."""
        one = Watched(context, give_up)
        with self._lock:
            self._watched.add(one)
            if self._looked is not None and not self._armed:
                self._arm()
        try:
            yield
        finally:
            with self._lock:  # from here on nobody interrupts it
                self._watched.discard(one)
            if one.interrupted:
                _cancel()  # what has not arrived yet must not hit the next job

    def start(self) -> None:
        """Start to check every second. Only processes that a supervisor restarts call this."""
        self._looked = time.monotonic()
        threading.Thread(target=self._run, name="watchdog", daemon=True).start()

    def health_error(self) -> str | None:
        """Return the reason why this process should be ended, or None."""
        if self._looked is None:
            return None
        silent = time.monotonic() - self._looked
        if silent > settings().heartbeat_seconds:
            return f"the worker's threads have not run for {silent:.0f} s"
        with self._lock:
            lost = [one.context.job_id for one in self._watched if one.lost]
        return f"the computation of {', '.join(lost)} cannot be stopped" if lost else None

    def check(self) -> None:
        """Interrupt computations that run past their deadline, and give up on those that ignore the
        interruption. Exit the process when it is due to retire."""
        self._looked = time.monotonic()
        with self._lock:
            self._arm()
            jobs = [one for one in self._watched if one.give_up is not None]
            late = [one for one in jobs if one.delay > GRACE_SECONDS and not one.interrupted]
            for one in late:
                one.interrupted = True
                _raise_in(one.thread, Interrupted)
        for one in late:
            logger.warning("job.interrupted", job=one.context.job_id, where=_where(one))
        for one in jobs:
            if one.delay > 2 * GRACE_SECONDS and not one.lost:
                self._lose(one)
        if self._retires_at is not None:
            self._exit_process()

    def _lose(self, one: Watched) -> None:
        one.lost = True
        logger.error("job.unstoppable", job=one.context.job_id, where=_where(one))
        if self._retires_at is None:
            self._retires_at = time.monotonic() + settings().lease_seconds
            os.kill(os.getpid(), signal.SIGTERM)  # no more jobs; the others may end
        if one.give_up is not None:
            one.give_up()

    def _exit_process(self) -> None:
        """End the process if all its computing threads are lost, or if the remaining jobs do not
        end within a lease's duration."""
        with self._lock:
            others = [one for one in self._watched if not one.lost]
        if not others or time.monotonic() > (self._retires_at or 0):
            logger.error("worker.retired", others=len(others))
            sys.stderr.flush()
            os._exit(RETIRED)

    def _arm(self) -> None:
        """Reset the timer that kills a hanging process. Cancel the timer if no job is computed."""
        self._armed = bool(self._watched)
        if self._armed:
            patience = settings().lease_seconds + GRACE_SECONDS
            faulthandler.dump_traceback_later(patience, exit=True, file=STDERR)
        else:
            faulthandler.cancel_dump_traceback_later()

    def _run(self) -> None:
        while True:
            time.sleep(min(LOOK_SECONDS, settings().heartbeat_seconds))
            try:
                self.check()
            except Exception:
                logger.exception("watchdog.crashed")


class _Withdrawn(BaseException):
    """An exception that replaces a pending interrupt, so that the interrupt has no effect."""


def _cancel() -> None:
    """Clear an exception that is pending in this thread: raise another one in its place, and catch
    that. In CPython, setting the exception to NULL leaves a request that slows every call and hangs
    a profiler."""
    try:
        _raise_in(threading.get_ident(), _Withdrawn)
        for _ in range(1_000):  # it arrives where a loop turns
            pass
    except (_Withdrawn, Interrupted):
        pass


def _raise_in(thread: int, error: type[BaseException]) -> None:
    """Raise an exception in the thread when it next runs Python. A pending exception is
    replaced."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(error))


def _where(one: Watched) -> list[str]:
    """Return the thread's stack as files, lines and functions, without values."""
    frame = sys._current_frames().get(one.thread)  # noqa: SLF001 - its documented name
    if frame is None:
        return []
    return [f"{at.filename}:{at.lineno} {at.name}" for at in traceback.extract_stack(frame)]


watchdog = Watchdog()
