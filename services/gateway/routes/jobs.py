"""/v1/jobs: get one, list them, cancel one, delete them."""

from __future__ import annotations

import re
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse
from starlette.concurrency import run_in_threadpool

from services.gateway import views
from services.gateway.auth import Canceller, Reader
from services.gateway.http_requests import (
    METADATA_PARAMETER,
    Limit,
    check_filters,
    list_json,
    metadata_filter,
    page_after,
)
from services.gateway.refusals import AlreadyFinal
from services.gateway.routes.scores import retry_header
from services.gateway.state import Gateway, State
from services.gateway.views import DeletedJob, DeletedJobs
from services.registry import all_contracts
from shared.contracts.errors import BadInput, UnknownJob
from shared.ledger import erasure, jobs
from shared.ledger.erasure import Erasure
from shared.ledger.job_json import job_json
from shared.ledger.jobs import Job, JobPage, JobStatus

MOST_ON_A_PAGE = 100
JOB_ID = re.compile(r"job_[0-9a-f]{32}")
BATCH_ID = re.compile(r"batch_[0-9a-f]{32}")

router = APIRouter(prefix="/v1/jobs", tags=["jobs"])


def validate_id(job_id: str) -> str:
    """Return the id. Raises UnknownJob if it cannot be one of ours."""
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
        **views.error_responses(404),
    },
)
async def get_job(job_id: str, gateway: Gateway, caller: Reader) -> JSONResponse:
    """The job with this id. Jobs of other tenants do not exist here."""
    job = await find_job(job_id, gateway, caller.tenant)
    return JSONResponse(job_json(job), headers={} if job.is_final else retry_header(job))


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
        200: views.schema_response("JobList", "a page of them"),
        **views.error_responses(422),
    },
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
    limit: Limit = 20,
    after: Annotated[str | None, page_after(JOB_ID)] = None,
) -> JSONResponse:
    """A page of jobs."""
    check_filters(request, {"status", "metric", "batch", "limit", "after"})
    if metric is not None and metric not in all_contracts():
        raise BadInput(f"there is no metric {metric!r}", pointer="/metric")
    page = JobPage(
        limit=min(limit, MOST_ON_A_PAGE),
        tenant=caller.tenant,
        after=after,
        status=status,
        metric=metric,
        batch=batch,
    )
    found, has_more = await gateway.in_ledger(lambda connection: jobs.page_of(connection, page))
    return JSONResponse(list_json([job_json(job) for job in found], has_more=has_more))


@router.post(
    "/{job_id}/cancel",
    operation_id="cancel_job",
    summary="Cancel an open job",
    response_model=None,
    responses={
        200: views.schema_response("Job", "it is cancelled"),
        **views.error_responses(404, 409),
    },
)
async def cancel_job(job_id: str, gateway: Gateway, caller: Canceller) -> JSONResponse:
    """Repeating it changes nothing. A result that arrives later is dropped."""
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
    responses={200: {"model": DeletedJob}, **views.error_responses(404, 409)},
)
async def delete_job(job_id: str, gateway: Gateway, caller: Canceller) -> JSONResponse:
    """Deletes its request, result, judgements and row in tables. The lines of a batch that share
    it are deleted, too, and are blank in the batch's files."""
    found = await gateway.in_ledger(
        lambda connection: erasure.of_job(connection, validate_id(job_id), caller.tenant)
    )
    await _erase(gateway, found)
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
    """Deletes each job as `DELETE /v1/jobs/{id}` does, and lines of batches without a job. Jobs
    that are open, or whose batch is open, stay; `open` counts them."""
    check_filters(request, {"metadata"})
    metadata = metadata_filter(request)
    if not metadata:
        raise BadInput("name the jobs, as in `metadata[user]=u17`", pointer="/metadata")
    found = await gateway.in_ledger(
        lambda connection: erasure.of_metadata(connection, caller.tenant, metadata)
    )
    await _erase(gateway, found)
    lines = sum(len(numbers) for numbers in found.lines.values())
    counts = {"jobs": len(found.jobs), "lines": lines, "open": found.open}
    return JSONResponse({"object": "job_deletion"} | counts)


async def _erase(gateway: State, found: Erasure) -> None:
    """Delete from files first: only rows tell what is to be deleted after an interruption."""
    await run_in_threadpool(erasure.blank_lines, gateway.files, found)
    await gateway.in_ledger(lambda connection: erasure.delete_rows(connection, found))
