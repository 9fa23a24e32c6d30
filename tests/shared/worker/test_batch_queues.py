"""Batch queues: a message is taken when a thread is free, calls of models first, kinds in turn.

A tenant's part of a worker's threads: never more, however many ask at once.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.ledger.leases import Claim
from shared.process.settings import Settings
from shared.queue import broker
from shared.queue.broker import CallsFirst, app
from shared.worker.batch_queues import BatchQueues, Tenants, TenantShares, stopping
from tests.patience import SECONDS


@pytest.fixture(autouse=True)
def _goes_on() -> Iterator[None]:
    yield
    stopping.clear()


def test_no_more_is_taken_than_threads_are_free(chosen: Settings) -> None:
    seen: list[tuple[str, str, bool]] = []
    entered, free = threading.Semaphore(0), threading.Event()

    @app.task(name=broker.task_name("slow"), bind=True)  # type: ignore[untyped-decorator]
    def task(self: object, job_id: str) -> None:
        request = self.request  # type: ignore[attr-defined]
        queue_name = request.delivery_info["routing_key"]
        seen.append((job_id, queue_name, broker.AGAIN in (request.headers or {})))
        entered.release()
        free.wait(5 * SECONDS)

    for number in range(5):
        broker.send("slow", f"job_{number}", batch=True, again=number == 0)
    consumer = BatchQueues([broker.batch_queue_of("slow")], threads=2)
    consumer.start()
    assert entered.acquire(timeout=SECONDS)
    assert entered.acquire(timeout=SECONDS)
    assert not entered.acquire(timeout=0.2)
    assert broker.queue_length("slow", batch=True) == 3  # for other workers
    free.set()
    for _ in range(3):
        assert entered.acquire(timeout=SECONDS)
    consumer.stop()
    assert sorted(seen) == [(f"job_{n}", "score.slow.batch", n == 0) for n in range(5)]


def test_a_message_that_cannot_be_read_stops_nobody(chosen: Settings) -> None:
    done = threading.Event()

    @app.task(name=broker.task_name("quick"))  # type: ignore[untyped-decorator]
    def task(_: str) -> None:
        done.set()

    with app.connection_for_write() as connection:
        connection.default_channel.client.lpush(broker.batch_queue_of("quick"), b"{}")
    broker.send("quick", "job_1", batch=True)
    consumer = BatchQueues([broker.batch_queue_of("quick")], threads=1)
    consumer.start()
    assert done.wait(SECONDS)
    consumer.stop()


def test_calls_of_models_go_first_and_queues_of_a_kind_take_turns() -> None:
    cycle = CallsFirst(["score.a", "score.b", "model.x"])
    assert cycle.consume(3) == ["model.x", "score.a", "score.b"]
    cycle.rotate("score.a")
    assert cycle.consume(3) == ["model.x", "score.b", "score.a"]


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


def test_a_tenant_that_fills_one_queue_is_served_in_another() -> None:
    shares = TenantShares(8, 0.75, share_in_queue=0.5)
    ice, small = Queue("a" * 9), Queue("a" * 9)
    taken = [shares.next_claim(ice.claim, "ice") for _ in range(8)]
    assert sum(claim is not None for claim in taken) == shares.most_in_queue == 4
    taken = [shares.next_claim(small.claim, "small") for _ in range(8)]
    assert sum(claim is not None for claim in taken) == shares.most - 4
    shares.release("a", "ice")
    assert shares.next_claim(ice.claim, "ice") is not None


def test_nobody_gets_more_by_asking_at_once() -> None:
    shares, queue = TenantShares(8, 0.75), Queue("a" * 100)
    gate = threading.Barrier(8)
    taken: list[Claim | None] = []

    def ask() -> None:
        gate.wait(SECONDS)
        taken.append(shares.next_claim(queue.claim))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS)
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
