"""One id finds the whole story: on every answer, on the job, in every log; one line a request."""

from __future__ import annotations

import io
import json
import logging
import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from sqlalchemy import Engine

from services.hatexscore.contract import CONTRACT
from shared.process import telemetry
from shared.process.settings import SERVICE_VERSION, Settings
from shared.worker.job import run_job
from tests.batches import Scene, line
from tests.gateway.conftest import Opens
from tests.gateway.results import a_result
from tests.gateway.test_callers import routes
from tests.gateway.test_scores import GOOD, URL
from tests.patience import eventually
from tests.servers import finish_next

OURS = re.compile(r"req_[0-9a-f]{32}")
Lines = list[dict[str, Any]]


class Log:
    """What this process logs, as JSON."""

    def __init__(self) -> None:
        self.stream = io.StringIO()

    def lines(self, event: str, **fields: Any) -> Lines:
        """Those of this event with these fields."""
        raw = [json.loads(one) for one in self.stream.getvalue().splitlines() if one[:1] == "{"]
        named = [one for one in raw if one.get("event") == event]
        return [one for one in named if fields.items() <= one.items()]


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> Iterator[Log]:
    made, root = Log(), logging.getLogger()
    before = root.handlers, root.level
    monkeypatch.setattr("sys.stderr", made.stream)
    telemetry.configure_logging("debug", "json")
    yield made
    root.handlers, root.level = before


def test_every_answer_has_an_id_of_its_own(client: httpx.Client) -> None:
    asked = [("GET", path) for path in ("/", "/login", "/static/none", "/openapi.json", "/none")]
    asked += [("GET", path) for path in ("/healthz", "/readyz", "/metrics")]
    asked += [("PUT", "/v1/jobs"), ("OPTIONS", "/v1/jobs"), *routes(client)]
    ids = [client.request(method, path).headers["x-request-id"] for method, path in asked]
    assert all(OURS.fullmatch(one) for one in ids)
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("mine", ["a", "A.b_c-9", "x" * 128])
def test_a_callers_id_is_kept(client: httpx.Client, mine: str) -> None:
    answer = client.get("/v1/jobs/x", headers={"x-request-id": mine})
    assert answer.headers["x-request-id"] == mine
    assert answer.json()["instance"] == f"urn:touchstone:{mine}"


@pytest.mark.parametrize("mine", ["", "a b", "é", "x" * 129, "a\tb", "a;b"])
def test_an_id_of_another_form_is_replaced(client: httpx.Client, mine: str) -> None:
    answer = client.get("/v1/jobs", headers=[(b"x-request-id", mine.encode())])
    assert OURS.fullmatch(answer.headers["x-request-id"])


def test_a_crash_a_stream_and_what_is_not_http_have_an_id(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_id = client.post(URL, json=GOOD).json()["id"]
    with client.stream("GET", f"/v1/jobs/{job_id}/events") as stream:
        assert OURS.fullmatch(stream.headers["x-request-id"])

    def crash(*_: object, **__: object) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr("services.gateway.routes.jobs.metadata_filter", crash)
    crashed = client.get("/v1/jobs", headers={"x-request-id": "mine"})
    assert (crashed.status_code, crashed.headers["x-request-id"]) == (500, "mine")
    assert crashed.json()["error"]["type"] == "server_error"
    too_long = client.get("/v1/jobs", headers={f"x-{number}": "a" for number in range(200)})
    assert (too_long.status_code, too_long.json()["status"]) == (431, 431)
    assert OURS.fullmatch(too_long.headers["x-request-id"])


def test_answers_of_the_api_name_the_version(client: httpx.Client) -> None:
    for path in ("/v1/jobs", "/v1/jobs/x", "/v1/none"):
        assert client.get(path).headers["x-touchstone-version"] == SERVICE_VERSION
    assert "x-touchstone-version" not in client.get("/healthz").headers


def test_the_job_says_which_request_made_it_and_so_does_the_workers_log(
    client: httpx.Client, engine: Engine, log: Log
) -> None:
    job = client.post(URL, json=GOOD, headers={"x-request-id": "mine"}).json()
    assert client.get(f"/v1/jobs/{job['id']}").json()["request_id"] == "mine"

    def crash(_request: object) -> Any:
        raise RuntimeError("a bug")

    run_job(job["id"], CONTRACT, crash)
    (crashed,) = log.lines("job.crashed")
    assert crashed["request_id"] == "mine"
    error = client.get(f"/v1/jobs/{job['id']}").json()["error"]
    assert error["instance"] == "urn:touchstone:mine"


def test_lines_of_a_batch_belong_to_the_request_that_made_it(
    client: httpx.Client, engine: Engine, chosen: Settings
) -> None:
    client.headers["x-request-id"] = "the-batch"
    scene = Scene(client, engine, chosen)
    batch = scene.make([line("a", "a")])
    scene.finish(batch)
    asked = {"batch": batch["id"], "expand": "result"}
    (job,) = client.get("/v1/jobs", params=asked).json()["data"]
    assert job["request_id"] == "the-batch"


def test_times_are_whole_seconds_and_lengths_are_not(client: httpx.Client, engine: Engine) -> None:
    job = client.post(URL, json=GOOD).json()
    assert job["timing"] == {"queued_seconds": None, "run_seconds": None}
    finish_next(engine, a_result(1))
    job = client.get(f"/v1/jobs/{job['id']}").json()
    moments = [job[f"{name}_at"] for name in ("created", "started", "finished")]
    assert all(type(moment) is int for moment in moments)
    assert moments == sorted(moments)
    assert all(length >= 0 for length in job["timing"].values())
    cancelled = client.post(URL, json=GOOD).json()["id"]
    timing = client.post(f"/v1/jobs/{cancelled}/cancel").json()["timing"]
    assert (timing["queued_seconds"] >= 0, timing["run_seconds"]) == (True, None)


def test_no_schema_has_a_timestamp_that_is_no_integer(client: httpx.Client) -> None:
    schemas = client.get("/openapi.json").json()["components"]["schemas"]
    moments = [
        (name, field, json.dumps(shape))
        for name, schema in schemas.items()
        for field, shape in schema.get("properties", {}).items()
        if field.endswith(("_at", "_until")) or field in ("created", "since", "at")
    ]
    assert len(moments) > 20
    assert [one for one in moments if '"number"' in one[2]] == []


def test_a_line_a_request_without_what_is_nobodys_business(opens: Opens, log: Log) -> None:
    client = opens("acme", "score")
    agent = "curl/8 " + "x" * 200
    client.post(
        URL,
        json=GOOD,
        headers={"user-agent": agent, "x-request-id": "one"},
    )
    client.get("/v1/jobs", params={"after": "job_" + "7" * 32}, headers={"x-request-id": "two"})
    client.get("/healthz", headers={"x-request-id": "three"})

    def found(request_id: str) -> Lines:
        return log.lines("http.request", request_id=request_id)

    for one in ("one", "two", "three"):
        eventually(lambda one=one: found(one), f"no line for {one}")  # type: ignore[misc]
    (posted,), (listed,), (probe,) = found("one"), found("two"), found("three")
    assert (posted["method"], posted["route"], posted["status"]) == (
        "POST",
        "/v1/scores/{metric}",
        202,
    )
    assert (posted["level"], probe["level"]) == ("info", "debug")
    assert (posted["tenant"], probe["tenant"]) == ("acme", None)
    assert re.fullmatch(r"key_[0-9a-f]+", posted["key"])
    assert posted["agent"] == agent[:120]
    assert posted["bytes_in"] == len(httpx.Request("POST", "http://a", json=GOOD).content)
    assert posted["bytes_out"] > 100
    assert posted["ms"] > 0
    assert (listed["route"], listed["status"]) == ("/v1/jobs", 200)
    written = log.stream.getvalue()
    secret = client.headers["authorization"].removeprefix("Bearer ")
    for private in ("7" * 32, secret, GOOD["text"]):
        assert private not in written


def test_head_is_wherever_get_is(client: httpx.Client, engine: Engine) -> None:
    job = client.post(URL, json=GOOD).json()
    paths = ["/", "/try", "/healthz", "/readyz", "/openapi.json", "/v1/jobs", "/v1/none", "/none"]
    paths += [path for method, path in routes(client) if method == "GET"]
    paths += [f"/v1/jobs/{job['id']}", f"/jobs/{job['id']}"]
    for path in paths:
        client.cookies.clear()
        head = client.head(path)
        client.cookies.clear()
        got = None if "events" in path else client.get(path)
        assert head.content == b""
        if got is not None:
            assert head.status_code == got.status_code, path
            assert head.headers.keys() == got.headers.keys(), path
            for name in ("content-type", "cache-control"):
                assert head.headers[name] == got.headers[name], path
    style = client.get("/").text.partition('href="/static/')[2].partition('"')[0]
    assert client.head(f"/static/{style}").headers["content-length"] != "0"
    assert client.head(URL).status_code == client.get(URL).status_code == 405


def test_head_of_a_stream_is_its_head_and_an_end(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.gateway.caller.STREAMS.most", 1)
    job_id = client.post(URL, json=GOOD).json()["id"]
    for _ in range(3):  # each lets go of its place: one at a time is allowed
        head = eventually(
            lambda: one if (one := client.head(f"/v1/jobs/{job_id}/events")).is_success else None,
            "the place of the stream before is still taken",
        )
        assert head is not None
        assert head.headers["content-type"].startswith("text/event-stream")
        assert head.content == b""


@pytest.mark.parametrize("field", ["do_not_store_text", "do\\u005fnot_store_text", "metadata"])
def test_a_crash_of_a_private_request_is_logged_without_its_words(
    client: httpx.Client, log: Log, monkeypatch: pytest.MonkeyPatch, field: str
) -> None:
    """However its body is cut and spelled: the field's name may come in two pieces, and in
    escapes."""

    def crash(raw: bytes, _: object) -> None:
        raise RuntimeError(f"a bug about {raw.decode()}")

    monkeypatch.setattr("services.gateway.http_requests.parse_body", crash)
    private = field != "metadata"
    body = json.dumps(GOOD | {"field": True}).replace('"field"', f'"{field}"').encode()
    pieces = body.partition(b"not_store" if private else b"text")
    headers = {"content-type": "application/json"}
    answer = client.post(URL, content=(one for one in pieces), headers=headers)
    assert answer.status_code == 500
    [told] = log.lines("request.crashed")
    assert (GOOD["text"] in json.dumps(told, ensure_ascii=False)) is not private
    assert "in crash" in json.dumps(told)
