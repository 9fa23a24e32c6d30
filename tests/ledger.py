"""Jobs in the ledger, as workers leave them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from sqlalchemy import Connection, Engine, text

from shared.ledger import jobs, leases
from shared.ledger.jobs import Job
from shared.ledger.leases import Claim

MINUTE = timedelta(minutes=1)


def find_job(engine: Engine, job_id: str) -> Job:
    with engine.begin() as connection:
        return jobs.find(connection, job_id)


def must_claim(connection: Connection, job_id: str, lease: timedelta = MINUTE) -> Claim:
    """Claim a job that nobody holds."""
    claim = leases.claim(connection, job_id, lease=lease, max_attempts=3)
    assert claim is not None
    return claim


def succeed(engine: Engine, job_id: str, result: dict[str, Any]) -> None:
    """Do a worker's work on this job."""
    with engine.begin() as connection:
        assert leases.succeed(connection, must_claim(connection, job_id), result)


def fail(engine: Engine, job_id: str, problem: dict[str, Any]) -> None:
    """End this job as a worker does that cannot score it."""
    with engine.begin() as connection:
        assert leases.fail(connection, must_claim(connection, job_id), problem)


def expire_lease(engine: Engine, job_id: str) -> None:
    """Let the worker's lease run out."""
    expired = text("UPDATE jobs SET lease_expires_at = now() - interval '1 s' WHERE id = :id")
    with engine.begin() as connection:
        connection.execute(expired, {"id": job_id})
