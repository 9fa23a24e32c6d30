"""POST /v1/scores/{metric}: what is committed, what is refused, and what a key means."""

from __future__ import annotations

import gzip
import json
import threading
from typing import Any

import httpx
import pytest
from sqlalchemy import Engine, text

from services.registry import contracts
from shared.contracts.answers import shown_result
from shared.process.settings import Settings
from shared.queue import broker
from tests.answers import CheckedClient
from tests.gateway.results import a_result
from tests.gateway.serving import serving
from tests.patience import SECONDS, eventually
from tests.servers import finish_next

GOOD: dict[str, Any] = {
    "text": "Those people never return their library books.",
    "explanation": '"never return their library books" is a complaint. Conclusion: non-hateful.',
    "decision": "non-hateful",
}
URL = "/v1/scores/hatexscore"


def nothing_happened(engine: Engine) -> bool:
    with engine.connect() as connection:
        rows = connection.execute(text("SELECT count(*) FROM jobs")).scalar()
    return rows == 0 and broker.queue_length("hatexscore") == 0


def messages_of(service: str) -> int:
    """Messages in this service's queue, once the gateway's thread has sent what it had."""
    return eventually(
        lambda: broker.queue_length(service), f"nothing came into the queue of {service}"
    )


def test_a_job_is_committed_and_the_queue_gets_a_hint(client: httpx.Client) -> None:
    trace = {"trace_id": "a" * 32, "span_id": "b" * 16, "response_id": "r-1", "session_id": None}
    more = {"metadata": {"a": "b"}, "context": {"puid": "p1"}, "trace": trace}
    answer = client.post(URL, json=GOOD | more)
    assert answer.status_code == 202
    job = answer.json()
    assert answer.headers["Location"] == f"/v1/jobs/{job['id']}"
    assert int(answer.headers["Retry-After"]) >= 1
    assert (job["status"], job["metadata"], job["context"]["puid"]) == ("queued", {"a": "b"}, "p1")
    assert job["trace"] == trace
    found = client.get(answer.headers["Location"]).json()
    assert found | {"request": None} == job
    assert found["request"]["text"] == GOOD["text"]
    assert messages_of("hatexscore") == 1


def test_a_metric_that_no_worker_serves_is_refused(chosen: Settings) -> None:
    served = chosen.model_copy(update={"authentication": "none", "serve": "hatexscore sor"})
    with serving(served) as url, CheckedClient(base_url=url, timeout=SECONDS) as client:
        assert client.post(URL, json=GOOD).status_code == 202
        example = next(iter(contracts()["hlv"].examples.values()))
        batch = {"input_file_id": f"file_{0:032x}", "endpoint": "/v1/scores/hlv"}
        for path, body in (("/v1/scores/hlv", example), ("/v1/batches", batch)):
            answer = client.post(path, json=body)
            assert answer.status_code == 503
            assert "choose one of: hatexscore, sor" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"nonsense": 1}, "#/nonsense"),
        ({"explanation": None}, "#/explanation"),
        ({"language": "not a tag"}, "#/language"),
        ({"options": {"policy": {"group": []}}}, "#/options/policy"),
        ({"options": {"policy": {}}}, "#/options/policy"),
        ({"options": {"policy": "nobody"}}, "#/options/policy"),
        ({"probabilities": {"original": 1.5, "masked": 0.5}}, "#/probabilities/original"),
        ({"probabilities": {"original": 0.5}}, "#/probabilities/masked"),
        ({"variant": "best"}, "#/variant"),
        ({"model": "somebody-elses"}, "#/model"),
        ({"metadata": {str(n): "x" for n in range(17)}}, "#/metadata"),
        ({"text": "\ud800"}, "#/text"),
        ({"trace": {"trace_id": "0AF7651916CD43DD8448EB211C80319C"}}, "#/trace/trace_id"),
        ({"trace": {"traceparent": "00"}}, "#/trace/traceparent"),
        ({"options": {"tau": True}}, "#/options/tau"),
        ({"options": {"tau": "0.5"}}, "#/options/tau"),
        ({"options": {"policy": {"group": ["  "]}}}, "#/options/policy/group/0"),
        ({"options": {"policy": {"group": [7]}}}, "#/options/policy/group/0"),
    ],
)
def test_bad_input_gets_a_pointer_and_enqueues_nothing(
    client: httpx.Client, engine: Engine, change: dict[str, Any], pointer: str
) -> None:
    answer = client.post(
        URL, content=json.dumps(GOOD | change), headers={"Content-Type": "application/json"}
    )
    problem = answer.json()
    assert answer.status_code == problem["status"] == 422
    assert answer.headers["content-type"] == "application/problem+json"
    assert pointer in {entry["pointer"] for entry in problem["errors"]}
    assert nothing_happened(engine)


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"[]",
        b"null",
        b'{"seed": 1e999}',
        b'{"text": "a", "text": "b", "explanation": "c"}',
    ],
)
def test_what_is_no_json_object_is_refused(
    client: httpx.Client, engine: Engine, raw: bytes
) -> None:
    answer = client.post(URL, content=raw, headers={"Content-Type": "application/json"})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"].startswith("#")
    assert nothing_happened(engine)


def test_an_unknown_metric_is_not_found_and_the_known_ones_are_named(client: httpx.Client) -> None:
    answer = client.post("/v1/scores/astrology", json=GOOD)
    assert answer.status_code == 404
    assert "hatexscore" in answer.json()["detail"]
    assert answer.json()["errors"][0]["pointer"] == "#/metric"


def test_a_large_body_is_refused_before_it_is_read_whole(client: httpx.Client) -> None:
    answer = client.post(URL, json=GOOD | {"text": "x" * 2_000_000})
    assert (answer.status_code, answer.json()["type"].rpartition("#")[2]) == (413, "body-too-large")


def test_only_plain_json_is_read(client: httpx.Client) -> None:
    assert client.post(URL, data={"text": "x"}).status_code == 415
    packed = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    assert client.post(URL, content=gzip.compress(b"{}"), headers=packed).status_code == 415


@pytest.mark.parametrize("charset", ["utf-16", '"latin-1"'])
def test_only_utf_8_is_read_with_or_without_a_byte_order_mark(
    client: httpx.Client, charset: str
) -> None:
    raw = json.dumps(GOOD).encode("utf-8-sig")

    def post(charset: str) -> httpx.Response:
        kind = {"Content-Type": f"application/json; charset={charset}"}
        return client.post(URL, content=raw, headers=kind)

    assert post("UTF-8").status_code == 202
    refused = post(charset)
    assert refused.status_code == 415
    assert charset.strip('"') in refused.json()["detail"]


@pytest.mark.parametrize("name", ["Idempotency-Key", "Authorization", "Content-Type"])
def test_a_header_with_one_value_is_sent_once(
    client: httpx.Client, engine: Engine, name: str
) -> None:
    answer = client.post(URL, json=GOOD, headers=[(name, "application/json"), (name, "b")])
    assert answer.status_code == 400
    assert answer.json()["detail"] == f"the header {name} occurs 2 times; send it once"
    assert nothing_happened(engine)


def test_a_body_in_pieces_is_read(client: httpx.Client) -> None:
    raw = json.dumps(GOOD).encode()
    pieces = (raw[start : start + 7] for start in range(0, len(raw), 7))
    answer = client.post(URL, content=pieces, headers={"Content-Type": "application/json"})
    assert answer.status_code == 202


def test_a_ledger_that_cannot_be_written_to_is_away(client: httpx.Client, engine: Engine) -> None:
    try:
        read_only(engine, "on")
        answer = client.post(URL, json=GOOD)
        assert (answer.status_code, "Retry-After" in answer.headers) == (503, True)
    finally:
        read_only(engine, "off")
    # who comes soon may get a connection that was just cut: 503
    eventually(lambda: client.post(URL, json=GOOD).status_code == 202)


def read_only(engine: Engine, switch: str) -> None:
    """What a fail-over to a replica looks like; connections of before are cut."""
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("SET default_transaction_read_only = off"))
        connection.execute(
            text(f"ALTER DATABASE postgres SET default_transaction_read_only = {switch}")
        )
        connection.execute(
            text(
                "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity "
                "WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
            )
        )


def test_the_same_key_and_body_is_the_same_job(client: httpx.Client, engine: Engine) -> None:
    key = {"Idempotency-Key": '"one"'}
    first = client.post(URL, json=GOOD, headers=key)
    second = client.post(URL, json=GOOD, headers={"Idempotency-Key": "one"})
    assert first.json()["id"] == second.json()["id"]
    assert second.headers["Idempotent-Replayed"] == "true"
    assert messages_of("hatexscore") == 1


@pytest.mark.parametrize("key", ['""', '"', 'a"b', "", "x" * 256])
def test_an_unusable_key_is_refused(client: httpx.Client, key: str) -> None:
    answer = client.post(URL, json=GOOD, headers={"Idempotency-Key": key})
    assert answer.status_code == 422


def test_who_waits_gets_the_ended_job(client: httpx.Client, engine: Engine) -> None:
    worker = threading.Thread(target=finish_next, args=(engine, a_result(0.25)))
    worker.start()
    answer = client.post(URL, json=GOOD, headers={"Prefer": "respond-async, wait=30"})
    worker.join()
    assert answer.status_code == 200
    assert answer.headers["Preference-Applied"] == "wait=30"
    assert answer.json()["result"] == shown_result(a_result(0.25), details=False)


def test_who_waits_in_vain_gets_the_open_job(client: httpx.Client) -> None:
    answer = client.post(URL, json=GOOD, headers={"Prefer": "wait=1"})
    assert (answer.status_code, answer.json()["status"]) == (202, "queued")


def test_without_a_broker_the_job_is_accepted_all_the_same(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object, **__: object) -> None:
        raise OSError("connection refused")

    monkeypatch.setattr(broker.app, "send_task", away)
    answer = client.post(URL, json=GOOD)
    assert answer.status_code == 202
    assert client.get(answer.headers["Location"]).json()["status"] == "queued"


def test_every_example_of_every_room_is_accepted(client: httpx.Client) -> None:
    for contract in contracts().values():
        assert contract.examples
        for example in contract.examples.values():
            answer = client.post(contract.path, json=example)
            assert answer.status_code == 202
