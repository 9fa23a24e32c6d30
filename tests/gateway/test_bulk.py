"""Many jobs in one call: all of them or none, in order, once, whatever happens in between."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import Engine, text

from cli.stack.servers import HOST, free_port
from services.gateway import caller
from services.gateway.routes.bulk import MAX_BULK_BYTES
from shared.process.settings import Settings
from shared.queue import broker
from tests.gateway.conftest import Opens
from tests.gateway.results import a_result
from tests.gateway.test_quotas import refused
from tests.gateway.test_scores import GOOD, URL, nothing_happened
from tests.ledger import succeed
from tests.patience import SECONDS, eventually
from tests.servers import finish_next

BULK = "/v1/scores:batchCreate"
METRIC = "hatexscore"
Json = dict[str, Any]


def bodies(count: int, **more: Any) -> list[Json]:
    return [GOOD | {"metadata": {"n": str(number)}} | more for number in range(count)]


def ids_of(answer: httpx.Response) -> list[str]:
    assert answer.is_success, answer.text
    return [one["id"] for one in answer.json()["data"]]


def job_count(engine: Engine) -> int:
    with engine.connect() as connection:
        return int(connection.execute(text("SELECT count(*) FROM jobs")).scalar_one())


@pytest.mark.parametrize(
    ("odd", "pointer"),
    [
        ({"text": "a\0b"}, "/text"),
        ({"metadata": {"k": "\\\0"}}, "/metadata/k"),
        ({"metadata": {"user[id]": "u1"}}, "/metadata/user[id]"),
        ({"metadata": {"a\nb": "u1"}}, "/metadata/a\nb"),
    ],
)
def test_what_cannot_be_kept_or_found_again_is_refused(
    client: httpx.Client, odd: dict[str, Any], pointer: str
) -> None:
    body = GOOD | odd
    single = client.post(f"/v1/scores/{METRIC}", json=body)
    bulk = client.post(BULK, json={"metric": METRIC, "requests": [GOOD, body]})
    assert (single.status_code, bulk.status_code) == (422, 422)
    assert single.json()["errors"][0]["pointer"] == f"#{pointer}"
    assert bulk.json()["errors"][0]["pointer"] == f"#/requests/1{pointer}"
    kept = GOOD | {"text": "a\\u0000", "metadata": {"user id_-.:/@(1)": "u1"}}
    assert client.post(f"/v1/scores/{METRIC}", json=kept).status_code == 202


def test_of_too_many_faults_the_first_hundred_are_told(client: httpx.Client) -> None:
    """And each request's, not those of the first alone."""
    wrong = [GOOD | {f"f{n}": 1 for n in range(3)} for _ in range(600)]
    refusal = client.post(BULK, json={"metric": METRIC, "requests": wrong})
    assert refusal.status_code == 422
    places = [one["pointer"] for one in refusal.json()["errors"]]
    assert 100 <= len(places) <= 102
    assert {place.split("/")[2] for place in places} == {str(n) for n in range(34)}


@pytest.mark.parametrize("count", [1, 7, 1_000])
def test_all_are_committed_in_their_order_and_a_message_goes_out_for_each(
    client: httpx.Client, engine: Engine, count: int
) -> None:
    answer = client.post(
        BULK,
        json={"metric": METRIC, "requests": bodies(count)},
        headers={"x-request-id": "the-call"},
    )
    assert answer.status_code == 202
    found = answer.json()
    assert (found["object"], found["has_more"], len(found["data"])) == ("list", False, count)
    assert all(
        (one["object"], one["metric"], one["status"]) == ("job", "hatexscore", "queued")
        for one in found["data"]
    )
    some = {"id": ids_of(answer)[:100], "expand": "result"}
    got = client.get("/v1/jobs", params=some).json()["data"][::-1]
    assert [one["metadata"]["n"] for one in got] == [str(n) for n in range(min(count, 100))]
    assert {one["request_id"] for one in got} == {"the-call"}
    assert job_count(engine) == count
    eventually(lambda: broker.queue_length("hatexscore") == count, "not every message was sent")


def test_a_job_of_a_call_is_the_job_of_a_post(client: httpx.Client, engine: Engine) -> None:
    body = GOOD | {"seed": 7, "options": {"policy": {"a": ["b"]}}}
    ids_of(client.post(BULK, json={"metric": METRIC, "requests": [body]}))
    client.post(URL, json=body)
    with engine.connect() as connection:
        rows = connection.execute(text("SELECT * FROM jobs ORDER BY id")).mappings().all()
    differs = {"id", "created_at", "resend_at", "request_id"}
    first, second = ({k: v for k, v in row.items() if k not in differs} for row in rows)
    assert first == second


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"nonsense": 1}, "/nonsense"),
        ({"model": "somebody-elses"}, "/model"),
        ({"webhook": "we_" + "0" * 32}, "/webhook"),
        ({"options": {"policy": {"group": [7]}}}, "/options/policy/group/0"),
    ],
)
def test_one_invalid_request_refuses_all_and_is_pointed_at(
    client: httpx.Client, engine: Engine, change: Json, pointer: str
) -> None:
    asked = bodies(20)
    asked[17] |= change
    asked[3] |= change
    answer = client.post(BULK, json={"metric": METRIC, "requests": asked})
    problem = answer.json()
    assert (answer.status_code, problem["status"]) == (422, 422)
    places = {entry["pointer"] for entry in problem["errors"]}
    assert {f"#/requests/3{pointer}", f"#/requests/17{pointer}"} <= places
    assert all(place.startswith(("#/requests/3/", "#/requests/17/")) for place in places)
    assert problem["error"]["param"].startswith("requests.3.")
    assert nothing_happened(engine)


@pytest.mark.parametrize(
    "body",
    [{}, {"requests": []}, {"requests": "x"}, {"requests": [1]}, {"requests": [GOOD] * 1_001}, []],
)
def test_what_is_no_list_of_requests_is_refused(
    client: httpx.Client, engine: Engine, body: Any
) -> None:
    sent = {"metric": METRIC} | body if body else body
    assert client.post(BULK, json=sent).status_code == 422
    assert nothing_happened(engine)


def test_of_many_faults_the_first_hundred_are_listed(client: httpx.Client) -> None:
    for wrong in ({"options": {"tau": 2}}, {"model": "somebody-elses"}):
        problem = client.post(
            BULK, json={"metric": METRIC, "requests": bodies(300, **wrong)}
        ).json()
        assert len(problem["errors"]) == 100
        assert "300" in problem["detail"]


def test_a_call_has_a_size(client: httpx.Client) -> None:
    large = json.dumps({"metric": METRIC, "requests": [GOOD], "x": "y" * MAX_BULK_BYTES})
    kind = {"content-type": "application/json"}
    assert client.post(BULK, content=large, headers=kind).status_code == 413
    long = [GOOD | {"text": "x" * 15_000}] * 100  # more than one post may have
    assert client.post(BULK, json={"metric": METRIC, "requests": long}).status_code == 202


def test_an_unknown_metric_is_pointed_at(client: httpx.Client) -> None:
    for body in ({}, {"metric": "nope"}, {"metric": ["hatexscore"]}):
        answer = client.post(BULK, json=body | {"requests": [GOOD]})
        assert answer.status_code == 422
        assert answer.json()["errors"][0]["pointer"] == "#/metric"


def test_a_key_covers_the_whole_call(client: httpx.Client, engine: Engine) -> None:
    key, call = {"Idempotency-Key": '"once"'}, {"metric": METRIC, "requests": bodies(5)}
    first = client.post(BULK, json=call, headers=key)
    succeed(engine, ids_of(first)[0], a_result(1))
    again = client.post(BULK, json=call, headers=key)
    assert (again.status_code, again.headers["idempotent-replayed"]) == (202, "true")
    assert ids_of(again) == ids_of(first)
    assert [one["status"] for one in again.json()["data"]] == ["succeeded"] + ["queued"] * 4
    for other in (bodies(4), bodies(5)[::-1]):
        wrong = client.post(BULK, json={"metric": METRIC, "requests": other}, headers=key)
        assert (wrong.status_code, wrong.json()["error"]["code"]) == (422, "idempotency-key-reused")
    single = client.post(URL, json=bodies(1)[0], headers=key)
    assert single.json()["error"]["code"] == "idempotency-key-reused"
    assert job_count(engine) == 5


def test_a_key_whose_jobs_are_no_longer_kept_makes_new_ones_once(
    client: httpx.Client, engine: Engine
) -> None:
    key, call = {"Idempotency-Key": '"late"'}, {"metric": METRIC, "requests": bodies(3)}
    first = ids_of(client.post(BULK, json=call, headers=key))
    with engine.begin() as connection:
        over = "UPDATE jobs SET status = 'cancelled', finished_at = now() - interval '10 years'"
        connection.execute(text(over))
    again = client.post(BULK, json=call, headers=key)
    assert not {*first} & {*ids_of(again)}
    third = client.post(BULK, json=call, headers=key)
    assert (ids_of(third), third.headers["idempotent-replayed"]) == (ids_of(again), "true")


def test_a_key_of_a_post_is_not_one_of_a_call(client: httpx.Client) -> None:
    key = {"Idempotency-Key": '"taken"'}
    client.post(URL, json=GOOD, headers=key)
    answer = client.post(BULK, json={"metric": METRIC, "requests": [GOOD]}, headers=key)
    assert answer.json()["error"]["code"] == "idempotency-key-reused"


def test_of_a_crowd_with_one_key_one_makes_the_jobs(client: httpx.Client, engine: Engine) -> None:
    key, call = {"Idempotency-Key": '"crowd"'}, {"metric": METRIC, "requests": bodies(50)}
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: client.post(BULK, json=call, headers=key), range(16)))
    assert {answer.status_code for answer in answers} <= {202, 409}
    made = {tuple(ids_of(answer)) for answer in answers if answer.status_code == 202}
    assert len(made) == 1
    for answer in answers:
        if answer.status_code == 409:
            assert answer.json()["error"]["code"] == "still-running"
            assert answer.headers["x-should-retry"] == "true"
    assert job_count(engine) == 50


@contextlib.contextmanager
def jobs_locked(engine: Engine) -> Iterator[None]:
    """Nobody can insert a job while the block lasts."""
    with engine.begin() as connection:
        connection.execute(text("LOCK TABLE jobs IN SHARE MODE"))
        yield


def inserts_waiting(engine: Engine) -> bool:
    query = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query ILIKE "
    with engine.connect() as connection:
        return bool(connection.execute(text(query + "'INSERT INTO jobs%'")).scalar_one())


def test_while_the_first_call_is_at_work_the_second_is_told_so(
    client: httpx.Client, engine: Engine
) -> None:
    key, call = {"Idempotency-Key": '"slow"'}, {"metric": METRIC, "requests": bodies(3)}
    with ThreadPoolExecutor(1) as pool:
        with jobs_locked(engine):
            first = pool.submit(client.post, BULK, json=call, headers=key)
            eventually(lambda: inserts_waiting(engine), "the first call did not come so far")
            second = client.post(BULK, json=call, headers=key)
            assert (second.status_code, second.headers["x-should-retry"]) == (409, "true")
            assert int(second.headers["retry-after"]) >= 1
        made = ids_of(first.result(SECONDS))
    assert ids_of(client.post(BULK, json=call, headers=key)) == made


def test_a_gateway_that_is_killed_in_the_middle_leaves_all_or_none(
    chosen: Settings, client: httpx.Client, engine: Engine, tmp_path: Path
) -> None:
    port = free_port()
    environment = os.environ | {
        "TOUCHSTONE_PORT": str(port),
        "TOUCHSTONE_AUTHENTICATION": "none",
    }
    command = [sys.executable, "-m", "services.gateway"]
    key, call = {"Idempotency-Key": '"killed"'}, {"metric": METRIC, "requests": bodies(200)}
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(command, env=environment, stderr=log)
    url = f"http://{HOST}:{port}"
    try:
        eventually(lambda: is_up(url), lambda: (tmp_path / "log").read_text()[-2_000:])
        with jobs_locked(engine):
            caller = threading.Thread(target=post_anyhow, args=(f"{url}{BULK}", call, key))
            caller.start()
            eventually(lambda: inserts_waiting(engine), "the call did not come so far")
            process.send_signal(signal.SIGKILL)
            process.wait()
        caller.join()
    finally:
        process.kill()
        process.wait()
    eventually(lambda: not inserts_waiting(engine), "its transaction goes on")
    answer = eventually(lambda: posted_again(client, call, key), "the key stays taken")
    assert len(ids_of(answer)) == 200
    assert job_count(engine) == 200


def posted_again(client: httpx.Client, call: Json, headers: dict[str, str]) -> Any:
    """The answer to a second try; None while the server still takes the first for open."""
    answer = client.post(BULK, json=call, headers=headers)
    return None if answer.status_code == 409 else answer


def is_up(url: str) -> bool:
    with contextlib.suppress(httpx.HTTPError):
        return httpx.get(f"{url}/healthz").is_success
    return False


def post_anyhow(url: str, call: Json, headers: dict[str, str]) -> None:
    with contextlib.suppress(httpx.HTTPError):
        httpx.post(url, json=call, headers=headers, timeout=SECONDS)


def test_a_quota_that_does_not_fit_all_takes_none(opens: Opens, engine: Engine) -> None:
    client = opens("a", "score", requests_per_minute=5)  # five open jobs a tenant
    assert len(ids_of(client.post(BULK, json={"metric": METRIC, "requests": bodies(3)}))) == 3
    answer = client.post(BULK, json={"metric": METRIC, "requests": bodies(3)})
    refused(answer, "open-jobs")
    assert answer.headers["x-should-retry"] == "false"
    assert job_count(engine) == 3
    assert len(ids_of(client.post(BULK, json={"metric": METRIC, "requests": bodies(2)}))) == 2
    refused(client.post(URL, json=GOOD), "open-jobs")
    assert client.get("/v1/jobs").headers["ratelimit"].startswith('"requests";r=0')  # one a call


def test_only_so_many_calls_are_read_at_a_time(
    opens: Opens, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(caller.BULK_CALLS, "most_of_a_key", 1)
    client, other = opens("a"), opens("b")
    begun, released = threading.Event(), threading.Event()

    def slowly() -> Iterator[bytes]:
        yield b'{"metric": "hatexscore", "requests": ['
        begun.set()
        released.wait(SECONDS)
        yield json.dumps(GOOD).encode() + b"]}"

    kind = {"content-type": "application/json"}
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(client.post, BULK, content=slowly(), headers=kind)
        assert begun.wait(SECONDS)
        call = {"metric": METRIC, "requests": bodies(1)}
        too_many = eventually(  # what is let in until then is not valid, and takes no such quota
            lambda: one if (one := client.post(BULK, json={})).status_code == 429 else None,
            every=0.25,  # the quota of requests is for a minute
        )
        assert too_many is not None
        refused(too_many, "bulk-calls")
        assert too_many.headers["x-should-retry"] == "true"
        assert other.post(BULK, json=call).status_code == 202
        released.set()
        assert first.result(SECONDS).status_code == 202
    assert client.post(BULK, json=call).status_code == 202


def test_a_crowd_of_calls_overruns_no_quota(opens: Opens, engine: Engine) -> None:
    client = opens("crowd")
    with ThreadPoolExecutor(6) as pool:
        call = {"metric": METRIC, "requests": bodies(2)}
        answers = list(pool.map(lambda _: client.post(BULK, json=call).status_code, range(12)))
    assert sorted(set(answers)) == [202, 429]
    assert job_count(engine) == 4


def test_with_prefer_wait_all_ended_jobs_come_whole(client: httpx.Client, engine: Engine) -> None:
    call = {"metric": METRIC, "requests": bodies(3)}

    def work() -> None:
        for _ in range(3):
            finish_next(engine, a_result(1))

    worker = threading.Thread(target=work)
    worker.start()
    answer = client.post(BULK, json=call, headers={"Prefer": "wait=30"})
    worker.join()
    assert (answer.status_code, answer.headers["preference-applied"]) == (200, "wait=30")
    assert [one["metadata"]["n"] for one in answer.json()["data"]] == ["0", "1", "2"]
    assert {one["result"]["score"] for one in answer.json()["data"]} == {1}


def test_with_prefer_wait_what_is_not_ended_comes_as_it_is(
    client: httpx.Client, engine: Engine
) -> None:
    begun = time.monotonic()
    answer = client.post(
        BULK, json={"metric": METRIC, "requests": bodies(2)}, headers={"Prefer": "wait=1"}
    )
    assert answer.status_code == 202
    assert time.monotonic() - begun >= 1
    assert [one["result"] for one in answer.json()["data"]] == [None, None]


def test_listed_jobs_are_waited_for(client: httpx.Client, engine: Engine) -> None:
    ids = ids_of(client.post(BULK, json={"metric": METRIC, "requests": bodies(3)}))
    wanted = {"id": [ids[2], ids[0], ids[2]]}
    succeed(engine, ids[0], a_result(1))
    later = threading.Timer(0.3, succeed, args=(engine, ids[2], a_result(1)))
    later.start()
    waited = client.get("/v1/jobs", params=wanted, headers={"Prefer": "wait=30"})
    later.join()
    assert [(one["id"], one["status"]) for one in waited.json()["data"]] == [
        (ids[2], "succeeded"),
        (ids[0], "succeeded"),
    ]
    assert waited.headers["preference-applied"] == "wait=30"


def test_ids_that_are_not_there_are_not_listed(opens: Opens) -> None:
    mine, other = opens("a"), opens("b")
    call = {"metric": METRIC, "requests": bodies(1)}
    (job_id,) = ids_of(mine.post(BULK, json=call))
    asked = {"id": [job_id, "job_" + "0" * 32]}
    assert ids_of(mine.get("/v1/jobs", params=asked)) == [job_id]
    for wait in ({}, {"Prefer": "wait=1"}):
        assert ids_of(other.get("/v1/jobs", params=asked, headers=wait)) == []
    assert mine.get("/v1/jobs", params={"id": [job_id] * 101}).status_code == 422


def test_a_text_that_must_not_be_stored_is_not_in_the_row(
    client: httpx.Client, engine: Engine
) -> None:
    mild = "Those people never return their library books, word for word."
    call = {"metric": METRIC, "requests": [GOOD | {"text": mild, "do_not_store_text": True}]}
    ids_of(client.post(BULK, json=call))
    with engine.connect() as connection:
        stored = connection.execute(text("SELECT request::text FROM jobs")).scalar_one()
    assert "library books" not in stored
    assert "encrypted" in stored
