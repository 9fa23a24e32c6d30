"""A tenant's endpoints: make, look up, change, rotate the secret, disable, forget."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Row, delete, func, insert, select, text, update

from shared.errors import ScoringError
from shared.ledger.webhooks.tables import deliveries, endpoints

MOST_ENDPOINTS = 20  # of a tenant: each may hold attempts open


class UnknownEndpoint(ScoringError):
    """No webhook endpoint has this id."""

    status = 404
    slug = "unknown-webhook-endpoint"
    title = "No such webhook endpoint"


class TooManyEndpoints(ScoringError):
    """The tenant has as many endpoints as it may."""

    status = 409
    slug = "too-many-webhook-endpoints"
    title = "There are too many webhook endpoints"


@dataclass(frozen=True)
class Endpoint:
    """Where a tenant wants its events."""

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


SHOWN = tuple(endpoints.c[name] for name in Endpoint.__dataclass_fields__)


def new_id() -> str:
    """`we_` and 32 hex digits: milliseconds, then random bits; ids sort by time."""
    return f"we_{time.time_ns() // 1_000_000:012x}{secrets.token_hex(10)}"


def make(connection: Connection, tenant: str, values: Mapping[str, Any]) -> Endpoint:
    """A new endpoint. values: url, description, events, secret (sealed).

    Raises TooManyEndpoints. The tenant's makers take turns, so that the limit holds.
    """
    turn = func.pg_advisory_xact_lock(func.hashtextextended(f"webhook-endpoints {tenant}", 0))
    connection.execute(select(turn))
    count = select(func.count()).select_from(endpoints).where(endpoints.c.tenant == tenant)
    if connection.execute(count).scalar_one() >= MOST_ENDPOINTS:
        raise TooManyEndpoints(f"a tenant may have {MOST_ENDPOINTS} webhook endpoints")
    row = connection.execute(
        insert(endpoints).values(id=new_id(), tenant=tenant, **values).returning(*SHOWN)
    ).one()
    return _endpoint(row)


def find(connection: Connection, endpoint_id: str, tenant: str) -> Endpoint:
    """This tenant's endpoint. Raises UnknownEndpoint."""
    query = select(*SHOWN).where(*_its(endpoint_id, tenant))
    return _found(connection.execute(query).one_or_none(), endpoint_id)


def all_of(connection: Connection, tenant: str) -> list[Endpoint]:
    """The tenant's endpoints, oldest first; at most `MOST_ENDPOINTS`."""
    query = select(*SHOWN).where(endpoints.c.tenant == tenant).order_by(endpoints.c.id)
    return [_endpoint(row) for row in connection.execute(query)]


def change(
    connection: Connection, endpoint_id: str, tenant: str, values: Mapping[str, Any]
) -> Endpoint:
    """Set some of url, description, events. Raises UnknownEndpoint."""
    if not values:
        return find(connection, endpoint_id, tenant)
    changed = update(endpoints).where(*_its(endpoint_id, tenant)).values(**values)
    return _found(connection.execute(changed.returning(*SHOWN)).one_or_none(), endpoint_id)


def enable(connection: Connection, endpoint_id: str, tenant: str) -> Endpoint:
    """Let it be told again, from now on. Raises UnknownEndpoint."""
    values = {"disabled_at": None, "disabled_reason": None, "held_until": None}
    return change(connection, endpoint_id, tenant, values)


def disable(connection: Connection, endpoint_id: str, reason: str) -> bool:
    """Tell it nothing more; what it was owed has failed. False where it was disabled already."""
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


def rotate(
    connection: Connection, endpoint_id: str, tenant: str, sealed: str, overlap: timedelta
) -> Endpoint:
    """A new secret; the one before it signs too until the overlap ends. Raises UnknownEndpoint.

    No overlap: the one before is forgotten. A third one is too: two signatures, never more.
    """
    values: dict[str, Any] = {"secret": sealed, "earlier_secret": None, "earlier_until": None}
    if overlap > timedelta(0):
        values["earlier_secret"] = text("secret")  # the value from before the update
        values["earlier_until"] = func.now() + overlap
    return change(connection, endpoint_id, tenant, values)


def forget(connection: Connection, endpoint_id: str, tenant: str) -> None:
    """Delete it with its deliveries. Raises UnknownEndpoint."""
    row = connection.execute(
        delete(endpoints).where(*_its(endpoint_id, tenant)).returning(*SHOWN)
    ).one_or_none()
    _found(row, endpoint_id)


def _its(endpoint_id: str, tenant: str) -> tuple[Any, ...]:
    return endpoints.c.id == endpoint_id, endpoints.c.tenant == tenant


def _endpoint(row: Row[Any]) -> Endpoint:
    return Endpoint(**row._asdict())


def _found(row: Row[Any] | None, endpoint_id: str) -> Endpoint:
    if row is None:
        raise UnknownEndpoint(f"there is no webhook endpoint {endpoint_id!r}")
    return _endpoint(row)
