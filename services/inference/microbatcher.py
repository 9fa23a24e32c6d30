"""Rows of many callers through one model, together: the micro-batcher.

No timer: while the device is busy, calls queue up; when it is free, the party whose turn it is
(`shared.priority`) is served with the kind of its rows that waited longest, and rows of that kind
from all callers like it, one each in turn, fill the batch up to the budget. A pass is short where
somebody else's interactive row may come while it runs. One thread runs the device; an exception
reaches only the callers whose rows raise it, and a batch that the device has no memory for is
halved.
Source: design.md §3, after text-embeddings-inference.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from itertools import groupby
from typing import Generic

from services.inference.measures import BATCH_ROWS, QUEUED_ROWS, timed
from services.inference.waiting import Answer, PendingCall, PendingRow, Row, RowQueue
from shared.errors import Unavailable
from shared.job_context import acting_for, party
from shared.priority import DevicePace, Party, Turns


@dataclass(frozen=True)
class Device(Generic[Row, Answer]):
    """What a batcher needs to know of the model behind it.

    kind:  rows of equal kind may share a batch.
    cost:  of one row of this kind, in padded tokens.
    run:   a batch of one kind to its answers, in order; called from one thread only.
    full:  what `run` raises where the batch needs more memory than there is.
    name:  of the model, for what is measured.
    clock: seconds, for how long a pass takes.
    """

    kind: Callable[[Row], Hashable]
    cost: Callable[[Row], int]
    run: Callable[[list[Row]], Iterable[Answer]]
    budget: int
    full: type[Exception]
    name: str = ""
    clock: Callable[[], float] = time.monotonic


class MicroBatcher(Generic[Row, Answer]):
    """The queue before one device, and the thread that empties it."""

    def __init__(self, device: Device[Row, Answer]) -> None:
        self._device = device
        self._lanes: dict[Hashable, RowQueue[Row, Answer]] = {}
        self._turns = 0
        self._parties = Turns()
        self._pace = DevicePace(device.clock)
        self._something = threading.Condition()
        self._thread: threading.Thread | None = None

    def submit(self, rows: Sequence[Row]) -> Future[list[Answer]]:
        """Queue these rows; the future holds their answers, in order. Cancel it to drop them."""
        whom = party()
        call: PendingCall[Row, Answer] = PendingCall([None] * len(rows), len(rows), whom)
        if not rows:
            call.future.set_result([])
            return call.future
        with self._something:
            self._pace.saw(whom)
            for place, row in enumerate(rows):
                self._lane(row).add(PendingRow(call, place, row))
            self._count()
            self._ensure_running()
            self._something.notify()
        return call.future

    def _lane(self, row: Row) -> RowQueue[Row, Answer]:
        kind = self._device.kind(row)
        if kind not in self._lanes:
            self._turns += 1
            self._lanes[kind] = RowQueue(self._turns)
        return self._lanes[kind]

    def _ensure_running(self) -> None:
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._work, name="microbatcher", daemon=True)
            self._thread.start()

    def _work(self) -> None:
        while True:
            with self._something:
                while not (batch := self._next_batch()):
                    self._something.wait()
                self._count()
            self._run(batch)

    def _count(self) -> None:
        QUEUED_ROWS.labels(self._device.name).set(sum(map(len, self._lanes.values())))

    def _next_batch(self) -> list[PendingRow[Row, Answer]]:
        """Rows of the party and the kind whose turn it is; none where nobody waits."""
        waiting = {kind: lane.parties() for kind, lane in self._lanes.items()}
        self._lanes = {kind: lane for kind, lane in self._lanes.items() if waiting[kind]}
        party = self._parties.next({one for parties in waiting.values() for one in parties})
        if party is None:
            return []
        kind = min(
            (kind for kind in self._lanes if party in waiting[kind]),
            key=lambda kind: self._lanes[kind].turn,
        )
        self._turns += 1
        self._lanes[kind].turn = self._turns
        return self._filled(self._lanes[kind], party, waiting[kind])

    def _filled(
        self, lane: RowQueue[Row, Answer], first: Party, waiting: list[Party]
    ) -> list[PendingRow[Row, Answer]]:
        """This party's rows and those of all like it, up to the budget; where others leave room
        in a short pass, theirs too."""
        cost = self._device.cost(lane.first().row)
        ranked = [first, *(one for one in self._parties.ranked(waiting) if one != first)]
        alike = [one for one in ranked if one.batch == first.batch]
        rows = lane.take(max(1, self._most(alike) // cost), alike)
        rest = [one for one in ranked if one.batch != first.batch]
        rows += lane.take(self._most(()) // cost - len(rows), rest)  # a short pass stays short
        for one in {row.call.party for row in rows} - {first}:
            self._parties.serve(one)
        return rows

    def _most(self, parties: Sequence[Party]) -> int:
        return self._pace.most(self._device.budget, parties)

    def _run(self, batch: list[PendingRow[Row, Answer]]) -> None:
        name = self._device.name
        BATCH_ROWS.labels(name).observe(len(batch))
        whom = min((waiting.call.party for waiting in batch), key=lambda party: party.batch)
        begun = self._pace.clock()
        try:
            with timed(name, "run"), acting_for(whom):
                rows = [waiting.row for waiting in batch]
                answered = list(zip(batch, self._device.run(rows), strict=True))
        except self._device.full as error:
            self._in_halves(batch, error)
        except Exception as error:  # noqa: BLE001 - the callers get it
            self._one_by_one(batch, error)
        else:
            cost = len(rows) * self._device.cost(rows[0])
            self._pace.measured(cost, self._pace.clock() - begun)
            with timed(name, "finish"):
                for waiting, answer in answered:
                    waiting.call.take(waiting.place, answer)

    def _in_halves(self, batch: list[PendingRow[Row, Answer]], error: Exception) -> None:
        if len(batch) == 1:
            full = Unavailable(f"the device of {self._device.name!r} has no memory for one row")
            full.__cause__ = error
            batch[0].call.fail(full)
            return
        middle = len(batch) // 2
        self._run(batch[:middle])
        self._run(batch[middle:])

    def _one_by_one(self, batch: list[PendingRow[Row, Answer]], error: Exception) -> None:
        """Each caller's rows alone: only whose rows raise gets the exception."""
        ordered = sorted(batch, key=lambda waiting: id(waiting.call))
        callers = [list(rows) for _, rows in groupby(ordered, lambda waiting: id(waiting.call))]
        if len(callers) == 1:
            batch[0].call.fail(error)
            return
        for rows in callers:
            self._run(rows)
