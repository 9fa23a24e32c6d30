"""Scenario 25: a worker that was thought dead comes back, and what it still had to say is late."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor

import psutil
from sqlalchemy import text

from shared.ledger.engine import connect
from tests.chaos.faults import frozen
from tests.chaos.poisoned import ENDPOINT
from tests.chaos.sending import CLIENTS, Sent, bodies
from tests.chaos.services.poison.contract import LATE
from tests.chaos.trial import Trial
from tests.end_to_end.load import submit
from tests.end_to_end.service import Service
from tests.patience import eventually

LEASE_SECONDS, BEYOND_SECONDS = 12, 12
# the watchdog's patience is a lease and a grace: this one must live to see the end of its pause
SETTINGS = {"LEASE": LEASE_SECONDS, "HEARTBEAT": 3, "RESEND": 5, "GRACE": 120}
LATE_EVERY = 10  # jobs
COMPUTING = """
    SELECT claimed_by FROM jobs
    WHERE status = 'running' AND (request->'metadata')::jsonb = CAST(:late AS jsonb)
"""


def send_late(service: Trial, jobs: int) -> Sent:
    """Some of the jobs compute for seconds without asking whether they are still wanted."""
    asked = bodies(jobs)
    for body in asked[::LATE_EVERY]:
        body["metadata"] = LATE
    with service.client() as client, ThreadPoolExecutor(CLIENTS) as pool:
        ids = list(pool.map(lambda body: submit(client, body, ENDPOINT), asked))
    return Sent(ids)


def stop_beyond_the_lease(service: Service) -> str:
    """One of two workers, while it computes what it will end when nobody wants it any more."""
    worker = psutil.Process(eventually(lambda: _computing(service)))
    with frozen([worker]):
        time.sleep(LEASE_SECONDS + BEYOND_SECONDS)
    fenced = eventually(lambda: _fenced(service))
    return f"{fenced} late ends refused"


def _computing(service: Service) -> int | None:
    """The process that has a late job right now: its session's name says which."""
    engine = connect(service.database_url)
    with engine.connect() as connection:
        name = connection.execute(text(COMPUTING), {"late": json.dumps(LATE)}).scalar()
    engine.dispose()
    return None if name is None else int(str(name).split("-")[1])


def _fenced(service: Service) -> int:
    """As the workers' logs say."""
    logs = (service.folder / "logs").glob("worker-poison*.log")
    return sum(log.read_text("utf-8", "replace").count("job.fenced") for log in logs)
