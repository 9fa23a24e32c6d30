"""A tenant's webhook endpoints, and the events to deliver to them (Standard Webhooks 1.0.0).

The transaction that causes an event also creates its deliveries. Code that ends a job (worker,
canceller or scheduler) returns `EVENT_COLUMNS` from its update and calls `job_ended`. The body
holds ids, status and score and is below 20 kB. Every attempt sends the same bytes under the same
`webhook-id`. For endpoints of other formats see shared/ledger/score_pushes.py."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, cast, get_args

from sqlalchemy import (
    Connection,
    Row,
    String,
    and_,
    delete,
    func,
    insert,
    literal,
    or_,
    select,
    text,
    true,
    update,
)
from sqlalchemy import cast as sql_cast

from shared.contracts.errors import ScoringError
from shared.ledger.request_keys import KeyReused
from shared.ledger.score_formats import STANDARD, EndpointFormat
from shared.ledger.tables import deliveries, endpoints, jobs

LISTENED = (
    select(endpoints.c.id)
    .where(
        endpoints.c.tenant == jobs.c.tenant,
        endpoints.c.disabled_at.is_(None),
        endpoints.c.format == STANDARD,
    )
    .correlate(jobs)
    .exists()
)
EVENT_COLUMNS = (
    jobs.c.id,
    jobs.c.metric,
    jobs.c.tenant,
    jobs.c.status,
    jobs.c.batch_id,
    jobs.c.request["webhook"].as_string().label("webhook"),
    jobs.c.result["score"].label("score"),
    jobs.c.error["type"].as_string().label("error_type"),
    LISTENED.label("listened"),  # without endpoints no second statement is needed
)
# an end of this job makes no deliveries: see `job_ended`
OWES_NOTHING = or_(
    ~LISTENED, and_(jobs.c.batch_id.is_not(None), jobs.c.request["webhook"].as_string().is_(None))
)
EventType = Literal[
    "job.succeeded",
    "job.failed",
    "job.cancelled",
    "batch.completed",
    "batch.failed",
    "batch.expired",
    "batch.cancelled",
    "judgement.created",
]
EVENT_TYPES: tuple[str, ...] = get_args(EventType)
TestType = Literal["endpoint.test"]  # sent on request only
MOST_BYTES = 20_000
MOST_ENDPOINTS = 20  # of a tenant: each may hold attempts open


@dataclass(frozen=True)
class Endpoint:
    """A tenant's destination for events."""

    id: str
    tenant: str
    url: str
    description: str
    events: list[str]
    created_at: datetime
    earlier_until: datetime | None
    succeeded_at: datetime | None
    disabled_at: datetime | None
    disabled_reason: str | None
    format: EndpointFormat
    has_authorization: bool
    sample: float
    metrics: list[str]
    parts: bool
    untraced: int


SHOWN = tuple(
    endpoints.c.authorization.is_not(None).label(name)
    if name == "has_authorization"
    else endpoints.c[name]
    for name in Endpoint.__dataclass_fields__
)


def job_ended(connection: Connection, row: Row[Any]) -> int:
    """Create the deliveries of this ended job; return how many. `row` has `EVENT_COLUMNS`. A job of
    a batch has a delivery only if its line names an endpoint."""
    if not row.listened or (row.batch_id is not None and row.webhook is None):
        return 0
    data = {
        "id": row.id,
        "object": "job",
        "metric": row.metric,
        "status": row.status,
        "batch_id": row.batch_id,
        "score": row.score,
        "error_type": row.error_type,
    }
    event = cast(EventType, f"job.{row.status}")
    return enqueue_event(connection, event, row.tenant, data, endpoint=row.webhook)


def batch_changed(
    connection: Connection, batch_id: str, tenant: str, status: str, counts: Mapping[str, int]
) -> int:
    """Create the deliveries of this ended batch; return how many. `status` is its final status."""
    data = {"id": batch_id, "object": "batch", "status": status, "request_counts": dict(counts)}
    return enqueue_event(connection, cast(EventType, f"batch.{status}"), tenant, data)


def enqueue_event(
    connection: Connection,
    event: EventType,
    tenant: str,
    data: Mapping[str, Any],
    endpoint: str | None = None,
) -> int:
    """Queue this event for the tenant's endpoints that subscribe to it. Return the number of these
    endpoints.

    `endpoint` is the only endpoint that receives the event, if the request named one. Disabled
    endpoints receive nothing. Call this in the transaction that causes the event. Raises
    ValueError if the body has 20 kB or more."""
    body = body_of(event, data)
    listening = [
        endpoints.c.tenant == tenant,
        endpoints.c.disabled_at.is_(None),
        endpoints.c.format == STANDARD,
        or_(endpoints.c.events == [], endpoints.c.events.contains([event])),
    ]
    if endpoint is not None:
        listening.append(endpoints.c.id == endpoint)
    new_id = func.concat("msg_", func.replace(sql_cast(func.gen_random_uuid(), String), "-", ""))
    owed = select(new_id, endpoints.c.id, endpoints.c.tenant, literal(event), literal(body)).where(
        *listening
    )
    columns = ["id", "endpoint_id", "tenant", "event", "body"]
    return connection.execute(insert(deliveries).from_select(columns, owed)).rowcount


def body_of(event: EventType | TestType, data: Mapping[str, Any]) -> str:
    """Return the payload in the form that is signed and sent. Raises ValueError if it has 20 kB or
    more."""
    timestamp = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    payload = {"type": event, "timestamp": timestamp, "data": data}
    body = json.dumps(payload, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    if len(body) >= MOST_BYTES:
        raise ValueError(f"a webhook's body must have fewer than {MOST_BYTES} bytes")
    return body


class UnknownEndpoint(ScoringError):
    """No webhook endpoint has this id."""

    status = 404
    slug = "unknown-webhook-endpoint"
    title = "No such webhook endpoint"
    cure = "Check the id with `GET /v1/webhook-endpoints`."


class TooManyEndpoints(ScoringError):
    """The tenant has the maximum number of endpoints."""

    status = 409
    slug = "too-many-webhook-endpoints"
    title = "There are too many webhook endpoints"
    cure = (
        "Delete an endpoint that is no longer used, or let one endpoint receive several kinds "
        "of events."
    )


def new_id() -> str:
    """Return a new endpoint id: `we_` and 32 hex digits. Ids sort by time."""
    return f"we_{time.time_ns() // 1_000_000:012x}{secrets.token_hex(10)}"


def make_endpoint(
    connection: Connection, tenant: str, values: Mapping[str, Any], *, key: str | None = None
) -> Endpoint:
    """Create an endpoint, or return the endpoint that this idempotency key created.

    `values` has url, description, events and secret (encrypted). For score formats it also has
    format, authorization (encrypted), sample, metrics and parts. Raises TooManyEndpoints, and
    KeyReused if the key created an endpoint with other values.
    """
    turn = func.pg_advisory_xact_lock(func.hashtextextended(f"webhook-endpoints {tenant}", 0))
    connection.execute(select(turn))
    existing = select(*SHOWN).where(endpoints.c.tenant == tenant, endpoints.c.key == key)
    if key is not None and (row := connection.execute(existing).one_or_none()) is not None:
        shown = {name: value for name, value in values.items() if name in row._fields}
        if any(getattr(row, name) != value for name, value in shown.items()):
            raise KeyReused(
                "another request was already sent with this Idempotency-Key; use a new key",
                pointer="",
            )
        return _endpoint(row)
    count = select(func.count()).select_from(endpoints).where(endpoints.c.tenant == tenant)
    if connection.execute(count).scalar_one() >= MOST_ENDPOINTS:
        raise TooManyEndpoints(f"a tenant may have at most {MOST_ENDPOINTS} webhook endpoints")
    row = connection.execute(
        insert(endpoints).values(id=new_id(), tenant=tenant, key=key, **values).returning(*SHOWN)
    ).one()
    return _endpoint(row)


def find_endpoint(connection: Connection, endpoint_id: str, tenant: str) -> Endpoint:
    """Return this tenant's endpoint. Raises UnknownEndpoint."""
    query = select(*SHOWN).where(*_where(endpoint_id, tenant))
    return _required(connection.execute(query).one_or_none(), endpoint_id)


def endpoints_of(connection: Connection, tenant: str) -> list[Endpoint]:
    """Return the tenant's endpoints, oldest first; at most `MOST_ENDPOINTS`."""
    query = select(*SHOWN).where(endpoints.c.tenant == tenant).order_by(endpoints.c.id)
    return [_endpoint(row) for row in connection.execute(query)]


def change_endpoint(
    connection: Connection, endpoint_id: str, tenant: str, values: Mapping[str, Any]
) -> Endpoint:
    """Set some of url, description, events, authorization (encrypted), sample, metrics and parts.
    Raises UnknownEndpoint."""
    if not values:
        return find_endpoint(connection, endpoint_id, tenant)
    changed = update(endpoints).where(*_where(endpoint_id, tenant)).values(**values)
    return _required(connection.execute(changed.returning(*SHOWN)).one_or_none(), endpoint_id)


def enable_endpoint(connection: Connection, endpoint_id: str, tenant: str) -> Endpoint:
    """Enable the endpoint for events from now on. Raises UnknownEndpoint."""
    values = {"disabled_at": None, "disabled_reason": None, "held_until": None}
    return change_endpoint(connection, endpoint_id, tenant, values)


def disable_endpoint(connection: Connection, endpoint_id: str, reason: str) -> bool:
    """Disable the endpoint and fail its open deliveries. Return False if it was already
    disabled."""
    row = connection.execute(
        update(endpoints)
        .where(endpoints.c.id == endpoint_id, endpoints.c.disabled_at.is_(None))
        .values(disabled_at=func.now(), disabled_reason=reason)
        .returning(endpoints.c.id)
    ).one_or_none()
    connection.execute(
        update(deliveries)
        .where(deliveries.c.endpoint_id == endpoint_id, deliveries.c.status == "pending")
        .values(
            status="failed",
            ended_at=func.now(),
            claimed_until=None,
            last_error=func.coalesce(deliveries.c.last_error, "the endpoint was disabled"),
        )
    )
    return row is not None


def rotate_secret(
    connection: Connection,
    endpoint_id: str,
    tenant: str,
    sealed: str,
    overlap: timedelta,
    *,
    key: str | None = None,
) -> Endpoint:
    """Set a new secret. The previous secret also signs until the overlap ends. Raises
    UnknownEndpoint. Without an overlap all earlier secrets are deleted. If `key` is that of the
    last rotation nothing changes, so a call can be retried."""
    values: dict[str, Any] = {"secret": sealed, "earlier_secret": None, "earlier_until": None}
    if overlap > timedelta(0):
        values["earlier_secret"] = text("secret")  # the value from before the update
        values["earlier_until"] = func.now() + overlap
    is_new = endpoints.c.rotation_key.is_distinct_from(key) if key else true()
    connection.execute(
        update(endpoints)
        .where(*_where(endpoint_id, tenant), is_new)
        .values(**values, rotation_key=key)
    )
    return find_endpoint(connection, endpoint_id, tenant)


def secret_of(connection: Connection, endpoint_id: str) -> str:
    query = select(endpoints.c.secret).where(endpoints.c.id == endpoint_id)
    return str(connection.execute(query).scalar_one())


def delete_endpoint(connection: Connection, endpoint_id: str, tenant: str) -> None:
    """Delete the endpoint with its deliveries. Raises UnknownEndpoint."""
    row = connection.execute(
        delete(endpoints).where(*_where(endpoint_id, tenant)).returning(*SHOWN)
    ).one_or_none()
    _required(row, endpoint_id)


def _where(endpoint_id: str, tenant: str) -> tuple[Any, ...]:
    return endpoints.c.id == endpoint_id, endpoints.c.tenant == tenant


def _endpoint(row: Row[Any]) -> Endpoint:
    return Endpoint(**row._asdict())


def _required(row: Row[Any] | None, endpoint_id: str) -> Endpoint:
    if row is None:
        raise UnknownEndpoint(f"there is no webhook endpoint {endpoint_id!r}")
    return _endpoint(row)
