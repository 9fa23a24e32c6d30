"""Answers of model servers end in their time and size, whatever the server sends."""

from __future__ import annotations

import gzip
import itertools
import json
import time
from collections.abc import Iterable

import pytest

from services.inference.server_watch import connection_error
from shared.contracts.errors import Unavailable
from shared.models.catalogue.entry import ModelEntry
from shared.models.openai.protocol import parse_response
from shared.models.server_connection import AnswerUnread, Connection
from tests.raw_server import raw_server

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n" * 1_000
MANY = 4_000  # answers of 25 kB, more than buffers on the way hold


def error_of(url: str, **keys: float) -> str:
    """The error of one request."""
    keys = {"timeout_seconds": 1, "answer_bytes": 1_000} | keys
    entry = ModelEntry.model_validate(
        {"name": "m", "kind": "causal", "source": f"openai:{url}/v1", **keys}
    )
    with pytest.raises(Unavailable) as caught:
        Connection(entry).get("/models")
    return caught.value.detail


def trickled_head() -> Iterable[bytes]:
    yield b"HTTP/1.1 200 OK\r\nX: "
    yield from itertools.repeat(b"x", 300)  # then it ends, which is another error


def test_a_head_that_trickles_ends_in_its_time() -> None:
    with raw_server(trickled_head(), pause=0.1) as url:
        assert "did not answer" in error_of(url)


def test_a_body_that_trickles_ends_in_its_time() -> None:
    body = [HEAD + b"Content-Length: 300\r\n\r\n", *[b" "] * 300]
    with raw_server(body, pause=0.1) as url:
        assert "did not answer" in error_of(url)


def test_endless_informational_answers_end_by_their_size() -> None:
    with raw_server(itertools.repeat(CONTINUE, MANY)) as url:
        assert "more than" in error_of(url, timeout_seconds=30)


def test_a_body_without_end_ends_by_its_size() -> None:
    endless = itertools.chain([HEAD + b"\r\n"], itertools.repeat(b" " * 10_000))
    with raw_server(endless) as url:
        assert "more than 1,000 bytes" in error_of(url, timeout_seconds=30)


def test_a_small_answer_that_unpacks_to_a_large_one_is_refused() -> None:
    twice = gzip.compress(gzip.compress(b" " * 50_000_000))
    head = HEAD + b"Content-Encoding: gzip, gzip\r\nContent-Length: %d\r\n\r\n" % len(twice)
    with raw_server([head + twice], pause=0.5) as url:
        assert "compressed" in error_of(url, answer_bytes=4_000_000)


def test_the_watch_gets_away_from_a_server_that_never_ends_its_head() -> None:
    unsent = itertools.repeat(CONTINUE, MANY)
    with raw_server(unsent) as url:
        assert connection_error(url) is None
        assert next(unsent, None) is not None


@pytest.mark.parametrize(("status", "is_away"), [(502, True), (503, True), (500, False)])
def test_the_watch_takes_what_a_proxy_answers_for_an_absent_server(
    status: int, is_away: bool
) -> None:
    with raw_server([b"HTTP/1.1 %d X\r\nContent-Length: 0\r\n\r\n" % status]) as url:
        assert (connection_error(url) == f"status {status}") is is_away


@pytest.mark.parametrize("value", [b"[]", b"{}"])
def test_an_answer_of_millions_of_values_is_refused_before_it_is_read(value: bytes) -> None:
    body = b'{"choices": [' + (value + b",") * 1_200_000 + b"0]}"
    with raw_server([HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body], pause=0.5) as url:
        started = time.thread_time()
        assert "too many JSON values" in error_of(url, timeout_seconds=30, answer_bytes=4_000_000)
        assert time.thread_time() - started < 1


@pytest.mark.parametrize("value", ["[]", "{}"])
def test_an_answer_of_many_choices_costs_no_more_than_its_first_fault(value: str) -> None:
    choices = json.loads("[" + ",".join([value] * 200_000) + "]")
    started = time.thread_time()
    with pytest.raises(AnswerUnread):
        parse_response({"choices": choices})
    assert time.thread_time() - started < 1
