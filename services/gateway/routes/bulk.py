"""The route POST /v1/scores:batchCreate, which creates up to 1,000 jobs in one call. The call
creates all of them or none."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import cache, reduce
from operator import or_
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Response
from pydantic import (
    AfterValidator,
    Field,
    GetCoreSchemaHandler,
    create_model,
)
from pydantic_core import CoreSchema
from sqlalchemy import Connection
from starlette.concurrency import run_in_threadpool

from services.gateway import http_requests, views
from services.gateway.caller import Caller
from services.gateway.refusals import InvalidBody
from services.gateway.routes.jobs import wait_for_all
from services.gateway.routes.scores import (
    Call,
    Calling,
    Json,
    add_scores,
    add_service,
    check_request,
    job_responses,
    metric_in,
    take_one,
)
from services.gateway.state import State
from services.registry import contracts, metrics
from shared.contracts.errors import BadInput
from shared.contracts.messages import JobRequest, Message
from shared.contracts.problems import Problem, make, problem
from shared.contracts.service import MetricContract, ServiceContract
from shared.ledger import bulk_jobs, webhooks
from shared.ledger.bulk_jobs import MOST_JOBS, AcceptedJobs, NewJobs
from shared.ledger.job_json import job_json
from shared.ledger.jobs import Owner
from shared.process.telemetry import JOBS_ACCEPTED

MAX_BULK_BYTES = 16_777_216  # of one call
MOST_FAULTS = 100  # that are listed


class BulkRequest(Message):
    """The base class for bodies of `:batchCreate`."""

    metric: str
    requests: tuple[Any, ...]

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Validate the whole list, so that the errors of all requests are reported. Other lists
        stop at the first error."""
        return handler(source)


@cache
def bulk_requests() -> dict[str, type[BulkRequest]]:
    """Return the body type of `:batchCreate` for each metric."""
    return {name: _bulk_request((name,), contract.request) for name, contract in metrics().items()}


def described_request() -> type[BulkRequest]:
    """Return the body type of `:batchCreate` as the API's description shows it."""
    requests = reduce(or_, (contract.request for contract in metrics().values()))
    return _bulk_request(tuple(metrics()), requests)


def _bulk_request(names: tuple[str, ...], one: Any) -> type[BulkRequest]:
    described = Field(
        max_length=MOST_JOBS,
        description="the requests; either all are accepted or none",
        json_schema_extra={"minItems": 1},
    )
    requests: Any = (Annotated[tuple[one, ...], AfterValidator(_check_count)], described)
    metric: Any = (Literal[names], ...)
    return create_model(
        "BulkRequest",
        __base__=BulkRequest,
        __doc__="Many requests in one call.",
        metric=metric,
        requests=requests,
    )


def _check_count(requests: tuple[JobRequest, ...]) -> tuple[JobRequest, ...]:
    """Raise ValueError if there are no requests. `min_length` would also raise if all requests are
    invalid."""
    if not requests:
        raise ValueError("the list of requests is empty; send at least one")
    return requests


async def answer_list(accepted: AcceptedJobs, call: Call) -> Response:
    """Return a response with the new jobs. If the caller prefers to wait, wait for them to end
    first."""
    gateway, tenant, seconds = call.gateway, call.caller.tenant, call.seconds
    headers = {"Idempotent-Replayed": "true"} if accepted.replayed else {}
    if not seconds:
        _send(accepted, gateway)
        states = [{"object": "job", **state._asdict()} for state in accepted.states]
        return _list_response(
            [_encode(state) for state in states], 202, headers | {"Retry-After": "1"}
        )
    headers["Preference-Applied"] = f"wait={seconds}"
    _send(accepted, gateway)
    await wait_for_all(accepted.ids, gateway, tenant, seconds)
    jobs, all_ended = await _jobs(accepted.ids, gateway, tenant, call.details)
    if all_ended:
        return _list_response(jobs, 200, headers)
    return _list_response(jobs, 202, headers | {"Retry-After": "1"})


def _read(
    raw: bytes, gateway: State, caller: Caller
) -> tuple[MetricContract, Sequence[JobRequest]]:
    """Return the metric and its requests. Each request is checked as if it were sent alone. Raises
    InvalidBody with all errors, of which at most 100 are listed."""
    try:
        sent = http_requests.parse_body(raw, lambda body: metric_in(body, bulk_requests()))
    except InvalidBody as error:
        refused = error.problem
        if [entry["pointer"] for entry in refused["errors"]] == ["#"]:
            refused |= {"errors": _first_errors(raw) or refused["errors"]}
        raise InvalidBody(_truncate(refused)) from None
    contract = metrics()[sent.metric]
    requests = [caller.apply_defaults(request) for request in sent.requests]
    faults: list[tuple[int, BadInput]] = []
    for number, request_ in enumerate(requests):
        try:
            check_request(contract, request_, gateway)
        except BadInput as error:
            faults.append((number, error))
    if faults:
        raise invalid_requests(faults)
    return contract, requests


def _first_errors(raw: bytes) -> list[dict[str, str]]:
    """Validate the requests one by one and stop when there are enough errors to report."""
    body = http_requests.decode(raw)
    if not isinstance(body, dict):
        return []
    contract, requests = metric_in(body, metrics()), body.get("requests")
    errors: list[dict[str, str]] = []
    for number, request in enumerate(requests if isinstance(requests, list) else ()):
        try:
            http_requests.parse_body(json.dumps(request).encode(), contract.request)
        except InvalidBody as error:
            errors += _with_location(number, error.problem["errors"])
        if len(errors) >= MOST_FAULTS:
            break
    return errors


def invalid_requests(faults: Sequence[tuple[int, BadInput]]) -> InvalidBody:
    """Return the error for a call with invalid requests. `faults` holds (index of a request, its
    error)."""
    kind = type(faults[0][1])
    if any(type(fault) is not kind for _, fault in faults):
        kind = BadInput
    errors = []
    for number, fault in faults:
        nowhere = [{"detail": fault.detail, "pointer": "#"}]
        errors += _with_location(number, problem(fault).get("errors", nowhere))
    first = faults[0][1].detail
    detail = first if len(faults) == 1 else f"{len(faults)} requests are not valid"
    body = make(kind.slug, kind.title, BadInput.status, detail)
    return InvalidBody(_truncate(body | {"errors": errors}))


def _with_location(number: int, entries: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
    """Return the errors of one request, with the request's index in the call added to each
    pointer."""
    return [
        {"detail": entry["detail"], "pointer": f"#/requests/{number}{entry['pointer'][1:]}"}
        for entry in entries
    ]


def _truncate(found: Problem) -> Problem:
    return found | {"errors": found["errors"][:MOST_FAULTS]}


async def commit_all(
    contract: ServiceContract,
    asked: Sequence[JobRequest],
    gateway: State,
    key: str | None,
    owner: Owner,
) -> AcceptedJobs:
    resend_after = timedelta(seconds=gateway.settings.resend_seconds)

    def write(connection: Connection) -> AcceptedJobs:
        _check_endpoints(connection, asked, owner.tenant)
        requests = [request.model_dump(mode="json") for request in asked]
        new = NewJobs(contract.name, requests, resend_after)
        return bulk_jobs.accept_all(connection, new, key=key, owner=owner)

    accepted = await gateway.in_ledger(write)
    if not accepted.replayed:
        JOBS_ACCEPTED.labels(contract.name).inc(len(accepted.states))
    return accepted


def _check_endpoints(connection: Connection, asked: Sequence[JobRequest], tenant: str) -> None:
    """Raise InvalidBody if a webhook endpoint belongs to another tenant, as if it did not exist."""
    with_webhook = [
        (number, request.webhook)
        for number, request in enumerate(asked)
        if request.webhook is not None
    ]
    if not with_webhook:
        return
    owned = {endpoint.id for endpoint in webhooks.endpoints_of(connection, tenant)}
    faults = [
        (number, BadInput(f"there is no webhook endpoint {webhook!r}", pointer="/webhook"))
        for number, webhook in with_webhook
        if webhook not in owned
    ]
    if faults:
        raise invalid_requests(faults)


def _send(accepted: AcceptedJobs, gateway: State) -> None:
    if not accepted.replayed:
        gateway.messages.add_all(accepted.states[0].metric, accepted.ids)


async def _jobs(
    ids: Sequence[str], gateway: State, tenant: str, details: bool
) -> tuple[list[bytes], bool]:
    """Return the JSON of each job in the order of `ids`, and True if all jobs have ended. The JSON
    is built in a worker thread. Raises UnknownJob."""

    def read(connection: Connection) -> tuple[list[bytes], bool]:
        jobs = bulk_jobs.find_all(connection, ids, tenant)
        shown = [_encode(job_json(job, details=details)) for job in jobs]
        return shown, all(job.is_final for job in jobs)

    return await gateway.in_ledger(read)


def _encode(value: dict[str, Any]) -> bytes:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode()


def _list_response(data: list[bytes], status: int, headers: dict[str, str]) -> Response:
    body = b'{"object":"list","data":[' + b",".join(data) + b'],"has_more":false}'
    return Response(body, status, headers, media_type="application/json")


async def create_scores(call: Calling) -> Response:
    """Creates jobs from requests, each as in `POST /v1/scores/{metric}`. Returns the jobs in brief,
    or with `Prefer: wait` in full."""
    gateway, caller = call.gateway, call.caller
    with gateway.bulk_calls.acquire(caller):
        raw = await http_requests.read(call.request, limit=MAX_BULK_BYTES)
        contract, asked = await run_in_threadpool(_read, raw, gateway, caller)
        owner = caller.owner(gateway.settings)
        accepted = await commit_all(contract, asked, gateway, call.key, owner)
    return await answer_list(accepted, call)


async def take_several(contract: ServiceContract, asked: JobRequest, call: Call) -> Response:
    """Handle a request that may create several jobs. Return one job or a list of jobs."""
    jobs = contract.several(asked) if contract.several else ()
    if not jobs:
        return await take_one(contract, asked, call)
    gateway, caller = call.gateway, call.caller
    with gateway.bulk_calls.acquire(caller):
        applied = [caller.apply_defaults(job) for job in jobs]
        await run_in_threadpool(_check_each, contract, applied, gateway)
        owner = caller.owner(gateway.settings)
        accepted = await commit_all(contract, applied, gateway, call.key, owner)
    return await answer_list(accepted, call)


def _check_each(contract: ServiceContract, jobs: Sequence[JobRequest], gateway: State) -> None:
    """Raise BadInput for the first request that cannot become a job."""
    for job in jobs:
        check_request(contract, job, gateway)


def _either(job: str, jobs: str, says: str) -> dict[str, Any]:
    response = views.schema_response(job, says, headers=("Location",))
    body = response["content"]["application/json"]
    other = views.schema_response(jobs, says)["content"]["application/json"]["schema"]
    return {
        **response,
        "content": {"application/json": {"schema": {"anyOf": [body["schema"], other]}}},
    }


def make_router() -> APIRouter:
    """Return a router with the routes that create jobs."""
    router = APIRouter()
    router.add_api_route(
        "/v1/scores:batchCreate",
        create_scores,
        methods=["POST"],
        operation_id="create_scores",
        summary=f"Up to {MOST_JOBS:,} jobs of a metric: all, or none",
        tags=["scores"],
        status_code=202,
        response_model=None,
        responses={
            200: views.schema_response("Jobs", "all jobs ended within `Prefer: wait`"),
            202: views.schema_response("AcceptedJobs", "all jobs are stored, in this order"),
            **views.error_responses(403, 409, 413, 415, 422),
        },
        openapi_extra=views.body_schema(described_request()),
    )
    add_scores(router)
    several: Json = {
        200: _either(
            "Job", "Jobs", "the job ended within `Prefer: wait`; of several jobs, all ended"
        ),
        202: _either(
            "Job", "AcceptedJobs", "accepted and stored; poll `Location` or the listed jobs"
        ),
    }
    for contract in contracts().values():
        if not isinstance(contract, MetricContract):
            takes, responses = (
                (take_one, job_responses("Job"))
                if contract.several is None
                else (take_several, several)
            )
            add_service(router, contract, takes, responses)
    return router
