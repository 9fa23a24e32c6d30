"""/v1/webhook-endpoints: where a tenant wants its events, and the secret that signs them."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from sqlalchemy import Connection

from services.gateway import body, views, webhook_views
from services.gateway.callers import Administrator
from services.gateway.refusals import WebhooksOff
from services.gateway.state import Gateway, State
from services.gateway.webhook_views import EndpointChange, EndpointRequest, RotationRequest
from shared.encryption import Sealer, new_secret
from shared.errors import BadInput
from shared.ledger.webhooks import endpoints
from shared.ledger.webhooks.endpoints import Endpoint, UnknownEndpoint
from shared.webhooks.destination import ForbiddenDestination, policy_of

ENDPOINT_ID = re.compile(r"we_[0-9a-f]{32}")
NO_STORE = {"Cache-Control": "no-store"}
VIEW = {"model": webhook_views.EndpointView}
WITH_SECRET = {"model": webhook_views.EndpointWithSecret}

router = APIRouter(prefix="/v1/webhook-endpoints", tags=["webhooks"])


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
    responses={201: WITH_SECRET, **views.problems(403, 409, 413, 415, 422)},
    openapi_extra=takes(EndpointRequest),
)
async def create(request: Request, gateway: Gateway, caller: Administrator) -> JSONResponse:
    """Make it."""
    asked = await body.parse(request, EndpointRequest, limit=gateway.settings.max_body_bytes)
    secret, sealer = new_secret(), sealer_of(gateway)
    check_url(gateway, asked.url)
    values = asked.model_dump(mode="json") | {"secret": sealer.seal(secret)}
    made = await gateway.in_ledger(
        lambda connection: endpoints.make(connection, caller.tenant, values)
    )
    headers = {"Location": f"/v1/webhook-endpoints/{made.id}"} | NO_STORE
    return JSONResponse(webhook_views.endpoint_shown(made) | {"secret": secret}, 201, headers)


@router.get(
    "",
    operation_id="list_webhook_endpoints",
    summary="All endpoints, oldest first",
    response_model=None,
    responses={200: {"model": webhook_views.EndpointList}, **views.problems(403)},
)
async def list_all(gateway: Gateway, caller: Administrator) -> JSONResponse:
    """There are so few that one page holds them."""
    found = await gateway.in_ledger(lambda connection: endpoints.all_of(connection, caller.tenant))
    data = [webhook_views.endpoint_shown(endpoint) for endpoint in found]
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
        lambda connection: endpoints.find(connection, known(endpoint_id), caller.tenant)
    )
    return JSONResponse(webhook_views.endpoint_shown(found))


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
    asked = await body.parse(request, EndpointChange, limit=gateway.settings.max_body_bytes)
    if asked.url is not None:
        check_url(gateway, asked.url)
    values = asked.model_dump(mode="json", exclude_none=True, exclude={"enabled"})

    def write(connection: Connection) -> Endpoint:
        endpoints.change(connection, known(endpoint_id), caller.tenant, values)
        if asked.enabled is True:
            endpoints.enable(connection, endpoint_id, caller.tenant)
        if asked.enabled is False:
            endpoints.disable(connection, endpoint_id, "by request")
        return endpoints.find(connection, endpoint_id, caller.tenant)

    return JSONResponse(webhook_views.endpoint_shown(await gateway.in_ledger(write)))


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
        lambda connection: endpoints.forget(connection, known(endpoint_id), caller.tenant)
    )
    return Response(status_code=204)


@router.post(
    "/{endpoint_id}/rotate-secret",
    operation_id="rotate_webhook_secret",
    summary="A new secret, shown this once; the one before signs beside it for a while",
    response_model=None,
    responses={200: WITH_SECRET, **views.problems(403, 404, 413, 415, 422)},
    openapi_extra=takes(RotationRequest),
)
async def rotate(
    endpoint_id: str, request: Request, gateway: Gateway, caller: Administrator
) -> JSONResponse:
    """Two signatures until the overlap ends."""
    asked = await body.parse(request, RotationRequest, limit=gateway.settings.max_body_bytes)
    secret, overlap = new_secret(), timedelta(seconds=asked.overlap_seconds)
    sealed = sealer_of(gateway).seal(secret)
    found = await gateway.in_ledger(
        lambda connection: endpoints.rotate(
            connection, known(endpoint_id), caller.tenant, sealed, overlap
        )
    )
    shown = webhook_views.endpoint_shown(found) | {"secret": secret}
    return JSONResponse(shown, headers=NO_STORE)


def sealer_of(gateway: State) -> Sealer:
    """What seals secrets, or WebhooksOff."""
    if gateway.sealer is None:
        raise WebhooksOff("the operator has not set TOUCHSTONE_WEBHOOK_KEYS")
    return gateway.sealer


def check_url(gateway: State, url: str) -> None:
    """What can be said without resolving a name, or BadInput; the rest is said at each attempt."""
    try:
        policy_of(gateway.settings).check(url)
    except ForbiddenDestination as error:
        raise BadInput(str(error), pointer="/url") from None
