"""The routes of /v1/webhook-endpoints: a tenant's endpoints, their secrets and deliveries."""

from __future__ import annotations

import asyncio
import re
from dataclasses import asdict
from datetime import timedelta
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field, StringConstraints
from pydantic.config import JsonDict
from sqlalchemy import Connection

from services.gateway import http_requests, views
from services.gateway.auth import Administrator
from services.gateway.http_requests import (
    IdempotencyKey,
    Limit,
    key_header,
    key_of,
    list_json,
    page_after,
)
from services.gateway.refusals import WebhooksOff
from services.gateway.routes.scores import LOOK_AGAIN_SECONDS, set_within
from services.gateway.state import Gateway, State
from services.registry import metrics
from shared.contracts.errors import BadInput, Unavailable
from shared.contracts.messages import EndpointId, Message
from shared.ledger import webhook_deliveries, webhook_tests, webhooks
from shared.ledger.job_json import to_timestamp
from shared.ledger.score_formats import FORMATS, STANDARD, EndpointFormat
from shared.ledger.score_pushes import PUSHED
from shared.ledger.webhook_deliveries import (
    DeliveryPage,
    DeliveryRecord,
    DeliveryStatus,
)
from shared.ledger.webhook_destinations import (
    MOST_CHARACTERS,
    ForbiddenDestination,
    policy_of,
    resolve,
)
from shared.ledger.webhook_tests import TestOutcome
from shared.ledger.webhooks import EVENT_TYPES, Endpoint, EventType, UnknownEndpoint
from shared.process.encryption import Sealer, new_secret

WEEK = 604_800
DAY = 86_400
TEST_SLACK_SECONDS = 8.0  # beyond an attempt: until it begins, and for what its answer still brings

# What is described is what always works; allowed networks may be reached by http on any port too.
URL_SCHEMA: JsonDict = {
    "format": "uri",
    "pattern": r"^https://[a-z0-9]{1,40}(-[a-z0-9]{1,20})?(\.[a-z][a-z0-9]{0,39}(-[a-z0-9]{1,20})?)"
    r"{1,3}(:(443|8443))?(/[A-Za-z0-9._~-]*)*$",
}
Url = Annotated[
    str,
    StringConstraints(min_length=1, max_length=MOST_CHARACTERS),
    Field(json_schema_extra=URL_SCHEMA),
]
Description = Annotated[str, StringConstraints(max_length=500, pattern=r"^[^\x00]*$")]
Events = Annotated[
    tuple[EventType, ...],
    Field(max_length=len(EVENT_TYPES), description="the events to send; empty: all events"),
]
HeaderValue = Annotated[str, StringConstraints(max_length=4_096, pattern=r"^([!-~]+( [!-~]+)*)?$")]
Sample = Annotated[
    float, Field(gt=0, le=1, description="share of the jobs whose scores are pushed")
]
Metrics = Annotated[
    tuple[Annotated[str, StringConstraints(max_length=64)], ...],
    Field(max_length=100, description="metrics whose scores are pushed; empty: all metrics"),
]
Parts = Annotated[bool, Field(description="whether the parts of a score are also pushed")]
ENDPOINT_ID = re.compile(r"we_[0-9a-f]{32}")
NO_STORE = {"Cache-Control": "no-store"}
PUSH_FIELDS = ("format", "has_authorization", "sample", "metrics", "parts", "untraced")
OF_PUSHES = {"sample": 1.0, "metrics": (), "parts": False}  # and what they are elsewhere
DELIVERY_ID = re.compile(r"msg_[0-9a-f]{32}")
DeliveryId = Annotated[str, StringConstraints(pattern=f"^{DELIVERY_ID.pattern}$")]
router = APIRouter(prefix="/v1/webhook-endpoints", tags=["webhooks"])


class EndpointRequest(Message):
    """A new endpoint."""

    url: Url = Field(
        description="address of the endpoint: https, a public host, and port 443 or "
        "8443 unless the operator allows others"
    )
    events: Events = ()
    description: Description = ""
    format: EndpointFormat = Field(
        default=STANDARD,
        description="`standard-webhooks`: events in the format of Standard Webhooks. The other "
        "formats push each score of a job or batch line, without texts, to an OpenTelemetry "
        "collector, Langfuse or Phoenix",
    )
    authorization: HeaderValue | None = Field(
        default=None,
        repr=False,
        description="the Authorization header sent with every request, as in `Bearer KEY`; "
        "never shown",
    )
    sample: Sample = 1.0
    metrics: Metrics = ()
    parts: Parts = False


class EndpointChange(Message):
    """Fields to change; absent fields stay."""

    url: Url | None = None
    events: Events | None = None
    description: Description | None = None
    enabled: bool | None = Field(
        default=None,
        description="whether the endpoint receives events; with false its pending deliveries fail",
    )
    authorization: HeaderValue | None = Field(
        default=None, repr=False, description="an empty string removes it"
    )
    sample: Sample | None = None
    metrics: Metrics | None = None
    parts: Parts | None = None


class RotationRequest(Message):
    """Options for a new webhook secret."""

    overlap_seconds: int = Field(
        default=DAY, ge=0, le=WEEK, description="seconds for which the previous secret also signs"
    )


UNTRACED = (
    "number of jobs that were not pushed because their requests lack the `trace` that "
    "the format needs"
)


class EndpointSchema(BaseModel):
    """An endpoint; its secret is not shown again."""

    model_config = views.ALWAYS_SENT

    id: EndpointId
    object: Literal["webhook_endpoint"] = "webhook_endpoint"
    url: str
    description: str
    events: list[EventType] = Field(description="the events that are sent; empty: all events")
    enabled: bool
    disabled_reason: str | None
    created_at: int = Field(description="unix seconds")
    last_success_at: int | None = Field(description="unix seconds")
    rotating_until: int | None = Field(
        description="time until which the previous secret also signs, unix seconds"
    )
    format: EndpointFormat
    has_authorization: bool = Field(description="whether requests have an Authorization header")
    sample: float = Field(description="share of the jobs whose scores are pushed, (0, 1]")
    metrics: list[str] = Field(description="metrics whose scores are pushed; empty: all metrics")
    parts: bool = Field(description="whether the parts of a score are also pushed")
    untraced: int = Field(description=UNTRACED)


class EndpointWithSecret(EndpointSchema):
    """An endpoint with its secret, which is shown only once."""

    secret: str = Field(description="`whsec_` and base64, as Standard Webhooks libraries expect it")


class EndpointList(views.ListPage[EndpointSchema]):
    """A page of endpoints, newest first."""


class WebhookTestSchema(BaseModel):
    """The outcome of a test event, with only the status of the receiver's answer."""

    model_config = views.ALWAYS_SENT

    id: str = Field(description="the `webhook-id` of the delivery")
    object: Literal["webhook_test"] = "webhook_test"
    delivered: bool = Field(description="whether the endpoint answered with status 2xx")
    status: int | None = Field(description="the HTTP status of the endpoint's answer")
    milliseconds: int = Field(description="milliseconds from name resolution to the answer")
    error: str | None = Field(description="why the event was not delivered")
    untraced: int = Field(description=UNTRACED)
    note: str | None = Field(description="notes on jobs whose scores were not pushed")


def endpoint_json(endpoint: Endpoint) -> dict[str, Any]:
    return {
        "id": endpoint.id,
        "object": "webhook_endpoint",
        "url": endpoint.url,
        "description": endpoint.description,
        "events": endpoint.events,
        "enabled": endpoint.disabled_at is None,
        "disabled_reason": endpoint.disabled_reason,
        "created_at": to_timestamp(endpoint.created_at),
        "last_success_at": to_timestamp(endpoint.succeeded_at),
        "rotating_until": to_timestamp(endpoint.earlier_until),
        **{name: getattr(endpoint, name) for name in PUSH_FIELDS},
    }


def with_secret(
    endpoint: Endpoint, secret: str, new: str, headers: dict[str, str], status: int = 200
) -> JSONResponse:
    """Return a response with the endpoint and its secret. If `secret` differs from the generated
    secret `new`, an earlier request with the same idempotency key created it. The response then has
    the header `Idempotent-Replayed`."""
    if secret != new:
        headers = headers | {"Idempotent-Replayed": "true"}
    return JSONResponse(endpoint_json(endpoint) | {"secret": secret}, status, headers)


VIEW = {"model": EndpointSchema}


WITH_SECRET = {"model": EndpointWithSecret}


def validate_id(endpoint_id: str) -> str:
    """Return the id. Raises UnknownEndpoint if it is not a valid endpoint id."""
    if not ENDPOINT_ID.fullmatch(endpoint_id):
        raise UnknownEndpoint(f"there is no webhook endpoint {endpoint_id[:64]!r}")
    return endpoint_id


@router.post(
    "",
    operation_id="create_webhook_endpoint",
    summary="Create an endpoint; its secret is shown only once",
    status_code=201,
    response_model=None,
    responses={
        201: WITH_SECRET | {"headers": {"Location": {}}},
        **views.error_responses(403, 409, 413, 415, 422),
    },
    openapi_extra=views.body_schema(EndpointRequest),
)
async def create(
    request: Request,
    gateway: Gateway,
    caller: Administrator,
    idempotency_key: IdempotencyKey = None,
) -> JSONResponse:
    """Creates an endpoint."""
    body = await http_requests.parse(
        request, EndpointRequest, limit=gateway.settings.max_body_bytes
    )
    secret, sealer = new_secret(), sealer_of(gateway)
    await check_url(gateway, body.url, body.format)
    check_push(body, body.format)
    values = body.model_dump(mode="json") | {"secret": sealer.seal(secret)}
    values["authorization"] = sealed(gateway, body.authorization)
    key = key_of(idempotency_key)

    def write(connection: Connection) -> tuple[Endpoint, str]:
        endpoint = webhooks.make_endpoint(connection, caller.tenant, values, key=key)
        return endpoint, webhooks.secret_of(connection, endpoint.id)

    endpoint, stored = await gateway.in_ledger(write)
    headers = {"Location": f"/v1/webhook-endpoints/{endpoint.id}"} | NO_STORE
    return with_secret(endpoint, sealer.open(stored), secret, headers, 201)


@router.get(
    "",
    operation_id="list_webhook_endpoints",
    summary="Endpoints, newest first",
    response_model=None,
    responses={200: {"model": EndpointList}, **views.error_responses(403, 422)},
)
async def list_all(
    request: Request,
    gateway: Gateway,
    caller: Administrator,
    limit: Limit = 20,
    after: Annotated[str | None, page_after(ENDPOINT_ID)] = None,
) -> JSONResponse:
    """A page of endpoints, without their secrets. A tenant has 20 at most."""
    endpoints = await gateway.in_ledger(
        lambda connection: webhooks.endpoints_of(connection, caller.tenant)
    )
    rest = [row for row in reversed(endpoints) if after is None or row.id < after]
    data = [endpoint_json(endpoint) for endpoint in rest[:limit]]
    return JSONResponse(list_json(data, has_more=len(rest) > limit))


async def _find(endpoint_id: str, gateway: State, tenant: str) -> Endpoint:
    return await gateway.in_ledger(
        lambda connection: webhooks.find_endpoint(connection, validate_id(endpoint_id), tenant)
    )


@router.patch(
    "/{endpoint_id}",
    operation_id="change_webhook_endpoint",
    summary="Change an endpoint, disable it, or enable it again",
    response_model=None,
    responses={200: VIEW, **views.error_responses(403, 404, 413, 415, 422)},
    openapi_extra=views.body_schema(EndpointChange),
)
async def change(
    endpoint_id: str, request: Request, gateway: Gateway, caller: Administrator
) -> JSONResponse:
    """Changes all fields that are not null."""
    body = await http_requests.parse(request, EndpointChange, limit=gateway.settings.max_body_bytes)
    endpoint = await _find(endpoint_id, gateway, caller.tenant)
    if body.url is not None:
        await check_url(gateway, body.url, endpoint.format)
    check_push(body, endpoint.format)
    values = body.model_dump(mode="json", exclude_none=True, exclude={"enabled"})
    if body.authorization is not None:
        values["authorization"] = sealed(gateway, body.authorization)

    def write(connection: Connection) -> Endpoint:
        webhooks.change_endpoint(connection, validate_id(endpoint_id), caller.tenant, values)
        if body.enabled is True:
            webhooks.enable_endpoint(connection, endpoint_id, caller.tenant)
        if body.enabled is False:
            webhooks.disable_endpoint(connection, endpoint_id, "by request")
        return webhooks.find_endpoint(connection, endpoint_id, caller.tenant)

    return JSONResponse(endpoint_json(await gateway.in_ledger(write)))


@router.delete(
    "/{endpoint_id}",
    operation_id="delete_webhook_endpoint",
    summary="Delete an endpoint and its pending deliveries",
    status_code=204,
    response_model=None,
    responses=views.error_responses(403, 404),
)
async def delete(endpoint_id: str, gateway: Gateway, caller: Administrator) -> Response:
    """Deletes the endpoint and its deliveries."""
    await gateway.in_ledger(
        lambda connection: webhooks.delete_endpoint(
            connection, validate_id(endpoint_id), caller.tenant
        )
    )
    return Response(status_code=204)


@router.post(
    "/{endpoint_id}/rotate-secret",
    operation_id="rotate_webhook_secret",
    summary="Create a new secret, which is shown only once",
    response_model=None,
    responses={200: WITH_SECRET, **views.error_responses(403, 404, 413, 415, 422)},
    openapi_extra=views.body_schema(RotationRequest),
)
async def rotate(
    endpoint_id: str,
    request: Request,
    gateway: Gateway,
    caller: Administrator,
    idempotency_key: Annotated[
        str | None,
        key_header(
            "a request with the Idempotency-Key of the last rotation returns the same secret again"
        ),
    ] = None,
) -> JSONResponse:
    """Creates a secret. The old one stays valid for a while."""
    body = RotationRequest()
    if "content-type" in request.headers:  # the body is optional
        limit = gateway.settings.max_body_bytes
        body = await http_requests.parse(request, RotationRequest, limit=limit)
    secret, overlap = new_secret(), timedelta(seconds=body.overlap_seconds)
    sealer, key = sealer_of(gateway), key_of(idempotency_key)
    new = sealer.seal(secret)

    def write(connection: Connection) -> tuple[Endpoint, str]:
        valid_id = validate_id(endpoint_id)
        endpoint = webhooks.rotate_secret(
            connection, valid_id, caller.tenant, new, overlap, key=key
        )
        return endpoint, webhooks.secret_of(connection, valid_id)

    endpoint, stored = await gateway.in_ledger(write)
    return with_secret(endpoint, sealer.open(stored), secret, NO_STORE)


@router.post(
    "/{endpoint_id}/test",
    operation_id="test_webhook_endpoint",
    summary="Send a test event immediately, and return its outcome",
    response_model=None,
    responses={200: {"model": WebhookTestSchema}, **views.error_responses(403, 404, 409)},
)
async def test(endpoint_id: str, gateway: Gateway, caller: Administrator) -> JSONResponse:
    """Sends `endpoint.test` once, signed like all events. A disabled endpoint can be tested, and
    stays disabled."""
    sealer_of(gateway)
    test_id = webhook_tests.new_id()
    async with gateway.job_watcher.watch(test_id) as event:
        await gateway.in_ledger(
            lambda connection: webhook_tests.request_test(
                connection, validate_id(endpoint_id), caller.tenant, test_id
            )
        )
        outcome = await _wait_for_test(test_id, event, gateway)
        endpoint = await _find(endpoint_id, gateway, caller.tenant)
    shown = {"id": test_id, "object": "webhook_test"} | asdict(outcome)
    shown |= {"untraced": endpoint.untraced, "note": missing_reason(endpoint)}
    return JSONResponse(shown, headers=NO_STORE)


async def _wait_for_test(test_id: str, event: asyncio.Event, gateway: State) -> TestOutcome:
    """Wait for the outcome as long as an attempt may take. Raises Unavailable."""
    clock = asyncio.get_running_loop().time
    deadline = clock() + gateway.settings.webhook_seconds + TEST_SLACK_SECONDS
    while (left := deadline - clock()) > 0:
        await set_within(event, min(left, LOOK_AGAIN_SECONDS))
        event.clear()
        outcome = await gateway.in_ledger(
            lambda connection: webhook_tests.outcome(connection, test_id)
        )
        if outcome is not None:
            return outcome
    await gateway.in_ledger(lambda connection: webhook_tests.cancel(connection, test_id))
    raise Unavailable("no scheduler sent the test event in time; check that a scheduler is running")


def sealer_of(gateway: State) -> Sealer:
    """Return the object that encrypts webhook secrets. Raises WebhooksOff."""
    if gateway.sealer is None:
        raise WebhooksOff(
            "webhooks are off, because the operator has not set TOUCHSTONE_WEBHOOK_KEYS"
        )
    return gateway.sealer


def sealed(gateway: State, authorization: str | None) -> str | None:
    """Return the authorization value encrypted, as the database stores it, or None."""
    return sealer_of(gateway).seal(authorization) if authorization else None


def missing_reason(endpoint: Endpoint) -> str | None:
    """Return a message about jobs that were not sent, or None. Their requests lack a field that the
    endpoint's format needs."""
    wants = FORMATS[endpoint.format].wants if endpoint.format in FORMATS else ()
    if not endpoint.untraced or not wants:
        return None
    fields = " or ".join(f"`trace.{name}`" for name in wants)
    return (
        f"{endpoint.untraced} jobs were not sent, because their requests lack {fields}, "
        f"which {endpoint.format} needs"
    )


def check_push(body: EndpointRequest | EndpointChange, name: EndpointFormat) -> None:
    """Raise BadInput if a field is not valid for the endpoint's format."""
    for field, elsewhere in OF_PUSHES.items():
        if name == STANDARD and getattr(body, field) not in (None, elsewhere):
            raise BadInput(
                f"`{field}` is only for formats that receive scores; leave it out",
                pointer=f"/{field}",
            )
    for index, metric in enumerate(body.metrics or ()):
        if metric not in metrics():
            raise BadInput(f"there is no metric {metric!r}", pointer=f"/metrics/{index}")
    for index, event in enumerate(body.events or ()):
        if name != STANDARD and event not in PUSHED.values():
            pushed = " and ".join(PUSHED.values())
            raise BadInput(
                f"this format receives only the events {pushed}; choose from these",
                pointer=f"/events/{index}",
            )


async def check_url(gateway: State, url: str, name: EndpointFormat) -> None:
    """Raise BadInput if the URL or the address of its host is not allowed."""
    if name != STANDARD and "?" in url:
        raise BadInput(
            "this format adds a path and a query to `url`; send `url` without a query",
            pointer="/url",
        )
    policy = policy_of(gateway.settings)
    try:
        await policy.check_name(policy.check(url), resolve)
    except ForbiddenDestination as error:
        raise BadInput(str(error), pointer="/url") from None


class DeliverySchema(BaseModel):
    """A delivery, with only the status of the receiver's answer."""

    model_config = views.ALWAYS_SENT

    id: str = Field(description="the `webhook-id` of every attempt")
    object: Literal["webhook_delivery"] = "webhook_delivery"
    endpoint_id: EndpointId
    event: EventType
    status: DeliveryStatus
    attempts: int
    last_status: int | None = Field(description="the HTTP status of the last answer")
    last_error: str | None = Field(description="why the last attempt failed")
    created_at: int = Field(description="unix seconds")
    next_attempt_at: int | None = Field(
        description="time of the next attempt, unix seconds; null after the last one"
    )
    ended_at: int | None = Field(description="unix seconds")


class DeliveryList(views.ListPage[DeliverySchema]):
    """A page of deliveries, newest first."""


class ReplayRequest(Message):
    """The deliveries to send again."""

    delivery: DeliveryId | None = Field(
        default=None, description="id of an ended delivery; null: all failed deliveries"
    )


class Replayed(BaseModel):
    """The number of deliveries that will be sent again."""

    model_config = views.ALWAYS_SENT

    object: Literal["webhook_replay"] = "webhook_replay"
    replayed: int


def delivery_json(record: DeliveryRecord) -> dict[str, Any]:
    return {
        "id": record.id,
        "object": "webhook_delivery",
        "endpoint_id": record.endpoint_id,
        "event": record.event,
        "status": record.status,
        "attempts": record.attempts,
        "last_status": record.last_status,
        "last_error": record.last_error,
        "created_at": to_timestamp(record.created_at),
        "next_attempt_at": to_timestamp(record.due_at) if record.status == "pending" else None,
        "ended_at": to_timestamp(record.ended_at),
    }


@router.get(
    "/{endpoint_id}/deliveries",
    operation_id="list_webhook_deliveries",
    summary="Deliveries, newest first",
    response_model=None,
    responses={200: {"model": DeliveryList}, **views.error_responses(403, 404, 422)},
)
async def list_deliveries(
    endpoint_id: str,
    request: Request,
    gateway: Gateway,
    caller: Administrator,
    status: DeliveryStatus | None = None,
    limit: Limit = 20,
    after: Annotated[str | None, page_after(DELIVERY_ID)] = None,
) -> JSONResponse:
    """A page of deliveries; `status=failed` shows those that did not arrive."""
    page = DeliveryPage(limit, after, status)
    rows, has_more = await gateway.in_ledger(
        lambda connection: webhook_deliveries.page_of(
            connection, validate_id(endpoint_id), caller.tenant, page
        )
    )
    return JSONResponse(list_json([delivery_json(row) for row in rows], has_more=has_more))


@router.post(
    "/{endpoint_id}/replay",
    operation_id="replay_webhook_deliveries",
    summary="Send a delivery, or all failed deliveries, again",
    status_code=202,
    response_model=None,
    responses={202: {"model": Replayed}, **views.error_responses(403, 404, 409, 413, 415, 422)},
    openapi_extra=views.body_schema(ReplayRequest),
)
async def replay(
    endpoint_id: str, request: Request, gateway: Gateway, caller: Administrator
) -> JSONResponse:
    """Sends deliveries again with the same webhook-id. Ended deliveries are deleted after some
    days."""
    limit = gateway.settings.max_body_bytes
    delivery = (await http_requests.parse(request, ReplayRequest, limit=limit)).delivery

    def write(connection: Connection) -> int:
        valid_id = validate_id(endpoint_id)
        if delivery is None:
            return webhook_deliveries.replay_failed(connection, valid_id, caller.tenant)
        webhook_deliveries.replay(connection, valid_id, caller.tenant, delivery)
        return 1

    count = await gateway.in_ledger(write)
    return JSONResponse({"object": "webhook_replay", "replayed": count}, 202)
