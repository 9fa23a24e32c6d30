"""The job that this thread computes: how urgent it is, its deadline, whether it was cancelled.

Long computations call `check` between their steps; the micro-batcher asks `current` for whose rows
it takes first. Outside a job (benches, warm-up, tests) there is no context and nothing ends early.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from shared.errors import DeadlineExceeded, JobCancelled


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


@contextmanager
def computing(context: JobContext) -> Iterator[JobContext]:
    """What is computed in this block belongs to this job."""
    token = _current.set(context)
    try:
        yield context
    finally:
        _current.reset(token)
