"""Calls that come while one is under way go together in the next one: there is no timer.

A statement of the ledger takes as long for several short jobs as for one: the journey, the
planner, and the disk at its end. Who calls while none is under way calls alone and at once.
Source: Hendler, Incze, Shavit & Tzafrir, "Flat combining", SPAA 2010; databases know it as group
commit.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

MOST = 16  # items of one call

Item = TypeVar("Item")
Answer = TypeVar("Answer")


@dataclass(eq=False)
class _Caller(Generic[Item, Answer]):
    """A thread that waits until it is answered, or told to call for all that wait."""

    item: Item
    turn: threading.Event = field(default_factory=threading.Event)
    answer: Answer | None = None
    error: Exception | None = None
    is_over: bool = False


class CombinedCalls(Generic[Item, Answer]):
    """One function for many threads. call: for at most `MOST` items their answers, in order; an
    exception is raised in each of their threads."""

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
        if not leads:
            mine.turn.wait()
        if not mine.is_over:
            self._lead()
        if mine.error is not None:
            raise mine.error
        return mine.answer  # type: ignore[return-value]  # it is over

    def _lead(self) -> None:
        """Call for those that waited longest, this thread among them; then the next one leads."""
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
                self._busy = bool(self._waiting)
                if self._waiting:
                    self._waiting[0].turn.set()
            for one in callers:
                one.is_over = True
                one.turn.set()
