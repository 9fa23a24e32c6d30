"""Rows of many callers through one model, together: the micro-batcher.

No timer: while the device is busy, calls queue up; when it is free, the oldest waiting row picks
the kind of batch, and rows of the same kind from any caller fill it up to the budget. One thread
runs the device; an exception reaches only the callers whose rows raise it, and a batch that the
device has no memory for is halved. Source: design.md §3, after text-embeddings-inference.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from itertools import groupby
from typing import Generic, TypeVar

Row = TypeVar("Row")
Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Device(Generic[Row, Answer]):
    """What a batcher needs to know of the model behind it.

    kind:  rows of equal kind may share a batch.
    cost:  of one row of this kind, in padded tokens.
    run:   a batch of one kind to its answers, in order; called from one thread only.
    full:  what `run` raises where the batch needs more memory than there is.
    """

    kind: Callable[[Row], Hashable]
    cost: Callable[[Row], int]
    run: Callable[[list[Row]], Iterable[Answer]]
    budget: int
    full: type[Exception]


@dataclass
class Call(Generic[Row, Answer]):
    """One caller's rows, answered when the last one is."""

    answers: list[Answer | None]
    missing: int
    future: Future[list[Answer]] = field(default_factory=Future)

    @property
    def is_over(self) -> bool:
        """Whether nobody waits for its rows: answered, failed or cancelled."""
        return self.future.done()

    def take(self, place: int, answer: Answer) -> None:
        """The answer of one row."""
        self.answers[place] = answer
        self.missing -= 1
        if self.missing == 0 and not self.is_over:
            self.future.set_result(self.answers)  # type: ignore[arg-type]  # all are filled


@dataclass(frozen=True)
class Waiting(Generic[Row, Answer]):
    """A row in the queue."""

    number: int  # of arrival
    call: Call[Row, Answer]
    place: int
    row: Row


class MicroBatcher(Generic[Row, Answer]):
    """The queue before one device, and the thread that empties it."""

    def __init__(self, device: Device[Row, Answer]) -> None:
        self._device = device
        self._queues: dict[Hashable, deque[Waiting[Row, Answer]]] = {}
        self._arrived = 0
        self._something = threading.Condition()
        self._thread: threading.Thread | None = None

    def submit(self, rows: Sequence[Row]) -> Future[list[Answer]]:
        """Queue these rows; the future holds their answers, in order. Cancel it to drop them."""
        call: Call[Row, Answer] = Call(answers=[None] * len(rows), missing=len(rows))
        if not rows:
            call.future.set_result([])
            return call.future
        with self._something:
            for place, row in enumerate(rows):
                queue = self._queues.setdefault(self._device.kind(row), deque())
                queue.append(Waiting(self._arrived, call, place, row))
                self._arrived += 1
            self._ensure_running()
            self._something.notify()
        return call.future

    def _ensure_running(self) -> None:
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._work, name="microbatcher", daemon=True)
            self._thread.start()

    def _work(self) -> None:
        while True:
            with self._something:
                while not (batch := self._next_batch()):
                    self._something.wait()
            self._run(batch)

    def _next_batch(self) -> list[Waiting[Row, Answer]]:
        """Rows of the kind of the oldest one, up to the budget; rows nobody waits for are gone."""
        for kind in list(self._queues):
            queue = self._queues[kind]
            while queue and queue[0].call.is_over:
                queue.popleft()
            if not queue:
                del self._queues[kind]
        if not self._queues:
            return []
        queue = min(self._queues.values(), key=lambda waiting: waiting[0].number)
        most = max(1, self._device.budget // self._device.cost(queue[0].row))
        batch: list[Waiting[Row, Answer]] = []
        while queue and len(batch) < most:
            waiting = queue.popleft()
            if not waiting.call.is_over:
                batch.append(waiting)
        return batch

    def _run(self, batch: list[Waiting[Row, Answer]]) -> None:
        try:
            answers = self._device.run([waiting.row for waiting in batch])
        except self._device.full as error:
            self._in_halves(batch, error)
        except Exception as error:  # noqa: BLE001 - the callers get it
            self._one_by_one(batch, error)
        else:
            for waiting, answer in zip(batch, answers, strict=True):
                waiting.call.take(waiting.place, answer)

    def _in_halves(self, batch: list[Waiting[Row, Answer]], error: Exception) -> None:
        if len(batch) == 1:
            _fail(batch[0].call, error)
            return
        middle = len(batch) // 2
        self._run(batch[:middle])
        self._run(batch[middle:])

    def _one_by_one(self, batch: list[Waiting[Row, Answer]], error: Exception) -> None:
        """Each caller's rows alone: only whose rows raise gets the exception."""
        callers = [list(rows) for _, rows in groupby(batch, key=lambda waiting: id(waiting.call))]
        if len(callers) == 1:
            _fail(batch[0].call, error)
            return
        for rows in callers:
            self._run(rows)


def _fail(call: Call[Row, Answer], error: Exception) -> None:
    if not call.is_over:
        call.future.set_exception(error)
