"""Saves the answers that models give while a job runs. Only the job's current attempt can write
them. The trigger `forget_steps` deletes them at the job's end."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import Connection, literal, select
from sqlalchemy.dialects.postgresql import insert

from shared.ledger.tables import IS_RUNNING, job_steps, jobs


class JobStep(NamedTuple):
    """Identifies the stored answer of one step of a job. `fingerprint` is a hash of the request
    that the step answers."""

    job_id: str
    name: str
    fingerprint: str


def find(connection: Connection, step: JobStep) -> str | None:
    """Return the saved answer to exactly this request, or None."""
    query = select(job_steps.c.content).where(
        job_steps.c.job_id == step.job_id,
        job_steps.c.name == step.name,
        job_steps.c.fingerprint == step.fingerprint,
    )
    content: str | None = connection.execute(query).scalar_one_or_none()
    return content


def keep(connection: Connection, step: JobStep, attempt: int, content: str) -> bool:
    """Save the step's answer and replace an earlier one. Return False if this attempt no longer
    holds the job."""
    mine = select(jobs.c.id, literal(step.name), literal(step.fingerprint), literal(content)).where(
        jobs.c.id == step.job_id, jobs.c.attempts == attempt, IS_RUNNING
    )
    statement = insert(job_steps).from_select(["job_id", "name", "fingerprint", "content"], mine)
    rows = connection.execute(
        statement.on_conflict_do_update(
            index_elements=["job_id", "name"],
            set_={name: statement.excluded[name] for name in ("fingerprint", "content")},
        ).returning(job_steps.c.job_id)
    )
    return rows.first() is not None
