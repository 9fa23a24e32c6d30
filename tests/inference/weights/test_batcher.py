"""Laws of the micro-batcher: every row is answered once, to its caller, whoever fails beside it."""

from __future__ import annotations

import gc
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.inference.weights.batcher import Device, MicroBatcher
from shared.contracts.errors import Unavailable
from shared.queue.job_context import JobContext, use_context
from shared.queue.priority import BATCH_EVERY
from tests.patience import SECONDS, eventually

BUDGET = 40


class Full(Exception):
    """No memory."""


class Recorder:
    """A device that squares numbers, and remembers what it was given."""

    def __init__(self, most_rows: int = 1_000) -> None:
        self.batches: list[list[int]] = []
        self.free = threading.Event()
        self.free.set()
        self.most_rows = most_rows

    def run(self, rows: list[int]) -> list[int]:
        self.free.wait(5 * SECONDS)
        self.batches.append(rows)
        if len(rows) > self.most_rows:
            raise Full
        if 13 in rows:
            raise ZeroDivisionError("13")
        return [row * row for row in rows]

    def batcher(self) -> MicroBatcher[int, int]:
        return MicroBatcher(
            Device(
                kind=lambda row: row % 3,
                cost=lambda row: row % 3 + 1,
                run=self.run,
                budget=BUDGET,
                full=Full,
            )
        )


calls = st.lists(st.lists(st.integers(20, 99), max_size=30), min_size=1, max_size=8)


@settings(max_examples=50)
@given(calls)
def test_every_caller_gets_its_own_answers_in_order(calls: list[list[int]]) -> None:
    recorder = Recorder()
    batcher = recorder.batcher()
    with ThreadPoolExecutor(8) as pool:
        got = list(pool.map(lambda rows: batcher.submit(rows).result(SECONDS), calls))
    assert got == [[row * row for row in rows] for rows in calls]
    seen = [row for batch in recorder.batches for row in batch]
    assert sorted(seen) == sorted(row for rows in calls for row in rows)
    for batch in recorder.batches:
        assert len({row % 3 for row in batch}) == 1
        assert sum(row % 3 + 1 for row in batch) <= BUDGET


def test_callers_that_wait_share_a_batch() -> None:
    recorder = Recorder()
    batcher = recorder.batcher()
    recorder.free.clear()
    first = batcher.submit([30])
    others = [batcher.submit([30 + 3 * n]) for n in range(1, 10)]
    recorder.free.set()
    assert [one.result(SECONDS) for one in (first, *others)]
    assert len(recorder.batches) <= 2  # the one that ran, and all that came meanwhile


def test_only_the_caller_whose_row_fails_gets_the_exception() -> None:
    recorder = Recorder()
    batcher = recorder.batcher()
    recorder.free.clear()
    batcher.submit([30])
    good, bad, other = batcher.submit([40]), batcher.submit([16, 13]), batcher.submit([43])
    recorder.free.set()
    with pytest.raises(ZeroDivisionError):
        bad.result(SECONDS)
    assert (good.result(SECONDS), other.result(SECONDS)) == ([1600], [1849])
    assert batcher.submit([5]).result(SECONDS) == [25]  # the device goes on


def test_what_does_not_fit_into_memory_is_halved() -> None:
    recorder = Recorder(most_rows=3)
    rows = list(range(30, 60, 3))
    assert recorder.batcher().submit(rows).result(SECONDS) == [row * row for row in rows]


def test_a_row_that_never_fits_fails_its_caller() -> None:
    recorder = Recorder(most_rows=0)
    with pytest.raises(Unavailable, match="too little memory for a single input") as raised:
        recorder.batcher().submit([30]).result(SECONDS)
    assert isinstance(raised.value.__cause__, Full)


def test_a_cancelled_caller_costs_nothing_more() -> None:
    recorder = Recorder()
    batcher = recorder.batcher()
    recorder.free.clear()
    running = batcher.submit([30])
    dropped = batcher.submit([31])
    assert dropped.cancel()
    recorder.free.set()
    assert running.result(SECONDS) == [900]
    assert batcher.submit([32]).result(SECONDS) == [1024]
    assert [31] not in recorder.batches


def test_no_rows_are_no_answers() -> None:
    assert Recorder().batcher().submit([]).result(SECONDS) == []


def test_a_small_call_does_not_wait_behind_a_large_one() -> None:
    recorder = Recorder()
    batcher = recorder.batcher()
    recorder.free.clear()
    running = batcher.submit([30])
    large = batcher.submit([30] * 1_000)
    small = batcher.submit([33, 36])
    other_kind = batcher.submit([31])
    recorder.free.set()
    assert small.result(SECONDS) == [33**2, 36**2]
    assert (running.result(SECONDS), other_kind.result(SECONDS)) == ([900], [31**2])
    before = [batch for batch in recorder.batches if 33 in batch or 36 in batch or 31 in batch]
    assert all(recorder.batches.index(batch) < 4 for batch in before)
    assert len(large.result(SECONDS)) == 1_000


def test_a_device_that_miscounts_fails_its_callers_and_goes_on() -> None:
    recorder = Recorder()
    batcher = recorder.batcher()
    right = recorder.run
    recorder.run = lambda rows: right(rows)[:-1]  # type: ignore[method-assign]
    batcher._device = recorder.batcher()._device
    with pytest.raises(ValueError, match="zip"):
        batcher.submit([30, 33]).result(SECONDS)
    recorder.run = right  # type: ignore[method-assign]
    batcher._device = recorder.batcher()._device
    assert batcher.submit([30]).result(SECONDS) == [900]


def job(tenant: str, *, batch: bool = False) -> AbstractContextManager[JobContext]:
    return use_context(JobContext("job_x", tenant, batch, time.monotonic() + 5 * SECONDS))


class Ordered:
    """A device whose passes take a second for a hundred rows, by a clock of its own."""

    def __init__(self, kinds: int = 1) -> None:
        self.now = 0.0
        self.passes: list[list[int]] = []
        self.entered, self.free = threading.Semaphore(0), threading.Event()
        self.batcher: MicroBatcher[int, int] = MicroBatcher(
            Device(
                kind=lambda row: row % kinds,
                cost=lambda row: 1,
                run=self.run,
                budget=BUDGET,
                full=Full,
                clock=lambda: self.now,
            )
        )

    def run(self, rows: list[int]) -> list[int]:
        self.entered.release()
        self.free.wait(5 * SECONDS)
        self.passes.append(rows)
        self.now += len(rows) / 100
        return rows

    def busy(self) -> None:
        """A pass runs, and others can queue up."""
        self.batcher.submit([0])
        assert self.entered.acquire(timeout=SECONDS)

    def waits(self, number: int) -> int:
        """Passes until this row is in one."""
        return next(place for place, rows in enumerate(self.passes[1:], 1) if number in rows)


def test_an_interactive_row_is_in_the_next_pass_whatever_waits() -> None:
    device = Ordered(kinds=7)
    device.busy()
    futures = []
    for tenant in "abc":
        with job(tenant, batch=True):
            futures += [device.batcher.submit(list(range(100, 400))) for _ in range(5)]
    with job("user"):
        own = device.batcher.submit([7_001])
    device.free.set()
    assert own.result(SECONDS) == [7_001]
    for future in futures:
        assert future.result(SECONDS)
    assert device.waits(7_001) == 1


def test_one_row_waits_for_one_pass_of_each_other_tenant_however_many_kinds() -> None:
    device = Ordered(kinds=50)
    device.busy()
    with job("flood"):
        flood = device.batcher.submit(list(range(1_000, 3_000)))
    with job("other"):
        own = device.batcher.submit([7_001])
    device.free.set()
    assert own.result(SECONDS) == [7_001]
    assert len(flood.result(SECONDS)) == 2_000
    assert device.waits(7_001) <= 2


def test_rows_of_batches_have_a_pass_in_eight_while_interactive_ones_never_end() -> None:
    device = Ordered(kinds=2)
    device.busy()
    with job("user"):
        flood = device.batcher.submit([2 * n for n in range(1_000, 3_000)])
    with job("b", batch=True):
        line = device.batcher.submit([7_001])
    device.free.set()
    assert line.result(SECONDS) == [7_001]
    assert len(flood.result(SECONDS)) == 2_000
    assert device.waits(7_001) <= BATCH_EVERY


def test_a_pass_of_batches_is_short_where_somebody_asked_lately() -> None:
    device = Ordered()
    device.free.set()
    with job("b", batch=True):
        assert len(device.batcher.submit(list(range(200))).result(SECONDS)) == 200
    assert max(map(len, device.passes)) == BUDGET  # nobody else is there
    with job("user"):
        device.batcher.submit([1]).result(SECONDS)
    before = len(device.passes)
    with job("b", batch=True):
        assert len(device.batcher.submit(list(range(200))).result(SECONDS)) == 200
    assert max(map(len, device.passes[before:])) == 5  # 50 ms of it


def test_rows_of_batches_fill_what_an_interactive_pass_leaves() -> None:
    device = Ordered()
    device.busy()
    with job("b", batch=True):
        line = device.batcher.submit([1, 2, 3])
    with job("user"):
        own = device.batcher.submit([8, 9])
    device.free.set()
    assert (own.result(SECONDS), line.result(SECONDS)) == ([8, 9], [1, 2, 3])
    assert device.passes[1] == [8, 9, 1, 2, 3]


def test_a_model_that_was_let_go_of_is_freed_by_its_idle_queue(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The queue's thread holds the model; without rows for a while it ends."""
    monkeypatch.setattr("services.inference.weights.batcher.IDLE_SECONDS", 0.05)

    def used() -> weakref.ref[Recorder]:
        recorder = Recorder()
        batcher = recorder.batcher()
        assert batcher.submit([20]).result(SECONDS) == [400]
        eventually(lambda: batcher._thread is None, "the thread ends", every=0.02)
        assert batcher.submit([21]).result(SECONDS) == [441]  # another one starts
        return weakref.ref(recorder)

    model = used()

    def is_freed() -> bool:
        gc.collect()
        return model() is None

    eventually(is_freed, "it is freed", every=0.05)
