"""Jobs of batches leave a worker a share of a processor while somebody asks interactively."""

from __future__ import annotations

import threading
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.process.settings import Settings
from shared.queue import broker
from shared.queue.broker import app
from shared.queue.priority import RECENT_SECONDS
from shared.worker.batch_queues import ELSEWHERE_SECONDS, BatchQueues, BatchRateLimiter, stopping
from tests.patience import SECONDS


@dataclass
class Clock:
    now: float = 100.0

    def __call__(self) -> float:
        return self.now


def ends(pace: BatchRateLimiter, clock: Clock, jobs: list[float]) -> float:
    """Seconds in which so many jobs of these costs are started, each as soon as it may."""
    begun = clock.now
    for cost in jobs:
        pace.record_interactive()
        clock.now += pace.rest()
        pace.start()
        pace.end(cost)
    return clock.now - begun


@given(share=st.floats(0.05, 1), cost=st.floats(0.001, 2), number=st.integers(20, 200))
def test_batches_take_their_share_of_a_processor(share: float, cost: float, number: int) -> None:
    clock = Clock()
    pace = BatchRateLimiter(share, clock)
    used = number * (cost + ELSEWHERE_SECONDS) / ends(pace, clock, [cost] * number)
    assert used == pytest.approx(share, rel=3 / number)  # the first two are not known yet


@given(st.lists(st.floats(0, 2), min_size=1, max_size=50))
def test_nobody_asks_nobody_waits(costs: list[float]) -> None:
    clock = Clock()
    pace = BatchRateLimiter(0.1, clock)
    for cost in costs:
        assert pace.rest() == 0
        pace.start()
        pace.end(cost)


def test_who_asked_long_ago_is_not_waited_for() -> None:
    clock = Clock()
    pace = BatchRateLimiter(0.1, clock)
    pace.record_interactive()
    for _ in range(100):
        pace.start()
        pace.end(1.0)
    assert pace.rest() > RECENT_SECONDS
    clock.now += RECENT_SECONDS + 0.1
    assert pace.rest() == 0


def test_the_consumer_rests_as_long_as_its_pace_says(chosen: Settings) -> None:
    started = threading.Semaphore(0)
    name = broker.task_name("paced")

    @app.task(name=name)  # type: ignore[untyped-decorator]
    def task(_: str) -> None:
        started.release()

    class Pace(BatchRateLimiter):
        seconds = 3_600.0

        def rest(self) -> float:
            return self.seconds

    pace = Pace(1.0)
    broker.send("paced", "job_1", batch=True)
    consumer = BatchQueues([broker.batch_queue_of("paced")], threads=1, pace=pace)
    consumer.start()
    try:
        assert not started.acquire(timeout=0.5)
        assert broker.queue_length("paced", batch=True) == 1  # another worker may have it
        pace.seconds = 0.0
        assert started.acquire(timeout=SECONDS)
    finally:
        consumer.stop()
        stopping.clear()


def test_a_call_of_a_job_that_was_let_start_rests_for_nobody(chosen: Settings) -> None:
    done = threading.Semaphore(0)
    name = "model.paced"

    @app.task(name=name)  # type: ignore[untyped-decorator]
    def task(_: str) -> None:
        done.release()

    class Pace(BatchRateLimiter):
        def rest(self) -> float:
            return 3_600.0

    queues = [broker.batch_queue(name), broker.batch_queue_of("paced")]
    broker.send("paced", "job_1", batch=True)
    task.apply_async(("now",), queue=queues[0])
    consumer = BatchQueues(queues, threads=1, pace=Pace(1.0))
    consumer.start()
    try:
        assert done.acquire(timeout=SECONDS)
        assert broker.queue_length("paced", batch=True) == 1
    finally:
        consumer.stop()
        stopping.clear()
