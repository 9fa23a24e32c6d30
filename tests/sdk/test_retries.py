"""How long a call pauses between its tries, and what a version says."""

from __future__ import annotations

import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone_client._http import CLIENT_VERSION, Answer
from touchstone_client._retries import LONGEST_SECONDS, TRIES, Tries
from touchstone_client._wire import VersionNotice


def answer(status: int, **headers: str) -> Answer:
    return Answer(status, {name.replace("_", "-"): value for name, value in headers.items()}, b"")


@given(st.integers(0, 60), st.sampled_from([429, 503]))
def test_a_pause_is_at_least_what_was_told_and_at_most_eight_seconds_more(
    told: int, status: int
) -> None:
    tries = Tries()
    pauses = [tries.pause(answer(status, retry_after=str(told))) for _ in range(TRIES)]
    assert pauses[-1] is None
    assert all(told <= (one or 0) <= max(told, LONGEST_SECONDS) for one in pauses[:-1])


def test_pauses_grow_to_eight_seconds_while_there_is_patience() -> None:
    tries = Tries(patience=3_600)
    pauses = [tries.pause(None) for _ in range(2_000)]
    assert all(one is not None and one <= LONGEST_SECONDS for one in pauses)
    first = [Tries().pause(None) or 0 for _ in range(2_000)]
    assert 0.45 < max(first) <= 0.5  # full jitter: drawn from 0 to the whole of it
    assert min(first) < 0.05


@pytest.mark.parametrize("told", ["-1", "soon", "Wed, 21 Oct 2026 07:28:00 GMT", "1.5", "٣"])
def test_what_is_no_number_of_seconds_is_not_obeyed(told: str) -> None:
    assert (Tries().pause(answer(503, retry_after=told)) or 0) <= 0.5


@pytest.mark.parametrize("status", [400, 401, 404, 409, 422, 500, 501])
def test_what_will_not_pass_has_no_second_try(status: int) -> None:
    assert Tries(patience=60).pause(answer(status)) is None
    assert Tries().pause(answer(status, x_should_retry="true")) is not None


def test_another_major_version_is_told_once() -> None:
    notice = VersionNotice()
    with pytest.warns(UserWarning, match="version 99"):
        notice.look(answer(200, x_touchstone_version="99.1.0"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        notice.look(answer(200, x_touchstone_version="99.1.0"))
        VersionNotice().look(answer(200, x_touchstone_version=CLIENT_VERSION))
        VersionNotice().look(answer(200))
