"""What networks do to a client: no call is lost, none is done twice, no wait outlasts its end."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.end_to_end.service import Service
from tests.patience import eventually
from tests.sdk.fault_proxy import PASS, Fault, proxying
from touchstone_client import (
    AsyncTouchstone,
    BadRequest,
    ConnectionFailed,
    RateLimited,
    Touchstone,
    Unavailable,
    _retries,
)
from touchstone_client._sync import api

pytestmark = pytest.mark.end_to_end

SCORE = "/v1/scores/hatexscore"
BULK = "/v1/scores:batchCreate"
POST = {
    "text": "Honestly, those immigrants are ruining our lovely old town.",
    "explanation": 'It says "those immigrants are ruining our lovely old town". Hateful.',
    "probabilities": {"original": 0.9, "masked": 0.1},
}
PROBLEM = {"type": "https://example.com/problems/x", "title": "No", "detail": "not now"}


def said(status: int, **headers: str) -> Fault:
    body = json.dumps(PROBLEM | {"status": status}).encode()
    return Fault(status, {"Content-Type": "application/problem+json", **headers}, body)


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_retries, "FIRST_SECONDS", 0.01)


def jobs_of(ts: Touchstone) -> set[str]:
    return {one.id for one in ts.jobs.list(metric="hatexscore")}


@pytest.mark.parametrize(
    "fault",
    [
        said(503),
        said(408),
        said(502),
        said(429),
        Fault(lost=True),
        said(409, **{"x-should-retry": "true"}),
    ],
)
def test_it_is_tried_again_with_the_same_key_and_done_once(
    service: Service, ts: Touchstone, fault: Fault
) -> None:
    def choose(method: str, path: str, before: int) -> Fault:
        return fault if path == SCORE and before < 3 else PASS

    before = jobs_of(ts)
    with proxying(service.url, choose) as proxy, Touchstone(proxy.url) as client:
        result = client.hatexscore(POST)
        assert proxy.count("POST", SCORE) == 4
        assert len(set(proxy.keys(SCORE))) == 1
        client.hatexscore(POST)
        assert len(set(proxy.keys(SCORE))) == 2  # another call has another key
    assert result.job.id in jobs_of(ts) - before
    assert len(jobs_of(ts) - before) == 2


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (said(503), Unavailable),
        (said(429), RateLimited),
        (Fault(lost=True), ConnectionFailed),
    ],
)
def test_after_four_tries_it_is_given_up(
    service: Service, fault: Fault, kind: type[Exception]
) -> None:
    with (
        proxying(service.url, lambda *_: fault) as proxy,
        Touchstone(proxy.url) as client,
        pytest.raises(kind),
    ):
        client.models.get("embedded-hate")
    assert len(proxy.seen) == 4


@pytest.mark.parametrize(
    "fault",
    [said(422), said(503, **{"x-should-retry": "false"}), said(429, **{"Retry-After": "61"})],
)
def test_what_will_not_pass_is_not_tried_again(service: Service, fault: Fault) -> None:
    with (
        proxying(service.url, lambda *_: fault) as proxy,
        Touchstone(proxy.url) as client,
        pytest.raises((BadRequest, Unavailable, RateLimited)),
    ):
        client.hatexscore(POST)
    assert len(proxy.seen) == 1


def test_it_waits_as_long_as_it_is_told(service: Service) -> None:
    def choose(method: str, path: str, before: int) -> Fault:
        return PASS if before else said(429, **{"Retry-After": "2"})

    with proxying(service.url, choose) as proxy, Touchstone(proxy.url) as client:
        begun = time.monotonic()
        client.models.get("embedded-hate")
        assert time.monotonic() - begun >= 2


def test_an_endpoint_is_not_made_twice(service: Service, ts: Touchstone) -> None:
    with proxying(service.url, lambda *_: Fault(lost=True)) as proxy:
        with Touchstone(proxy.url) as client, pytest.raises(ConnectionFailed):
            client.webhooks.create("http://127.0.0.1:9/lost")
        assert len(proxy.seen) == 1
    for one in ts.webhooks.list():
        ts.webhooks.delete(one.id)


@pytest.mark.parametrize(
    "fault",
    [Fault(bytes=0), Fault(bytes=60), said(429), said(503), Fault(held=True)],
    ids=["broken", "broken-off", "open-streams", "away", "held-back"],
)
def test_a_wait_survives_its_stream(
    service: Service, fault: Fault, monkeypatch: pytest.MonkeyPatch
) -> None:
    """held-back: a proxy that passes nothing on until the end."""
    monkeypatch.setattr(api, "SILENT_SECONDS", 1.0)

    def choose(method: str, path: str, before: int) -> Fault:
        return fault if path.endswith("/events") else PASS

    with proxying(service.url, choose) as proxy, Touchstone(proxy.url) as client:
        job = client.jobs.create("hatexscore", POST)
        assert job.wait(120).score is not None
        assert any(path.endswith("/events") for _, path, _ in proxy.seen)
        assert [one["status"] for one in client.jobs.create("hatexscore", POST).events()][
            -1
        ] == "succeeded"


def test_a_stream_goes_on_where_it_broke_off(service: Service, ts: Touchstone) -> None:
    batch = ts.batches.create([POST] * 2, "hatexscore").wait(progress=False)

    def choose(method: str, path: str, before: int) -> Fault:
        return Fault(bytes=60) if path.endswith("/events") and not before else PASS

    with proxying(service.url, choose) as proxy, Touchstone(proxy.url) as client:
        seen = list(client.batches.get(batch.id).events())
        assert [one.status for one in seen] == ["completed"]
        assert sum(path.endswith("/events") for _, path, _ in proxy.seen) == 2


def rows(count: int) -> Iterator[dict[str, Any]]:
    for number in range(count):
        yield POST | {"text": f"{POST['text']} {number}", "metadata": {"row": str(number)}}


@pytest.mark.parametrize("via", ["calls", "batch"])
def test_no_row_is_lost_or_scored_twice_where_the_gateway_is_killed(
    service: Service, ts: Touchstone, via: Any
) -> None:
    """Right after the rows were committed, and before their answer came: by a proxy that then kills
    it."""
    before = jobs_of(ts)
    place = BULK if via == "calls" else "/v1/batches"
    killed = threading.Event()

    def choose(method: str, path: str, count: int) -> Fault:
        if (method, path) == ("POST", place) and count == 0:
            return Fault(lost=True)
        if (method, path) == ("POST", place) and not killed.is_set():
            killed.set()
            service.kill("services.gateway")
        return PASS

    with proxying(service.url, choose) as proxy, Touchstone(proxy.url, patience=120) as client:
        scores = client.score_many(rows(60), "hatexscore", via=via, progress=False)
        assert killed.is_set()
        assert len(set(proxy.keys(place))) == 1
    made = eventually(lambda: jobs_of(ts))
    jobs = [one.job for one in scores]
    assert [one.metadata["row"] for one in jobs] == [str(number) for number in range(60)]
    assert len({one.id for one in jobs}) == 60
    assert {one.id for one in jobs} == made - before


def test_a_service_that_is_away_for_a_while_is_waited_for(service: Service) -> None:
    """Awaited: the same code."""
    begun = time.monotonic()

    def choose(method: str, path: str, before: int) -> Fault:
        return PASS if time.monotonic() - begun > 3 else said(503)

    async def score(url: str) -> int:
        async with AsyncTouchstone(url, patience=120) as client:
            return len(await client.score_many(rows(3), "hatexscore", progress=False))

    with proxying(service.url, choose) as proxy:
        assert asyncio.run(score(proxy.url)) == 3
        assert len(proxy.seen) > 4
