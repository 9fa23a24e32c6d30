"""Files, batches, events and reports are their tenant's alone."""

from __future__ import annotations

import json

import httpx

from tests.gateway.conftest import Opens
from tests.gateway.test_scores import GOOD, URL

LINE = {"custom_id": "one", "method": "POST", "url": URL, "body": GOOD}


def uploaded(client: httpx.Client) -> str:
    content = json.dumps(LINE).encode()
    sent = {"file": ("lines.jsonl", content, "application/jsonl")}
    answer = client.post("/v1/files", data={"purpose": "batch"}, files=sent)
    assert answer.status_code == 200, answer.text
    return str(answer.json()["id"])


def test_nothing_of_a_batch_is_there_for_another_tenant(opens: Opens) -> None:
    mine, other = opens("a", "batch"), opens("b", "batch")
    file_id = uploaded(mine)
    asked = {"input_file_id": file_id, "endpoint": URL}
    batch_id = mine.post("/v1/batches", json=asked).json()["id"]
    for path in (
        f"/v1/files/{file_id}",
        f"/v1/files/{file_id}/content",
        f"/v1/batches/{batch_id}",
        f"/v1/batches/{batch_id}/events",
        f"/v1/batches/{batch_id}/report",
    ):
        assert other.get(path).status_code == 404, path
    assert other.delete(f"/v1/files/{file_id}").status_code == 404
    assert other.post(f"/v1/batches/{batch_id}/cancel").status_code == 404
    for kind in ("files", "batches"):
        assert len(mine.get(f"/v1/{kind}").json()["data"]) == 1
        assert other.get(f"/v1/{kind}").json()["data"] == []
    refused = other.post("/v1/batches", json=asked)
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["pointer"] == "#/input_file_id"
    assert mine.get(f"/v1/batches/{batch_id}").json()["status"] == "validating"


def test_a_report_and_an_event_stream_stay_with_their_tenant(opens: Opens) -> None:
    mine, other = opens("a", "admin"), opens("b", "admin")
    job_id = mine.post(URL, json=GOOD).json()["id"]
    file_id = uploaded(mine)
    batch = mine.post("/v1/batches", json={"input_file_id": file_id, "endpoint": URL}).json()
    for body, pointer in (({"jobs": [job_id]}, "#/jobs/0"), ({"batch": batch["id"]}, "#/batch")):
        refused = other.post("/v1/reports", json={"metric": "hatexscore"} | body)
        assert refused.status_code == 422, refused.text
        assert refused.json()["errors"][0]["pointer"] == pointer
        assert mine.post("/v1/reports", json={"metric": "hatexscore"} | body).status_code == 202
    assert other.get(f"/v1/jobs/{job_id}/events").status_code == 404


def test_a_report_is_not_compared_with_what_another_tenant_has(opens: Opens) -> None:
    mine, other = opens("a", "admin"), opens("b", "admin")
    theirs = mine.post(URL, json=GOOD).json()["id"]
    asked = {"input_file_id": uploaded(mine), "endpoint": URL}
    batch_id = mine.post("/v1/batches", json=asked).json()["id"]
    own = other.post(URL, json=GOOD).json()["id"]
    for against, pointer in (
        ({"jobs": [own, theirs]}, "#/against/jobs/1"),
        ({"batch": batch_id}, "#/against/batch"),
    ):
        body = {"jobs": [own], "against": against}
        refused = other.post("/v1/reports", json={"metric": "hatexscore"} | body)
        assert refused.status_code == 422, refused.text
        assert refused.json()["errors"][0]["pointer"] == pointer
    body = {"jobs": [own], "against": {"jobs": [own]}}
    assert other.post("/v1/reports", json={"metric": "hatexscore"} | body).status_code == 202


def test_batches_need_their_scope(opens: Opens) -> None:
    client = opens("a", "score")
    for path in ("/v1/files", "/v1/batches"):
        assert client.get(path).status_code == 403
