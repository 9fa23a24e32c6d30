"""The job that this thread computes: how urgent it is, its deadline, whether it was cancelled.

Long computations call `check` between their steps; the micro-batcher asks `current` for whose rows
it takes first. Outside a job (benches, warm-up, tests) there is no context and nothing ends early.
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

SLICE_SECONDS = 0.5  # who waits looks so often whether it is still wanted
LEAST_SECONDS = 1.0  # that an impatient thread gives each call, however long it has waited before

Item = TypeVar("Item")


class Lockable(Protocol):
    def acquire(self, *, timeout: float) -> bool:
        """Wait for it no longer than this; whether it is ours."""

    def release(self) -> None:
        """The next one has it."""


@dataclass(eq=False)
class JobContext:
    """One attempt at one job. Its deadline moves by what it waits for others to compute.

    attempt: from 1, as the ledger counts them; None: no job of the ledger.
    private: its request says `do_not_store_text`, so that no log may quote it either.
    server_builds: model → the build of its server, as it last said in an answer to this job."""

    job_id: str
    tenant: str
    batch: bool  # a batch's line, or a large request: it may wait for small interactive ones
    deadline: float  # monotonic seconds
    cancelled: threading.Event = field(default_factory=threading.Event)
    attempt: int | None = None
    private: bool = False
    server_builds: dict[str, str] = field(default_factory=dict)

    @property
    def party(self) -> Party:
        """The party whose turn it uses."""
        return Party(self.batch, self.tenant)

    def extend(self, seconds: float) -> None:
        """It stood in line so long."""
        self.deadline += seconds

    def check(self) -> None:
        """Raises JobCancelled or DeadlineExceeded where nobody wants the result any more."""
        if self.cancelled.is_set():
            raise JobCancelled("the job was cancelled while it was computed")
        if time.monotonic() > self.deadline:
            raise DeadlineExceeded("the job ran past its deadline")


_current: ContextVar[JobContext | None] = ContextVar("job", default=None)
_acting: ContextVar[Party | None] = ContextVar("party", default=None)


@dataclass
class _TimeLimit:
    """Seconds that are left for whoever gives no answer."""

    left: float


_patience: ContextVar[_TimeLimit | None] = ContextVar("patience", default=None)


def current() -> JobContext | None:
    """The job that this thread computes, if any."""
    return _current.get()


def is_private() -> bool:
    """Whether this thread computes a job of which no text may stay."""
    context = _current.get()
    return context is not None and context.private


def check() -> None:
    """End the computation where its job was cancelled or is too late; to be called between steps.

    Raises JobCancelled or DeadlineExceeded.
    """
    context = _current.get()
    if context is not None:
        context.check()
        interpreter.step()


def party() -> Party:
    """For whom this thread acts: its job's tenant, or whom `acting_for` names."""
    acting = _acting.get()
    if acting is not None:
        return acting
    context = _current.get()
    return NOBODY if context is None else context.party


@contextmanager
def acting_for(whom: Party) -> Iterator[None]:
    """A thread that serves many acts for this one in the block."""
    token = _acting.set(whom)
    try:
        yield
    finally:
        _acting.reset(token)


def check_each(items: Iterable[Item]) -> Iterator[Item]:
    """These items, with a check before each: for the head of a loop that may take long."""
    for item in items:
        check()
        yield item


def wait_all(futures: Sequence[Future[Item]]) -> list[Item]:
    """Their results, in order. Where one fails, or the job is stopped, the others are cancelled."""
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
        for future in futures:  # nobody waits for the rest
            future.cancel()


def pause(seconds: float) -> None:
    """Sleep, unless the job is stopped meanwhile."""
    until = time.monotonic() + seconds
    with waiting() as still_wanted:
        still_wanted()
        while (left := until - time.monotonic()) > 0:
            time.sleep(min(SLICE_SECONDS, left))
            still_wanted()


@contextmanager
def waiting() -> Iterator[Callable[[], None]]:
    """This thread waits or uses a device in the block, and leaves the interpreter to others.

    What it is given raises JobStopped where nobody wants the job any more.
    """
    context = _current.get()
    with interpreter.waiting():
        yield (lambda: None) if context is None else context.check


@contextmanager
def acquire(lock: Lockable) -> Iterator[None]:
    """This lock, which others may hold for long; who waits for it hears when its job is stopped."""
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
    """In this block no call is sent twice, and all that nobody answers cost about so long in all:
    the first one is waited for, the next ones for a second each."""
    token = _patience.set(_TimeLimit(seconds))
    try:
        yield
    finally:
        _patience.reset(token)


def iter_retries(most: int, seconds: float) -> Iterator[float]:
    """How long to wait for the answer to a call, each time that it is sent; whoever takes the next
    one had none."""
    patience = _patience.get()
    if patience is None:
        yield from [seconds] * most
        return
    first = min(seconds, max(LEAST_SECONDS, patience.left))
    yield first
    patience.left -= first


@contextmanager
def use_context(context: JobContext) -> Iterator[JobContext]:
    """What is computed in this block belongs to this job."""
    token = _current.set(context)
    try:
        yield context
    finally:
        _current.reset(token)
