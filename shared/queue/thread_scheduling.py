"""Shares one Python interpreter among threads, so that a computing job does not slow down all
others.

Interactive jobs run at once. A batch job, or an interactive job that has computed for long, needs
one of a few permits while it computes. A job needs no permit while it waits for a model or server.
At regular checks a job may pass its permit to another job. Permits are shared by computing time,
not by number of uses. A job that needs milliseconds between two model calls therefore does not wait
behind jobs that compute for seconds."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from shared.queue.priority import FairQueue, Party

LONG_SECONDS = 0.25  # processor time; an interactive job above it needs a place
TURN_SECONDS = 0.1  # with a place, before others get a turn
COURTESY_SECONDS = 0.05  # longest wait of a place's holder for quick jobs
LOOK_SECONDS = 0.5
PATIENCE_SECONDS = 5.0  # while no place changes hands; then it computes without one: who has one
# may wait for its lock

Check = Callable[[], None]  # raises if the job is no longer wanted
Waited = Callable[[float], None]  # receives the seconds that a job waited for a place


@dataclass(eq=False)
class _Job:
    party: Party
    check: Check
    waited: Waited
    begun: float = field(default_factory=time.thread_time)
    has_place: bool = False
    counted: bool = False  # among the quick ones
    is_waiting: bool = False
    turn_ends: float = 0.0
    courteous_until: float = 0.0
    took_place: float = 0.0  # of `time.thread_time`

    @property
    def is_long(self) -> bool:
        return self.party.batch or time.thread_time() - self.begun > LONG_SECONDS


class _ThreadState(threading.local):
    """The scheduling state of this thread. Helper threads that copy its context have no state."""

    job: _Job | None = None


_mine = _ThreadState()


class Interpreter:
    """Limits how many threads of one process compute at a time."""

    def __init__(self, slots: int) -> None:
        self._free = slots
        self._lock = threading.Lock()
        self._waiting: FairQueue[threading.Event] = FairQueue(units=0.0)
        self._moved = time.monotonic()  # when a place was last passed on
        self._quick = 0  # threads that compute for interactive jobs, without a place
        self._quiet = threading.Event()
        self._quiet.set()

    @contextmanager
    def computing(
        self, party: Party, check: Check, waited: Waited = lambda _: None
    ) -> Iterator[None]:
        """Run the block as the computation of a job of this party (tenant and kind of queue). A
        long job may first wait for other jobs."""
        job = _Job(party, check, waited)
        _mine.job = job
        try:
            self._begin(job)
            yield
        finally:
            self._end(job)
            _mine.job = None

    @contextmanager
    def quick(self) -> Iterator[None]:
        """Run a short computation for a waiting caller without occupying a slot. Long computations
        pause at their next check until the block has ended."""
        self._count_quick(1)
        try:
            yield
        finally:
            self._count_quick(-1)

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Let another thread compute during the block, while this thread computes nothing."""
        job = _mine.job
        if job is None or job.is_waiting:
            yield
            return
        self._end(job)
        job.is_waiting = True
        try:
            yield
        finally:
            job.is_waiting = False
        self._begin(job)  # not after an exception: the job ends

    def step(self) -> None:
        """Let other jobs compute if this job's time is up. Call this between two steps."""
        job = _mine.job
        if job is None or job.is_waiting:
            return
        if not job.has_place:
            if job.is_long:
                self._end(job)
                self._begin(job)
            return
        if self._waiting and time.monotonic() > job.turn_ends:
            self._end(job)
            self._begin(job)
        else:
            self._wait_for_short(job)

    def _begin(self, job: _Job) -> None:
        if job.is_long:
            self._take_place(job)
            self._wait_for_short(job)
            job.turn_ends = time.monotonic() + TURN_SECONDS
            job.took_place = time.thread_time()
            return
        self._count_quick(1)
        job.counted = True

    def _wait_for_short(self, job: _Job) -> None:
        """Wait for quick jobs, but for at most half of this job's time."""
        begun = time.monotonic()
        if begun > job.courteous_until and not self._quiet.is_set():
            self._quiet.wait(COURTESY_SECONDS)
            job.courteous_until = time.monotonic() + COURTESY_SECONDS
            job.waited(time.monotonic() - begun)

    def _count_quick(self, change: int) -> None:
        with self._lock:
            self._quick += change
            (self._quiet.clear if self._quick else self._quiet.set)()

    def _end(self, job: _Job) -> None:
        if job.counted:
            job.counted = False
            self._count_quick(-1)
        if not job.has_place:
            return
        with self._lock:
            job.has_place = False
            used = time.thread_time() - job.took_place
            self._waiting.turns.add_cost(job.party, used / TURN_SECONDS)
            self._pass_on()

    def _take_place(self, job: _Job) -> None:
        mine = threading.Event()
        with self._lock:
            if self._free:
                self._free -= 1
                self._waiting.turns.begin(job.party)
                job.has_place = True
                return
            self._waiting.add(job.party, mine)
        begun = looked = time.monotonic()
        try:
            while not mine.wait(LOOK_SECONDS):
                now = time.monotonic()
                job.waited(now - looked)
                looked = now
                if now - max(begun, self._moved) > PATIENCE_SECONDS:
                    break
                job.check()
        except BaseException:
            with self._lock:
                if not self._waiting.remove(job.party, mine):
                    self._pass_on()
            raise
        with self._lock:
            job.has_place = not self._waiting.remove(job.party, mine)

    def _pass_on(self) -> None:
        self._moved = time.monotonic()
        if self._waiting:
            self._waiting.pop().set()
        else:
            self._free += 1


interpreter = Interpreter(max(1, (os.cpu_count() or 1) // 2))
