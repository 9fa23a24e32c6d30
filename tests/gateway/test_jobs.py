"""/v1/jobs: found, listed and cancelled, or refused with a reason."""

from __future__ import annotations

import httpx
import pytest
from sqlalchemy import Engine

from shared.contracts.errors import (
    AnswerCut,
    AttemptsExhausted,
    ModelCannot,
    ModelNotReady,
    ModelUnusable,
    ScoringError,
    TextTooLong,
    TooManyRows,
)
from shared.contracts.problems import problem, type_name
from tests.gateway.results import a_result
from tests.gateway.test_scores import GOOD, URL
from tests.ledger import fail, succeed


def test_jobs_are_listed_by_state_and_cancelled_once(client: httpx.Client, engine: Engine) -> None:
    ids = [client.post(URL, json=GOOD).json()["id"] for _ in range(3)]
    cancelled = client.post(f"/v1/jobs/{ids[0]}/cancel")
    again = client.post(f"/v1/jobs/{ids[0]}/cancel")
    assert (cancelled.status_code, again.status_code) == (200, 200)
    assert cancelled.json() == again.json()
    open_jobs = client.get("/v1/jobs", params={"status": "queued", "limit": 1}).json()
    assert (len(open_jobs["data"]), open_jobs["has_more"]) == (1, True)
    rest = client.get("/v1/jobs", params={"status": "queued", "after": open_jobs["last_id"]}).json()
    assert {open_jobs["last_id"], rest["last_id"]} == set(ids[1:])
    assert rest["has_more"] is False


def test_an_ended_job_cannot_be_cancelled(client: httpx.Client, engine: Engine) -> None:
    job_id = client.post(URL, json=GOOD).json()["id"]
    succeed(engine, job_id, a_result(1))
    answer = client.post(f"/v1/jobs/{job_id}/cancel")
    assert (answer.status_code, answer.json()["type"].rpartition("#")[2]) == (409, "already-final")


def test_a_list_is_of_summaries_that_filters_choose(client: httpx.Client, engine: Engine) -> None:
    bodies = [GOOD | {"metadata": {"user": user}} for user in ("a", "b")]
    first, second = (client.post(URL, json=body).json() for body in bodies)
    succeed(engine, first["id"], a_result(0.5))
    verdict = a_result(0.5)["verdict"]
    made = first["created_at"]
    for query, expected in (
        ({}, [second, first]),
        ({"verdict": verdict}, [first]),
        ({"metadata[user]": "b"}, [second]),
        ({"metadata[user]": "c"}, []),
        ({"created_before": made - 60}, []),
        ({"created_after": made - 60}, [second, first]),
        ({"id": [first["id"]]}, [first]),
    ):
        found = client.get("/v1/jobs", params=query).json()["data"]
        assert [one["id"] for one in found] == [one["id"] for one in expected], query
    assert "result" not in found[0]
    assert (found[0]["verdict"], found[0]["score"], found[0]["metadata"]) == (
        verdict,
        0.5,
        {"user": "a"},
    )
    whole = client.get("/v1/jobs", params={"expand": "result", "id": first["id"]}).json()["data"]
    assert whole[0]["result"]["score"] == 0.5


def test_a_job_has_its_request_where_texts_are_stored(client: httpx.Client) -> None:
    for private in (False, True):
        job = client.post(URL, json=GOOD | {"do_not_store_text": private}).json()["id"]
        request = client.get(f"/v1/jobs/{job}").json()["request"]
        assert request is None if private else request["text"] == GOOD["text"]


@pytest.mark.parametrize("job_id", ["job_0", "x", "job_" + "0" * 32, "%00", "..%5c"])
def test_an_unknown_job_is_not_found(client: httpx.Client, job_id: str) -> None:
    answer = client.get(f"/v1/jobs/{job_id}")
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    "query",
    [
        "after=x",
        "metric=%00",
        "status=lost",
        "verdict=good",
        "expand=all",
        "limit=1_0",
        "after=job_%00",
        "batch=x",
    ],
)
def test_a_bad_list_query_is_refused(client: httpx.Client, query: str) -> None:
    answer = client.get(f"/v1/jobs?{query}")
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == "#/" + query.partition("=")[0]


OF_WORKERS = (
    AttemptsExhausted("three attempts ended without an end"),
    TextTooLong("the text has more tokens than its model reads", pointer="/text"),
    TooManyRows("2,400 requests are more than 2,000", pointer="/draws"),
    AnswerCut("the model came to no answer: it reasoned to its last token"),
    ModelUnusable("the model 'm' is failed: its file was altered", pointer="/model"),
    ModelNotReady("the model 'm' is being loaded", model="m"),
    ModelCannot("m shows no tokens", model="m", ability="token_rows", abilities=("judge",)),
)


@pytest.mark.parametrize("error", OF_WORKERS, ids=lambda error: str(error.slug))
def test_what_ended_a_job_is_served_as_a_problem(
    client: httpx.Client, engine: Engine, error: ScoringError
) -> None:
    job_id = client.post(URL, json=GOOD).json()["id"]
    fail(engine, job_id, problem(error))
    found = client.get(f"/v1/jobs/{job_id}").json()
    assert (found["status"], found["result"]) == ("failed", None)
    assert type_name(found["error"]) == error.slug
    assert found["error"]["error"]["message"].startswith(found["error"]["title"])


@pytest.mark.parametrize(
    ("method", "address", "says"),
    [
        ("GET", "/v1/jobs?id=%00", "U+0000"),
        ("GET", "/v1/jobs?metadata[a]=%00", "U+0000"),
        ("GET", "/v1/jobs?%00=a", "U+0000"),
        ("DELETE", "/v1/jobs?metadata[a]=%00", "U+0000"),
        ("GET", "/v1/batches?metadata[a]=%00", "U+0000"),
        ("GET", "/jobs?metric=%00", "U+0000"),
        ("GET", "/v1/jobs?status=queued&status=running", "status"),
        ("GET", "/v1/jobs?limit=1&limit=2", "limit"),
        ("GET", "/v1/batches?metadata[user]=a&metadata[user]=b", "metadata[user]"),
        ("DELETE", "/v1/jobs?metadata[user]=a&metadata[user]=b", "metadata[user]"),
    ],
)
def test_a_query_that_cannot_be_meant_is_refused(
    client: httpx.Client, method: str, address: str, says: str
) -> None:
    refused = client.request(method, address)
    assert refused.status_code == 422
    assert says in refused.text
