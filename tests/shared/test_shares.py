"""A tenant's part of a worker's threads: never more, however many ask at once."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.ledger.leases import Claim
from shared.worker.batch_queues import Tenants, TenantShares, stopping


class Queue:
    """Jobs of tenants that wait; the first of a tenant that may have one is taken."""

    def __init__(self, tenants: str) -> None:
        self.waiting = list(tenants)
        self._lock = threading.Lock()

    def claim(self, tenants: Tenants) -> Claim | None:
        with self._lock:
            for tenant in self.waiting:
                if tenant not in tenants.full:
                    self.waiting.remove(tenant)
                    return Claim(f"job_{len(self.waiting)}", 1, {}, 0.0, 1, tenant, None)
        return None


@pytest.fixture(autouse=True)
def _goes_on() -> Iterator[None]:
    yield
    stopping.clear()


@settings(deadline=None)
@given(st.text("abc", max_size=30), st.integers(1, 12), st.floats(0.1, 1))
def test_nobody_gets_more_than_the_part(tenants: str, threads: int, share: float) -> None:
    shares, queue = TenantShares(threads, share), Queue(tenants)
    taken = [shares.next_claim(queue.claim) for _ in range(threads)]
    held = Counter(claim.tenant for claim in taken if claim)
    assert all(count <= shares.most for count in held.values())
    for tenant, count in Counter(tenants).items():  # and nobody less for nothing
        if held[tenant] < min(count, shares.most):
            assert held.total() == threads


def test_nobody_gets_more_by_asking_at_once() -> None:
    shares, queue = TenantShares(8, 0.75), Queue("a" * 100)
    gate = threading.Barrier(8)
    taken: list[Claim | None] = []

    def ask() -> None:
        gate.wait(10)
        taken.append(shares.next_claim(queue.claim))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert sum(claim is not None for claim in taken) == shares.most == 6


def test_what_ends_makes_room() -> None:
    shares, queue = TenantShares(2, 0.5), Queue("aab")
    first = shares.next_claim(queue.claim)
    second = shares.next_claim(queue.claim)
    assert first is not None
    assert second is not None
    assert (first.tenant, second.tenant) == ("a", "b")
    assert shares.next_claim(queue.claim) is None
    shares.release("a")
    third = shares.next_claim(queue.claim)
    assert third is not None
    assert third.tenant == "a"


def test_a_claim_that_fails_costs_nothing() -> None:
    shares, queue = TenantShares(1, 1.0), Queue("a")

    def away(_: Tenants) -> Claim | None:
        raise ConnectionError

    for _ in range(3):
        with pytest.raises(ConnectionError):
            shares.next_claim(away)
    assert shares.next_claim(queue.claim) is not None


def test_tenants_are_named_in_the_order_in_which_they_were_served() -> None:
    shares, queue = TenantShares(10, 1.0), Queue("abca")
    for _ in range(4):
        assert shares.next_claim(queue.claim)
    seen: list[Tenants] = []
    shares.next_claim(lambda tenants: seen.append(tenants))
    assert seen[0].served == ("b", "c", "a")


def test_who_waits_for_its_part_is_told_when_the_process_stops() -> None:
    shares = TenantShares(1, 1.0)
    assert shares.wait()
    stopping.set()
    assert not shares.wait()
