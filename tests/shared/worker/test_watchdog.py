"""A job that computes for ever, in a real worker: it fails as too costly, its neighbours do not.

The test starts the worker again whenever it ends, as an init system would, and does the scheduler's
rounds. Nothing here depends on how fast anything is: only on what happened in the end.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import httpx
import pytest
from sqlalchemy import Engine

from cli.stack.servers import HOST, free_port
from services.scheduler import recovery
from shared.ledger import jobs
from shared.process.settings import Settings
from shared.queue import broker
from shared.worker.watchdog import RETIRED
from tests.echo_metric import EchoRequest
from tests.ledger import find_job
from tests.stubborn import GRACE_SECONDS, STUBBORN

ROOT = Path(__file__).parents[3]
SECONDS = {"max_work": 2, "lease": 10}
NEIGHBOURS = 6
FROM_FAULTHANDLER = 1

pytestmark = pytest.mark.timeout(600)


@dataclass
class Worker:
    """The process, its log, and the exit statuses of those before it."""

    environment: dict[str, str]
    log: Path
    port: int = field(default_factory=free_port)
    deaths: list[int] = field(default_factory=list)
    process: subprocess.Popen[bytes] | None = None

    def ensure_running(self) -> None:
        """Start it, for the first time or again."""
        if self.process is not None:
            if self.process.poll() is None:
                return
            self.deaths.append(self.process.returncode)
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tests.stubborn"],
                cwd=ROOT,
                env=os.environ | self.environment | {"TOUCHSTONE_METRICS_PORT": str(self.port)},
                stdout=log,
                stderr=log,
            )

    def is_alive(self) -> bool:
        """What the liveness probe says."""
        try:
            return httpx.get(f"http://{HOST}:{self.port}/healthz", timeout=1).is_success
        except httpx.TransportError:
            return False

    def stop(self) -> None:
        """For good."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()


@pytest.fixture
def hasty(chosen: Settings) -> Settings:
    return chosen.model_copy(update={f"{name}_seconds": n for name, n in SECONDS.items()})


@contextmanager
def working(folder: Path, hasty: Settings) -> Iterator[Worker]:
    environment = {
        "DATABASE_URL": hasty.database_url.get_secret_value(),
        "REDIS_URL": hasty.redis_url.get_secret_value(),
        "TOUCHSTONE_WORKER_THREADS": "4",
    } | {f"TOUCHSTONE_{name.upper()}_SECONDS": str(n) for name, n in SECONDS.items()}
    worker = Worker(environment, folder / "worker.log")
    try:
        yield worker
    finally:
        worker.stop()


def send(engine: Engine, text: str) -> str:
    request = EchoRequest(text=text).model_dump(mode="json")
    with engine.begin() as connection:
        accepted = jobs.accept(
            connection, STUBBORN.name, request, key=None, resend_after=timedelta(seconds=1)
        )
    broker.send(STUBBORN.name, accepted.job.id)
    return accepted.job.id


def keep_running(
    worker: Worker, engine: Engine, hasty: Settings, until: Callable[[], bool]
) -> float:
    """The world around the worker, until this holds; the longest time, in seconds, for which this
    machine let it stand still."""
    longest, looked = 0.0, time.monotonic()
    while not until():
        worker.ensure_running()
        recovery.recover(engine, hasty)
        longest, looked = max(longest, time.monotonic() - looked), time.monotonic()
        time.sleep(0.2)
    return longest


def all_ended(engine: Engine, ids: list[str]) -> bool:
    return all(find_job(engine, job_id).is_final for job_id in ids)


@pytest.mark.parametrize(
    ("text", "attempts", "deaths"),
    [
        ("asks", 1, set()),
        ("loops", 1, set()),
        ("sleeps", 1, {RETIRED}),
        ("backtracks", 3, {FROM_FAULTHANDLER}),
    ],
)
def test_who_computes_for_ever_fails_as_too_costly_and_alone(
    engine: Engine, hasty: Settings, tmp_path: Path, text: str, attempts: int, deaths: set[int]
) -> None:
    neighbours = [send(engine, "slow") for _ in range(NEIGHBOURS // 2)]
    guilty = send(engine, text)
    neighbours += [send(engine, "slow") for _ in range(NEIGHBOURS // 2)]
    with working(tmp_path, hasty) as worker:
        stood = keep_running(
            worker, engine, hasty, lambda: all_ended(engine, [guilty, *neighbours])
        )
        if RETIRED in deaths:  # its end comes first
            keep_running(worker, engine, hasty, lambda: bool(worker.deaths))
    job = find_job(engine, guilty)
    assert job.error is not None
    said = job.error["type"].rpartition("#")[2]
    # a scheduler that stands still for a grace finds that the process is gone, and no more
    assert said == "too-costly" or (said == "attempts-exhausted" and stood > GRACE_SECONDS / 2)
    assert job.attempts == attempts
    if stood < GRACE_SECONDS:  # else their time may be over, too
        assert {find_job(engine, one).status for one in neighbours} == {"succeeded"}
    assert set(worker.deaths) == deaths
    if FROM_FAULTHANDLER in deaths:
        assert len(worker.deaths) >= attempts - 1  # the ledger knows before the last one ends
        assert "stubborn.py" in worker.log.read_text()  # the log says who it was


def test_a_worker_that_cannot_end_a_job_is_not_alive(
    engine: Engine, hasty: Settings, tmp_path: Path
) -> None:
    with working(tmp_path, hasty) as worker:
        keep_running(worker, engine, hasty, worker.is_alive)
        guilty = send(engine, "backtracks")
        keep_running(worker, engine, hasty, lambda: find_job(engine, guilty).status == "running")
        keep_running(worker, engine, hasty, lambda: not worker.is_alive())


def test_a_cancelled_job_frees_its_thread(engine: Engine, hasty: Settings, tmp_path: Path) -> None:
    patient = hasty.model_copy(update={"max_work_seconds": 3_600})
    with working(tmp_path, patient) as worker:
        worker.environment |= {
            "TOUCHSTONE_MAX_WORK_SECONDS": "3600",
            "TOUCHSTONE_WORKER_THREADS": "1",
        }
        busy = send(engine, "asks")
        keep_running(worker, engine, patient, lambda: find_job(engine, busy).status == "running")
        behind = send(engine, "slow")
        with engine.begin() as connection:
            jobs.cancel(connection, busy)
        keep_running(worker, engine, patient, lambda: find_job(engine, behind).is_final)
    assert find_job(engine, busy).status == "cancelled"
    assert find_job(engine, behind).status == "succeeded"
    assert worker.deaths == []


PROFILED = """
import sys, time
from shared.queue.job_context import JobContext
from shared.worker.watchdog import Watchdog

dog = Watchdog()
with dog.watch(JobContext("job", "default", False, time.monotonic() + 60), give_up=lambda: None):
    next(iter(dog._watched)).interrupted = True
calls = []
sys.setprofile(lambda _frame, event, _argument: calls.append(event))
(lambda: len(calls))()
sys.setprofile(None)
print(len(calls) > 0)
"""


def test_an_interrupt_that_was_withdrawn_leaves_nothing_pending() -> None:
    """CPython 3.11 under a profiler calls a function for ever where something stays pending."""
    ran = subprocess.run(
        [sys.executable, "-c", PROFILED], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "True\n", "")
