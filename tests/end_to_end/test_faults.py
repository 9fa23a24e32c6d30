"""Nothing that was accepted is lost, whatever dies: real processes, real faults, 200 jobs each."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from shared.ledger.engine import connect
from tests.end_to_end.service import ROOT, Service, serving

JOBS = 200
FAULT_AFTER = 40  # this many have ended: the fault comes in the middle
PATIENCE_SECONDS = 180

pytestmark = [pytest.mark.end_to_end, pytest.mark.timeout(400)]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """One service for all faults: it must survive them one after the other."""
    folder: Path = tmp_path_factory.mktemp("service")
    with serving(folder) as running:
        yield running


def examples() -> list[dict[str, Any]]:
    lines = (ROOT / "examples" / "posts.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return [{k: v for k, v in row.items() if k != "id"} | {"control_draws": 5} for row in rows]


def submit(client: httpx.Client, body: dict[str, Any]) -> str:
    """Post until accepted: the key makes that safe."""
    key = {"Idempotency-Key": f'"{uuid.uuid4()}"'}
    for _ in range(100):
        try:
            answer = client.post("/v1/scores/hatexscore", json=body, headers=key)
        except httpx.TransportError:
            time.sleep(0.2)
            continue
        if answer.status_code == 202:
            return str(answer.json()["id"])
        assert answer.status_code == 503, answer.text
        time.sleep(0.2)
    raise AssertionError("never accepted")


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
    deadline = time.monotonic() + PATIENCE_SECONDS
    while counts(service).get(status, 0) < number:
        assert time.monotonic() < deadline, counts(service)
        time.sleep(0.25)


FAULTS: dict[str, Callable[[Service], None]] = {
    "redis-flushed": Service.flush_redis,
    "postgres-crashed": Service.crash_postgres,
    "worker-killed": lambda service: service.kill("services.worker"),
    "gateway-and-scheduler-killed": lambda service: service.kill(
        "services.gateway", "services.scheduler"
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_every_accepted_job_succeeds_once(service: Service, fault: str) -> None:
    before = counts(service).get("succeeded", 0)
    bodies = examples()
    with httpx.Client(base_url=service.url, timeout=30) as client, ThreadPoolExecutor(16) as pool:
        sent = [pool.submit(submit, client, bodies[number % len(bodies)]) for number in range(JOBS)]
        sent[0].result()  # accepted, or the reason why not
        wait_for(service, "succeeded", before + FAULT_AFTER)
        FAULTS[fault](service)
        ids = [one.result() for one in sent]
        wait_for(service, "succeeded", before + JOBS)
        jobs = [client.get(f"/v1/jobs/{job_id}").json() for job_id in ids]
    assert counts(service) == {"succeeded": before + JOBS}
    assert len(set(ids)) == JOBS
    results: dict[int, set[str]] = {}
    for number, job in enumerate(jobs):
        results.setdefault(number % len(bodies), set()).add(json.dumps(job["result"]))
    assert all(len(same) == 1 for same in results.values())  # the same bytes, whoever scored it
