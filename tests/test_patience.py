"""What is away costs an impatient thread so many seconds in all, however often it is asked."""

from __future__ import annotations

from itertools import islice

from hypothesis import given
from hypothesis import strategies as st

from shared.queue.job_context import LEAST_SECONDS, iter_retries, limit_wait

SECONDS = st.floats(0.1, 500)


@given(SECONDS, SECONDS, st.integers(1, 30))
def test_unanswered_calls_cost_no_more_in_all(patience: float, each: float, calls: int) -> None:
    with limit_wait(patience):
        waited = [seconds for _ in range(calls) for seconds in iter_retries(3, each)]
    assert len(waited) == calls
    assert sum(waited) <= patience + calls * LEAST_SECONDS
    assert max(waited) <= each


@given(SECONDS, st.integers(1, 30))
def test_answered_calls_cost_no_patience(each: float, calls: int) -> None:
    with limit_wait(each):
        waits = [next(iter_retries(3, each)) for _ in range(calls)]
    assert waits[0] == max(waits) == min(waits)


def test_others_send_again() -> None:
    assert list(iter_retries(3, 120.0)) == [120.0] * 3
    with limit_wait(15):
        assert list(islice(iter_retries(3, 120.0), 2)) == [15]
    assert list(iter_retries(2, 1.0)) == [1.0] * 2
