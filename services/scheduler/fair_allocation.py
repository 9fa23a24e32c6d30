"""Fair sharing of the queue's free places, and of the scheduler's time: first among tenants, then
among their batches. A tenant with sixty batches gets no more than a tenant with one."""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from shared.ledger.batches import DueBatch


def allocate(can_use: Mapping[str, int], open_jobs: Mapping[str, int], window: int) -> Counter[str]:
    """Return the number of new jobs for each key (max-min fairness).

    `can_use` maps a key to the maximum number of new jobs. `open_jobs` maps a key to its jobs
    that are in the queue now. `window` is the maximum number of jobs in the queue.

    Each free place goes to the key with the fewest open jobs among those that can still use a
    place. A tie goes to the key that comes first in `can_use`."""
    allocation: Counter[str] = Counter()
    free = window - sum(open_jobs.values())
    turn = [(open_jobs.get(name, 0), index, name) for index, name in enumerate(can_use)]
    heapq.heapify(turn)
    while free > 0 and turn:
        held, index, name = heapq.heappop(turn)
        if allocation[name] >= can_use[name]:
            continue
        allocation[name] += 1
        free -= 1
        heapq.heappush(turn, (held + 1, index, name))
    return +allocation


@dataclass(frozen=True)
class BatchUsage:
    """A batch's use of the queue. `most` is the maximum number of new jobs that the batch can add.
    `held` is the number of its jobs that are in the queue now."""

    batch_id: str
    tenant: str
    most: int
    held: int = 0


def allocate_by_tenant(batches: Iterable[BatchUsage], window: int) -> Counter[str]:
    """Return the number of new jobs for each batch. Tenants share the `window` equally, and so do
    the batches of a tenant."""
    of_tenant: dict[str, list[BatchUsage]] = defaultdict(list)
    for batch in batches:
        of_tenant[batch.tenant].append(batch)
    most = {tenant: sum(usage.most for usage in its) for tenant, its in of_tenant.items()}
    held = {tenant: sum(usage.held for usage in its) for tenant, its in of_tenant.items()}
    allocation: Counter[str] = Counter()
    for tenant, count in allocate(most, held, window).items():
        its = of_tenant[tenant]
        allocation += allocate(
            {usage.batch_id: usage.most for usage in its},
            {usage.batch_id: usage.held for usage in its},
            held[tenant] + count,
        )
    return allocation


class Rotation:
    """The order in which batches take turns. The tenant that has waited longest comes first, with
    its batch that has waited longest."""

    def __init__(self) -> None:
        self._served: dict[str, int] = {}  # tenant or batch → when, counted in turns
        self._turns = 0

    def order(self, waiting: Iterable[DueBatch]) -> list[DueBatch]:
        """Return one batch per tenant. The one that has waited longest comes first."""
        first: dict[str, DueBatch] = {}
        for turn in sorted(waiting, key=lambda turn: (self._last(turn.id), turn.id)):
            first.setdefault(turn.tenant, turn)
        return sorted(first.values(), key=lambda turn: (self._last(turn.tenant), turn.id))

    def take_turn(self, turn: DueBatch) -> None:
        self._turns += 1
        self._served[turn.tenant] = self._served[turn.id] = self._turns

    def remove_missing(self, waiting: Iterable[DueBatch]) -> None:
        names = {name for turn in waiting for name in (turn.id, turn.tenant)}
        self._served = {name: last for name, last in self._served.items() if name in names}

    def _last(self, name: str) -> int:
        return self._served.get(name, 0)
