"""Calls that wait go together: each has its own answer, once, and nobody is left waiting."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from shared.worker.combined_calls import MOST, CombinedCalls
from tests.patience import SECONDS, eventually


class Squares:
    """Squares numbers, and fails where 13 is among them."""

    def __init__(self) -> None:
        self.calls: list[list[int]] = []
        self.free = threading.Event()

    def __call__(self, items: Sequence[int]) -> list[int]:
        self.calls.append(list(items))
        self.free.wait(SECONDS)
        if 13 in items:
            raise ZeroDivisionError("13")
        return [item * item for item in items]


def test_who_calls_alone_is_answered_at_once() -> None:
    squares = Squares()
    squares.free.set()
    calls = CombinedCalls(squares)
    assert [calls(number) for number in (2, 3)] == [4, 9]
    assert squares.calls == [[2], [3]]


def test_calls_that_wait_go_together_and_each_has_its_own_answer() -> None:
    squares = Squares()
    calls = CombinedCalls(squares)
    numbers = list(range(20, 60))
    with ThreadPoolExecutor(41) as pool:
        first = pool.submit(calls, 1)
        eventually(lambda: squares.calls == [[1]])
        others = [pool.submit(calls, number) for number in numbers]
        eventually(lambda: len(calls._waiting) == len(numbers))
        squares.free.set()
        assert first.result(SECONDS) == 1
        assert [other.result(SECONDS) for other in others] == [number**2 for number in numbers]
    assert [len(items) for items in squares.calls] == [1, MOST, MOST, 40 - 2 * MOST]
    assert sorted(item for items in squares.calls[1:] for item in items) == numbers


def test_an_exception_reaches_those_of_its_call_and_the_next_ones_go_on() -> None:
    squares = Squares()
    calls = CombinedCalls(squares)
    with ThreadPoolExecutor(4) as pool:
        first = pool.submit(calls, 1)
        eventually(lambda: squares.calls == [[1]])
        others = [pool.submit(calls, number) for number in (13, 2)]
        eventually(lambda: len(calls._waiting) == 2)
        squares.free.set()
        assert first.result(SECONDS) == 1
        for other in others:
            with pytest.raises(ZeroDivisionError):
                other.result(SECONDS)
        assert calls(3) == 9


def test_a_thread_that_is_ended_while_it_waits_keeps_nobody_waiting() -> None:
    squares = Squares()
    calls = CombinedCalls(squares)
    threads: dict[int, int] = {}

    def call(number: int) -> int:
        threads[number] = threading.get_ident()
        return calls(number)

    with ThreadPoolExecutor(3) as pool:
        answers = []
        answers.append(pool.submit(call, 1))
        eventually(lambda: squares.calls == [[1]])
        answers.append(pool.submit(call, 2))  # the next to call for all that wait
        eventually(lambda: len(calls._waiting) == 1)
        answers.append(pool.submit(call, 3))
        eventually(lambda: len(calls._waiting) == 2)
        raised = ctypes.py_object(InterruptedError)
        assert ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(threads[2]), raised) == 1
        squares.free.set()
        assert [answers[0].result(SECONDS), answers[2].result(SECONDS)] == [1, 9]
        assert isinstance(answers[1].exception(SECONDS), InterruptedError)
    assert squares.calls == [[1], [3]]
    assert calls(4) == 16
