"""The published list of faults: what is done, to which service, and what has to hold."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from bench.agreement import agree
from tests.chaos import faults, hooks, poisoned
from tests.chaos.audit import Findings, ended
from tests.chaos.faults import Fault, faketime_library
from tests.chaos.sending import Json, Sent, send_all, send_and_cancel, send_fifty_times
from tests.end_to_end.service import ROOT, Service

STARTUP = Path(__file__).with_name("startup")


@dataclass(frozen=True)
class Scenario:
    """One fault. `settings`: environment of the service. `sends`: how the jobs get in. `rooms`:
    of the chaos suite's own. `failures`: jobs that have to fail."""

    number: str
    claim: str
    fault: Fault = faults.nothing
    settings: dict[str, str] = field(default_factory=dict)
    sends: Callable[[Service, int], Sent] = send_all
    rooms: tuple[str, ...] = ()
    failures: int = 0
    skipped: str = ""


@dataclass(frozen=True)
class Outcome:
    """What a scenario found."""

    findings: Findings
    seconds: float  # from the first request to the last end
    same_results: bool
    failures: int  # that had to be
    seen: str
    broken: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Every accepted job in exactly one final state, with the undisturbed result."""
        found = self.findings
        clean = found.lost == found.ended_twice == found.changed_after_the_end == 0
        as_told = found.failed == self.failures and not self.broken
        return clean and as_told and self.same_results


def results_of(service: Service, ids: list[str]) -> dict[int, Json]:
    """Seed → result of each succeeded job."""
    with (
        httpx.Client(base_url=service.url, timeout=30) as client,
        ThreadPoolExecutor(8) as pool,
    ):
        jobs = list(pool.map(lambda job_id: client.get(f"/v1/jobs/{job_id}").json(), ids))
    return {
        job["result"]["provenance"]["seed"]: job["result"]
        for job in jobs
        if job["status"] == "succeeded"
    }


def run(scenario: Scenario, service: Service, jobs: int, calm: dict[int, Json]) -> Outcome:
    """Send the jobs, do the fault in the middle, wait for the end, look at what is there.

    calm: seed → result without a fault; empty in the undisturbed run.
    """
    started = time.monotonic()
    with ThreadPoolExecutor(1) as pool:
        sending = pool.submit(scenario.sends, service, jobs)
        time.sleep(2)
        scenario.fault(service)
        sent = sending.result()
    found = ended(service, sent.ids)
    seconds = time.monotonic() - started
    results = results_of(service, sent.ids)
    same = all(agree(results[seed], calm[seed]) for seed in results.keys() & calm.keys())
    return Outcome(found, seconds, same, scenario.failures, sent.seen, sent.broken)


def _skewed(seconds: str) -> dict[str, str]:
    """Not the ledger's clock: `startup` shifts those of our own processes."""
    library = faketime_library()
    shift = {"CHAOS_CLOCK": seconds, "CHAOS_CLOCK_LIBRARY": str(library)}
    return PREPARED | shift if library else {}


# What stands in `startup` is done first by every process of the service.
PREPARED = {"PYTHONPATH": f"{STARTUP}:{ROOT}"}
SOON = {f"TOUCHSTONE_{name}_SECONDS": str(n) for name, n in poisoned.LEASE.items()}
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
        "9",
        "a line of a batch kills every worker that takes it (leases of 12 s)",
        settings=PREPARED | SOON,
        sends=poisoned.send_poison,
        rooms=("poison",),
        failures=1,
    ),
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
    Scenario(
        "11",
        "webhook receivers answer 500, hang, redirect inside, rebind, send 10 MB; scheduler killed",
        faults.kill_scheduler,
        settings=PREPARED | hooks.SETTINGS,
        sends=hooks.send_and_be_told,
    ),
    Scenario("12", "each body 50 times at once under one key", sends=send_fifty_times),
    Scenario("13", "every other job cancelled while it may be ending", sends=send_and_cancel),
    Scenario("14", "PostgreSQL frozen for 30 s", faults.freeze_postgres),
    Scenario("15", "PostgreSQL crashed", faults.crash_postgres),
    Scenario(
        "16",
        "a line of a batch never ends and holds the interpreter's lock (leases of 12 s)",
        settings=PREPARED | SOON,
        sends=poisoned.send_endless,
        rooms=("poison",),
        failures=1,
    ),
)
