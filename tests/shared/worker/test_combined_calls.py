"""Calls that wait go together: each has its own answer, once, and nobody is left waiting."""

from __future__ import annotations

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
