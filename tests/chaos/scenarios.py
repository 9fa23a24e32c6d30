"""The published list of faults: what is done, to which service, and what has to hold."""

from __future__ import annotations

import itertools
import json
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import httpx

from tests.chaos import faults
from tests.chaos.audit import Findings, findings
from tests.chaos.faults import Fault, faketime_library
from tests.end_to_end.load import examples, submit
from tests.end_to_end.service import Service

CLIENTS = 16
PATIENCE_SECONDS = 300

Json = dict[str, Any]


@dataclass(frozen=True)
class Scenario:
    """One fault. `settings`: environment of the service. `sends`: how the jobs get in."""

    number: str
    claim: str
    fault: Fault = faults.nothing
    settings: dict[str, str] = field(default_factory=dict)
    sends: Callable[[Service, int], list[str]] | None = None
    skipped: str = ""


@dataclass(frozen=True)
class Outcome:
    """What a scenario found."""

    findings: Findings
    seconds: float  # from the first request to the last end
    same_results: bool

    @property
    def holds(self) -> bool:
        """Every accepted job in exactly one final state, with the undisturbed result."""
        found = self.findings
        clean = found.lost == found.ended_twice == found.changed_after_the_end == 0
        return clean and found.failed == 0 and self.same_results


def bodies(number: int) -> list[Json]:
    """Requests of a few model rows each; the seed makes them differ."""
    some = examples()
    return [
        some[place % len(some)] | {"seed": place, "control_draws": 1} for place in range(number)
    ]


def send_all(service: Service, jobs: int) -> list[str]:
    """Every client posts until accepted; the Idempotency-Key makes that safe."""
    with (
        httpx.Client(base_url=service.url, timeout=90) as client,
        ThreadPoolExecutor(CLIENTS) as pool,
    ):
        return list(pool.map(lambda body: submit(client, body), bodies(jobs)))


def send_fifty_times(service: Service, jobs: int) -> list[str]:
    """Each body fifty times at once under one key: one job."""
    ids: list[str] = []
    with httpx.Client(base_url=service.url, timeout=90) as client, ThreadPoolExecutor(50) as pool:
        for number, body in enumerate(bodies(max(1, jobs // 50))):
            key = {"Idempotency-Key": f'"chaos-{os.getpid()}-{number}"'}

            def post(_: int, body: Json = body, key: dict[str, str] = key) -> str:
                answer = client.post("/v1/scores/hatexscore", json=body, headers=key)
                answer.raise_for_status()
                return str(answer.json()["id"])

            same = set(pool.map(post, range(50)))
            if len(same) != 1:
                raise AssertionError(f"one key made {len(same)} jobs")
            ids += same
    return ids


def send_and_cancel(service: Service, jobs: int) -> list[str]:
    """Every other job is cancelled while it may be ending."""
    with httpx.Client(base_url=service.url, timeout=90) as client:

        def one(numbered: tuple[int, Json]) -> str:
            number, body = numbered
            job_id = submit(client, body)
            if number % 2:
                time.sleep((number % 40) / 20)
                answer = client.post(f"/v1/jobs/{job_id}/cancel")
                if answer.status_code != 409:  # it had ended: that is the race
                    answer.raise_for_status()
            return job_id

        with ThreadPoolExecutor(CLIENTS) as pool:
            return list(pool.map(one, enumerate(bodies(jobs))))


def results_of(service: Service, ids: list[str]) -> dict[int, str]:
    """Seed → result of each succeeded job, as JSON, byte for byte."""
    with (
        httpx.Client(base_url=service.url, timeout=30) as client,
        ThreadPoolExecutor(8) as pool,
    ):
        jobs = list(pool.map(lambda job_id: client.get(f"/v1/jobs/{job_id}").json(), ids))
    return {
        job["result"]["provenance"]["seed"]: json.dumps(job["result"])
        for job in jobs
        if job["status"] == "succeeded"
    }


def run(scenario: Scenario, service: Service, jobs: int, calm: dict[int, str]) -> Outcome:
    """Send the jobs, do the fault in the middle, wait for the end, look at what is there.

    calm: seed → result without a fault; empty in the undisturbed run.
    """
    started = time.monotonic()
    with ThreadPoolExecutor(1) as pool:
        sending = pool.submit(scenario.sends or send_all, service, jobs)
        time.sleep(2)
        scenario.fault(service)
        ids = sending.result()
    found = _ended(service, ids)
    seconds = time.monotonic() - started
    results = results_of(service, ids)
    same = all(results[seed] == calm[seed] for seed in results.keys() & calm.keys())
    return Outcome(found, seconds, same)


def _ended(service: Service, ids: list[str]) -> Findings:
    deadline = time.monotonic() + PATIENCE_SECONDS
    for _ in itertools.count():
        found = findings(service, ids)
        if found.lost == 0 or time.monotonic() > deadline:
            return found
        time.sleep(0.5)
    raise AssertionError


def _skewed(seconds: str) -> dict[str, str]:
    library = faketime_library()
    return {"LD_PRELOAD": str(library), "FAKETIME": seconds} if library else {}


NO_CLOCK = "" if faketime_library() else "libfaketime is not installed"

SCENARIOS = (
    Scenario("1", "kill -9 of the process that computes, mid-task", faults.kill_inference),
    Scenario("2", "kill -9 of the metric's worker", faults.kill_metric_worker),
    Scenario(
        "3",
        "stopped and killed between fetch and claim, 5 times",
        faults.kill_between_fetch_and_claim,
    ),
    Scenario("4", "Redis killed and restarted 10 times", faults.restart_redis_ten_times),
    Scenario("5", "Redis frozen for 30 s, connections stay open", faults.freeze_redis),
    Scenario("6", "Redis FLUSHALL", faults.flush_redis),
    Scenario("7", "gateway killed 5 times between commit and hint", faults.kill_gateway_repeatedly),
    Scenario("8", "SIGTERM to every process in turn", faults.rolling_update),
    Scenario(
        "10a",
        "all our clocks 10 min ahead of the ledger's",
        settings=_skewed("+10m"),
        skipped=NO_CLOCK,
    ),
    Scenario(
        "10b",
        "all our clocks 10 min behind the ledger's",
        settings=_skewed("-10m"),
        skipped=NO_CLOCK,
    ),
    Scenario("12", "each body 50 times at once under one key", sends=send_fifty_times),
    Scenario("13", "every other job cancelled while it may be ending", sends=send_and_cancel),
    Scenario("14", "PostgreSQL frozen for 30 s", faults.freeze_postgres),
    Scenario("15", "PostgreSQL crashed", faults.crash_postgres),
)
