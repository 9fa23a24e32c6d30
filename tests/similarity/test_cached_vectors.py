"""Calls that come while the device is busy share a batch, and one that fails, fails alone."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from math import inf
from threading import Event
from time import sleep

import numpy as np
import pytest

from services.similarity.cache import Cache, CachedVectors, Input, Vector
from shared.contracts.errors import JobCancelled, JobStopped, ScoringError
from shared.queue.job_context import JobContext, use_context
from tests.fakes import USE
from tests.patience import SECONDS

BUDGET = 4_096  # inputs of a pass


class Device:
    """Answers with the length of a text; the first batch waits until it is let go."""

    use, budget = USE, BUDGET

    def __init__(self) -> None:
        self.batches: list[list[Input]] = []
        self.busy, self.free = threading.Event(), threading.Event()

    def tokenize(self, inputs: Sequence[Input]) -> list[Input]:
        return list(inputs)

    def width(self, row: Input) -> int:
        return 1

    def run(self, inputs: list[Input]) -> list[Vector]:
        self.batches.append(list(inputs))
        self.busy.set()
        self.free.wait(5 * SECONDS)
        if "bad" in inputs:
            raise ScoringError("too bad")
        return [np.array([len(each)], dtype=np.float32) for each in inputs]


def asked_while_busy(
    device: Device, remembering: CachedVectors[Input], calls: list[list[str]]
) -> list[Future[dict[Input, Vector]]]:
    """One call occupies the device, the others queue up in order; then it is let go."""
    with ThreadPoolExecutor(len(calls) + 1) as threads:
        futures = [threads.submit(remembering.vectors, ["first"])]
        assert device.busy.wait(SECONDS)
        rows = 0
        for call in calls:
            futures.append(threads.submit(remembering.vectors, call))
            rows += len(call)
            while remembering._batcher.waiting() < rows:
                sleep(0.001)
        device.free.set()
    return futures


def test_what_waits_shares_a_batch_and_each_input_is_computed_once() -> None:
    device = Device()
    remembering = CachedVectors(device, "similarity", Cache())
    calls = [[f"text {number}", "shared by all", "first"] for number in range(8)]
    futures = asked_while_busy(device, remembering, calls)
    assert [len(batch) for batch in device.batches] == [1, 9]
    for future, call in zip(futures[1:], calls, strict=True):
        assert {text: vector[0] for text, vector in future.result().items()} == {
            text: len(text) for text in call
        }


def test_answers_do_not_depend_on_the_cache_keeping_them() -> None:
    device = Device()
    remembering = CachedVectors(device, "similarity", Cache(entries=1))
    futures = asked_while_busy(device, remembering, [["a", "bb"], ["bb", "ccc"]])
    assert [sorted(future.result()) for future in futures[1:]] == [["a", "bb"], ["bb", "ccc"]]


def test_a_call_that_fails_fails_alone() -> None:
    device = Device()
    remembering = CachedVectors(device, "similarity", Cache())
    _, good, bad, also_good = asked_while_busy(device, remembering, [["a"], ["bad"], ["b"]])
    assert good.result()["a"] == also_good.result()["b"] == 1
    with pytest.raises(ScoringError, match="too bad"):
        bad.result()


def test_a_large_call_does_not_hold_up_a_small_one_before_it() -> None:
    device = Device()
    remembering = CachedVectors(device, "similarity", Cache())
    large = [str(number) for number in range(BUDGET)]
    asked_while_busy(device, remembering, [["a"], large])
    assert [len(batch) for batch in device.batches] == [1, BUDGET, 1]
    assert "a" in device.batches[1]  # it waits for one pass, whatever else is there


def test_who_stops_while_it_is_served_leaves_the_others_their_answers() -> None:
    """A stopped job waits for the device no longer, and whoever shared its queue goes on."""
    device, cancelled = Device(), Event()
    remembering = CachedVectors(device, "similarity", Cache())
    context = JobContext("job", "tenant", False, inf, cancelled)

    def stopped() -> type[BaseException] | None:
        with use_context(context):
            try:
                remembering.vectors(["mine"])
            except JobStopped as error:
                return type(error)
        return None

    with ThreadPoolExecutor(3) as threads:
        first = threads.submit(stopped)
        assert device.busy.wait(SECONDS)
        other = threads.submit(remembering.vectors, ["theirs"])
        behind = threads.submit(stopped)
        while remembering._batcher.waiting() < 2:
            sleep(0.001)
        cancelled.set()
        assert first.result() == JobCancelled
        assert behind.result() == JobCancelled
        device.free.set()
        assert other.result()["theirs"][0] == len("theirs")
    assert not remembering._batcher.waiting()
    assert ["mine"] not in device.batches[1:]
