"""Who is served first at a device: interactive jobs before batches, then tenants in turn.

Batches are never starved: while interactive jobs wait without end, every eighth turn is theirs.
What cannot be interrupted is kept short while somebody else's interactive job may come.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable
from typing import Generic, NamedTuple, TypeVar

BATCH_EVERY = 8  # turns
RECENT_SECONDS = 10.0  # an interactive user who asked so lately may ask again
NICENESS = 5  # of processes that can wait for those that answer people
SHORT_SECONDS = 0.05  # of what is not interrupted while one may
REMEMBERED = 1_000  # parties

Item = TypeVar("Item")


class Party(NamedTuple):
    """For whom something is done."""

    batch: bool
    tenant: str


NOBODY = Party(batch=False, tenant="")  # benches, warm-up, tests


class Turns:
    """Whose turn it is among parties that wait."""

    def __init__(self) -> None:
        self._served: dict[Party, None] = {}  # in the order in which they were last served
        self._passed = 0  # turns since a batch that waited had one

    def next(self, waiting: Iterable[Party]) -> Party | None:
        """The party that is served now; it goes to the end."""
        found = self.ranked(waiting)
        if not found:
            return None
        self._passed = self._passed + 1 if found[-1].batch and not found[0].batch else 0
        self.serve(found[0])
        return found[0]

    def ranked(self, waiting: Iterable[Party]) -> list[Party]:
        """The next one first."""
        place = {one: number for number, one in enumerate(self._served)}
        batches_turn = self._passed >= BATCH_EVERY - 1
        return sorted(
            waiting, key=lambda one: (one.batch != batches_turn, place.get(one, -1), one.tenant)
        )

    def serve(self, whom: Party) -> None:
        """Its turn is over."""
        self._served.pop(whom, None)
        self._served[whom] = None
        if len(self._served) > REMEMBERED:
            del self._served[next(iter(self._served))]


class FairQueue(Generic[Item]):
    """Items that wait, each for a party; a party's own are first in, first out."""

    def __init__(self) -> None:
        self._waiting: dict[Party, deque[Item]] = {}
        self._turns = Turns()

    def add(self, whom: Party, item: Item) -> None:
        """One more, behind those of the same party."""
        self._waiting.setdefault(whom, deque()).append(item)

    def __len__(self) -> int:
        return sum(map(len, self._waiting.values()))

    def pop(self) -> Item:
        """The next one. Raises IndexError where none waits."""
        whom = self._turns.next(self._waiting)
        if whom is None:
            raise IndexError
        items = self._waiting[whom]
        found = items.popleft()
        if not items:
            del self._waiting[whom]
        return found

    def remove(self, whom: Party, item: Item) -> bool:
        """This one waits no longer; False where it had its turn."""
        items = self._waiting.get(whom)
        if items is None or item not in items:
            return False
        items.remove(item)
        if not items:
            del self._waiting[whom]
        return True


class DevicePace:
    """How much a device does in a short time, and whether it must be short now."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self._seen: dict[Party, float] = {}  # interactive parties → when they last asked
        self._speed: float | None = None  # cost a second

    def saw(self, whom: Party) -> None:
        """This party asks."""
        if not whom.batch:
            self._seen[whom] = self.clock()

    def measured(self, cost: int, seconds: float) -> None:
        """So much was done in this time."""
        speed = cost / max(seconds, 1e-6)
        self._speed = speed if self._speed is None else 0.8 * self._speed + 0.2 * speed

    def most(self, budget: int, served: Iterable[Party]) -> int:
        """The cost of one go for these parties: short where another one may come meanwhile."""
        oldest = self.clock() - RECENT_SECONDS
        self._seen = {one: when for one, when in self._seen.items() if when > oldest}
        if not self._seen.keys() - set(served):
            return budget
        if self._speed is None:
            return max(1, budget // 4)
        return max(1, min(budget, int(self._speed * SHORT_SECONDS)))
