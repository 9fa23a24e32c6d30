"""The routes of /v1/jobs: get, list, cancel and delete jobs."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse
from pydantic import StringConstraints
from sqlalchemy import ColumnElement, Connection, case, func

from services.gateway import views
from services.gateway.auth import Canceller, Reader
from services.gateway.http_requests import (
    METADATA_PARAMETER,
    MOST_ON_A_PAGE,
    Limit,
    Moment,
    instant,
    list_json,
    metadata_filter,
    page_after,
    parse_wait,
)
from services.gateway.refusals import AlreadyFinal
from services.gateway.routes.scores import (
    LOOK_AGAIN_SECONDS,
    Expand,
    Prefer,
    retry_header,
    set_within,
)
from services.gateway.state import Gateway, State
from services.gateway.views import Deleted, DeletedJobs
from services.registry import all_contracts, reported
from shared.contracts.errors import BadInput, UnknownJob
from shared.contracts.messages import VerdictWord
from shared.contracts.service import FactPaths
from shared.ledger import bulk_jobs, erasure, jobs
from shared.ledger.erasure import Erasure
from shared.ledger.job_json import job_json, to_timestamp
from shared.ledger.jobs import Job, JobPage, JobStatus, JobSummary
from shared.ledger.tables import jobs as jobs_table

TOGETHER_SECONDS = 0.1  # ends that come within it cost one look into the ledger
JOB_ID = re.compile(r"job_[0-9a-f]{32}")
BATCH_ID = re.compile(r"batch_[0-9a-f]{32}")

router = APIRouter(prefix="/v1/jobs", tags=["jobs"])


def validate_id(job_id: str) -> str:
    """Return the id. Raises UnknownJob if it is not a valid job id."""
    if not JOB_ID.fullmatch(job_id):
        raise UnknownJob(f"there is no job {job_id[:64]!r}")
    return job_id


@router.get(
    "/{job_id}",
    operation_id="get_job",
    summary="A job, and its result once it has ended",
    response_model=None,
    responses={
        200: views.schema_response("Job", "the job", ["Retry-After"]),
        **views.error_responses(404, 422),
    },
)
async def get_job(
    job_id: str, gateway: Gateway, caller: Reader, expand: Expand = None
) -> JSONResponse:
    """The job with this id. Jobs of other tenants are not found."""
    job = await find_job(job_id, gateway, caller.tenant)
    shown = job_json(job, with_request=True, details=expand is not None)
    return JSONResponse(shown, headers={} if job.is_final else retry_header(job))


async def find_job(job_id: str, gateway: State, tenant: str) -> Job:
    """Return the tenant's job. Raises UnknownJob."""
    return await gateway.in_ledger(
        lambda connection: jobs.find(connection, validate_id(job_id), tenant=tenant)
    )


@router.get(
    "",
    operation_id="list_jobs",
    summary="Jobs, newest first",
    response_model=None,
    responses={
        200: views.schema_response("JobList", "a page of jobs"),
        **views.error_responses(422),
    },
    openapi_extra={"parameters": [METADATA_PARAMETER]},
)
async def list_jobs(
    request: Request,
    gateway: Gateway,
    caller: Reader,
    status: JobStatus | None = None,
    metric: Annotated[
        str | None, Query(json_schema_extra={"enum": sorted(all_contracts())})
    ] = None,
    batch: Annotated[str | None, Query(pattern=f"^{BATCH_ID.pattern}$")] = None,
    verdict: VerdictWord | None = None,
    created_after: Moment = None,
    created_before: Moment = None,
    id: Annotated[
        list[Annotated[str, StringConstraints(max_length=64)]] | None,
        Query(
            max_length=MOST_ON_A_PAGE,
            description="return only these jobs, up to 100; repeat the parameter for each id",
        ),
    ] = None,
    expand: Annotated[
        Literal["result", "details"] | None,
        Query(
            description="`result`: return whole jobs instead of summaries; `details`: also "
            "return the metric's additional fields"
        ),
    ] = None,
    limit: Limit = 20,
    after: Annotated[str | None, page_after(JOB_ID)] = None,
    prefer: Prefer = None,
) -> JSONResponse:
    """A page of jobs. With `id` and `Prefer: wait=N` the answer comes when all of these jobs have
    ended, or after N seconds."""
    if metric is not None and metric not in all_contracts():
        raise BadInput(f"there is no metric {metric!r}", pointer="/metric")
    page = JobPage(
        limit=len(id) if id else limit,
        tenant=caller.tenant,
        after=after,
        status=status,
        metric=metric,
        batch=batch,
        verdict=verdict,
        metadata=metadata_filter(request),
        created_after=instant(created_after),
        created_before=instant(created_before),
        ids=id or (),
    )
    seconds = parse_wait(prefer) if id else 0
    headers = {"Preference-Applied": f"wait={seconds}"} if seconds else {}
    if id and seconds:
        await wait_for_all(id, gateway, caller.tenant, seconds)

    def read(connection: Connection) -> dict[str, Any]:
        if expand:
            rows, more = jobs.page_of(connection, page)
            details = expand == "details"
            return list_json([job_json(job, details=details) for job in rows], has_more=more)
        columns = jobs_table.c.request["metadata"], decision_column()
        lines, more = jobs.summary_page(connection, page, *columns)
        return list_json([summary_json(line) for line in lines], has_more=more)

    return JSONResponse(await gateway.in_ledger(read), headers=headers)


def decision_column() -> ColumnElement[Any]:
    """Return an SQL expression for the decision that a job's explanation explains."""
    whens = []
    for name, contract in reported().items():
        facts = FactPaths() if contract.facts is None else contract.facts
        result = [name for name in (facts.decision, facts.decision_stated) if name]
        values = [jobs_table.c.result["elicitation"]["decision"]]
        values += [jobs_table.c.request[facts.decision_sent]] if facts.decision_sent else []
        values += [jobs_table.c.result[tuple(path.split("."))] for path in result]
        words = func.coalesce(*(value.as_string() for value in values), "")
        whens.append((jobs_table.c.metric == name, func.nullif(words, "")))
    return case(*whens, else_=None)


def summary_json(job: JobSummary) -> dict[str, Any]:
    return {
        "id": job.id,
        "object": "job",
        "metric": job.metric,
        "status": job.status,
        "verdict": job.verdict if job.is_scored else None,
        "score": job.score if job.is_scored else None,
        "decision": job.decision,
        "batch_id": job.batch_id,
        "metadata": job.metadata or {},
        "created_at": to_timestamp(job.created_at),
        "started_at": to_timestamp(job.started_at),
        "finished_at": to_timestamp(job.finished_at),
    }


async def wait_for_all(ids: Sequence[str], gateway: State, tenant: str, seconds: int) -> None:
    """Wait until all of these jobs of the tenant have ended, for at most `seconds`."""
    clock = asyncio.get_running_loop().time
    deadline = clock() + seconds
    async with gateway.job_watcher.watch(*ids) as event:
        while await gateway.in_ledger(
            lambda connection: bulk_jobs.open_count(connection, ids, tenant)
        ):
            if (left := deadline - clock()) <= 0:
                return
            await set_within(event, min(left, LOOK_AGAIN_SECONDS))
            await asyncio.sleep(min(max(0.0, deadline - clock()), TOGETHER_SECONDS))
            event.clear()


@router.post(
    "/{job_id}/cancel",
    operation_id="cancel_job",
    summary="Cancel an open job",
    response_model=None,
    responses={
        200: views.schema_response("Job", "the job is cancelled"),
        **views.error_responses(404, 409),
    },
)
async def cancel_job(job_id: str, gateway: Gateway, caller: Canceller) -> JSONResponse:
    """Cancels the job. Cancelling twice changes nothing. Later results are dropped."""
    job = await gateway.in_ledger(
        lambda connection: jobs.cancel(connection, validate_id(job_id), tenant=caller.tenant)
    )
    if job.status != "cancelled":
        raise AlreadyFinal(f"the job has {job.status}")
    return JSONResponse(job_json(job))


@router.delete(
    "/{job_id}",
    operation_id="delete_job",
    summary="Delete a job that has ended, with its text",
    response_model=None,
    responses={200: {"model": Deleted}, **views.error_responses(404, 409)},
)
async def delete_job(job_id: str, gateway: Gateway, caller: Canceller) -> JSONResponse:
    """Deletes the job with its result, its judgements and the reports on it. Batch lines that share
    the job are deleted too. The batch's files then contain blank lines for them. A table that was
    uploaded for the batch is deleted."""
    selected = await gateway.in_ledger(
        lambda connection: erasure.of_job(connection, validate_id(job_id), caller.tenant)
    )
    await _erase(gateway, selected, caller.tenant, {})
    return JSONResponse({"id": job_id, "object": "job", "deleted": True})


@router.delete(
    "",
    operation_id="delete_jobs",
    summary="Delete the jobs with this metadata, with their texts",
    response_model=None,
    responses={200: {"model": DeletedJobs}, **views.error_responses(422)},
    openapi_extra={"parameters": [METADATA_PARAMETER | {"required": True}]},
)
async def delete_jobs(request: Request, gateway: Gateway, caller: Canceller) -> JSONResponse:
    """Deletes the ended jobs with this metadata, and batch lines without a job, also in batches
    that failed or were cancelled. Open jobs and batches stay. `open` counts them, and every batch
    being validated. If it is not 0, repeat the deletion later."""
    metadata = metadata_filter(request)
    if not metadata:
        raise BadInput(
            "no metadata is given; name the jobs to delete, as in `metadata[user]=u17`",
            pointer="/metadata",
        )
    selected = await gateway.in_ledger(
        lambda connection: erasure.of_metadata(connection, caller.tenant, metadata)
    )
    lines = await _erase(gateway, selected, caller.tenant, metadata)
    counts = {"jobs": len(selected.jobs), "lines": lines, "open": selected.open}
    return JSONResponse({"object": "job_deletion"} | counts)


async def _erase(
    gateway: State, selected: Erasure, tenant: str, metadata: Mapping[str, str]
) -> int:
    """Erase the lines batch by batch, then delete the jobs without a batch. Return the number of
    erased lines. After an interruption, the remaining rows and files show what is left to
    delete."""
    lines = 0
    for batch_id, numbers in selected.lines.items():
        line = batch_id, numbers, selected.jobs, metadata
        work = partial(erasure.erase_lines, gateway.engine, gateway.files, *line)
        while (count := await gateway.file_store.call(work)) is None:
            await asyncio.sleep(TOGETHER_SECONDS)
        lines += count
    await gateway.in_ledger(
        lambda connection: erasure.delete_jobs(connection, tenant, selected.jobs)
    )
    return lines
