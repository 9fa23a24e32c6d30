"""Every operation gives every success that the description names, asked of a real service."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from services.registry import contracts
from shared.contracts.service import MetricContract, ReportedContract
from tests.answers import MET
from tests.answers_met import successes
from tests.gateway.examples import (
    FINAL,
    Recorder,
    first,
    record_batches,
    record_cancelled,
    record_judgements,
    record_models,
    record_webhooks,
    service,
)
from tests.patience import eventually

pytestmark = pytest.mark.end_to_end

KEYS = (f"operation-{number}" for number in itertools.count())
Json = dict[str, Any]


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    with service() as made:
        yield made


def test_every_success_of_every_operation_is_met(client: httpx.Client) -> None:
    MET.clear()
    job_id = accepted_and_ended(client)
    come_back(client, f"/v1/jobs/{job_id}/events")
    recorder = Recorder(client)
    recorder.ask("get_job", job_id)
    recorder.ask("list_jobs", params={"limit": 1})
    record_models(recorder)
    record_judgements(recorder, record_batches(recorder))
    record_webhooks(recorder)
    reports_not_waited_for(client)
    record_cancelled(recorder)
    assert sorted(successes() - MET) == []


def accepted_and_ended(client: httpx.Client) -> str:
    """Each POST that makes jobs, first 202 and then, under the same key, 200; an ended job's id."""
    job_id = ""
    for name, contract in contracts().items():
        made = [both(client, contract.path, first(contract))]
        if isinstance(contract, MetricContract):
            asked = {"metric": name, "requests": [first(contract)] * 2}
            made = both(client, "/v1/scores:batchCreate", asked)["data"]
            job_id = made[0]["id"]
        if isinstance(contract, ReportedContract):
            jobs = [job["id"] for job in made]
            both(client, "/v1/reports", {"metric": name, "jobs": jobs, "resamples": 100})
    return job_id


def both(client: httpx.Client, path: str, body: Json) -> Json:
    """The answer once all has ended, after the one that does not wait."""
    headers = {"Idempotency-Key": next(KEYS)}
    assert client.post(path, json=body, headers=headers).status_code == 202

    def ended() -> Json | None:
        waiting = headers | {"Prefer": "wait=30"}
        answer = client.post(path, json=body, headers=waiting)
        return answer.json() if answer.status_code == 200 else None

    return eventually(ended)


def come_back(client: httpx.Client, path: str) -> None:
    """Read a stream to its end, and ask for what is after that."""
    ids = [line for line in client.get(path).text.splitlines() if line.startswith("id:")]
    answer = client.get(path, headers={"Last-Event-ID": ids[-1].split()[-1]})
    assert answer.status_code == 204


def await_end(client: httpx.Client, path: str) -> None:
    """Of the batch at this path."""
    eventually(lambda: client.get(path).json()["status"] in FINAL)


def reports_not_waited_for(client: httpx.Client) -> None:
    """The first request for a batch's report, and the end of its events."""
    contract = contracts()["hatexscore"]
    line = {"custom_id": "a", "method": "POST", "url": contract.path, "body": first(contract)}
    files = {"file": ("posts.jsonl", json.dumps(line))}
    file = client.post("/v1/files", data={"purpose": "batch"}, files=files).json()["id"]
    asked = {"input_file_id": file, "endpoint": contract.path, "completion_window": "24h"}
    path = f"/v1/batches/{client.post('/v1/batches', json=asked).json()['id']}"
    await_end(client, path)
    assert client.post(f"{path}/report").status_code == 202
    come_back(client, f"{path}/events")
