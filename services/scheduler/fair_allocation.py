"""Which batch gets how many of the jobs that may wait, and which is served next.

Tenants come first, then the batches of each: one with sixty batches has no more of the window, and
no more turns, than one with a single batch.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from shared.ledger.batches import DueBatch


def allocate(can_use: Mapping[str, int], open_jobs: Mapping[str, int], window: int) -> Counter[str]:
    """How many new jobs each one gets (max-min fairness).

    can_use:   who → the most that it can use; in the order in which ties are served.
    open_jobs: who → jobs that it has in the queue now, of these and of others.
    window:    the most jobs in the queue; what others hold is taken off first.

    Each free place goes to the one with the fewest open jobs that can still use one.
    """
    given: Counter[str] = Counter()
    free = window - sum(open_jobs.values())
    turn = [(open_jobs.get(name, 0), place, name) for place, name in enumerate(can_use)]
    heapq.heapify(turn)
    while free > 0 and turn:
        held, place, name = heapq.heappop(turn)
        if given[name] >= can_use[name]:
            continue
        given[name] += 1
        free -= 1
        heapq.heappush(turn, (held + 1, place, name))
    return +given


@dataclass(frozen=True)
class BatchUsage:
    """A batch that can use jobs. most: how many; held: it has in the queue now."""

    batch_id: str
    tenant: str
    most: int
    held: int = 0


def allocate_by_tenant(batches: Iterable[BatchUsage], window: int) -> Counter[str]:
    """How many new jobs each batch gets: the window is shared by tenants, a tenant's share by its
    batches. Batches that hold places without an appetite are named with `most` 0."""
    of_tenant: dict[str, list[BatchUsage]] = defaultdict(list)
    for batch in batches:
        of_tenant[batch.tenant].append(batch)
    most = {tenant: sum(one.most for one in its) for tenant, its in of_tenant.items()}
    held = {tenant: sum(one.held for one in its) for tenant, its in of_tenant.items()}
    given: Counter[str] = Counter()
    for tenant, count in allocate(most, held, window).items():
        its = of_tenant[tenant]
        given += allocate(
            {one.batch_id: one.most for one in its},
            {one.batch_id: one.held for one in its},
            held[tenant] + count,
        )
    return given


class Rotation:
    """Whose turn is next: the tenant that was served longest ago, with its batch that was."""

    def __init__(self) -> None:
        self._served: dict[str, int] = {}  # tenant or batch → when, counted in turns
        self._turns = 0

    def order(self, waiting: Iterable[DueBatch]) -> list[DueBatch]:
        """One batch of each tenant, who waited longest first."""
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
