"""/v1/webhook-endpoints/{id}/deliveries: what arrived, what did not, and once more."""

from __future__ import annotations

import re
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse

from services.gateway import views, webhook_views
from services.gateway.callers import Administrator
from services.gateway.routes.webhook_endpoints import known
from services.gateway.state import Gateway
from shared.errors import BadInput
from shared.ledger.webhooks import failures
from shared.ledger.webhooks.failures import DeliveryStatus, Page, UnknownDelivery

MOST_ON_A_PAGE = 100
DELIVERY_ID = re.compile(r"^msg_[0-9a-f]{32}$")

router = APIRouter(prefix="/v1/webhook-endpoints/{endpoint_id}", tags=["webhooks"])


@router.get(
    "/deliveries",
    operation_id="list_webhook_deliveries",
    summary="Deliveries, newest first; with `status=failed` those that did not arrive",
    response_model=None,
    responses={200: {"model": webhook_views.DeliveryList}, **views.problems(403, 404, 422)},
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
    """A page of deliveries."""
    unknown = sorted(set(request.query_params) - {"status", "limit", "after"})
    if unknown:
        raise BadInput(f"there is no filter {unknown[0]!r}", pointer=f"/{unknown[0]}")
    page = Page(min(limit, MOST_ON_A_PAGE), after, status)
    found, has_more = await gateway.in_ledger(
        lambda connection: failures.page_of(connection, known(endpoint_id), caller.tenant, page)
    )
    return JSONResponse(
        {
            "object": "list",
            "data": [webhook_views.delivery_shown(record) for record in found],
            "first_id": found[0].id if found else None,
            "last_id": found[-1].id if found else None,
            "has_more": has_more,
        }
    )


@router.post(
    "/deliveries/{delivery_id}/replay",
    operation_id="replay_webhook_delivery",
    summary="Send an ended delivery once more, under the same webhook-id",
    status_code=202,
    response_model=None,
    responses={202: {"model": webhook_views.DeliveryView}, **views.problems(403, 404, 409)},
)
async def replay(
    endpoint_id: str, delivery_id: str, gateway: Gateway, caller: Administrator
) -> JSONResponse:
    """The schedule begins anew."""
    if not DELIVERY_ID.fullmatch(delivery_id):
        raise UnknownDelivery(f"there is no delivery {delivery_id[:64]!r}")
    record = await gateway.in_ledger(
        lambda connection: failures.replay(
            connection, known(endpoint_id), caller.tenant, delivery_id
        )
    )
    return JSONResponse(webhook_views.delivery_shown(record), 202)


@router.post(
    "/replay-failed",
    operation_id="replay_failed_webhook_deliveries",
    summary="Send every failed delivery of this endpoint once more",
    status_code=202,
    response_model=None,
    responses={202: {"model": webhook_views.Replayed}, **views.problems(403, 404, 409)},
)
async def replay_failed(endpoint_id: str, gateway: Gateway, caller: Administrator) -> JSONResponse:
    """Those that are kept: ended deliveries are forgotten after a while."""
    count = await gateway.in_ledger(
        lambda connection: failures.replay_failed(connection, known(endpoint_id), caller.tenant)
    )
    return JSONResponse({"object": "webhook_replay", "replayed": count}, 202)
