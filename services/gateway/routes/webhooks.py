"""/v1/webhook-endpoints: a tenant's endpoints, their secrets, and what was delivered to them."""

from __future__ import annotations

import asyncio
import re
from dataclasses import asdict
from datetime import timedelta
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field, StringConstraints
from pydantic.config import JsonDict
from sqlalchemy import Connection

from services.gateway import http_requests, views
from services.gateway.auth import Administrator
from services.gateway.refusals import WebhooksOff
from services.gateway.routes.scores import LOOK_AGAIN_SECONDS, set_within
from services.gateway.state import Gateway, State
from services.gateway.views import seconds
from shared.contracts import EndpointId, Message
from shared.encryption import Sealer, new_secret
from shared.errors import BadInput, Unavailable
from shared.ledger import webhook_deliveries, webhook_tests, webhooks
from shared.ledger.webhook_deliveries import (
    DeliveryPage,
    DeliveryRecord,
    DeliveryStatus,
    UnknownDelivery,
)
from shared.ledger.webhook_tests import TestOutcome
from shared.ledger.webhooks import EVENT_TYPES, Endpoint, EventType, UnknownEndpoint
from shared.webhooks import MOST_CHARACTERS, ForbiddenDestination, policy_of, resolve

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
    Field(max_length=len(EVENT_TYPES), description="what it listens to; none: every event"),
]
ENDPOINT_ID = re.compile(r"we_[0-9a-f]{32}")
NO_STORE = {"Cache-Control": "no-store"}
router = APIRouter(prefix="/v1/webhook-endpoints", tags=["webhooks"])
MOST_ON_A_PAGE = 100
DELIVERY_ID = re.compile(r"^msg_[0-9a-f]{32}$")
deliveries_router = APIRouter(prefix="/v1/webhook-endpoints/{endpoint_id}", tags=["webhooks"])


class EndpointRequest(Message):
    """A new endpoint."""

    url: Url = Field(description="https, a public host, port 443 or 8443 unless configured")
    events: Events = ()
    description: Description = ""


class EndpointChange(Message):
    """What to change; what is absent stays."""

    url: Url | None = None
    events: Events | None = None
    description: Description | None = None
    enabled: bool | None = Field(default=None, description="false: what it is owed has failed")


class RotationRequest(Message):
    """A new secret."""

    overlap_seconds: int = Field(
        default=DAY, ge=0, le=WEEK, description="how long the previous secret signs as well"
    )


class EndpointView(BaseModel):
    """An endpoint; its secret is not shown again."""

    model_config = views.ALWAYS_SENT

    id: EndpointId
    object: Literal["webhook_endpoint"] = "webhook_endpoint"
    url: str
    description: str
    events: list[EventType] = Field(description="empty: every event")
    enabled: bool
    disabled_reason: str | None
    created_at: int = Field(description="unix seconds")
    last_success_at: int | None = Field(description="unix seconds")
    rotating_until: int | None = Field(description="two signatures until then; unix seconds")


class EndpointWithSecret(EndpointView):
    """An endpoint with its secret, which is shown this once."""

    secret: str = Field(description="`whsec_` and base64, as Standard Webhooks libraries take it")


class EndpointList(BaseModel):
    """All endpoints, oldest first."""

    model_config = views.ALWAYS_SENT

    object: Literal["list"] = "list"
    data: list[EndpointView]
    has_more: Literal[False] = False


class DeliveryView(BaseModel):
    """A delivery. Of the receiver's answer nothing is kept but its status."""

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
    next_attempt_at: int | None = Field(description="unix seconds; null once it has ended")
    ended_at: int | None = Field(description="unix seconds")


class DeliveryList(BaseModel):
    """A page of deliveries, newest first."""

    model_config = views.ALWAYS_SENT

    object: Literal["list"] = "list"
    data: list[DeliveryView]
    first_id: str | None
    last_id: str | None = Field(description="pass it as `after` to get the next page")
    has_more: bool


class Replayed(BaseModel):
    """How many deliveries are owed once more."""

    model_config = views.ALWAYS_SENT

    object: Literal["webhook_replay"] = "webhook_replay"
    replayed: int


class WebhookTestView(BaseModel):
    """What became of a test event. Of the receiver's answer nothing is shown but its status."""

    model_config = views.ALWAYS_SENT

    id: str = Field(description="the `webhook-id` that it was sent under")
    object: Literal["webhook_test"] = "webhook_test"
    delivered: bool = Field(description="whether the answer was 2xx")
    status: int | None = Field(description="the HTTP status of the answer")
    milliseconds: int = Field(description="from the name's resolution to the answer")
    error: str | None = Field(description="why it was not delivered")


def endpoint_view(endpoint: Endpoint) -> dict[str, Any]:
    return {
        "id": endpoint.id,
        "object": "webhook_endpoint",
        "url": endpoint.url,
        "description": endpoint.description,
        "events": endpoint.events,
        "enabled": endpoint.disabled_at is None,
        "disabled_reason": endpoint.disabled_reason,
        "created_at": seconds(endpoint.created_at),
        "last_success_at": seconds(endpoint.succeeded_at),
        "rotating_until": seconds(endpoint.earlier_until),
    }


def delivery_view(record: DeliveryRecord) -> dict[str, Any]:
    return {
        "id": record.id,
        "object": "webhook_delivery",
        "endpoint_id": record.endpoint_id,
        "event": record.event,
        "status": record.status,
        "attempts": record.attempts,
        "last_status": record.last_status,
        "last_error": record.last_error,
        "created_at": seconds(record.created_at),
        "next_attempt_at": seconds(record.due_at) if record.status == "pending" else None,
        "ended_at": seconds(record.ended_at),
    }


VIEW = {"model": EndpointView}


WITH_SECRET = {"model": EndpointWithSecret}


def known(endpoint_id: str) -> str:
    """An id that could be one of ours, or UnknownEndpoint."""
    if not ENDPOINT_ID.fullmatch(endpoint_id):
        raise UnknownEndpoint(f"there is no webhook endpoint {endpoint_id[:64]!r}")
    return endpoint_id


def takes(message: type[Any]) -> dict[str, Any]:
    """The description of a JSON body that the handler reads itself."""
    schema = {"$ref": f"#/components/schemas/{message.__name__}"}
    content = {"application/json": {"schema": schema}}
    return {"requestBody": {"required": True, "content": content}}


@router.post(
    "",
    operation_id="create_webhook_endpoint",
    summary="A new endpoint; its secret is shown this once",
    status_code=201,
    response_model=None,
    responses={
        201: WITH_SECRET | {"headers": {"Location": {}}},
        **views.problems(403, 409, 413, 415, 422),
    },
    openapi_extra=takes(EndpointRequest),
)
async def create(request: Request, gateway: Gateway, caller: Administrator) -> JSONResponse:
    """Make it."""
    asked = await http_requests.parse(
        request, EndpointRequest, limit=gateway.settings.max_body_bytes
    )
    secret, sealer = new_secret(), sealer_of(gateway)
    await check_url(gateway, asked.url)
    values = asked.model_dump(mode="json") | {"secret": sealer.seal(secret)}
    made = await gateway.in_ledger(
        lambda connection: webhooks.make_endpoint(connection, caller.tenant, values)
    )
    headers = {"Location": f"/v1/webhook-endpoints/{made.id}"} | NO_STORE
    return JSONResponse(endpoint_view(made) | {"secret": secret}, 201, headers)


@router.get(
    "",
    operation_id="list_webhook_endpoints",
    summary="All endpoints, oldest first",
    response_model=None,
    responses={200: {"model": EndpointList}, **views.problems(403)},
)
async def list_all(gateway: Gateway, caller: Administrator) -> JSONResponse:
    """There are so few that one page holds them."""
    found = await gateway.in_ledger(
        lambda connection: webhooks.endpoints_of(connection, caller.tenant)
    )
    data = [endpoint_view(endpoint) for endpoint in found]
    return JSONResponse({"object": "list", "data": data, "has_more": False})


@router.get(
    "/{endpoint_id}",
    operation_id="get_webhook_endpoint",
    summary="An endpoint",
    response_model=None,
    responses={200: VIEW, **views.problems(403, 404)},
)
async def get(endpoint_id: str, gateway: Gateway, caller: Administrator) -> JSONResponse:
    """Without its secret."""
    found = await gateway.in_ledger(
        lambda connection: webhooks.find_endpoint(connection, known(endpoint_id), caller.tenant)
    )
    return JSONResponse(endpoint_view(found))


@router.patch(
    "/{endpoint_id}",
    operation_id="change_webhook_endpoint",
    summary="Change an endpoint, disable it, or enable it again",
    response_model=None,
    responses={200: VIEW, **views.problems(403, 404, 413, 415, 422)},
    openapi_extra=takes(EndpointChange),
)
async def change(
    endpoint_id: str, request: Request, gateway: Gateway, caller: Administrator
) -> JSONResponse:
    """What is absent or null stays."""
    asked = await http_requests.parse(
        request, EndpointChange, limit=gateway.settings.max_body_bytes
    )
    if asked.url is not None:
        await check_url(gateway, asked.url)
    values = asked.model_dump(mode="json", exclude_none=True, exclude={"enabled"})

    def write(connection: Connection) -> Endpoint:
        webhooks.change_endpoint(connection, known(endpoint_id), caller.tenant, values)
        if asked.enabled is True:
            webhooks.enable_endpoint(connection, endpoint_id, caller.tenant)
        if asked.enabled is False:
            webhooks.disable_endpoint(connection, endpoint_id, "by request")
        return webhooks.find_endpoint(connection, endpoint_id, caller.tenant)

    return JSONResponse(endpoint_view(await gateway.in_ledger(write)))


@router.delete(
    "/{endpoint_id}",
    operation_id="delete_webhook_endpoint",
    summary="Forget an endpoint and all that it is owed",
    status_code=204,
    response_model=None,
    responses=views.problems(403, 404),
)
async def delete(endpoint_id: str, gateway: Gateway, caller: Administrator) -> Response:
    """Its deliveries go with it."""
    await gateway.in_ledger(
        lambda connection: webhooks.forget_endpoint(connection, known(endpoint_id), caller.tenant)
    )
    return Response(status_code=204)


@router.post(
    "/{endpoint_id}/rotate-secret",
    operation_id="rotate_webhook_secret",
    summary="A new secret, shown this once",
    response_model=None,
    responses={200: WITH_SECRET, **views.problems(403, 404, 413, 415, 422)},
    openapi_extra=takes(RotationRequest),
)
async def rotate(
    endpoint_id: str, request: Request, gateway: Gateway, caller: Administrator
) -> JSONResponse:
    """The previous one signs as well until the overlap ends."""
    asked = await http_requests.parse(
        request, RotationRequest, limit=gateway.settings.max_body_bytes
    )
    secret, overlap = new_secret(), timedelta(seconds=asked.overlap_seconds)
    sealed = sealer_of(gateway).seal(secret)
    found = await gateway.in_ledger(
        lambda connection: webhooks.rotate_secret(
            connection, known(endpoint_id), caller.tenant, sealed, overlap
        )
    )
    shown = endpoint_view(found) | {"secret": secret}
    return JSONResponse(shown, headers=NO_STORE)


@router.post(
    "/{endpoint_id}/test",
    operation_id="test_webhook_endpoint",
    summary="Send a test event at once; what became of it",
    response_model=None,
    responses={200: {"model": WebhookTestView}, **views.problems(403, 404, 409)},
)
async def test(endpoint_id: str, gateway: Gateway, caller: Administrator) -> JSONResponse:
    """`endpoint.test`, one attempt, signed and sent like everything else; a disabled endpoint can
    be tested, and stays so."""
    sealer_of(gateway)
    test_id = webhook_tests.new_id()
    async with gateway.finishes.expecting(test_id) as event:
        await gateway.in_ledger(
            lambda connection: webhook_tests.ask(
                connection, known(endpoint_id), caller.tenant, test_id
            )
        )
        found = await _tested(test_id, event, gateway)
    shown = {"id": test_id, "object": "webhook_test"} | asdict(found)
    return JSONResponse(shown, headers=NO_STORE)


async def _tested(test_id: str, event: asyncio.Event, gateway: State) -> TestOutcome:
    """Its outcome, waited for as long as an attempt may take. Raises Unavailable."""
    clock = asyncio.get_running_loop().time
    deadline = clock() + gateway.settings.webhook_seconds + TEST_SLACK_SECONDS
    while (left := deadline - clock()) > 0:
        await set_within(event, min(left, LOOK_AGAIN_SECONDS))
        event.clear()
        found = await gateway.in_ledger(
            lambda connection: webhook_tests.outcome(connection, test_id)
        )
        if found is not None:
            return found
    await gateway.in_ledger(lambda connection: webhook_tests.withdraw(connection, test_id))
    raise Unavailable("no scheduler has sent it in time; is one running?")


def sealer_of(gateway: State) -> Sealer:
    """What seals secrets, or WebhooksOff."""
    if gateway.sealer is None:
        raise WebhooksOff("the operator has not set TOUCHSTONE_WEBHOOK_KEYS")
    return gateway.sealer


async def check_url(gateway: State, url: str) -> None:
    """By the rule of each attempt, which judges what a name leads to then. Raises BadInput."""
    policy = policy_of(gateway.settings)
    try:
        await policy.check_name(policy.check(url), resolve)
    except ForbiddenDestination as error:
        raise BadInput(str(error), pointer="/url") from None


@deliveries_router.get(
    "/deliveries",
    operation_id="list_webhook_deliveries",
    summary="Deliveries, newest first",
    response_model=None,
    responses={200: {"model": DeliveryList}, **views.problems(403, 404, 422)},
)
async def list_deliveries(
    endpoint_id: str,
    request: Request,
    gateway: Gateway,
    caller: Administrator,
    status: DeliveryStatus | None = None,
    limit: Annotated[int, Query(ge=1, description="coerced to 100 at most")] = 20,
    after: Annotated[
        str | None,
        Query(description="the `last_id` of the page before", pattern=DELIVERY_ID.pattern),
    ] = None,
) -> JSONResponse:
    """A page of deliveries; with `status=failed` those that did not arrive."""
    unknown = sorted(set(request.query_params) - {"status", "limit", "after"})
    if unknown:
        raise BadInput(f"there is no filter {unknown[0]!r}", pointer=f"/{unknown[0]}")
    page = DeliveryPage(min(limit, MOST_ON_A_PAGE), after, status)
    found, has_more = await gateway.in_ledger(
        lambda connection: webhook_deliveries.page_of(
            connection, known(endpoint_id), caller.tenant, page
        )
    )
    return JSONResponse(
        {
            "object": "list",
            "data": [delivery_view(record) for record in found],
            "first_id": found[0].id if found else None,
            "last_id": found[-1].id if found else None,
            "has_more": has_more,
        }
    )


@deliveries_router.post(
    "/deliveries/{delivery_id}/replay",
    operation_id="replay_webhook_delivery",
    summary="Send an ended delivery once more, under the same webhook-id",
    status_code=202,
    response_model=None,
    responses={202: {"model": DeliveryView}, **views.problems(403, 404, 409)},
)
async def replay(
    endpoint_id: str, delivery_id: str, gateway: Gateway, caller: Administrator
) -> JSONResponse:
    """The schedule begins anew."""
    if not DELIVERY_ID.fullmatch(delivery_id):
        raise UnknownDelivery(f"there is no delivery {delivery_id[:64]!r}")
    record = await gateway.in_ledger(
        lambda connection: webhook_deliveries.replay(
            connection, known(endpoint_id), caller.tenant, delivery_id
        )
    )
    return JSONResponse(delivery_view(record), 202)


@deliveries_router.post(
    "/replay-failed",
    operation_id="replay_failed_webhook_deliveries",
    summary="Send every failed delivery of this endpoint once more",
    status_code=202,
    response_model=None,
    responses={202: {"model": Replayed}, **views.problems(403, 404, 409)},
)
async def replay_failed(endpoint_id: str, gateway: Gateway, caller: Administrator) -> JSONResponse:
    """Those that are kept: ended deliveries are forgotten after a while."""
    count = await gateway.in_ledger(
        lambda connection: webhook_deliveries.replay_failed(
            connection, known(endpoint_id), caller.tenant
        )
    )
    return JSONResponse({"object": "webhook_replay", "replayed": count}, 202)
