"""Many jobs created by one call. Either all of them are committed, or none. One Idempotency-Key
covers the whole call. While the first call with a key runs, a second call gets an error instead of
waiting. The jobs are inserted with one statement."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, NamedTuple

from sqlalchemy import (
    ARRAY,
    JSON,
    ColumnElement,
    Connection,
    String,
    any_,
    cast,
    exists,
    func,
    insert,
    literal,
    select,
)
from sqlalchemy.dialects.postgresql import insert as insert_or_ignore

from shared.contracts.errors import ScoringError, UnknownJob
from shared.contracts.problems import STILL_RUNNING
from shared.ledger.engine import encode_json
from shared.ledger.jobs import (
    ANYBODY,
    SHOWN,
    Job,
    JobStatus,
    Owner,
    check_limit,
    fingerprint,
    is_kept,
    job_of,
    new_id,
)
from shared.ledger.private_requests import encrypted
from shared.ledger.request_keys import KeyReused, take_over_key
from shared.ledger.tables import FINAL, idempotency_keys, jobs
from shared.process.telemetry import request_id

MOST_JOBS = 1_000  # in one call; Google's AIP-233 and AIP-231 have the same


class StillRunning(ScoringError):
    """The first call with this Idempotency-Key has not been answered yet."""

    status = 409
    slug = STILL_RUNNING
    title = "The first request with this Idempotency-Key is still being answered"
    cure = "Wait for `Retry-After` and send the same request with the same key again."
    retry_after = 1


@dataclass(frozen=True)
class NewJobs:
    """A validated request to create several jobs."""

    metric: str
    requests: Sequence[Mapping[str, Any]]
    resend_after: timedelta


class JobState(NamedTuple):
    """The id, metric and status of a job."""

    id: str
    metric: str
    status: JobStatus


@dataclass(frozen=True)
class AcceptedJobs:
    """Created jobs in the order of their requests, and whether an earlier call created them."""

    states: list[JobState]
    replayed: bool

    @property
    def ids(self) -> list[str]:
        return [state.id for state in self.states]


def accept_all(
    connection: Connection, new: NewJobs, *, key: str | None, owner: Owner = ANYBODY
) -> AcceptedJobs:
    """Create the jobs, or return the jobs that this idempotency key created. Raises StillRunning,
    KeyReused or QuotaExceeded. Raises Unavailable if private texts cannot be encrypted."""
    ids = sorted(new_id() for _ in new.requests)  # in the order of the requests
    earlier = None if key is None else _claimed(connection, new, key, owner, ids)
    if earlier is not None:
        return AcceptedJobs(states_of(connection, earlier), replayed=True)
    check_limit(connection, owner, len(ids))
    _insert(connection, new, owner.tenant, ids)
    return AcceptedJobs([JobState(job_id, new.metric, "queued") for job_id in ids], replayed=False)


def _claimed(
    connection: Connection, new: NewJobs, key: str, owner: Owner, ids: list[str]
) -> list[str] | None:
    """Return the job ids of the call that used the key first, or None if this call now holds the
    key."""
    name = func.hashtextextended(f"idempotency {owner.tenant} {key}", 0)
    if not connection.execute(select(func.pg_try_advisory_xact_lock(name))).scalar_one():
        raise StillRunning(
            "the jobs of the first request are still being stored; send the "
            "request again in a moment"
        )
    mark = fingerprint(f"{new.metric}:batchCreate", {"requests": list(new.requests)})
    values = {"tenant": owner.tenant, "key": key, "fingerprint": mark}
    claimed = connection.execute(
        insert_or_ignore(idempotency_keys)
        .values(values | {"job_id": ids[0], "job_ids": ids})
        .on_conflict_do_nothing()
        .returning(idempotency_keys.c.key)
    ).one_or_none()
    if claimed is not None:
        return None
    row = connection.execute(
        select(idempotency_keys.c.fingerprint, idempotency_keys.c.job_ids).where(
            idempotency_keys.c.tenant == owner.tenant, idempotency_keys.c.key == key
        )
    ).one_or_none()
    if row is None:  # just purged
        return None
    if row.fingerprint != mark or row.job_ids is None:
        raise KeyReused(
            "another request was already sent with this Idempotency-Key; use a new key", pointer=""
        )
    if connection.execute(select(exists().where(*_among(row.job_ids, owner.tenant)))).scalar_one():
        return list(row.job_ids)
    take_over_key(connection, values | {"job_id": ids[0], "job_ids": ids}, row.job_ids[0])
    return None


def _insert(connection: Connection, new: NewJobs, tenant: str, ids: list[str]) -> None:
    documents = [encode_json(encrypted(request)) for request in new.requests]
    rows = (
        func.unnest(literal(ids, ARRAY(String)), literal(documents, ARRAY(String)))
        .table_valued("id", "request")
        .render_derived("made")
    )
    values: dict[str, ColumnElement[Any]] = {
        "id": rows.c.id,
        "metric": literal(new.metric),
        "tenant": literal(tenant),
        "request": cast(rows.c.request, JSON),
        "resend_at": func.now() + new.resend_after,
        "request_id": literal(request_id(), String),
    }
    connection.execute(insert(jobs).from_select(list(values), select(*values.values())))


def states_of(
    connection: Connection, ids: Sequence[str], tenant: str | None = None
) -> list[JobState]:
    """Return the states of the jobs with these ids, in the same order. Raises UnknownJob with
    pointers to the missing jobs."""
    query = select(jobs.c.id, jobs.c.metric, jobs.c.status).where(*_among(ids, tenant))
    states = {row.id: JobState(*row) for row in connection.execute(query)}
    check_known(ids, states)
    return [states[job_id] for job_id in ids]


def find_all(connection: Connection, ids: Sequence[str], tenant: str | None = None) -> list[Job]:
    """Return the jobs with these ids, in the same order. Raises UnknownJob with pointers to the
    missing jobs."""
    query = select(*SHOWN).where(*_among(ids, tenant))
    by_id = {row.id: job_of(row) for row in connection.execute(query)}
    check_known(ids, by_id)
    return [by_id[job_id] for job_id in ids]


def open_count(connection: Connection, ids: Sequence[str], tenant: str | None = None) -> int:
    """Return how many of these jobs have not ended."""
    query = select(func.count()).where(*_among(ids, tenant), jobs.c.status.not_in(FINAL))
    return connection.execute(query).scalar_one()


def _among(ids: Sequence[str], tenant: str | None) -> list[ColumnElement[bool]]:
    conditions = [jobs.c.id == any_(literal(list(ids), ARRAY(String))), is_kept()]
    return conditions if tenant is None else [*conditions, jobs.c.tenant == tenant]


def check_known(ids: Sequence[str], existing: Collection[str]) -> None:
    """Raise UnknownJob with pointers to the ids that do not exist."""
    missing = [number for number, job_id in enumerate(ids) if job_id not in existing]
    if missing:
        first = ids[missing[0]][:64]
        more = f", nor are {len(missing) - 1} others" if len(missing) > 1 else ""
        raise UnknownJob(
            f"there is no job {first!r}{more}",
            pointers=tuple(f"/ids/{number}" for number in missing),
        )
