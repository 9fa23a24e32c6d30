"""/v1/jobs: get one, list them, cancel one."""

from __future__ import annotations

import re
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse

from services.gateway import views
from services.gateway.auth import Canceller, Reader
from services.gateway.http_requests import Limit, check_filters, list_json, page_after
from services.gateway.refusals import AlreadyFinal
from services.gateway.routes.scores import retry_header
from services.gateway.state import Gateway, State
from services.registry import all_contracts
from shared.contracts.errors import BadInput, UnknownJob
from shared.ledger import jobs
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
