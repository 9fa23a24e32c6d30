"""Server-sent events: what happened comes in order, once, and the stream ends."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from sqlalchemy import Engine

from tests.batches import Scene, line
from tests.gateway.results import a_result
from tests.gateway.test_scores import GOOD, URL
from tests.servers import finish_next

Event = tuple[str, str, Any]  # id, name, data


def events(client: httpx.Client, path: str, last: str | None = None) -> Iterator[Event]:
    """The stream as a browser reads it."""
    headers = {"Last-Event-ID": last} if last else {}
    with client.stream("GET", path, headers=headers) as answer:
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/event-stream")
        assert answer.headers["x-accel-buffering"] == "no"
        fields: dict[str, str] = {}
        for raw in answer.iter_lines():
            if raw:
                name, _, value = raw.partition(":")
                fields[name] = value.strip()
            elif "event" in fields:
                yield fields.get("id", ""), fields["event"], json.loads(fields["data"])
                fields = {}


def test_a_job_tells_its_way_and_ends(client: httpx.Client, engine: Engine) -> None:
    job_id = client.post(URL, json=GOOD).json()["id"]
    worker = threading.Timer(0.3, finish_next, args=(engine, a_result(1)))
    worker.start()
    told = list(events(client, f"/v1/jobs/{job_id}/events"))
    worker.join()
    assert [name for _, name, _ in told] == ["job.queued", "job.running", "job.succeeded", "end"]
    assert [number for number, *_ in told] == ["1", "2", "3", ""]
    assert told[2][2]["id"] == job_id


@pytest.mark.parametrize("last", ["1", "2", "x", "-1", "9" * 40])
def test_who_comes_back_gets_what_it_missed(
    client: httpx.Client, engine: Engine, last: str
) -> None:
    job_id = client.post(URL, json=GOOD).json()["id"]
    finish_next(engine, a_result(1))
    told = [number for number, *_ in events(client, f"/v1/jobs/{job_id}/events", last)]
    seen = int(last) if last in "123" else 0
    assert told == [str(number) for number in range(1, 4) if number > seen] + [""]


def test_who_has_seen_the_end_is_told_not_to_come_back(
    client: httpx.Client, engine: Engine, chosen: Any
) -> None:
    job_id = client.post(URL, json=GOOD).json()["id"]
    finish_next(engine, a_result(1))
    scene = Scene(client, engine, chosen)
    batch = scene.make([line("a", "a")])
    scene.finish(batch)
    for path in (f"/v1/jobs/{job_id}/events", f"/v1/batches/{batch['id']}/events"):
        *_, (last, *_), _end = events(client, path)
        for _ in range(2):
            answer = client.get(path, headers={"Last-Event-ID": last})
            assert (answer.status_code, answer.content) == (204, b"")
            assert "content-type" not in answer.headers


def test_an_open_job_is_never_told_as_ended(client: httpx.Client) -> None:
    job_id = client.post(URL, json=GOOD).json()["id"]
    path, seen = f"/v1/jobs/{job_id}/events", {"Last-Event-ID": "1"}
    with client.stream("GET", path, headers=seen) as answer:
        assert answer.status_code == 200


def test_a_batch_tells_its_counts_and_ends(
    client: httpx.Client, engine: Engine, chosen: Any
) -> None:
    scene = Scene(client, engine, chosen)
    batch = scene.make([line("a", "a"), line("b", "bad")])
    worker = threading.Timer(0.3, scene.finish, args=(batch,))
    worker.start()
    told = list(events(client, f"/v1/batches/{batch['id']}/events"))
    worker.join()
    numbers = [int(number) for number, *_ in told[:-1]]
    assert numbers == sorted(set(numbers))
    names = [name for _, name, _ in told]
    assert (names[0], names[-2:]) == ("batch.validating", ["batch.completed", "end"])
    counts = [data["request_counts"] for _, _, data in told[:-1]]
    assert counts[-1] == {"total": 2, "completed": 1, "failed": 1}
    assert told[-2][2] == scene.batch(batch)


@pytest.mark.parametrize("path", ["jobs/job_" + "0" * 32, "batches/batch_" + "0" * 32, "jobs/x"])
def test_of_what_is_unknown_nothing_is_told(client: httpx.Client, path: str) -> None:
    answer = client.get(f"/v1/{path}/events")
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"
