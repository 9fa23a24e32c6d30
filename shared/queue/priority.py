"""The order in which jobs use a device: interactive jobs before batches, then fair turns for all
tenants.

Batches always progress. While interactive jobs keep waiting, batches get an eighth of the turns, or
of the time if turns differ in length. Work that cannot be interrupted is kept short if an
interactive job of another tenant may arrive."""

from __future__ import annotations

import os
import sys
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Generic, NamedTuple, TypeVar

BATCH_EVERY = 8  # turns
RECENT_SECONDS = 10.0  # an interactive user may return within this time
NICENESS = 10  # of processes that may wait for interactive work
SHORT_SECONDS = 0.05  # of uninterruptible work during that time
REMEMBERED = 1_000  # parties

Item = TypeVar("Item")
Key = TypeVar("Key")


class Party(NamedTuple):
    batch: bool
    tenant: str


Result = TypeVar("Result")


def stand_back() -> None:
    """Lower this thread's priority below interactive work from now on (Linux only)."""
    if sys.platform == "linux":  # 0: the thread that asks
        now = os.getpriority(os.PRIO_PROCESS, 0)
        os.setpriority(os.PRIO_PROCESS, 0, max(now, NICENESS))


def standing_back(work: Callable[[], Result]) -> Result:
    """Run `work` in a thread of lower priority with this thread's context, and wait for its
    result."""
    context = copy_context()
    with ThreadPoolExecutor(1, "standing-back", stand_back) as pool:
        return pool.submit(context.run, work).result()


NOBODY = Party(batch=False, tenant="")  # benches, warm-up, tests


class Shares(Generic[Key]):
    """Decides which waiting key is served next, so that all get fair shares (Demers, Keshav,
    Shenker 1989).

    The next key is the one that would finish first if all were served at once. A key gains nothing
    while it does not wait. The expected cost of serving a key is its last cost, at most one unit.
    `price` returns the price of one unit for a key. Twice the price gives half the share."""

    def __init__(self, price: Callable[[Key], float] = lambda _: 1.0) -> None:
        self._price = price
        self._now = 0.0
        self._clocks: dict[Key, float] = {}
        self._expected: dict[Key, float] = {}
        self._waiting: set[Key] = set()

    def waits(self, waiting: Collection[Key]) -> None:
        """Record which keys are waiting now."""
        for key in set(waiting) - self._waiting:
            self._add(key)
        self._waiting = set(waiting)
        if len(self._clocks) > REMEMBERED:
            self._remove()

    def sort(self, waiting: Collection[Key]) -> list[Key]:
        """Return the keys in the order of service; ties keep their order."""

        def finished(key: Key) -> float:
            return self._clocks.get(key, self._now) + self._expected.get(key, self._price(key))

        return sorted(dict.fromkeys(waiting), key=finished)

    def begin(self, key: Key) -> None:
        """Record that this key is served now. Call this even if the key did not wait."""
        if key not in self._waiting:
            self._add(key)
        self._now = max(self._now, min(self._clocks[other] for other in {key, *self._waiting}))

    def add_cost(self, key: Key, units: float) -> None:
        """Charge this key for `units` of service, so that its next turn comes later."""
        cost = units * self._price(key)
        self._expected[key] = min(cost, self._price(key))
        self._clocks[key] = self._clocks.get(key, self._now) + cost

    def _add(self, key: Key) -> None:
        self._clocks[key] = max(self._now, self._clocks.get(key, 0.0))

    def _remove(self) -> None:
        """Remove half of the idle keys: those with the lowest virtual clocks. A removed key that
        returns later starts at the current time."""
        idle = sorted(self._clocks.keys() - self._waiting, key=self._clocks.__getitem__)
        for key in idle[: len(idle) // 2]:
            del self._clocks[key]
            self._expected.pop(key, None)


class Turns:
    """The order in which waiting parties (pairs of queue kind and tenant) get a shared resource.
    The kind is chosen first, then the tenant. Interactive work gets a larger share than batches."""

    def __init__(self) -> None:
        self._lanes: Shares[bool] = Shares(lambda batch: BATCH_EVERY - 1.0 if batch else 1.0)
        self._parties: dict[bool, Shares[Party]] = {False: Shares(), True: Shares()}

    def waits(self, waiting: Iterable[Party]) -> list[Party]:
        """Record which parties (a tenant's interactive or batch jobs) are waiting now. Return them
        in the order of service."""
        present = list(waiting)
        self._lanes.waits({party.batch for party in present})
        for lane, parties in self._parties.items():
            parties.waits([party for party in present if party.batch == lane])
        return self.sort(present)

    def sort(self, waiting: Iterable[Party]) -> list[Party]:
        """Return these waiting parties (tenant and kind of queue) in the order of service."""
        lanes: dict[bool, list[Party]] = {False: [], True: []}
        for party in waiting:
            lanes[party.batch].append(party)
        ranked = self._lanes.sort([lane for lane, its in lanes.items() if its])
        return [party for lane in ranked for party in self._parties[lane].sort(lanes[lane])]

    def next(self, waiting: Iterable[Party], units: float = 1.0) -> Party | None:
        """Choose the party (tenant and kind of queue) to serve now, or None. `units` is the cost of
        serving it, or 0 if the cost is charged afterwards."""
        ranked = self.waits(waiting)
        if not ranked:
            return None
        self.begin(ranked[0])
        if units:
            self.add_cost(ranked[0], units)
        return ranked[0]

    def begin(self, whom: Party) -> None:
        """Record that this party's work starts now. Call this even if the party did not wait."""
        self._lanes.begin(whom.batch)
        self._parties[whom.batch].begin(whom)

    def add_cost(self, whom: Party, units: float) -> None:
        """Charge a party for `units` turns of computing. Its class (interactive or batch) is
        charged for at most one turn, so that one long step does not delay all other batches."""
        self._lanes.add_cost(whom.batch, min(units, 1.0))
        self._parties[whom.batch].add_cost(whom, units)

    def ride(self, whom: Party) -> None:
        """Charge a party (queue kind and tenant) one turn, because its work was done in another
        party's turn. The balance between interactive and batch work stays unchanged."""
        self._parties[whom.batch].add_cost(whom, 1.0)


class FairQueue(Generic[Item]):
    """A queue that serves parties (kind of queue and tenant) in turn. Items of one party are served
    in order of arrival. Each item costs its party `units` turns. If `units` is 0, the consumer
    charges the cost to `turns` afterwards."""

    def __init__(self, units: float = 1.0) -> None:
        self.turns = Turns()
        self._units = units
        self._waiting: dict[Party, deque[Item]] = {}

    def add(self, whom: Party, item: Item) -> None:
        """Append an item behind the items of the same party."""
        self._waiting.setdefault(whom, deque()).append(item)
        self.turns.waits(self._waiting)

    def __bool__(self) -> bool:
        """Return True if an item waits. Other threads may add and remove items meanwhile."""
        return bool(self._waiting)

    def pop(self) -> Item:
        """Remove and return the next item. Raises IndexError if the queue is empty."""
        whom = self.turns.next(self._waiting, self._units)
        if whom is None:
            raise IndexError
        item = self._waiting[whom].popleft()
        self._clean(whom)
        return item

    def remove(self, whom: Party, item: Item) -> bool:
        """Remove this item; return False if it was already served."""
        items = self._waiting.get(whom)
        if items is None or item not in items:
            return False
        items.remove(item)
        self._clean(whom)
        return True

    def _clean(self, whom: Party) -> None:
        if not self._waiting[whom]:
            del self._waiting[whom]
            self.turns.waits(self._waiting)


class DeviceRate:
    """Measures the speed of a device. Limits the size of one computation if interactive requests
    may be waiting for the device."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self._seen: dict[Party, float] = {}  # interactive parties → their last request
        self._speed: float | None = None  # cost a second

    def record_request(self, whom: Party) -> None:
        if not whom.batch:
            self._seen[whom] = self.clock()

    def record(self, cost: int, seconds: float) -> None:
        speed = cost / max(seconds, 1e-6)
        self._speed = speed if self._speed is None else 0.8 * self._speed + 0.2 * speed

    def most(self, budget: int, served: Iterable[Party]) -> int:
        """Return the largest cost of one computation for the parties `served`. The limit is small
        if other parties sent work recently, so that their next work does not wait long."""
        oldest = self.clock() - RECENT_SECONDS
        self._seen = {party: when for party, when in self._seen.items() if when > oldest}
        if not self._seen.keys() - set(served):
            return budget
        if self._speed is None:
            return max(1, budget // 4)
        return max(1, min(budget, int(self._speed * SHORT_SECONDS)))
