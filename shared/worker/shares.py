"""A tenant's part of a worker: at most some of its threads, and one turn after the other.

Whoever asks the ledger for the next job says which tenants were served last and which hold their
part already. A thread that finds only jobs of such tenants waits, and asks again when a job ends or
a moment later: meanwhile somebody else's job may have come, and that one it takes.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import ceil
from typing import NamedTuple

from shared.ledger.leases import Claim

ASK_AGAIN_SECONDS = 0.25
REMEMBERED = 1_000  # tenants

stopping = threading.Event()  # this process takes no more jobs


class Tenants(NamedTuple):
    """served: in the order in which they were last served; full: get no more now."""

    served: tuple[str, ...]
    full: tuple[str, ...]


class Shares:
    """What each tenant holds of some threads. most: threads of one tenant."""

    def __init__(self, threads: int, share: float) -> None:
        self.most = max(1, ceil(threads * share))
        self._held: Counter[str] = Counter()
        self._served: dict[str, None] = {}
        self._asking = 0
        self._changed = threading.Condition()
        self._one_at_a_time = threading.Lock()

    def next_claim(self, claim: Callable[[Tenants], Claim | None]) -> Claim | None:
        """What `claim` takes, counted as its tenant's until `release`."""
        with self._exactly():
            with self._changed:
                tenants = self._tenants()
            found = claim(tenants)
            if found is not None:
                with self._changed:
                    self._take(found.tenant)
        return found

    def release(self, tenant: str) -> None:
        """A job of this tenant's has ended."""
        with self._changed:
            self._held[tenant] -= 1
            self._held += Counter()  # without those that hold nothing
            self._changed.notify()

    def wait(self) -> bool:
        """Wait until asking again may help; False where this process stops."""
        with self._changed:
            self._changed.wait(ASK_AGAIN_SECONDS)
        return not stopping.is_set()

    def _take(self, tenant: str) -> None:
        self._held[tenant] += 1
        self._served.pop(tenant, None)
        self._served[tenant] = None
        if len(self._served) > REMEMBERED:
            del self._served[next(iter(self._served))]

    def _tenants(self) -> Tenants:
        """Who asks beside us may take a job of any tenant: it counts for each."""
        others = self._asking - 1
        full = (tenant for tenant, held in self._held.items() if held + others >= self.most)
        return Tenants(tuple(self._served), tuple(full))

    @contextmanager
    def _exactly(self) -> Iterator[None]:
        """Many ask at once while no tenant can get too much by it, then one after the other."""
        with self._changed:
            is_free = self._held.total() + self._asking < self.most
            self._asking += is_free
        if not is_free:
            self._one_at_a_time.acquire()
            with self._changed:
                self._asking += 1
        try:
            yield
        finally:
            with self._changed:
                self._asking -= 1
            if not is_free:
                self._one_at_a_time.release()
