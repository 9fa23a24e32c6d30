"""Rows that wait for a device: whose they are, and in which order they get their turn.

Interactive rows go before those of batches, tenants take turns, and within a tenant its calls do,
row by row: a call of thousands of rows delays a call of ten by little.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from shared.priority import NOBODY, Party

Row = TypeVar("Row")
Answer = TypeVar("Answer")


@dataclass
class PendingCall(Generic[Row, Answer]):
    """One caller's rows, answered when the last one is."""

    answers: list[Answer | None]
    missing: int
    party: Party = NOBODY
    future: Future[list[Answer]] = field(default_factory=Future)

    @property
    def is_over(self) -> bool:
        """Whether nobody waits for its rows: answered, failed or cancelled."""
        return self.future.done()

    def take(self, place: int, answer: Answer) -> None:
        """The answer of one row."""
        self.answers[place] = answer
        self.missing -= 1
        if self.missing == 0:
            with suppress(InvalidStateError):  # cancelled, at any moment
                self.future.set_result(self.answers)  # type: ignore[arg-type]  # all are filled

    def fail(self, error: Exception) -> None:
        """The error of its rows, unless it is over."""
        with suppress(InvalidStateError):
            self.future.set_exception(error)


@dataclass(frozen=True)
class PendingRow(Generic[Row, Answer]):
    """A row in the queue."""

    call: PendingCall[Row, Answer]
    place: int
    row: Row


class Calls(Generic[Row, Answer]):
    """Waiting rows of one party and one kind, one of each call in turn."""

    def __init__(self) -> None:
        self._calls: dict[int, deque[PendingRow[Row, Answer]]] = {}

    def __len__(self) -> int:
        return sum(map(len, self._calls.values()))

    def add(self, waiting: PendingRow[Row, Answer]) -> None:
        """One more row, behind those of its call."""
        self._calls.setdefault(id(waiting.call), deque()).append(waiting)

    def first(self) -> PendingRow[Row, Answer] | None:
        """A row that somebody waits for; what nobody waits for is dropped."""
        while self._calls:
            key = next(iter(self._calls))
            row = self._calls[key][0]
            if not row.call.is_over:
                return row
            del self._calls[key]
        return None

    def pop(self) -> PendingRow[Row, Answer] | None:
        """The row that `first` shows; its call goes to the end of the round."""
        found = self.first()
        if found is not None:
            rows = self._calls.pop(id(found.call))
            rows.popleft()
            if rows:
                self._calls[id(found.call)] = rows
        return found


class RowQueue(Generic[Row, Answer]):
    """Waiting rows of one kind. `turn`: when it was last served, or made; the lowest is next."""

    def __init__(self, turn: int) -> None:
        self.turn = turn
        self._of: dict[Party, Calls[Row, Answer]] = {}

    def __len__(self) -> int:
        return sum(map(len, self._of.values()))

    def add(self, waiting: PendingRow[Row, Answer]) -> None:
        """One more row, behind those of its call."""
        self._of.setdefault(waiting.call.party, Calls()).add(waiting)

    def parties(self) -> list[Party]:
        """Those whose rows somebody waits for."""
        self._of = {party: calls for party, calls in self._of.items() if calls.first()}
        return list(self._of)

    def first(self) -> PendingRow[Row, Answer]:
        """A row that somebody waits for. Raises StopIteration where there is none."""
        return next(row for calls in self._of.values() if (row := calls.first()))

    def take(self, most: int, parties: Iterable[Party]) -> list[PendingRow[Row, Answer]]:
        """At most so many rows of these parties, one of each in turn, in this order."""
        taken: list[PendingRow[Row, Answer]] = []
        left = deque(party for party in parties if party in self._of)
        while left and len(taken) < most:
            party = left.popleft()
            found = self._of[party].pop()
            if found is not None:
                taken.append(found)
                left.append(party)
        return taken
