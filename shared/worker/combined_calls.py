"""Combines calls that arrive while a call runs into the next call, without a timer.

An SQL statement takes as long for several short jobs as for one job. The time goes into the round
trip, the planner and the disk write at the end. A thread calls at once if no call is running.
Source: Hendler, Incze, Shavit & Tzafrir, "Flat combining", SPAA 2010; databases call this technique
group commit."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache, lru_cache
from typing import Any, Generic, NamedTuple, TypeVar

from sqlalchemy.exc import DBAPIError

from shared.ledger import leases
from shared.ledger.claim_order import ClaimOrder
from shared.ledger.engine import ledger, single_statements
from shared.ledger.leases import MAX_ATTEMPTS, Claim, ClaimTerms
from shared.process.settings import settings

MOST = 16  # items of one call

Item = TypeVar("Item")
Answer = TypeVar("Answer")


@dataclass(eq=False)
class _Caller(Generic[Item, Answer]):
    """A waiting thread and its item. The thread waits for the answer, or until it is its turn to
    make the call for all waiting threads."""

    item: Item
    turn: threading.Event = field(default_factory=threading.Event)
    answer: Answer | None = None
    error: Exception | None = None
    is_over: bool = False


class CombinedCalls(Generic[Item, Answer]):
    """Combines the calls that many threads make to one function. `call` takes at most `MOST` items
    and returns their answers in order. If it raises, each calling thread gets the exception."""

    def __init__(self, call: Callable[[Sequence[Item]], Sequence[Answer]]) -> None:
        self._call = call
        self._waiting: deque[_Caller[Item, Answer]] = deque()
        self._busy = False
        self._lock = threading.Lock()

    def __call__(self, item: Item) -> Answer:
        mine: _Caller[Item, Answer] = _Caller(item)
        with self._lock:
            self._waiting.append(mine)
            leads = not self._busy
            self._busy = True
        try:
            if not leads:
                mine.turn.wait()
            if not mine.is_over:
                self._lead()
        except BaseException:  # this thread is to end: whoever waits must not wait for it
            with self._lock:
                if mine in self._waiting:
                    self._waiting.remove(mine)
                    if leads or mine.turn.is_set():
                        self._pass_on()
            raise
        if mine.error is not None:
            raise mine.error
        return mine.answer  # type: ignore[return-value]  # it is over

    def _lead(self) -> None:
        """Make one call with the items of the longest-waiting threads, including this thread. Then
        let another waiting thread make the next call."""
        with self._lock:
            callers = [self._waiting.popleft() for _ in range(min(MOST, len(self._waiting)))]
        try:
            answers = self._call([one.item for one in callers])
            for one, answer in zip(callers, answers, strict=True):
                one.answer = answer
        except Exception as error:  # noqa: BLE001 - the callers get it
            for one in callers:
                one.error = error
        finally:
            with self._lock:
                self._pass_on()
            for one in callers:
                one.is_over = True
                one.turn.set()

    def _pass_on(self) -> None:
        self._busy = bool(self._waiting)
        if self._waiting:
            self._waiting[0].turn.set()


class WantedClaim(NamedTuple):
    job_id: str  # of the message
    order: ClaimOrder


@lru_cache(maxsize=64)
def claims(metric: str, batch: bool) -> CombinedCalls[WantedClaim, Claim | None]:
    """Return a function that claims jobs of one queue and combines the calls of many threads. It is
    for first attempts only, and may return jobs of any tenant."""
    return CombinedCalls(_claim_together)


def _claim_together(wanted: Sequence[WantedClaim]) -> list[Claim | None]:
    """Claim jobs for several messages at once. Return a claim or None for each message. None means
    that no job waits, or that the message's job was tried before and must be claimed alone."""
    with single_statements(ledger()) as connection:
        named = [one.job_id for one in wanted]
        found = leases.claim_several(connection, named, claim_terms(), wanted[0].order)
    return [*found, *[None] * (len(wanted) - len(found))]


def claim_terms() -> ClaimTerms:
    return ClaimTerms(timedelta(seconds=settings().lease_seconds), MAX_ATTEMPTS)


@cache
def successes(batch: bool) -> CombinedCalls[tuple[Claim, dict[str, Any]], bool]:
    """Return an object that writes results of jobs to the database and combines the calls of
    several threads. Interactive jobs and batch jobs have separate objects."""
    return CombinedCalls(_succeed)


def _succeed(ended: Sequence[tuple[Claim, dict[str, Any]]]) -> list[bool]:
    """Return one boolean per result, True if it was written. A result with False needs a separate
    transaction, or its claim on the job is no longer valid."""
    try:
        with single_statements(ledger()) as connection:
            kept = leases.succeed_several(connection, ended)
    except DBAPIError:  # one of them cannot be kept: which one, each finds by itself
        return [False] * len(ended)
    return [claim.job_id in kept for claim, _ in ended]
