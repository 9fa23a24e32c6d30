"""The routes that create jobs: POST /v1/scores/{metric}, /v1/reports and questions to models. They
answer 202 at once, or wait for the job to end."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache, partial, reduce
from operator import or_
from typing import Annotated, Any, Literal, TypeVar

from fastapi import APIRouter, Depends, Header, Path, Query, Request, Response
from fastapi.responses import JSONResponse
from pydantic import Field, create_model
from sqlalchemy import Connection

from services.explanations.explained_requests import as_checked
from services.gateway import http_requests, views
from services.gateway.auth import Scorer, check_access
from services.gateway.caller import Caller
from services.gateway.http_requests import OWN_KEY, IdempotencyKey, key_of, parse_wait
from services.gateway.refusals import UnknownMetric
from services.gateway.state import Gateway, State
from services.registry import metrics, reported
from shared.contracts.batches import BatchReportRequest
from shared.contracts.elicitation import ExplainableRequest
from shared.contracts.errors import BadInput
from shared.contracts.messages import JobRequest
from shared.contracts.service import BatchReportContract, ServiceContract
from shared.ledger import batch_lines, jobs
from shared.ledger.job_json import job_json
from shared.ledger.jobs import Accepted, Owner
from shared.ledger.private_requests import check_encryption_key
from shared.process.telemetry import JOBS_ACCEPTED

LOOK_AGAIN_SECONDS = 2.0  # a notice may be lost; the ledger is asked at this pace

MOST_RETRY_SECONDS = 30
LISTED_JOBS_BYTES = 4 * 1_048_576

T = TypeVar("T")
Json = dict[int | str, dict[str, Any]]

Prefer = Annotated[
    str | None,
    Header(
        description="`wait=N`: wait up to N seconds (at most 30) for the job to "
        "end, and then answer 200"
    ),
]
Expand = Annotated[
    Literal["details"] | None,
    Query(description="adds the metric's additional fields to the result"),
]
LOCATION = ("Location",)


@dataclass(frozen=True)
class Call:
    """A call that creates jobs, without its body. `seconds` is how long to wait for the jobs to
    end."""

    request: Request
    gateway: State
    caller: Caller
    key: str | None
    seconds: int
    details: bool


async def call_of(
    request: Request,
    gateway: Gateway,
    caller: Scorer,
    idempotency_key: IdempotencyKey = None,
    prefer: Prefer = None,
    expand: Expand = None,
) -> Call:
    key, seconds = key_of(idempotency_key), parse_wait(prefer)
    return Call(request, gateway, caller, key, seconds, details=expand is not None)


Calling = Annotated[Call, Depends(call_of)]
Take = Callable[[ServiceContract, JobRequest, Call], Awaitable[Response]]


async def take_one(contract: ServiceContract, asked: JobRequest, call: Call) -> Response:
    """Create the job for a parsed request. Wait for its end if the caller prefers to."""
    gateway, seconds = call.gateway, call.seconds
    asked, owner = call.caller.apply_defaults(asked), call.caller.owner(gateway.settings)
    check_request(contract, asked, gateway)
    accepted = await commit(contract, asked, gateway, call.key, owner)
    headers = {"Location": f"/v1/jobs/{accepted.job.id}"}
    if accepted.replayed:
        headers["Idempotent-Replayed"] = "true"
    if seconds:
        headers["Preference-Applied"] = f"wait={seconds}"
    job = await wait_for_job(accepted, gateway, seconds)
    shown = job_json(job, details=call.details)
    if seconds and job.is_final:
        return JSONResponse(shown, 200, headers)
    return JSONResponse(shown, 202, headers | retry_header(job))


def retry_header(job: jobs.Job) -> dict[str, str]:
    """Return the `Retry-After` header for an open job. It is a tenth of the job's age, between 1
    and 30 seconds."""
    age = (datetime.now(UTC) - job.created_at).total_seconds()
    return {"Retry-After": str(round(min(max(age / 10, 1), MOST_RETRY_SECONDS)))}


def check_request(contract: ServiceContract, asked: JobRequest, gateway: State) -> None:
    """Check the request's model, amount of work, and privacy. This needs no database. Raises
    BadInput for errors, and Unavailable if no worker serves the metric."""
    gateway.check_served(contract)
    check_encryption_key(asked)
    if isinstance(asked, ExplainableRequest) and asked.explain is not None:
        with as_checked(contract, asked) as (service, request):
            _check_service(service, request, gateway)
    else:
        _check_service(contract, asked, gateway)


def _check_service(service: ServiceContract, request: JobRequest, gateway: State) -> None:
    gateway.catalogue.check_request(service, request.model, request)
    gateway.models.check_models(service, request)
    gateway.settings.work_limit.check(gateway.catalogue.work(service, request))


async def commit(
    contract: ServiceContract, asked: JobRequest, gateway: State, key: str | None, owner: Owner
) -> Accepted:
    """Store the job in the database. Call `check_request` first. Raises BadInput if the request
    refers to an object of another owner, TooCostly, QuotaExceeded."""
    limit = gateway.settings.work_limit
    request = asked.model_dump(mode="json")
    resend_after = timedelta(seconds=gateway.settings.resend_seconds)

    def write(connection: Connection) -> Accepted:
        check_access(connection, asked, owner.tenant)
        if isinstance(contract, BatchReportContract) and isinstance(asked, BatchReportRequest):
            sources = (asked, *((asked.against,) if asked.against else ()), *asked.further)
            results = sum(
                batch_lines.count_results(connection, source.batch)
                if source.batch
                else len(source.jobs or ())
                for source in sources
            )
            limit.check(contract.work_over(asked, results))
        return jobs.accept(
            connection, contract.name, request, key=key, resend_after=resend_after, owner=owner
        )

    accepted = await gateway.in_ledger(write)
    if not accepted.replayed:
        JOBS_ACCEPTED.labels(contract.name).inc()
    return accepted


async def find_or_commit(
    contract: ServiceContract, asked: JobRequest, gateway: State, owner: Owner, of: str = ""
) -> Accepted:
    """Store the job, or return the existing job for an identical request. Identical requests must
    also have the same `of`."""
    existing = await find_existing(contract, asked, gateway, owner, of)
    if existing is not None:
        return Accepted(existing, replayed=True)
    gateway.check_served(contract)
    return await commit(contract, asked, gateway, _own_key(contract, asked, of), owner)


async def find_existing(
    contract: ServiceContract, asked: JobRequest, gateway: State, owner: Owner, of: str = ""
) -> jobs.Job | None:
    """Return the job that `find_or_commit` stored for this request, or None."""
    request, key = asked.model_dump(mode="json"), _own_key(contract, asked, of)
    return await gateway.in_ledger(
        lambda connection: jobs.find_by_key(connection, owner.tenant, key, contract.name, request)
    )


def _own_key(contract: ServiceContract, asked: JobRequest, of: str) -> str:
    request = asked.model_dump(mode="json")
    return f"{OWN_KEY} {jobs.fingerprint(contract.name, request)} {of}".strip()


async def get_report_job(
    contract: ServiceContract,
    asked: JobRequest,
    gateway: State,
    owner: Owner,
    of: str = "",
    *,
    create: bool,
) -> jobs.Job | None:
    """Return the job of this report. If there is none, create it, or return None unless
    `create`."""
    if not create:
        return await find_existing(contract, asked, gateway, owner, of)
    accepted = await find_or_commit(contract, asked, gateway, owner, of)
    return await wait_for_job(accepted, gateway, 0)


async def wait_for_job(accepted: Accepted, gateway: State, seconds: int) -> jobs.Job:
    """Put the job into its queue. Return the job when it has ended, or after `seconds`."""
    job = accepted.job
    if not accepted.replayed and not seconds:
        gateway.messages.add(job.metric, job.id)
        return job
    look = partial(jobs.find, job_id=job.id)
    async with gateway.job_watcher.watch(job.id) as event:
        if not accepted.replayed:
            gateway.messages.add(job.metric, job.id)  # once its end cannot be missed any more
        deadline = asyncio.get_running_loop().time() + seconds
        while not job.is_final and (left := deadline - asyncio.get_running_loop().time()) > 0:
            await set_within(event, min(left, LOOK_AGAIN_SECONDS))
            event.clear()
            job = await gateway.in_ledger(look)
    return job


async def set_within(event: asyncio.Event, seconds: float) -> None:
    try:
        await asyncio.wait_for(event.wait(), seconds)
    except TimeoutError:
        return


def metric_in(body: Any, known: Mapping[str, T]) -> T:
    """Return the entry in `known` for the metric that the body names. Raises BadInput."""
    metric = body.get("metric") if isinstance(body, dict) else None
    if not isinstance(metric, str) or metric not in known:
        raise BadInput(
            f"choose one of these metrics: {', '.join(sorted(known))}", pointer="/metric"
        )
    return known[metric]


@cache
def report_requests() -> dict[str, type[BatchReportRequest]]:
    """Return the type of a report request for each metric."""
    return {
        name: _report_request((name,), contract.batch.request)
        for name, contract in reported().items()
    }


def described_report_request() -> type[BatchReportRequest]:
    """Return the type of a report request as the API's description shows it."""
    requests = {contract.batch.request for contract in reported().values()}
    fields = [
        request.model_fields["options"] for request in requests if "options" in request.model_fields
    ]
    kinds = sorted((field.annotation for field in fields), key=lambda kind: kind.__name__)  # type: ignore[union-attr]
    return _report_request(tuple(reported()), BatchReportRequest, reduce(or_, kinds, None))


def _report_request(
    names: tuple[str, ...], kind: type[BatchReportRequest], options: Any = None
) -> type[BatchReportRequest]:
    """Return the request type with a field `metric`, which is not stored with the job's request."""
    fields: Any = {"metric": (Literal[names], Field(exclude=True))}
    if options is not None:
        about = "options of the metric's own report; only `haf` and `ice` have such options"
        fields["options"] = (options, Field(default=None, description=about))
    return create_model(BatchReportRequest.__name__, __base__=kind, __doc__=kind.__doc__, **fields)


async def report(call: Calling) -> Response:
    """Creates a report on a batch or on listed jobs: means and the metric's own tables."""
    limit = max(call.gateway.settings.max_body_bytes, LISTED_JOBS_BYTES)

    def chosen(body: Any) -> type[BatchReportRequest]:
        return metric_in(body, report_requests())

    asked = await http_requests.parse(call.request, chosen, limit=limit)
    contract = reported()[asked.metric].batch  # type: ignore[attr-defined]
    return await take_one(contract, asked, call)


def job_responses(component: str, *refusals: int) -> Json:
    """Return the OpenAPI responses of an operation that creates a job."""
    return {
        200: views.schema_response(
            component, "the job ended within `Prefer: wait`", headers=LOCATION
        ),
        202: views.schema_response(
            component, "the job is stored; poll `Location`", headers=LOCATION
        ),
        **views.error_responses(403, 409, 413, 415, 422, *refusals),
    }


def add_scores(router: APIRouter) -> None:
    """Add the two routes that exist for all metrics."""

    async def score(
        call: Calling, metric: str = Path(json_schema_extra={"enum": sorted(metrics())})
    ) -> Response:
        """Scores one explanation. The body has the text, its explanation and the metric's
        other fields."""
        contract = metrics().get(metric)
        if contract is None:
            raise UnknownMetric(
                f"there is no metric {metric!r}; choose one of: {', '.join(sorted(metrics()))}",
                pointer="/metric",
            )
        limit = call.gateway.settings.max_body_bytes
        asked = await http_requests.parse(call.request, contract.request, limit=limit)
        return await take_one(contract, asked, call)

    examples = {
        name: {"summary": contract.summary, "value": value}
        for name, contract in metrics().items()
        for value in list(contract.examples.values())[:1]
    }
    router.add_api_route(
        "/v1/scores/{metric}",
        score,
        methods=["POST"],
        operation_id="create_score",
        summary="Score one explanation",
        tags=["scores"],
        status_code=202,
        response_model=None,
        responses=job_responses("Job", 404),
        openapi_extra=views.body_schema(
            *(metric.request for metric in metrics().values()), examples=examples
        ),
    )
    router.add_api_route(
        "/v1/reports",
        report,
        methods=["POST"],
        operation_id="create_report",
        summary="Report on many results of a metric",
        tags=["reports"],
        status_code=202,
        response_model=None,
        responses=job_responses("Job"),
        openapi_extra=views.body_schema(described_report_request()),
    )


def add_service(router: APIRouter, contract: ServiceContract, take: Take, responses: Json) -> None:
    """Add the route of a service that is not a metric."""

    async def ask(call: Calling) -> Response:
        limit = call.gateway.settings.max_body_bytes
        asked = await http_requests.parse(call.request, contract.request, limit=limit)
        return await take(contract, asked, call)

    examples = {name: {"value": value} for name, value in contract.examples.items()}
    router.add_api_route(
        contract.path,
        ask,
        methods=["POST"],
        operation_id=f"ask_{contract.name}",
        summary=f"Ask a model: {contract.name}",
        description=contract.summary,
        tags=["models"],
        status_code=202,
        response_model=None,
        responses={**views.error_responses(403, 409, 413, 415, 422), **responses},
        openapi_extra=views.body_schema(contract.request, examples=examples),
    )
