"""Accepts, finds, lists and cancels jobs for the gateway, and checks the quotas of a tenant.

Each idempotency key creates one job: a second caller gets the first caller's job. The key is bound
to a fingerprint of the request. Another request under the same key is the caller's error. Source:
draft-ietf-httpapi-idempotency-key-header-07.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from sqlalchemy import (
    ARRAY,
    Column,
    ColumnElement,
    Connection,
    Row,
    String,
    and_,
    any_,
    func,
    insert,
    literal,
    literal_column,
    or_,
    select,
    true,
    update,
)
from sqlalchemy.dialects.postgresql import insert as insert_or_ignore

from shared.contracts.errors import QuotaExceeded, UnknownJob
from shared.ledger.request_keys import KeyReused, of_key, take_over_key
from shared.ledger.tables import (
    DEFAULT_TENANT,
    FINAL,
    IS_OPEN,
    OPEN,
    batches,
    files,
    idempotency_keys,
    jobs,
    tried_attempts,
)
from shared.ledger.tenants import kept_for
from shared.ledger.webhooks import EVENT_COLUMNS, job_ended
from shared.process.encryption import text_key
from shared.process.settings import settings
from shared.process.telemetry import request_id

JobStatus = Literal["queued", "running", "succeeded", "failed", "cancelled"]
FINISHED_CHANNEL = "touchstone_job_finished"  # PostgreSQL NOTIFY, payload: the job's id

# the names of the policies in a refusal
OPEN_JOBS = "open-jobs"
OPEN_BATCHES = "open-batches"
STORED_FILES = "stored-files"
STORED_BYTES = "stored-bytes"
RETRY_SECONDS = 5
LONGEST_RETRY_SECONDS = 300
ROOM_SHARE = 0.01  # of the open jobs
DELETE_SECONDS = 60  # `Retry-After` if something must be deleted first

# No request skips the count this close to the quota, for several gateways commit at once.
UNSEEN = 100
ROOMY = 1_000
FRESH_SECONDS = 1.0

MADE_AT = re.compile(r"job_([0-9a-f]{12})")
DAY_MS = 86_400_000
MOST_DAYS = 100  # bounds the number of cached statements
_lately: dict[str, tuple[float, int]] = {}  # tenant → when it was counted, and how many were open


@dataclass(frozen=True)
class Job:
    """A job, as the API shows it."""

    id: str
    metric: str
    tenant: str
    status: JobStatus
    request: dict[str, Any]
    attempts: int
    result: dict[str, Any] | None
    error: dict[str, Any] | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    batch_id: str | None
    waiting_for: dict[str, str] | None = None  # `model`, `state` and `detail`
    request_id: str | None = None  # of the HTTP request that made it

    @property
    def is_final(self) -> bool:
        """True if the job is in a final state."""
        return self.status in FINAL


SHOWN = tuple(
    tried_attempts.label("attempts") if name == "attempts" else jobs.c[name]
    for name in Job.__dataclass_fields__
)


@dataclass(frozen=True)
class Owner:
    """A tenant and its quotas. A quota of None means no limit."""

    tenant: str = DEFAULT_TENANT
    most_open: int | None = None  # queued and running jobs
    most_batches: int | None = None  # that have not ended
    most_files: int | None = None  # uploaded
    most_bytes: int | None = None  # of all files


ANYBODY = Owner()


@dataclass(frozen=True)
class Accepted:
    """A created job. `replayed` is True if an earlier request had created the job."""

    job: Job
    replayed: bool


def accept(
    connection: Connection,
    metric: str,
    request: Mapping[str, Any],
    *,
    key: str | None,
    resend_after: timedelta,
    owner: Owner = ANYBODY,
) -> Accepted:
    """Create a job, or return the job that this idempotency key created. If many calls with one key
    arrive at once, one creates the job and the others get it. Raises KeyReused if the key belongs
    to another request, and QuotaExceeded if the owner has too many open jobs."""
    job_id = new_id()
    if key is not None:
        mark = fingerprint(metric, request)
        claimed = connection.execute(
            insert_or_ignore(idempotency_keys)
            .values(tenant=owner.tenant, key=key, fingerprint=mark, job_id=job_id)
            .on_conflict_do_nothing()
            .returning(idempotency_keys.c.key)
        ).one_or_none()
        if not claimed:
            values = {"tenant": owner.tenant, "key": key, "fingerprint": mark, "job_id": job_id}
            earlier = _find_previous(connection, values)
            if earlier is not None:
                return Accepted(job=earlier, replayed=True)
    check_limit(connection, owner)
    job = insert_job(connection, job_id, metric, request, resend_after, tenant=owner.tenant)
    return Accepted(job=job, replayed=False)


def _find_previous(connection: Connection, ours: Mapping[str, str]) -> Job | None:
    """Return the job created earlier with this idempotency key, or None if the key is unknown. If
    that job has expired, assign the key to the new job in `ours` and return None. Raises KeyReused
    if the earlier request was different."""
    row = connection.execute(
        select(idempotency_keys.c.fingerprint, idempotency_keys.c.job_id).where(*of_key(ours))
    ).one_or_none()
    if row is None:
        return None
    if row.fingerprint != ours["fingerprint"]:
        raise KeyReused(
            "another request was already sent with this Idempotency-Key; use a new key", pointer=""
        )
    try:
        return find(connection, row.job_id)
    except UnknownJob:
        is_ours = take_over_key(connection, ours, row.job_id)
    return None if is_ours else _find_previous(connection, ours)


def find_by_key(
    connection: Connection, tenant: str, key: str, metric: str, request: Mapping[str, Any]
) -> Job | None:
    """Return the job that this idempotency key created for the same request, unless the job has
    expired."""
    columns = idempotency_keys.c
    query = (
        select(*SHOWN)
        .join(idempotency_keys, columns.job_id == jobs.c.id)
        .where(*of_key({"tenant": tenant, "key": key}), is_kept())
        .where(columns.fingerprint == fingerprint(metric, request))
    )
    row = connection.execute(query).one_or_none()
    return None if row is None else job_of(row)


def fingerprint(metric: str, request: Mapping[str, Any]) -> str:
    """Return a hash of the validated request. Key order does not matter. If the text must not be
    stored, the hash depends on a secret key, so nobody can test a guessed text."""
    canonical = json.dumps([metric, request], sort_keys=True, ensure_ascii=True)
    if '"do_not_store_text": true' in canonical and (keyed := text_key(canonical, settings())):
        return keyed
    return hashlib.sha256(canonical.encode()).hexdigest()


def new_id() -> str:
    """Return a new job id: `job_` and 32 hex digits. Ids sort by time."""
    return f"{_beginning(time.time())}{secrets.token_hex(10)}"


def first_id(moment: datetime) -> str:
    """Return a lower bound of all ids created at `moment` or later."""
    return _beginning(moment.timestamp())


def _beginning(seconds: float) -> str:
    return f"job_{int(seconds * 1_000):012x}"


def has_id(job_id: str) -> ColumnElement[bool]:
    """Return the SQL condition that a job has this id."""
    is_job = jobs.c.id == job_id
    day = int(match[1], 16) // DAY_MS if (match := MADE_AT.match(job_id)) else 0
    if abs(day - time.time() * 1_000 // DAY_MS) > MOST_DAYS:
        return is_job
    lower, upper = (f"'job_{limit * DAY_MS:012x}'" for limit in (day, day + 1))
    return and_(is_job, jobs.c.id >= literal_column(lower), jobs.c.id < literal_column(upper))


def is_expired(older_than: timedelta) -> ColumnElement[bool]:
    """Return the SQL condition that a job can be deleted. It must have ended longer ago than
    `older_than`, or its tenant's own retention, and belong to no existing batch."""
    term = kept_for(jobs.c.tenant, older_than)
    return and_(jobs.c.finished_at < func.now() - term, ~_is_of_batch())


def is_kept() -> ColumnElement[bool]:
    """Return the SQL condition that a job may still be read. An expired job may not be read, even
    if its row still exists."""
    term = kept_for(jobs.c.tenant, timedelta(hours=settings().retention_hours))
    is_young = jobs.c.finished_at >= func.now() - term
    return or_(jobs.c.finished_at.is_(None), is_young, _is_of_batch())


def _is_of_batch() -> ColumnElement[bool]:
    # a value, since with EXISTS the planner may read all batches for one page
    batch_id = select(batches.c.id).where(batches.c.id == jobs.c.batch_id).correlate(jobs)
    return and_(jobs.c.batch_id.is_not(None), batch_id.scalar_subquery().is_not(None))


def insert_job(
    connection: Connection,
    job_id: str,
    metric: str,
    request: Mapping[str, Any],
    resend_after: timedelta,
    *,
    tenant: str = DEFAULT_TENANT,
) -> Job:
    """Insert a queued job of the current HTTP request. If no worker claims it within
    `resend_after`, the scheduler sends it again."""
    values: dict[str, Any] = {"id": job_id, "metric": metric, "tenant": tenant, "request": request}
    values |= {"resend_at": func.now() + resend_after, "request_id": request_id()}
    created_at = connection.execute(
        insert(jobs).values(values).returning(jobs.c.created_at)  # return no text
    ).scalar_one()
    return Job(
        id=job_id,
        metric=metric,
        tenant=tenant,
        status="queued",
        request=dict(request),
        attempts=0,
        result=None,
        error=None,
        created_at=created_at,
        started_at=None,
        finished_at=None,
        batch_id=None,
        request_id=request_id(),
    )


def job_of(row: Row[Any]) -> Job:
    return Job(**row._asdict())


IN_A_LINE = (
    *(jobs.c[name] for name in ("id", "metric", "status", "created_at")),
    jobs.c.result["range"].is_not(None),  # a metric's result
    jobs.c.result["score"],
    jobs.c.result["verdict"],
    *(jobs.c[name] for name in ("batch_id", "started_at", "finished_at")),
)


def has_metadata(column: Column[Any], metadata: Mapping[str, str]) -> ColumnElement[bool]:
    """Return the SQL condition that `metadata` of a JSON document has these keys and values."""
    return and_(*(column["metadata"][key].as_string() == value for key, value in metadata.items()))


def find(connection: Connection, job_id: str, *, tenant: str | None = None) -> Job:
    """Return the job with this id. Raises UnknownJob, also if it has expired or is not this
    tenant's."""
    query = select(*SHOWN).where(has_id(job_id), is_kept())
    if tenant is not None:
        query = query.where(jobs.c.tenant == tenant)
    row = connection.execute(query).one_or_none()
    if row is None:
        raise UnknownJob(f"there is no job {job_id!r}")
    return job_of(row)


@dataclass(frozen=True)
class JobPage:
    """Selects one page of jobs, newest first, all older than `after`. If `tenant` is None, the page
    covers all tenants."""

    limit: int
    tenant: str | None = None
    after: str | None = None
    status: JobStatus | None = None
    metric: str | None = None
    batch: str | None = None
    verdict: str | None = None
    metadata: Mapping[str, str] | None = None
    created_after: datetime | None = None
    created_before: datetime | None = None
    ids: Sequence[str] = ()  # only these


def page_of(connection: Connection, page: JobPage) -> tuple[list[Job], bool]:
    """Return the jobs of a page, and True if older ones follow."""
    rows, more = _rows_of(connection, page, *SHOWN)
    return [job_of(row) for row in rows], more


@dataclass(frozen=True)
class JobSummary:
    """A job as one line of a list. `score` is None if it is undefined or if `is_scored` is False.
    `metadata` and `decision` are set only if the caller requests them."""

    id: str
    metric: str
    status: JobStatus
    created_at: datetime
    is_scored: bool
    score: float | None
    verdict: str | None = None  # of the metric
    batch_id: str | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None
    metadata: dict[str, str] | None = None
    decision: str | None = None  # that is explained


def summary_page(
    connection: Connection, page: JobPage, *more: ColumnElement[Any]
) -> tuple[list[JobSummary], bool]:
    """Return the page's jobs without their requests and results, which are large. `more` holds
    columns for metadata and decision."""
    rows, follow = _rows_of(connection, page, *IN_A_LINE, *more)
    return [JobSummary(*row) for row in rows], follow


def _rows_of(
    connection: Connection, page: JobPage, *columns: ColumnElement[Any]
) -> tuple[Sequence[Any], bool]:
    """Return the requested columns of a page of jobs, and True if more jobs follow. Ids are
    selected first, so that sorting does not load results. Recent days are searched first, because a
    search over all days may touch many partitions."""
    match = MADE_AT.match(page.after or "")
    day = (int(match[1], 16) if match else int(time.time() * 1_000)) // DAY_MS - 1
    since = jobs.c.id >= literal_column(f"'job_{max(0, day) * DAY_MS:012x}'")
    ids = _ids(connection, page, since)
    if len(ids) <= page.limit:
        since = true()
        ids = _ids(connection, page, since)
    shown = jobs.c.id == any_(literal(ids[: page.limit], ARRAY(String)))
    query = select(*columns).where(shown, since).order_by(jobs.c.id.desc())
    return connection.execute(query).all(), len(ids) > page.limit


def _ids(connection: Connection, page: JobPage, since: ColumnElement[bool]) -> list[str]:
    """Return the ids of the page's jobs, newest first. One id more than the page's limit shows that
    there is a next page."""
    criteria = (
        (page.tenant, lambda value: jobs.c.tenant == value),
        (page.after, lambda value: jobs.c.id < value),
        (page.status, lambda value: jobs.c.status == value),
        (page.metric, lambda value: jobs.c.metric == value),
        (page.batch, lambda value: jobs.c.batch_id == value),
        (page.verdict, lambda value: jobs.c.result["verdict"].as_string() == value),
        (page.metadata or None, lambda value: has_metadata(jobs.c.request, value)),
        (page.created_after, lambda value: jobs.c.created_at >= value),
        (page.created_before, lambda value: jobs.c.created_at < value),
        (page.ids or None, lambda value: jobs.c.id == any_(literal(list(value), ARRAY(String)))),
    )
    conditions = [condition(value) for value, condition in criteria if value is not None]
    query = select(jobs.c.id).where(since, is_kept(), *conditions).order_by(jobs.c.id.desc())
    return list(connection.execute(query.limit(page.limit + 1)).scalars())


def cancel(connection: Connection, job_id: str, *, tenant: str | None = None) -> Job:
    """Cancel an open job at once. A final job stays unchanged. Raises UnknownJob."""
    of_tenant = true() if tenant is None else jobs.c.tenant == tenant
    # With IS_OPEN the planner may read all open jobs of the tenant, since the index of open jobs
    # looks small until the table is analysed: 13 ms instead of 0.1 ms in a backlog of 9,000.
    is_open = jobs.c.finished_at.is_(None)
    rows = connection.execute(
        update(jobs)
        .where(has_id(job_id), is_open, of_tenant)
        .values(status="cancelled", finished_at=func.now(), lease_expires_at=None)
        .returning(*EVENT_COLUMNS, func.pg_notify(FINISHED_CHANNEL, jobs.c.id))
    )
    for row in rows:
        job_ended(connection, row)
    return find(connection, job_id, tenant=tenant)


def open_counts(connection: Connection) -> dict[tuple[str, str], int]:
    """Return the number of queued or running jobs by (metric, status)."""
    rows = connection.execute(
        select(jobs.c.metric, jobs.c.status, func.count())
        .where(IS_OPEN)
        .group_by(jobs.c.metric, jobs.c.status)
    )
    return {(metric, status): count for metric, status, count in rows}


def check_limit(connection: Connection, owner: Owner, count: int = 1) -> None:
    """Raise QuotaExceeded if `count` more open jobs would exceed the quota. If at least a thousand
    jobs are left, the open jobs are counted at most once a second. Otherwise, or for many jobs at
    once, the tenant's transactions take turns with a lock."""
    if owner.most_open is None or (count == 1 and _has_space(owner)):
        return
    if count == 1 and _count_open(connection, owner, 0)[0] < owner.most_open - UNSEEN:
        return
    _take_turns(connection, OPEN_JOBS, owner)
    open_count, oldest_seconds = _count_open(connection, owner, count)
    too_many = open_count + count - owner.most_open
    if too_many <= 0:
        return
    detail = (
        f"you have {owner.most_open} jobs queued or running, the most allowed; wait until "
        "some have ended"
    )
    if count > 1:
        detail = (
            f"{owner.most_open} jobs may be queued or running at a time, and these {count} "
            "would exceed this limit"
        )
    # In the time that the oldest job has been open about all open ones end (Little's law). The
    # hundredth part at least must end, so that a crowd does not come back for one place.
    share = max(too_many / max(open_count, 1), ROOM_SHARE)
    wait = min(max(oldest_seconds * share, RETRY_SECONDS), LONGEST_RETRY_SECONDS)
    raise QuotaExceeded(detail, policy=OPEN_JOBS, retry_after=math.ceil(wait))


def _count_open(connection: Connection, owner: Owner, more: int) -> tuple[int, float]:
    """Return the number of the tenant's open jobs, and the age of the oldest in seconds. Cache the
    number, increased by `more` jobs that are about to be created."""
    open_count, oldest_seconds = _open(connection, owner)
    _lately[owner.tenant] = (time.monotonic(), open_count + more)
    return open_count, oldest_seconds


def take_batch_turn(connection: Connection, owner: Owner) -> None:
    """Lock the creation of batches for this tenant until the transaction ends."""
    if owner.most_batches is not None:
        _take_turns(connection, OPEN_BATCHES, owner)


def check_batches(connection: Connection, owner: Owner) -> None:
    """Raise QuotaExceeded if the tenant cannot open another batch. Call `take_batch_turn` first."""
    if owner.most_batches is None:
        return
    count = select(func.count()).where(batches.c.tenant == owner.tenant, batches.c.status.in_(OPEN))
    if connection.execute(count).scalar_one() > owner.most_batches:
        raise QuotaExceeded(
            f"you have {owner.most_batches} open batches, the most allowed; wait until "
            "one ends, or cancel one",
            policy=OPEN_BATCHES,
            retry_after=RETRY_SECONDS,
        )


def check_file_limit(connection: Connection, owner: Owner, size: int) -> None:
    """Raise QuotaExceeded if an upload of `size` bytes would exceed the tenant's file quota. Files
    written by batches count, but are never rejected. Other uploads of the tenant wait until the
    transaction ends."""
    if owner.most_files is None or owner.most_bytes is None:
        return
    _take_turns(connection, STORED_FILES, owner)
    uploaded = func.count().filter(files.c.purpose == "batch")
    query = select(uploaded, func.coalesce(func.sum(files.c.bytes), 0)).where(
        files.c.tenant == owner.tenant,
        or_(files.c.expires_at.is_(None), files.c.expires_at > func.now()),
    )
    count, total = connection.execute(query).one()
    if count >= owner.most_files:
        detail, policy = (
            f"you have {owner.most_files} uploaded files, the most allowed; delete some, or wait "
            "until they expire",
            STORED_FILES,
        )
    elif total + size > owner.most_bytes:
        detail, policy = (
            f"your files may have at most {owner.most_bytes} bytes in total; delete some files",
            STORED_BYTES,
        )
    else:
        return
    raise QuotaExceeded(f"{detail}; delete some", policy=policy, retry_after=DELETE_SECONDS)


def _take_turns(connection: Connection, policy: str, owner: Owner) -> None:
    """Lock until the transaction ends, so that simultaneous requests cannot exceed the quota."""
    turn = func.pg_advisory_xact_lock(func.hashtextextended(f"{policy} {owner.tenant}", 0))
    connection.execute(select(turn))


def _has_space(owner: Owner) -> bool:
    """Return True if the open jobs were counted within the last second and were far below the
    tenant's quota."""
    counted_at, count = _lately.get(owner.tenant, (-math.inf, 0))
    is_fresh = time.monotonic() - counted_at < FRESH_SECONDS
    return is_fresh and owner.most_open is not None and owner.most_open - count > ROOMY


def _open(connection: Connection, owner: Owner) -> tuple[int, float]:
    """Return the number of open jobs, counted up to the quota, and the age of the oldest in
    seconds. Jobs of batches are not counted, because batches limit them separately."""
    some = (
        select(jobs.c.created_at)
        .where(
            jobs.c.tenant == owner.tenant,
            IS_OPEN,
            jobs.c.batch_id.is_(None),
        )
        .limit(owner.most_open)
        .subquery()
    )
    age = func.extract("epoch", func.now() - func.min(some.c.created_at))
    count, oldest_seconds = connection.execute(select(func.count(), age).select_from(some)).one()
    return count, float(oldest_seconds or 0)
