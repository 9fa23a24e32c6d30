"""Processes that are stopped and woken: a worker whose late words must be refused (25), and one of
two schedulers (32)."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import psutil
from sqlalchemy import Connection, text

from shared.ledger.engine import connect
from tests.chaos.faults import AWAY_SECONDS, frozen, processes
from tests.chaos.poisoned import ENDPOINT
from tests.chaos.sending import CLIENTS, Sent, bodies
from tests.chaos.services.poison.contract import LATE
from tests.chaos.trial import Trial
from tests.end_to_end.load import submit
from tests.end_to_end.service import ROOT, Service
from tests.patience import SECONDS, eventually

LEASE_SECONDS = 20
BOTH_SECONDS = 10.0  # both schedulers run
SETTINGS = {"LEASE": LEASE_SECONDS}
LATE_JOBS, LATE_EVERY = 120, 10  # so many at least: some must compute when the fault comes
COMPUTING = """
    SELECT claimed_by, array_agg(id) AS ids FROM jobs
    WHERE status = 'running' AND (request->'metadata')::jsonb = CAST(:late AS jsonb)
    GROUP BY claimed_by ORDER BY count(*) DESC LIMIT 1
"""
TAKEN_OVER = "SELECT count(*) FROM jobs WHERE id = ANY(:ids) AND attempts > 1"


def send_late(service: Trial, jobs: int) -> Sent:
    """Some of the jobs compute for seconds without asking whether they are still wanted."""
    asked = bodies(jobs)
    for body in asked[:: max(1, min(LATE_EVERY, jobs // LATE_JOBS))]:
        body["metadata"] = LATE
    with service.client() as client, ThreadPoolExecutor(CLIENTS) as pool:
        ids = list(pool.map(lambda body: submit(client, body, ENDPOINT), asked))
    return Sent(ids)


def stop_beyond_the_lease(service: Service) -> str:
    """One of two workers, while it computes what it will end when somebody else has it."""
    worker, late = eventually(lambda: _computing(service))
    stopped = time.monotonic()
    with frozen([psutil.Process(worker)]):
        time.sleep(LEASE_SECONDS)
        eventually(lambda: _is_taken_over(service, late))
        seconds = time.monotonic() - stopped
    fenced = eventually(lambda: _fenced(service))
    return f"{seconds:.0f} s; {fenced} late ends refused"


def pause_one_of_two_schedulers(service: Service) -> None:
    """A second one is started, and the first is stopped for a while and woken."""
    [first] = processes(service, "services.scheduler")
    environment = first.environ()
    environment.pop("TOUCHSTONE_METRICS_PORT", None)
    command = [sys.executable, "-m", "services.scheduler"]
    with (service.folder / "logs" / "second-scheduler.log").open("wb") as log:
        second = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)
    try:
        time.sleep(BOTH_SECONDS)
        with frozen([first]):
            time.sleep(AWAY_SECONDS)
        time.sleep(BOTH_SECONDS)
    finally:
        second.terminate()
        second.wait(SECONDS)


def _computing(service: Service) -> tuple[int, list[str]] | None:
    """(the process that has most late jobs right now: its session's name says which; their ids)."""
    with _reading(service) as connection:
        row = connection.execute(text(COMPUTING), {"late": json.dumps(LATE)}).first()
    return None if row is None else (int(row.claimed_by.split("-")[1]), row.ids)


def _is_taken_over(service: Service, ids: list[str]) -> bool:
    """Whether another worker has one of these jobs, or has ended it."""
    with _reading(service) as connection:
        return bool(connection.execute(text(TAKEN_OVER), {"ids": ids}).scalar())


@contextmanager
def _reading(service: Service) -> Iterator[Connection]:
    engine = connect(service.database_url)
    try:
        with engine.connect() as connection:
            yield connection
    finally:
        engine.dispose()


def _fenced(service: Service) -> int:
    """As the workers' logs say."""
    logs = (service.folder / "logs").glob("worker-poison*.log")
    return sum(log.read_text("utf-8", "replace").count("job.fenced") for log in logs)
