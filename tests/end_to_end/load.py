"""Jobs sent while a fault is done to the service, and what must hold when they have ended."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from bench.agreement import difference
from shared.contracts.answers import stored_result
from shared.ledger.engine import connect
from tests.answers import CheckedClient
from tests.end_to_end.batch import patiently
from tests.end_to_end.service import ROOT, Service
from tests.patience import SECONDS, eventually, looks

PATIENCE_SECONDS = 180  # of an idle machine


def examples() -> list[dict[str, Any]]:
    lines = (ROOT / "examples" / "posts.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    few = {"options": {"control_draws": 5}}
    return [{k: v for k, v in row.items() if k != "id"} | few for row in rows]


def submit(client: httpx.Client, body: dict[str, Any], path: str = "/v1/scores/hatexscore") -> str:
    """Post until accepted: the key makes that safe."""
    key = {"Idempotency-Key": f'"{uuid.uuid4()}"'}
    for _ in looks(every=0.2):
        try:
            answer = client.post(path, json=body, headers=key)
        except httpx.TransportError:
            continue
        if answer.status_code == 202:
            return str(answer.json()["id"])
        assert answer.status_code == 503, answer.text
    raise AssertionError("never accepted")


def finished(client: httpx.Client, path: str, body: dict[str, Any]) -> dict[str, Any]:
    """The job that this request makes, once it has succeeded."""
    details = {"expand": "details"}
    answer = client.post(path, params=details, json=body, headers={"Prefer": "wait=30"})
    assert answer.status_code in (200, 202), answer.text
    job: dict[str, Any] = answer.json()
    while job["status"] in ("queued", "running"):
        job = client.get(f"/v1/jobs/{job['id']}", params=details).json()
        time.sleep(0.05)
    assert job["status"] == "succeeded", job["error"]
    return job | {"result": stored_result(job["result"])}


def counts(service: Service) -> dict[str, int]:
    """status → how many of all jobs, straight from the ledger; empty while it is away."""
    engine = connect(service.database_url)
    try:
        with engine.connect() as connection:
            rows = connection.execute(text("SELECT status, count(*) FROM jobs GROUP BY status"))
            return {status: count for status, count in rows}
    except OperationalError:  # the fault under test
        return {}
    finally:
        engine.dispose()


def wait_for(service: Service, status: str, number: int) -> None:
    """Until so many jobs are there; what has failed will not succeed by waiting."""

    def there() -> bool:
        found = counts(service)
        assert status == "failed" or not found.get("failed"), found
        return found.get(status, 0) >= number

    eventually(there, lambda: counts(service), seconds=PATIENCE_SECONDS, every=0.25)


def all_succeed_once(
    service: Service, jobs: int, fault_after: int, fault: Callable[[Service], None]
) -> list[Any]:
    """Send jobs, do the fault when some have ended; every one succeeds, with the same result for
    the same request. Returns the result of each example."""
    before = counts(service).get("succeeded", 0)
    bodies = examples()
    with (
        CheckedClient(base_url=service.url, timeout=SECONDS) as client,
        ThreadPoolExecutor(16) as pool,
    ):
        sent = [pool.submit(submit, client, bodies[number % len(bodies)]) for number in range(jobs)]
        sent[0].result()  # accepted, or the reason why not
        wait_for(service, "succeeded", before + fault_after)
        fault(service)
        ids = [one.result() for one in sent]
        wait_for(service, "succeeded", before + jobs)
        # all may have ended before a killed gateway is back
        paths = [f"/v1/jobs/{job_id}?expand=details" for job_id in ids]
        ended = [patiently(client, "GET", path).json() for path in paths]
    assert counts(service) == {"succeeded": before + jobs}
    assert len(set(ids)) == jobs
    results: dict[int, Any] = {}
    for number, job in enumerate(ended):
        result = stored_result(job["result"])
        first = results.setdefault(number % len(bodies), result)
        assert difference(result, first) is None  # whoever scored it
    return list(results.values())
