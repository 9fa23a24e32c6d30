"""The job that this thread computes: its urgency, deadline and cancellation.

Long computations call `check` between their steps. The micro-batcher reads `current` to choose the
order of rows. Without a job (benches, warm-up, tests) there is no context, and a computation is not
stopped early.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, wait
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from shared.contracts.errors import DeadlineExceeded, JobCancelled
from shared.queue.priority import NOBODY, Party
from shared.queue.thread_scheduling import interpreter

SLICE_SECONDS = 0.5  # interval of checks while waiting
LEAST_SECONDS = 1.0  # minimum for each call of an impatient thread

Item = TypeVar("Item")


class Lockable(Protocol):
    def acquire(self, *, timeout: float) -> bool:
        """Wait for the lock, at most `timeout` seconds; return True if acquired."""

    def release(self) -> None:
        """Release the lock to the next waiting thread."""


@dataclass(eq=False)
class JobContext:
    """One attempt at one job. Time spent waiting for other computations extends its deadline.

    `attempt` counts from 1; None means that the job is not in the database. `private` is True if
    the request sets `do_not_store_text`, so logs may not quote it. `server_builds` maps each model
    to its server's build in the last answer to this job.
    """

    job_id: str
    tenant: str
    batch: bool  # a batch line or large request, which may wait for small interactive ones
    deadline: float  # monotonic seconds
    cancelled: threading.Event = field(default_factory=threading.Event)
    attempt: int | None = None
    private: bool = False
    server_builds: dict[str, str] = field(default_factory=dict)

    @property
    def party(self) -> Party:
        """Return the party (kind of queue and tenant) that this job belongs to."""
        return Party(self.batch, self.tenant)

    def extend(self, seconds: float) -> None:
        """Extend the deadline by the seconds that the job waited for other jobs."""
        self.deadline += seconds

    def check(self) -> None:
        """Raise JobCancelled or DeadlineExceeded if the result is no longer needed."""
        if self.cancelled.is_set():
            raise JobCancelled("the job was cancelled while it was computed")
        if time.monotonic() > self.deadline:
            raise DeadlineExceeded("the job ran past its deadline")


_current: ContextVar[JobContext | None] = ContextVar("job", default=None)
_acting: ContextVar[Party | None] = ContextVar("party", default=None)


@dataclass
class _TimeLimit:
    """The remaining seconds that a thread may wait in total for calls without an answer."""

    left: float


_patience: ContextVar[_TimeLimit | None] = ContextVar("patience", default=None)


def current() -> JobContext | None:
    return _current.get()


def is_private() -> bool:
    """Return True if this thread computes a job whose text must not be stored."""
    context = _current.get()
    return context is not None and context.private


def check() -> None:
    """Stop the computation if its job was cancelled or is past its deadline. Call this between
    steps. Raises JobCancelled or DeadlineExceeded."""
    context = _current.get()
    if context is not None:
        context.check()
        interpreter.step()


def party() -> Party:
    """Return the party (kind of queue and tenant) that this thread works for: the party set by
    `acting_for`, or else that of the thread's job."""
    acting = _acting.get()
    if acting is not None:
        return acting
    context = _current.get()
    return NOBODY if context is None else context.party


@contextmanager
def acting_for(whom: Party) -> Iterator[None]:
    """Set the party (kind of queue and tenant) for which this thread works during the block."""
    token = _acting.set(whom)
    try:
        yield
    finally:
        _acting.reset(token)


def check_each(items: Iterable[Item]) -> Iterator[Item]:
    """Yield the items of a long loop, and call `check` before each item, so that the job can be
    stopped."""
    for item in items:
        check()
        yield item


def wait_all(futures: Sequence[Future[Item]]) -> list[Item]:
    """Return the results in order. If one fails or the job is stopped, the others are cancelled."""
    try:
        with waiting() as still_wanted:
            results = []
            for future in futures:
                still_wanted()
                while not wait([future], timeout=SLICE_SECONDS).done:
                    still_wanted()
                results.append(future.result())
            return results
    finally:
        for future in futures:  # cancel the rest
            future.cancel()


def pause(seconds: float) -> None:
    """Sleep, unless the job is stopped."""
    until = time.monotonic() + seconds
    with waiting() as still_wanted:
        still_wanted()
        while (left := until - time.monotonic()) > 0:
            time.sleep(min(SLICE_SECONDS, left))
            still_wanted()


@contextmanager
def waiting() -> Iterator[Callable[[], None]]:
    """Let other threads compute during the block, while this thread waits or uses a device. Yields
    a function that raises JobStopped if the job is no longer needed."""
    context = _current.get()
    with interpreter.waiting():
        yield (lambda: None) if context is None else context.check


@contextmanager
def acquire(lock: Lockable) -> Iterator[None]:
    """Acquire a lock that other threads may hold for long. The wait ends when the job is
    stopped."""
    with waiting() as still_wanted:
        still_wanted()
        while not lock.acquire(timeout=SLICE_SECONDS):
            still_wanted()
        try:
            yield
        finally:
            lock.release()


@contextmanager
def limit_wait(seconds: float) -> Iterator[None]:
    """Within the block, send each call only once and limit the total wait for calls that are not
    answered. The limit is `seconds`. When it is used up, each further call waits one second."""
    token = _patience.set(_TimeLimit(seconds))
    try:
        yield
    finally:
        _patience.reset(token)


def iter_retries(most: int, seconds: float) -> Iterator[float]:
    """Yield the seconds to wait for an answer, once for each time that a call is sent."""
    patience = _patience.get()
    if patience is None:
        yield from [seconds] * most
        return
    first = min(seconds, max(LEAST_SECONDS, patience.left))
    yield first
    patience.left -= first


@contextmanager
def use_context(context: JobContext) -> Iterator[JobContext]:
    """Make `context` the current job of the code in the block, and yield it."""
    token = _current.set(context)
    try:
        yield context
    finally:
        _current.reset(token)
