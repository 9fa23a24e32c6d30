"""How webhook endpoints and deliveries are asked for, and how they look over HTTP."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, StringConstraints
from pydantic.config import JsonDict

from services.gateway.views import seconds
from shared.contracts import EndpointId, Message
from shared.ledger.webhooks.endpoints import Endpoint
from shared.ledger.webhooks.events import EVENT_TYPES, EventType
from shared.ledger.webhooks.failures import DeliveryStatus, Record
from shared.webhooks.destination import MOST_CHARACTERS

WEEK = 604_800
DAY = 86_400

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
        default=DAY, ge=0, le=WEEK, description="how long the secret of before signs beside it"
    )


class EndpointView(BaseModel):
    """An endpoint; its secret is not shown again."""

    id: EndpointId
    object: Literal["webhook_endpoint"] = "webhook_endpoint"
    url: str
    description: str
    events: list[EventType] = Field(description="empty: every event")
    enabled: bool
    disabled_reason: str | None
    created_at: float = Field(description="unix seconds")
    last_success_at: float | None = Field(description="unix seconds")
    rotating_until: float | None = Field(description="two signatures until then; unix seconds")


class EndpointWithSecret(EndpointView):
    """An endpoint with its secret, which is shown this once."""

    secret: str = Field(description="`whsec_` and base64, as Standard Webhooks libraries take it")


class EndpointList(BaseModel):
    """All endpoints, oldest first."""

    object: Literal["list"] = "list"
    data: list[EndpointView]
    has_more: Literal[False] = False


class DeliveryView(BaseModel):
    """A delivery. Of the receiver's answer nothing is kept but its status."""

    id: str = Field(description="the `webhook-id` of every attempt")
    object: Literal["webhook_delivery"] = "webhook_delivery"
    endpoint_id: EndpointId
    event: EventType
    status: DeliveryStatus
    attempts: int
    last_status: int | None = Field(description="the HTTP status of the last answer")
    last_error: str | None = Field(description="why the last attempt failed")
    created_at: float = Field(description="unix seconds")
    next_attempt_at: float | None = Field(description="unix seconds; null once it has ended")
    ended_at: float | None = Field(description="unix seconds")


class DeliveryList(BaseModel):
    """A page of deliveries, newest first."""

    object: Literal["list"] = "list"
    data: list[DeliveryView]
    first_id: str | None
    last_id: str | None = Field(description="pass it as `after` to get the next page")
    has_more: bool


class Replayed(BaseModel):
    """How many deliveries are owed once more."""

    object: Literal["webhook_replay"] = "webhook_replay"
    replayed: int


def endpoint_shown(endpoint: Endpoint) -> dict[str, Any]:
    """An endpoint's JSON."""
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


def delivery_shown(record: Record) -> dict[str, Any]:
    """A delivery's JSON."""
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
