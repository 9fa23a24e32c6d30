"""One scenario from beginning to end, and what has to hold afterwards."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from bench.agreement import agree
from tests.batches import OWN
from tests.chaos.audit import Findings, ended, findings
from tests.chaos.sending import Json, Sent, send_all
from tests.chaos.trial import OTHER, Trial
from tests.interactive import Interactive

ALONE_SECONDS = 12.0
EVERY_SECONDS = 0.3
FAULT_AFTER_SECONDS = 2.0
SILENT_SECONDS = 5.0  # without an answer: said in the table
QUESTION = OWN | {"text": "Muslims are kind, says somebody else"}  # cheap: it calls no model

Fault = Callable[[Trial], str | None]  # returns what was seen, if that is worth a word
Place = Callable[[Path], AbstractContextManager[dict[str, str]]]


def nothing(_service: Trial) -> None:
    """The fault is in the settings, in the place or in what is sent."""


def anywhere(_folder: Path) -> AbstractContextManager[dict[str, str]]:
    """On the disk that everybody uses."""
    return nullcontext({})


@dataclass(frozen=True)
class Scenario:
    """One fault. `sends`: how the jobs get in. `settings`: environment of the service. `place`:
    prepares its folder, and gives settings, too. `services`: of the chaos suite's own. `failures`:
    jobs that have to fail."""

    number: str
    claim: str
    fault: Fault = nothing
    sends: Callable[[Trial, int], Sent] = send_all
    settings: dict[str, str] = field(default_factory=dict)
    place: Place = anywhere
    services: tuple[str, ...] = ()
    failures: int = 0
    skipped: str = ""
    is_nightly: bool = False  # too long for a run by hand

    @property
    def shares(self) -> bool:
        """Whether the service with the usual settings will do."""
        return not (self.settings or self.services or self.place is not anywhere)


@dataclass(frozen=True)
class Outcome:
    """What a scenario found."""

    findings: Findings
    results: dict[int, Json] = field(repr=False)  # seed → result of each succeeded job
    seconds: float  # from the first request to the last end
    same_results: bool
    failures: int  # that had to be
    others: str  # p95 of somebody else's interactive jobs, ms: alone → beside
    seen: str
    broken: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Every accepted job in exactly one final state, with the undisturbed result."""
        found = self.findings
        clean = found.lost == found.ended_twice == found.changed_after_the_end == 0
        as_told = found.failed == self.failures and not self.broken
        return clean and as_told and self.same_results


def run(scenario: Scenario, service: Trial, jobs: int, calm: dict[int, Json]) -> Outcome:
    """Send the jobs, do the fault in the middle, wait for the end, look at what is there. Another
    tenant asks at a fixed pace, first alone, then beside all that.

    calm: seed → result without a fault; empty in the undisturbed run.
    """
    alone, beside = Interactive(EVERY_SECONDS), Interactive(EVERY_SECONDS)
    with service.client(OTHER) as other, ThreadPoolExecutor(1) as pool:
        with alone.asking(other, QUESTION):
            time.sleep(ALONE_SECONDS)
        with beside.asking(other, QUESTION):
            started = time.monotonic()
            sending = pool.submit(scenario.sends, service, jobs)
            time.sleep(FAULT_AFTER_SECONDS)
            told = scenario.fault(service)
            sent = sending.result()
            found = ended(service, sent.ids)
            seconds = time.monotonic() - started
    ended_jobs = jobs_of(service, sent)
    results = results_of(ended_jobs)
    return Outcome(
        findings=found,
        results=results,
        seconds=seconds,
        same_results=all(agree(results[seed], calm[seed]) for seed in results.keys() & calm.keys()),
        failures=scenario.failures,
        others=_shown(alone, beside),
        seen="; ".join(filter(None, (sent.seen, told))),
        broken=(
            *sent.broken,
            *(errors_of(ended_jobs) if found.failed != scenario.failures else ()),
            *_broken(service, alone),
            *_broken(service, beside),
        ),
    )


def jobs_of(service: Trial, sent: Sent) -> list[Json]:
    """What has become of them."""
    with service.client(sent.tenant) as client, ThreadPoolExecutor(8) as pool:
        return list(pool.map(lambda job_id: client.get(f"/v1/jobs/{job_id}").json(), sent.ids))


def results_of(jobs: list[Json]) -> dict[int, Json]:
    """Seed → result of each succeeded job."""
    return {
        job["result"]["provenance"]["seed"]: job["result"]
        for job in jobs
        if job["status"] == "succeeded"
    }


def errors_of(jobs: list[Json]) -> list[str]:
    """How often each problem ended a job."""
    errors = Counter(
        f"{job['error']['type'].rpartition('/')[2]}: {job['error']['detail']}"
        for job in jobs
        if job["status"] == "failed"
    )
    return [f"{number} failed, {error}" for error, number in errors.items()]


def _shown(alone: Interactive, beside: Interactive) -> str:
    shown = f"{1_000 * alone.p95:.0f} → {1_000 * beside.p95:.0f}"
    silence = beside.silence
    return shown if silence < SILENT_SECONDS else f"{shown}; no answer for {silence:.0f} s"


def _broken(service: Trial, others: Interactive) -> list[str]:
    """What must not have become of the jobs of somebody else."""
    found = findings(service, others.ids)
    twice = found.ended_twice + found.changed_after_the_end
    broken = [f"{found.lost} of the others' jobs lost"] * bool(found.lost)
    broken += [f"{twice} of the others' jobs ended twice"] * bool(twice)
    return broken + [f"{others.failed} of the others' jobs failed"] * bool(others.failed)
