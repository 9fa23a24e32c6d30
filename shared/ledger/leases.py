"""The functions with which a worker claims a job, renews the claim, and finishes the job while the
claim is valid. A claim is a job and the number of the attempt. Every later write of a worker names
its attempt. A worker that was thought dead can therefore change nothing when it returns."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import (
    ARRAY,
    ColumnElement,
    Connection,
    Integer,
    Interval,
    Row,
    String,
    and_,
    any_,
    bindparam,
    cast,
    exists,
    func,
    or_,
    select,
    true,
    tuple_,
    update,
)
from sqlalchemy.sql.dml import ReturningUpdate

from shared.ledger.claim_order import (
    COUNT,
    EXPIRED,
    FULL,
    JOB_ID,
    JOB_IDS,
    SERVED,
    ClaimOrder,
    MetricQueue,
    next_job,
    next_jobs,
)
from shared.ledger.engine import encode_json
from shared.ledger.jobs import FINISHED_CHANNEL
from shared.ledger.tables import IS_QUEUED, IS_RUNNING, RUNNING, jobs, tried_attempts
from shared.ledger.webhooks import EVENT_COLUMNS, OWES_NOTHING, job_ended

MAX_ATTEMPTS = 3  # of a job, before it fails with `attempts-exhausted`

LEASE = bindparam("lease", type_=Interval)
MOST = bindparam("max_attempts", type_=Integer)
ATTEMPT = bindparam("attempt", type_=jobs.c.attempts.type)
DOCUMENT = bindparam("document", type_=jobs.c.result.type)
IDS = bindparam("all_ids", type_=ARRAY(String))
ATTEMPTS = bindparam("all_attempts", type_=ARRAY(Integer))
RESULTS = bindparam("all_results", type_=ARRAY(String))  # as JSON
ONE_AT_A_TIME = func.pg_advisory_xact_lock(func.hashtextextended("last attempts", 0))


@dataclass(frozen=True)
class Claim:
    """A worker's right to finish one job, until its lease ends. `tried` counts the attempts so far,
    including this one. Attempts that only waited are not counted."""

    job_id: str
    attempt: int
    request: Mapping[str, Any] = field(compare=False)
    waited_seconds: float = field(compare=False)
    tried: int = field(compare=False)
    tenant: str = field(compare=False)
    batch_id: str | None = field(compare=False)
    request_id: str | None = field(compare=False, default=None)


class ClaimTerms(NamedTuple):
    lease: timedelta
    max_attempts: int


def claim(
    connection: Connection,
    job_id: str,
    *,
    lease: timedelta,
    max_attempts: int,
    turn: ClaimOrder | None = None,
) -> Claim | None:
    """Claim the job, or the next job in the order `turn` if it is given. Only a queued job, or a
    job whose lease has expired, can be claimed; otherwise return None. A job whose workers all died
    gets its last attempt only while no other job of its queue is in its last attempt."""
    terms = ClaimTerms(lease, max_attempts)
    claimed = claim_free(connection, job_id, terms, turn)
    return claimed or claim_suspect(connection, job_id, terms)


def claim_free(
    connection: Connection, job_id: str, terms: ClaimTerms, turn: ClaimOrder | None = None
) -> Claim | None:
    """Claim a job as `claim` does, but with one SQL statement. A job whose workers all died does
    not get its last attempt here."""
    values = _values(job_id, terms)
    if turn is None:
        return _claimed(connection, CLAIM_OF_JOB, values)
    values |= {SERVED.key: list(turn.served), FULL.key: list(turn.full)}
    statement = next_claim(*turn.queue, again=turn.again)
    return _claimed(connection, statement, values)


def claim_several(
    connection: Connection, job_ids: Sequence[str], terms: ClaimTerms, turn: ClaimOrder
) -> list[Claim]:
    """Claim jobs of one queue with one statement, for messages that were sent for the first time.
    Returns at most one claim per message. Use `claim` for messages that got no claim."""
    values = {
        JOB_IDS.key: list(job_ids),
        COUNT.key: len(job_ids),
        LEASE.key: terms.lease,
        MOST.key: terms.max_attempts,
        SERVED.key: list(turn.served),
        FULL.key: list(turn.full),
    }
    return [_claim_of(row) for row in connection.execute(next_claims(*turn.queue), values)]


def claim_suspect(connection: Connection, job_id: str, terms: ClaimTerms) -> Claim | None:
    """Claim a job for its last attempt after all its workers died, unless another job of the queue
    is in its last attempt. A lock is held until the transaction ends."""
    values = _values(job_id, terms)
    if connection.execute(SUSPECT, values).first() is None:
        return None
    connection.execute(select(ONE_AT_A_TIME))  # the next statement sees earlier commits
    return _claimed(connection, SUSPECT_CLAIM, values)


def _values(job_id: str, terms: ClaimTerms) -> dict[str, Any]:
    return {JOB_ID.key: job_id, LEASE.key: terms.lease, MOST.key: terms.max_attempts}


def _claimed(
    connection: Connection, statement: ReturningUpdate[Any], values: Mapping[str, Any]
) -> Claim | None:
    row = connection.execute(statement, values).one_or_none()
    return None if row is None else _claim_of(row)


def _claim_of(row: Row[Any]) -> Claim:
    return Claim(
        job_id=row.id,
        attempt=row.attempts,
        request=row.request,
        waited_seconds=float(row.waited),
        tried=row.tried,
        tenant=row.tenant,
        batch_id=row.batch_id,
        request_id=row.request_id,
    )


def _on_trial() -> ColumnElement[bool]:
    """Return the condition that another job of the same metric and queue is in its last attempt."""
    other = jobs.alias("other")
    return (
        exists()
        .where(
            other.c.status == RUNNING,
            other.c.lease_expires_at >= func.now(),
            other.c.attempts - other.c.waits >= MOST,
            other.c.metric == jobs.c.metric,
            other.c.batch_id.is_(None) == jobs.c.batch_id.is_(None),
        )
        .correlate(jobs)
    )


def renew(connection: Connection, claims: Collection[Claim], *, lease: timedelta) -> set[str]:
    """Extend these leases. Return the ids of jobs that were neither cancelled nor taken over."""
    rows = connection.execute(
        update(jobs)
        .where(*_among(claims))
        .values(lease_expires_at=func.now() + lease)
        .returning(jobs.c.id)
    )
    return {row.id for row in rows}


def still_claimed(connection: Connection, claims: Collection[Claim]) -> set[str]:
    """Return the ids of jobs that were neither cancelled nor taken over."""
    rows = connection.execute(select(jobs.c.id).where(*_among(claims)))
    return {row.id for row in rows}


def succeed(connection: Connection, claim: Claim, result: Mapping[str, Any]) -> bool:
    """Finish the job with a result. Return False if the claim is no longer valid."""
    return _finish(connection, claim, SUCCESS, result)


def succeed_several(
    connection: Connection, ended: Sequence[tuple[Claim, Mapping[str, Any]]]
) -> set[str]:
    """Finish several jobs with one statement; return their ids. Jobs that need an event or whose
    row is locked are left out; finish them with `succeed`."""
    values = {
        IDS.key: [claim.job_id for claim, _ in ended],
        ATTEMPTS.key: [claim.attempt for claim, _ in ended],
        RESULTS.key: [encode_json(dict(result)) for _, result in ended],
    }
    return {row.id for row in connection.execute(SEVERAL_SUCCESSES, values)}


def fail(connection: Connection, claim: Claim, error: Mapping[str, Any]) -> bool:
    """End the job with an error. Return False if the claim is no longer valid."""
    return _finish(connection, claim, FAILURE, error)


def release(connection: Connection, claim: Claim, *, resend_after: timedelta) -> bool:
    """Return the job to the queue. The scheduler sends a new message for it after
    `resend_after`. Return False if the worker no longer holds the job."""
    return _requeue(connection, claim, resend_after, {})


def wait(
    connection: Connection, claim: Claim, *, model: Mapping[str, str], resend_after: timedelta
) -> bool:
    """Return the job to the queue until this model is ready; the attempt does not count. `model`
    has the keys `model` and `detail`."""
    waiting = {"waiting_for": dict(model), "waits": jobs.c.waits + 1}
    return _requeue(connection, claim, resend_after, waiting)


def _requeue(
    connection: Connection, claim: Claim, resend_after: timedelta, more: Mapping[str, Any]
) -> bool:
    row = connection.execute(
        update(jobs)
        .where(*_fence(claim))
        .values(status="queued", lease_expires_at=None, resend_at=func.now() + resend_after, **more)
        .returning(jobs.c.id)
    ).one_or_none()
    return row is not None


def _among(claims: Collection[Claim]) -> tuple[ColumnElement[bool], ...]:
    mine = [(claim.job_id, claim.attempt) for claim in claims]
    return (tuple_(jobs.c.id, jobs.c.attempts).in_(mine), IS_RUNNING)


def _fence(claim: Claim) -> tuple[Any, ...]:
    return (
        jobs.c.id == claim.job_id,
        jobs.c.attempts == claim.attempt,
        IS_RUNNING,
    )


def _finish(
    connection: Connection,
    claim: Claim,
    statement: ReturningUpdate[Any],
    document: Mapping[str, Any],
) -> bool:
    values = {JOB_ID.key: claim.job_id, ATTEMPT.key: claim.attempt, DOCUMENT.key: document}
    row = connection.execute(statement, values).one_or_none()
    if row is None:
        return False
    job_ended(connection, row)
    return True


# Statements are made once: making one takes as much processor time as all else in a short job.


def _claim_where(*conditions: ColumnElement[bool]) -> ReturningUpdate[Any]:
    return (
        update(jobs)
        .where(*conditions)
        .values(
            status="running",
            attempts=jobs.c.attempts + 1,
            started_at=func.coalesce(jobs.c.started_at, func.now()),
            lease_expires_at=func.now() + LEASE,
            waiting_for=None,
            claimed_by=func.current_setting("application_name"),
        )
        .returning(
            jobs.c.id,
            jobs.c.attempts,
            tried_attempts.label("tried"),
            jobs.c.request,
            func.extract("epoch", func.now() - jobs.c.created_at).label("waited"),
            jobs.c.tenant,
            jobs.c.batch_id,
            jobs.c.request_id,
        )
    )


@lru_cache(maxsize=64)
def next_claim(metric: str, batch: bool, *, again: bool) -> ReturningUpdate[Any]:
    """Return the SQL update that claims the queue's next job. With `again`, for a repeated message,
    the job named in the message comes first if it was attempted before."""
    job = next_job(MetricQueue(metric, batch), again=again)
    return _claim_where(jobs.c.id == job, *FREE).returning(UNSYNCED)


@lru_cache(maxsize=64)
def next_claims(metric: str, batch: bool) -> ReturningUpdate[Any]:
    job_ids = next_jobs(MetricQueue(metric, batch))
    return _claim_where(jobs.c.id == any_(job_ids), *FREE).returning(UNSYNCED)


def _end_of(status: str, column: str) -> ReturningUpdate[Any]:
    """Return the SQL update that ends job `JOB_ID` if it still runs this attempt. `column` receives
    its result or error."""
    final = {"status": status, column: DOCUMENT}
    return (
        update(jobs)
        .where(jobs.c.id == JOB_ID, jobs.c.attempts == ATTEMPT, IS_RUNNING)
        .values(finished_at=func.now(), lease_expires_at=None, **final)
        .returning(*EVENT_COLUMNS, func.pg_notify(FINISHED_CHANNEL, jobs.c.id))
    )


def _several_successes() -> ReturningUpdate[Any]:
    """Return the SQL update that records several results. It waits for no lock, so these updates
    and lease renewals never wait for each other."""
    unnested = func.unnest(IDS, ATTEMPTS, RESULTS)
    successes = unnested.table_valued("id", "attempt", "result", name="told").render_derived()
    mine = (
        select(jobs.c.id, successes.c.result)
        .join(successes, and_(jobs.c.id == successes.c.id, jobs.c.attempts == successes.c.attempt))
        .where(IS_RUNNING, OWES_NOTHING)
        .with_for_update(of=jobs, skip_locked=True, key_share=True)
        .cte("mine")
    )
    return (
        update(jobs)
        .where(jobs.c.id == mine.c.id, IS_RUNNING)
        .values(
            status="succeeded",
            result=cast(mine.c.result, jobs.c.result.type),
            finished_at=func.now(),
            lease_expires_at=None,
        )
        .returning(jobs.c.id, func.pg_notify(FINISHED_CHANNEL, jobs.c.id))
    )


# A claim need not be on the disk before it is used: where the server breaks down in the half second
# until it is, the job is as it was, and may be claimed once more under the same number. Of two who
# hold one number the first to end it is the one who does: a job has one end all the same.
# Source: PostgreSQL, "Asynchronous Commit".
UNSYNCED = func.set_config("synchronous_commit", "off", true())
_INNOCENT = and_(*EXPIRED, tried_attempts < MOST - 1)
FREE = (or_(IS_QUEUED, _INNOCENT), tried_attempts < MOST)
_SUSPECT = (jobs.c.id == JOB_ID, *EXPIRED, tried_attempts == MOST - 1)
SUSPECT = select(jobs.c.id).where(*_SUSPECT)
SUSPECT_CLAIM = _claim_where(*_SUSPECT, ~_on_trial())
CLAIM_OF_JOB = _claim_where(jobs.c.id == JOB_ID, *FREE)
SEVERAL_SUCCESSES = _several_successes()
SUCCESS, FAILURE = _end_of("succeeded", "result"), _end_of("failed", "error")
