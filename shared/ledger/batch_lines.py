"""The lines of a batch with their jobs' results, and the selection of surprising results."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any, Literal, NamedTuple

from sqlalchemy import ARRAY, Connection, Row, Select, String, and_, func, literal, select
from sqlalchemy.dialects.postgresql import distinct_on

from shared.contracts.errors import BadInput
from shared.ledger.jobs import Job, is_kept
from shared.ledger.tables import batch_lines, batches, jobs

LineStatus = Literal["waiting", "open", "succeeded", "failed", "cancelled", "expired"]
STATUSES: tuple[LineStatus, ...] = ("succeeded", "failed", "cancelled", "expired")  # at the end
ROWS_AT_ONCE = 200  # fetched; a result can have some 100 kB


class FinishedLine(NamedTuple):
    """A finished line of a batch. `caller` holds the fields that the caller sent for the line, such
    as metadata."""

    number: int
    custom_id: str
    status: str
    job_id: str | None
    result: dict[str, Any] | None
    error: dict[str, Any] | None
    caller: dict[str, Any] | None = None


class JobLine(NamedTuple):
    """A batch line whose request a job computes. `caller` holds the line's own metadata and
    context, or None if they equal those of the job."""

    number: int
    custom_id: str
    caller: dict[str, Any] | None


class JobOutcome(NamedTuple):
    """A job or a batch line with its status, and its result if it has one. `metadata` is the
    metadata of the batch line, or None if the job's metadata applies."""

    job_id: str | None
    custom_id: str | None
    status: str
    request: dict[str, Any] | None
    result: dict[str, Any] | None
    metadata: dict[str, str] | None


def lines_of_job(connection: Connection, job: Job, most: int) -> list[JobLine]:
    """Return the first `most` lines of the batch that share this job."""
    rows = connection.execute(
        select(batch_lines.c.number, batch_lines.c.custom_id, batch_lines.c.caller)
        .where(batch_lines.c.batch_id == job.batch_id, batch_lines.c.job_id == job.id)
        .order_by(batch_lines.c.number)
        .limit(most)
    )
    return [JobLine(*row) for row in rows]


def first_lines(connection: Connection, job_ids: Iterable[str]) -> dict[str, JobLine]:
    """Map each job to the first line of its batch that requested it. Jobs without a batch are left
    out."""
    is_line_of_job = and_(
        batch_lines.c.batch_id == jobs.c.batch_id, batch_lines.c.job_id == jobs.c.id
    )
    rows = connection.execute(
        select(jobs.c.id, batch_lines.c.number, batch_lines.c.custom_id, batch_lines.c.caller)
        .select_from(jobs.join(batch_lines, is_line_of_job))
        .where(jobs.c.id.in_(set(job_ids)))
        .ext(distinct_on(jobs.c.id))
        .order_by(jobs.c.id, batch_lines.c.number)
    )
    return {job_id: JobLine(*line) for job_id, *line in rows}


def list_finished(
    connection: Connection, batch_id: str, number: int, limit: int
) -> list[FinishedLine]:
    """Return up to `limit` finished lines after line `number`, in the order of the batch's file."""
    rows = connection.execute(
        select(
            batch_lines.c.number,
            batch_lines.c.custom_id,
            batch_lines.c.status,
            batch_lines.c.job_id,
            jobs.c.result,
            jobs.c.error,
            batch_lines.c.caller,
        )
        .select_from(batch_lines.outerjoin(jobs, jobs.c.id == batch_lines.c.job_id))
        .where(batch_lines.c.batch_id == batch_id, batch_lines.c.number > number)
        .order_by(batch_lines.c.number)
        .limit(limit)
    )
    return [FinishedLine(*row) for row in rows]


def metadata_keys(connection: Connection, batch_id: str) -> list[str]:
    metadata = batch_lines.c.caller["metadata"]
    keys = select(func.json_object_keys(metadata).label("key")).where(
        batch_lines.c.batch_id == batch_id, func.json_typeof(metadata) == "object"
    )
    return sorted(row.key for row in connection.execute(keys.distinct()))


def outcomes_of_batch(connection: Connection, metric: str, batch_id: str) -> Iterator[JobOutcome]:
    """Yield every line of this batch in the order of its file. Raises BadInput if the batch is
    unknown or of another metric."""
    batch = connection.execute(
        select(batches.c.metric).where(batches.c.id == batch_id)
    ).one_or_none()
    if batch is None:
        raise BadInput(f"there is no batch {batch_id!r}", pointer="/batch")
    if batch.metric != metric:
        raise BadInput(f"the batch was scored by {batch.metric}, not by {metric}", pointer="/batch")
    rows = _stream(connection, _outcomes_of(batch_id))
    return (_outcome(row, line_metadata(row.caller)) for row in rows)


def line_metadata(caller: Mapping[str, Any] | None) -> dict[str, str]:
    """Return a line's metadata, or {} if there is none. `caller` holds the fields that the caller
    sent for the line, such as `metadata`."""
    return (caller or {}).get("metadata") or {}


def outcomes_of_jobs(
    connection: Connection, metric: str, ids: Sequence[str]
) -> Iterator[JobOutcome]:
    """Yield the jobs with these ids, in the same order. Raises BadInput if one is unknown or of
    another metric."""
    listed = (
        func.unnest(literal(list(ids), ARRAY(String)))
        .table_valued("id", with_ordinality="place")
        .render_derived("listed")
    )
    query = (
        select(
            listed.c.id.label("job_id"),
            literal(None).label("custom_id"),
            jobs.c.status,
            jobs.c.request,
            jobs.c.result,
            jobs.c.metric,
            listed.c.place,
        )
        .select_from(listed.outerjoin(jobs, and_(jobs.c.id == listed.c.id, is_kept())))
        .order_by(listed.c.place)
    )
    with closing(_stream(connection, query)) as rows:
        for row in rows:
            if row.metric != metric:
                reason = (
                    f"was scored by {row.metric}, not by {metric}"
                    if row.metric
                    else "does not exist"
                )
                raise BadInput(f"the job {row.job_id!r} {reason}", pointer=f"/jobs/{row.place - 1}")
            yield _outcome(row)


def count_results(connection: Connection, batch_id: str) -> int:
    """Return how many lines of a batch have a result; 0 for an unknown batch."""
    counted = select(batches.c.completed).where(batches.c.id == batch_id)
    return connection.execute(counted).scalar_one_or_none() or 0


def check_tenant(
    connection: Connection,
    tenant: str,
    batch_id: str | None,
    ids: Sequence[str],
    *,
    prefix: str = "",
) -> None:
    """Raise BadInput if the batch or a job does not exist or belongs to another tenant. The error
    is the same in both cases."""
    if batch_id is not None:
        batch_ids = select(batches.c.id).where(batches.c.id == batch_id, batches.c.tenant == tenant)
        if connection.execute(batch_ids).scalar_one_or_none() is None:
            raise BadInput(f"there is no batch {batch_id!r}", pointer=f"{prefix}/batch")
    if not ids:
        return
    listed = literal(list(ids), ARRAY(String))
    in_tenant = select(jobs.c.id).where(jobs.c.id == func.any(listed), jobs.c.tenant == tenant)
    tenant_ids = set(connection.execute(in_tenant).scalars())
    for number, job_id in enumerate(ids):
        if job_id not in tenant_ids:
            raise BadInput(f"the job {job_id!r} does not exist", pointer=f"{prefix}/jobs/{number}")


def _outcomes_of(batch_id: str) -> Select[Any]:
    return (
        select(
            batch_lines.c.job_id,
            batch_lines.c.custom_id,
            func.coalesce(jobs.c.status, batch_lines.c.status).label("status"),
            jobs.c.request,
            jobs.c.result,
            batch_lines.c.caller,
        )
        .select_from(batch_lines.outerjoin(jobs, jobs.c.id == batch_lines.c.job_id))
        .where(batch_lines.c.batch_id == batch_id)
        .order_by(batch_lines.c.number)
    )


def _stream(connection: Connection, query: Select[Any]) -> Generator[Row[Any], None, None]:
    """Yield the rows through a server-side cursor, never all in memory."""
    with connection.execute(query, execution_options={"yield_per": ROWS_AT_ONCE}) as rows:
        yield from rows


def _outcome(row: Row[Any], metadata: dict[str, str] | None = None) -> JobOutcome:
    return JobOutcome(row.job_id, row.custom_id, row.status, row.request, row.result, metadata)
