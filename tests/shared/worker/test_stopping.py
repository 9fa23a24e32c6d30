"""A job that nobody wants any more ends soon: between two checks there is never much work.

Work is CPU time of the computing thread, so that other processes do not count.
"""

from __future__ import annotations

import gc
import random
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, suppress
from itertools import pairwise

import pytest

from services.hatexscore.contract import HatexscoreRequest
from services.hatexscore.metric import SERVICE as HATEXSCORE_SERVICE
from services.ice.contract import IceRequest
from services.ice.metric import SERVICE as ICE_SERVICE
from shared.contracts.batches import BatchReportRequest
from shared.contracts.errors import DeadlineExceeded, JobCancelled, JobStopped
from shared.queue import job_context
from shared.queue.job_context import JobContext, acquire, check_each, pause, use_context, wait_all
from shared.reports.estimates import BatchStatistics
from tests.hatexscore import fake as hatexscore_models
from tests.ice.planted import planted, word

hatexscore = HATEXSCORE_SERVICE.score
ice = ICE_SERVICE.score

MOST_CPU_SECONDS = 2.0
LETTERS = "abcdefghijklmnopqrstuvwxyz"
Calls = Callable[[], int]  # how often models were asked so far


class Counted(threading.Event):
    """When it was asked, in CPU seconds of this thread; set from the n-th time on."""

    def __init__(self, stop_at: int | None = None) -> None:
        super().__init__()
        self.asked = [time.thread_time()]
        self._stop_at = stop_at

    def is_set(self) -> bool:
        self.asked.append(time.thread_time())
        return self._stop_at is not None and len(self.asked) > self._stop_at


def context(cancelled: threading.Event, seconds: float = 1e6) -> JobContext:
    return JobContext("job", "tenant", False, time.monotonic() + seconds, cancelled)


@contextmanager
def large_hatexscore() -> Iterator[tuple[Callable[[], object], Calls]]:
    """Many quotations that the text nearly holds."""
    drawn = random.Random(0)  # noqa: S311 - a text, no secret
    text = " ".join("".join(drawn.choices(LETTERS, k=drawn.randint(3, 9))) for _ in range(2_500))
    quotations = []
    for _ in range(200):
        start = drawn.randrange(len(text) - 24)
        near = list(text[start : start + 24])
        near[drawn.randrange(24)] = "#"
        quotations.append(f'"{"".join(near)}"')
    explanation = "This is hateful because of " + " and ".join(quotations)
    request = HatexscoreRequest(
        text=text[:15_000], explanation=explanation, options={"control_draws": 50}
    )
    with hatexscore_models.bound(hatexscore_models.FakeClassifier()) as model:
        yield lambda: hatexscore(request), lambda: len(model.calls)


@contextmanager
def large_ice() -> Iterator[tuple[Callable[[], object], Calls]]:
    """Many draws of a long text at several budgets."""
    request = IceRequest.model_validate(
        {
            "text": " ".join(map(word, range(300))),
            "attribution": {"name": "attention"},
            "options": {
                "k": [0.1, 0.2, 0.3, 0.4, 0.5],
                "operators": ["delete", "mask"],
                "draws": 800,
                "aspects": ["sufficiency"],
            },
        }
    )
    with planted() as judge:
        yield lambda: ice(request), lambda: len(judge.calls)


@contextmanager
def large_bootstrap() -> Iterator[tuple[Callable[[], object], Calls]]:
    """Intervals of a batch report over many results."""
    request = BatchReportRequest(jobs=("one",), resamples=3_000)
    over = BatchStatistics(HATEXSCORE_SERVICE.contract, (), request)
    values = [number / 50_000 for number in range(50_000)]
    yield lambda: over.mean("score", values), lambda: 0


Large = Callable[[], AbstractContextManager[tuple[Callable[[], object], Calls]]]
LARGE: list[Large] = [large_hatexscore, large_ice, large_bootstrap]


@pytest.mark.parametrize("large", LARGE)
def test_a_large_job_asks_often_and_stops_where_it_is_told(large: Large) -> None:
    with large() as (compute, calls):
        compute()  # what loads lazily is there afterwards, as in a worker that was warmed up
        whole, once = Counted(), calls()
        with use_context(context(whole)):
            compute()
        moments = [*whole.asked, time.thread_time()]
        assert max(after - before for before, after in pairwise(moments)) < MOST_CPU_SECONDS
        twice = calls()
        stopped = Counted(stop_at=len(whole.asked) // 2)
        with use_context(context(stopped)), pytest.raises(JobCancelled):
            compute()
        assert len(stopped.asked) == len(whole.asked) // 2 + 1  # nothing went on after it
        assert calls() - twice <= once


@pytest.mark.parametrize("large", [large_hatexscore, large_ice])
def test_large_jobs_that_are_cancelled_leave_no_memory_behind(large: Large) -> None:
    def cancelled(compute: Callable[[], object], at: int) -> None:
        with use_context(context(Counted(stop_at=at))), suppress(JobCancelled):
            compute()

    with large() as (compute, _):
        cancelled(compute, 20)  # what loads lazily is there afterwards
        tracemalloc.start()
        try:
            cancelled(compute, 20)
            gc.collect()
            before, _ = tracemalloc.get_traced_memory()
            tracemalloc.reset_peak()
            for at in (5, 10, 20, 20, 20):
                cancelled(compute, at)
            gc.collect()
            after, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert peak - before > 100_000  # it held something
    assert after - before < 100_000


def test_every_wait_ends_when_the_job_is_stopped() -> None:
    cancelled, busy = threading.Event(), threading.Lock()
    busy.acquire()
    never: Future[int] = Future()

    def hold() -> None:
        with acquire(busy):
            pass

    waits: list[Callable[[], object]] = [hold, lambda: wait_all([never]), lambda: pause(1e6)]

    def waited(wait: Callable[[], object]) -> type[BaseException] | None:
        with use_context(context(cancelled)):
            try:
                wait()
            except JobStopped as stopped:
                return type(stopped)
        return None

    with ThreadPoolExecutor(len(waits)) as pool:
        found = [pool.submit(waited, wait) for wait in waits]
        time.sleep(0.1)
        assert not any(one.done() for one in found)
        cancelled.set()
        assert [one.result() for one in found] == [JobCancelled] * len(waits)
    assert never.cancelled()  # nobody waits for it
    busy.release()
    hold()  # outside a job there is nothing to stop
    pause(0.01)
    assert wait_all([answered(7), answered(8)]) == [7, 8]


def answered(value: int) -> Future[int]:
    future: Future[int] = Future()
    future.set_result(value)
    return future


def test_a_failure_leaves_nobody_waiting() -> None:
    failed: Future[int] = Future()
    failed.set_exception(ZeroDivisionError())
    never: Future[int] = Future()
    with pytest.raises(ZeroDivisionError):
        wait_all([failed, never])
    assert never.cancelled()


def test_a_deadline_ends_what_asks() -> None:
    with use_context(context(threading.Event(), seconds=-1)):
        with pytest.raises(DeadlineExceeded):
            job_context.check()
        with pytest.raises(DeadlineExceeded):
            list(check_each([1, 2]))
    assert list(check_each([1, 2])) == [1, 2]
