"""What was not delivered: the list, and its replay under the same `webhook-id`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import ColumnElement, Connection, func, select, update

from shared.errors import ScoringError
from shared.ledger.webhooks.endpoints import find
from shared.ledger.webhooks.tables import deliveries

DeliveryStatus = Literal["pending", "succeeded", "failed"]


class UnknownDelivery(ScoringError):
    """No delivery of this endpoint has this id."""

    status = 404
    slug = "unknown-webhook-delivery"
    title = "No such webhook delivery"


class NotReplayable(ScoringError):
    """The delivery is still being attempted, or its endpoint is disabled."""

    status = 409
    slug = "not-replayable"
    title = "This cannot be replayed now"


@dataclass(frozen=True)
class Record:
    """A delivery as the tenant sees it; of the receiver's answer nothing but the status."""

    id: str
    endpoint_id: str
    event: str
    status: DeliveryStatus
    attempts: int
    last_status: int | None
    last_error: str | None
    created_at: datetime
    due_at: datetime
    ended_at: datetime | None


SHOWN = tuple(deliveries.c[name] for name in Record.__dataclass_fields__)


@dataclass(frozen=True)
class Page:
    """What a list request asks for: newest first, strictly after the delivery `after`."""

    limit: int
    after: str | None = None
    status: DeliveryStatus | None = None


def page_of(
    connection: Connection, endpoint_id: str, tenant: str, page: Page
) -> tuple[list[Record], bool]:
    """The deliveries of a page, and whether older ones follow. Raises UnknownEndpoint."""
    find(connection, endpoint_id, tenant)
    order = (deliveries.c.created_at.desc(), deliveries.c.id.desc())
    query = select(*SHOWN).where(deliveries.c.endpoint_id == endpoint_id).order_by(*order)
    if page.status is not None:
        query = query.where(deliveries.c.status == page.status)
    if page.after is not None:
        query = query.where(_older_than(page.after))
    found = [Record(**row._asdict()) for row in connection.execute(query.limit(page.limit + 1))]
    return found[: page.limit], len(found) > page.limit


def replay(connection: Connection, endpoint_id: str, tenant: str, delivery_id: str) -> Record:
    """Owe an ended delivery once more, the whole schedule through, from now.

    Raises UnknownEndpoint, UnknownDelivery, NotReplayable.
    """
    _demand_enabled(connection, endpoint_id, tenant)
    mine = (deliveries.c.endpoint_id == endpoint_id, deliveries.c.id == delivery_id)
    again = _owe_again(connection, *mine, deliveries.c.status != "pending")
    if again:
        return again[0]
    if connection.execute(select(deliveries.c.id).where(*mine)).one_or_none() is None:
        raise UnknownDelivery(f"the endpoint has no delivery {delivery_id!r}")
    raise NotReplayable("the delivery is still being attempted")


def replay_failed(connection: Connection, endpoint_id: str, tenant: str) -> int:
    """Owe every failed delivery once more; how many. Raises UnknownEndpoint, NotReplayable."""
    _demand_enabled(connection, endpoint_id, tenant)
    failed = (deliveries.c.endpoint_id == endpoint_id, deliveries.c.status == "failed")
    return len(_owe_again(connection, *failed))


def _owe_again(connection: Connection, *which: ColumnElement[bool]) -> list[Record]:
    rows = connection.execute(
        update(deliveries)
        .where(*which)
        .values(status="pending", attempts=0, due_at=func.now(), ended_at=None)
        .returning(*SHOWN)
    )
    return [Record(**row._asdict()) for row in rows]


def _demand_enabled(connection: Connection, endpoint_id: str, tenant: str) -> None:
    if find(connection, endpoint_id, tenant).disabled_at is not None:
        raise NotReplayable("the endpoint is disabled; enable it first")


def _older_than(delivery_id: str) -> ColumnElement[bool]:
    place = deliveries.alias("place")
    after: Any = select(place.c.created_at, place.c.id).where(place.c.id == delivery_id)
    here: Any = func.row(deliveries.c.created_at, deliveries.c.id)
    older: ColumnElement[bool] = here < after.scalar_subquery()
    return older
