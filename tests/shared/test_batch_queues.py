"""Batch queues: a message is taken when a thread is free, calls of models first, kinds in turn."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from shared import queue
from shared.queue import CallsFirst, app
from shared.settings import Settings
from shared.worker.batch_queues import BatchQueues, stopping


@pytest.fixture(autouse=True)
def _goes_on() -> Iterator[None]:
    yield
    stopping.clear()


def test_no_more_is_taken_than_threads_are_free(chosen: Settings) -> None:
    seen: list[tuple[str, str, bool]] = []
    entered, free = threading.Semaphore(0), threading.Event()

    @app.task(name=queue.task_name("slow"), bind=True)  # type: ignore[untyped-decorator]
    def task(self: object, job_id: str) -> None:
        request = self.request  # type: ignore[attr-defined]
        lane = request.delivery_info["routing_key"]
        seen.append((job_id, lane, queue.AGAIN in (request.headers or {})))
        entered.release()
        free.wait(10)

    for number in range(5):
        queue.send("slow", f"job_{number}", batch=True, again=number == 0)
    consumer = BatchQueues([queue.batch_queue_of("slow")], threads=2)
    consumer.start()
    assert entered.acquire(timeout=10)
    assert entered.acquire(timeout=10)
    assert not entered.acquire(timeout=0.2)
    assert queue.waiting("slow", batch=True) == 3  # for other workers
    free.set()
    for _ in range(3):
        assert entered.acquire(timeout=10)
    consumer.stop()
    assert sorted(seen) == [(f"job_{n}", "score.slow.batch", n == 0) for n in range(5)]


def test_a_message_that_cannot_be_read_stops_nobody(chosen: Settings) -> None:
    done = threading.Event()

    @app.task(name=queue.task_name("quick"))  # type: ignore[untyped-decorator]
    def task(_: str) -> None:
        done.set()

    with app.connection_for_write() as connection:
        connection.default_channel.client.lpush(queue.batch_queue_of("quick"), b"{}")
    queue.send("quick", "job_1", batch=True)
    consumer = BatchQueues([queue.batch_queue_of("quick")], threads=1)
    consumer.start()
    assert done.wait(10)
    consumer.stop()


def test_calls_of_models_go_first_and_queues_of_a_kind_take_turns() -> None:
    cycle = CallsFirst(["score.a", "score.b", "model.x"])
    assert cycle.consume(3) == ["model.x", "score.a", "score.b"]
    cycle.rotate("score.a")
    assert cycle.consume(3) == ["model.x", "score.b", "score.a"]
