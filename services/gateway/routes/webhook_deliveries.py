"""What was delivered to a webhook endpoint, what failed, and its replay."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from services.gateway import views
from services.gateway.auth import Administrator
from services.gateway.http_requests import Limit, check_filters, list_json, page_after
from services.gateway.routes.webhooks import validate_id
from services.gateway.state import Gateway
from shared.contracts.messages import EndpointId
from shared.ledger import webhook_deliveries
from shared.ledger.job_json import to_timestamp
from shared.ledger.webhook_deliveries import (
    DeliveryPage,
    DeliveryRecord,
    DeliveryStatus,
    UnknownDelivery,
)
from shared.ledger.webhooks import EventType

MOST_ON_A_PAGE = 100
DELIVERY_ID = re.compile(r"msg_[0-9a-f]{32}")
router = APIRouter(prefix="/v1/webhook-endpoints/{endpoint_id}", tags=["webhooks"])


class DeliverySchema(BaseModel):
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


class DeliveryList(views.ListPage[DeliverySchema]):
    """A page of deliveries, newest first."""


class Replayed(BaseModel):
    """How many deliveries are owed once more."""

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
    "/deliveries",
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
    """A page of deliveries; with `status=failed` those that did not arrive."""
    check_filters(request, {"status", "limit", "after"})
    page = DeliveryPage(min(limit, MOST_ON_A_PAGE), after, status)
    found, has_more = await gateway.in_ledger(
        lambda connection: webhook_deliveries.page_of(
            connection, validate_id(endpoint_id), caller.tenant, page
        )
    )
    return JSONResponse(list_json([delivery_json(one) for one in found], has_more=has_more))


@router.post(
    "/deliveries/{delivery_id}/replay",
    operation_id="replay_webhook_delivery",
    summary="Send an ended delivery once more, under the same webhook-id",
    status_code=202,
    response_model=None,
    responses={202: {"model": DeliverySchema}, **views.error_responses(403, 404, 409)},
)
async def replay(
    endpoint_id: str, delivery_id: str, gateway: Gateway, caller: Administrator
) -> JSONResponse:
    """The schedule begins anew."""
    if not DELIVERY_ID.fullmatch(delivery_id):
        raise UnknownDelivery(f"there is no delivery {delivery_id[:64]!r}")
    record = await gateway.in_ledger(
        lambda connection: webhook_deliveries.replay(
            connection, validate_id(endpoint_id), caller.tenant, delivery_id
        )
    )
    return JSONResponse(delivery_json(record), 202)


@router.post(
    "/replay-failed",
    operation_id="replay_failed_webhook_deliveries",
    summary="Send every failed delivery of this endpoint once more",
    status_code=202,
    response_model=None,
    responses={202: {"model": Replayed}, **views.error_responses(403, 404, 409)},
)
async def replay_failed(endpoint_id: str, gateway: Gateway, caller: Administrator) -> JSONResponse:
    """Those that are kept: ended deliveries are forgotten after a while."""
    count = await gateway.in_ledger(
        lambda connection: webhook_deliveries.replay_failed(
            connection, validate_id(endpoint_id), caller.tenant
        )
    )
    return JSONResponse({"object": "webhook_replay", "replayed": count}, 202)
