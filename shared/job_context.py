"""The job that this thread computes: how urgent it is, its deadline, whether it was cancelled.

Long computations call `check` between their steps; the micro-batcher asks `current` for whose rows
it takes first. Outside a job (benches, warm-up, tests) there is no context and nothing ends early.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, wait
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from threading import Lock
from typing import TypeVar

from shared.errors import DeadlineExceeded, JobCancelled

SLICE_SECONDS = 0.5  # who waits looks so often whether it is still wanted

Item = TypeVar("Item")


@dataclass(frozen=True)
class JobContext:
    """One attempt at one job."""

    job_id: str
    tenant: str
    batch: bool  # of a batch's line: it may wait for interactive jobs
    deadline: float  # monotonic seconds
    cancelled: threading.Event = field(default_factory=threading.Event)

    def check(self) -> None:
        """Raises JobCancelled or DeadlineExceeded where nobody wants the result any more."""
        if self.cancelled.is_set():
            raise JobCancelled("the job was cancelled while it was computed")
        if time.monotonic() > self.deadline:
            raise DeadlineExceeded("the job ran past its deadline")


_current: ContextVar[JobContext | None] = ContextVar("job", default=None)


def current() -> JobContext | None:
    """The job that this thread computes, if any."""
    return _current.get()


def check() -> None:
    """End the computation where its job was cancelled or is too late; to be called between steps.

    Raises JobCancelled or DeadlineExceeded.
    """
    context = _current.get()
    if context is not None:
        context.check()


def checking(items: Iterable[Item]) -> Iterator[Item]:
    """These items, with a check before each: for the head of a loop that may take long."""
    for item in items:
        check()
        yield item


def awaited(futures: Sequence[Future[Item]]) -> list[Item]:
    """Their results, in order. Where one fails, or the job is stopped, the others are cancelled."""
    try:
        return [_result(future) for future in futures]
    finally:
        for future in futures:  # nobody waits for the rest
            future.cancel()


def _result(future: Future[Item]) -> Item:
    check()
    while not wait([future], timeout=SLICE_SECONDS).done:
        check()
    return future.result()


def pause(seconds: float) -> None:
    """Sleep, unless the job is stopped meanwhile."""
    until = time.monotonic() + seconds
    check()
    while (left := until - time.monotonic()) > 0:
        time.sleep(min(SLICE_SECONDS, left))
        check()


@contextmanager
def holding(lock: Lock) -> Iterator[None]:
    """This lock, which others may hold for long; who waits for it hears when its job is stopped."""
    check()
    while not lock.acquire(timeout=SLICE_SECONDS):
        check()
    try:
        yield
    finally:
        lock.release()


@contextmanager
def computing(context: JobContext) -> Iterator[JobContext]:
    """What is computed in this block belongs to this job."""
    token = _current.set(context)
    try:
        yield context
    finally:
        _current.reset(token)
