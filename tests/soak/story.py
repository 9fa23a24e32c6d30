"""The soak: interactive jobs alone, then during batches, then during batches while workers die."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field

import httpx
import psutil
from rich.console import Console

from bench.agreement import agree
from tests.batches import OWN, URL, Json, line
from tests.chaos.audit import Findings
from tests.chaos.audit import ended as audited
from tests.chaos.faults import processes
from tests.end_to_end.batch import Ended, ended, started
from tests.end_to_end.keys import opened
from tests.end_to_end.service import Service
from tests.interactive import Interactive
from tests.soak.memory import Memory

TENANTS = ("first", "second", "third")
WARM_UP_SHARE = 0.05  # of all jobs, for each tenant
SPARED_SECONDS = 5.0  # nobody is killed twice within this time: a worker starts in it
PATIENCE_SECONDS = 3_600


@dataclass(frozen=True)
class Plan:
    """How much is done."""

    jobs: int
    batches: int
    alone_seconds: float
    kill_seconds: float
    seed: int


@dataclass
class Soaked:
    """What was seen."""

    findings: Findings
    memory: Memory
    alone: Interactive
    during: Interactive  # half of the batches, nobody dies
    during_deaths: Interactive  # the other half, while workers are killed
    wrong: int  # lines that are missing, failed, or differ between batches
    deaths: int
    seconds: float  # from the first batch to the last download


@dataclass
class Reaper:
    """Kills one worker of HateXScore at a time, at random times."""

    service: Service
    mean_seconds: float
    random: random.Random
    deaths: int = field(default=0)

    @contextmanager
    def reaping(self) -> Iterator[None]:
        """Until the block is left."""
        stop = threading.Event()
        thread = threading.Thread(target=self._reap, args=(stop,), name="reaper")
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()

    def _reap(self, stop: threading.Event) -> None:
        more = max(0.1, self.mean_seconds - SPARED_SECONDS)
        while not stop.wait(SPARED_SECONDS + self.random.expovariate(1 / more)):
            with suppress(psutil.NoSuchProcess, IndexError):
                self.random.choice(processes(self.service, "hatexscore")).kill()
                self.deaths += 1


def soak(service: Service, plan: Plan, memory: Memory, console: Console) -> Soaked:
    """Do it all, and look at what is left."""
    reaper = Reaper(service, plan.kill_seconds, random.Random(plan.seed))  # noqa: S311 - seeded
    body = OWN | {"text": "Muslims are kind, says the interactive user"}
    alone, during, during_deaths = Interactive(), Interactive(), Interactive()
    with ExitStack() as stack:
        clients = [
            stack.enter_context(opened(service, tenant, "score", "batch")) for tenant in TENANTS
        ]
        console.print("warming up")
        warm = through(clients, [lines(max(1, int(plan.jobs * WARM_UP_SHARE)))] * len(TENANTS))
        console.print("interactive jobs alone")
        with alone.asking(clients[0], body):
            time.sleep(plan.alone_seconds)
        memory.begin_spell()
        console.print(f"{plan.jobs} jobs in {plan.batches} batches")
        batches = [lines(plan.jobs // plan.batches)] * (plan.batches // 2)
        begun = time.monotonic()
        with during.asking(clients[0], body):
            ends = through(clients, batches)
        console.print("the second half, while workers die")
        memory.begin_spell()
        with during_deaths.asking(clients[0], body), reaper.reaping():
            ends += through(clients, batches)
        seconds = time.monotonic() - begun
    ids = [job_id for end in (*warm, *ends) for job_id in end.job_ids]
    found = audited(service, [*ids, *alone.ids, *during.ids, *during_deaths.ids])
    wrong = sum(faults(end, plan.jobs // plan.batches) for end in ends) + differing(ends)
    return Soaked(found, memory, alone, during, during_deaths, wrong, reaper.deaths, seconds)


def lines(number: int) -> list[Json]:
    """Small jobs; the same in every batch, so that their results can be compared."""
    return [line(str(n), f"Muslims are kind, number {n}", seed=n) for n in range(number)]


def through(clients: list[httpx.Client], batches: list[list[Json]]) -> list[Ended]:
    """All batches at once, in turn from each tenant, to their ends."""
    turns = [(clients[n % len(clients)], asked) for n, asked in enumerate(batches)]
    made = [(client, started(client, asked, URL)) for client, asked in turns]
    with ThreadPoolExecutor(len(made)) as pool:
        return list(pool.map(lambda one: ended(one[0], one[1], PATIENCE_SECONDS), made))


def faults(end: Ended, number: int) -> int:
    """Lines that are not in the output file exactly once."""
    answered = [one["custom_id"] for one in end.output]
    asked = {str(n) for n in range(number)}
    return len(asked - set(answered)) + len(answered) - len(set(answered)) + len(end.errors)


def differing(ends: list[Ended]) -> int:
    """Results that are not those of the first batch."""
    said: dict[str, Json] = {}
    found = 0
    for one in (one for end in ends for one in end.output):
        result = one["response"]["body"]["result"]
        found += not agree(said.setdefault(one["custom_id"], result), result)
    return found
