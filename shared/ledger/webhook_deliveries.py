"""Takes due webhook deliveries in fair shares for all tenants, records outcomes, and replays failed
deliveries. A taken delivery is identified by (id, attempt), like a job's claim. Every later write
checks the attempt. A scheduler that was considered dead can thus change nothing. All times are
times of the database."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal

from sqlalchemy import ColumnElement, Connection, Float, func, select, text, tuple_, update

from shared.contracts.errors import ScoringError
from shared.ledger.score_formats import JOINED, MOST_TOGETHER, STANDARD, EndpointFormat
from shared.ledger.tables import deliveries, endpoints
from shared.ledger.webhooks import disable_endpoint, find_endpoint

JITTER = 0.1  # of each delay, both ways
LONGEST_RETRY_AFTER = timedelta(hours=24)
LONGEST_HOLD = timedelta(hours=1)  # of all that an endpoint is owed, after one 429
SHORTEST_HOLD = timedelta(seconds=5)
# Each endpoint offers its oldest few requests, those of one place before those of the next; then no
# tenant gets more than its share. So neither a long backlog nor a receiver that hangs holds up
# others. Where the format joins scores, an endpoint has one request at a time, of all that is due;
# what was refused as invalid goes alone, so that a bad neighbour holds nobody up.
TAKE = text("""
WITH busy AS (
    SELECT delivery.endpoint_id, delivery.tenant,
        CASE WHEN endpoint.format = ANY(:joined) THEN 1 ELSE count(*) END AS attempts
    FROM webhook_deliveries AS delivery
    JOIN webhook_endpoints AS endpoint ON endpoint.id = delivery.endpoint_id
    WHERE delivery.status = 'pending' AND delivery.claimed_until > now()
    GROUP BY delivery.endpoint_id, delivery.tenant, endpoint.format
), offered AS (
    SELECT oldest.*, endpoint.tenant, endpoint.id AS endpoint_id
    FROM webhook_endpoints AS endpoint
    LEFT JOIN busy ON busy.endpoint_id = endpoint.id
    CROSS JOIN LATERAL (SELECT endpoint.format = ANY(:joined) AS is_joined) AS format
    CROSS JOIN LATERAL (
        SELECT id, min(due_at) OVER (PARTITION BY place) AS due_at, place, number,
            goes_alone, bool_or(goes_alone AND number = 1) OVER () AS first_goes_alone
        FROM (
            SELECT id, due_at, number, CASE WHEN is_joined THEN 1 ELSE number END AS place,
                is_joined AND coalesce(last_status IN (400, 413, 422), false) AS goes_alone
            FROM (
                SELECT id, due_at, last_status, row_number() OVER (ORDER BY due_at, id) AS number
                FROM webhook_deliveries
                WHERE endpoint_id = endpoint.id AND status = 'pending' AND due_at <= now()
                    AND (claimed_until IS NULL OR claimed_until <= now())
                ORDER BY due_at, id
                LIMIT CASE WHEN NOT is_joined THEN greatest(0, :each - coalesce(busy.attempts, 0))
                    WHEN busy.attempts IS NULL THEN :together ELSE 0 END
            ) AS due
        ) AS placed
    ) AS oldest
    WHERE endpoint.disabled_at IS NULL
        AND (endpoint.held_until IS NULL OR endpoint.held_until <= now())
        AND (oldest.number = 1 OR NOT (oldest.goes_alone OR oldest.first_goes_alone))
), shared AS (
    SELECT id, place, due_at, endpoint_id,
        dense_rank() OVER (PARTITION BY tenant ORDER BY place, due_at, endpoint_id)
        + coalesce((SELECT sum(attempts) FROM busy WHERE busy.tenant = offered.tenant), 0) AS share
    FROM offered
), ranked AS (
    SELECT id, dense_rank() OVER (ORDER BY place, due_at, endpoint_id) AS place
    FROM shared WHERE share <= :tenant
), chosen AS (
    SELECT id FROM webhook_deliveries
    WHERE id IN (SELECT id FROM ranked WHERE place <= :most)
        AND status = 'pending' AND (claimed_until IS NULL OR claimed_until <= now())
    FOR UPDATE SKIP LOCKED
)
UPDATE webhook_deliveries AS delivery
SET attempts = delivery.attempts + 1, claimed_until = now() + :lease
FROM chosen, webhook_endpoints AS endpoint
WHERE delivery.id = chosen.id AND endpoint.id = delivery.endpoint_id
RETURNING delivery.id, delivery.endpoint_id, delivery.attempts AS attempt, delivery.body,
    delivery.event, endpoint.url, endpoint.secret,
    CASE WHEN endpoint.earlier_until > now() THEN endpoint.earlier_secret END AS earlier_secret,
    endpoint.format, endpoint.authorization
""")
After = Literal["again", "failed", "disabled"]
DeliveryStatus = Literal["pending", "succeeded", "failed"]


@dataclass(frozen=True)
class TenantShare:
    """Limits on simultaneous requests per endpoint (`each`) and per tenant, and on deliveries taken
    at once (`most`)."""

    each: int
    tenant: int
    most: int


@dataclass(frozen=True)
class Delivery:
    """One attempt to deliver an event."""

    id: str
    endpoint_id: str
    attempt: int
    event: str
    body: str = field(repr=False)
    url: str = field(repr=False)
    secret: str = field(repr=False)  # sealed
    earlier_secret: str | None = field(repr=False)
    format: EndpointFormat = STANDARD
    authorization: str | None = field(default=None, repr=False)  # sealed


@dataclass(frozen=True)
class DeliveryRefusal:
    """The reason why an attempt failed. `status` is that of the HTTP answer, if there was one."""

    reason: str
    status: int | None = None
    retry_after: timedelta | None = None

    @property
    def should_pause(self) -> bool:
        """True if the receiver is overloaded, so that all its deliveries wait."""
        return self.status in (429, 502, 503, 504)


def take(connection: Connection, share: TenantShare, *, lease: timedelta) -> list[Delivery]:
    """Take the deliveries that are due now. No other process takes them until the lease ends. If an
    endpoint's format allows several scores in one request, its deliveries are joined."""
    bound: dict[str, Any] = {"each": share.each, "tenant": share.tenant, "most": share.most}
    bound |= {"lease": lease, "joined": list(JOINED), "together": MOST_TOGETHER}
    return [Delivery(**row._asdict()) for row in connection.execute(TAKE, bound)]


def record_success(connection: Connection, together: Sequence[Delivery], status: int) -> int:
    """Mark these deliveries, sent in one request, as succeeded. Return how many were marked.
    Attempts that have been replaced by a newer one are ignored."""
    attempts = [(delivery.id, delivery.attempt) for delivery in together]
    ended = connection.execute(
        update(deliveries)
        .where(
            tuple_(deliveries.c.id, deliveries.c.attempts).in_(attempts),
            deliveries.c.status == "pending",
        )
        .values(
            status="succeeded",
            last_status=status,
            last_error=None,
            ended_at=func.now(),
            claimed_until=None,
        )
    ).rowcount
    if ended:
        connection.execute(
            update(endpoints)
            .where(endpoints.c.id == together[0].endpoint_id)
            .values(succeeded_at=func.now())
        )
    return ended


def record_error(
    connection: Connection, delivery: Delivery, refusal: DeliveryRefusal, schedule: Sequence[float]
) -> After | None:
    """Record a failed attempt. Return what follows from it, or None if the attempt is no longer
    valid.

    `schedule` holds the seconds before each attempt. If the receiver requested a longer wait,
    the next attempt waits that long, up to 24 h. The delivery fails after the last attempt. An
    endpoint is disabled if it answered 410. It is also disabled if this delivery failed and no
    delivery has succeeded since its creation."""
    last = {"last_status": refusal.status, "last_error": refusal.reason}
    if refusal.status == 410:
        return _disable(connection, delivery, "the endpoint answered with status 410 Gone", last)
    if refusal.should_pause:
        _pause(connection, delivery.endpoint_id, refusal.retry_after)
    if delivery.attempt < len(schedule):
        wait = _wait(schedule[delivery.attempt], refusal.retry_after)
        updated = _write(connection, delivery, due_at=func.now() + wait, claimed_until=None, **last)
        return "again" if updated else None
    if _has_no_success(connection, delivery):
        return _disable(connection, delivery, "every attempt of a delivery failed", last)
    return "failed" if _end(connection, delivery, status="failed", **last) else None


def _disable(
    connection: Connection, delivery: Delivery, reason: str, last: dict[str, Any]
) -> After | None:
    if not _end(connection, delivery, status="failed", **last):
        return None
    disable_endpoint(connection, delivery.endpoint_id, reason)
    return "disabled"


def _wait(seconds: float, retry_after: timedelta | None) -> Any:
    """Return the longer of two waits as an SQL interval: the scheduled one with jitter, or the one
    that the receiver requested."""
    shaken = seconds * (1 - JITTER + 2 * JITTER * func.random(type_=Float))
    requested = min(retry_after or timedelta(0), LONGEST_RETRY_AFTER).total_seconds()
    return func.make_interval(0, 0, 0, 0, 0, 0, func.greatest(shaken, requested))


def _pause(connection: Connection, endpoint_id: str, retry_after: timedelta | None) -> None:
    hold = min(max(retry_after or SHORTEST_HOLD, SHORTEST_HOLD), LONGEST_HOLD)
    connection.execute(
        update(endpoints)
        .where(endpoints.c.id == endpoint_id)
        .values(held_until=func.greatest(endpoints.c.held_until, func.now() + hold))
    )


def _has_no_success(connection: Connection, delivery: Delivery) -> bool:
    """Return True if no delivery to the endpoint succeeded since this delivery was created."""
    query = text(
        "SELECT endpoint.succeeded_at IS NULL OR endpoint.succeeded_at < delivery.created_at "
        "FROM webhook_deliveries AS delivery "
        "JOIN webhook_endpoints AS endpoint ON endpoint.id = delivery.endpoint_id "
        "WHERE delivery.id = :id"
    )
    return bool(connection.execute(query, {"id": delivery.id}).scalar())


def _end(connection: Connection, delivery: Delivery, **values: Any) -> bool:
    return _write(connection, delivery, ended_at=func.now(), claimed_until=None, **values)


def _write(connection: Connection, delivery: Delivery, **values: Any) -> bool:
    """Update the delivery if this is its latest attempt and it is still pending. Return True if it
    was updated."""
    row = connection.execute(
        update(deliveries)
        .where(
            deliveries.c.id == delivery.id,
            deliveries.c.attempts == delivery.attempt,
            deliveries.c.status == "pending",
        )
        .values(**values)
        .returning(deliveries.c.id)
    ).one_or_none()
    return row is not None


class UnknownDelivery(ScoringError):
    """No delivery of this endpoint has this id."""

    status = 404
    slug = "unknown-webhook-delivery"
    title = "No such webhook delivery"
    cure = "Check the id; ended deliveries are deleted after `TOUCHSTONE_RETENTION_HOURS`."


class NotReplayable(ScoringError):
    """The delivery is still being attempted, or its endpoint is disabled."""

    status = 409
    slug = "not-replayable"
    title = "This cannot be replayed now"
    cure = "Wait until the delivery has ended, or enable its endpoint first."


@dataclass(frozen=True)
class DeliveryRecord:
    """A delivery as the tenant sees it, with only the status of the receiver's answer."""

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


SHOWN = tuple(deliveries.c[name] for name in DeliveryRecord.__dataclass_fields__)


@dataclass(frozen=True)
class DeliveryPage:
    """The page of a list request: newest first, strictly after the delivery `after`."""

    limit: int
    after: str | None = None
    status: DeliveryStatus | None = None


def page_of(
    connection: Connection, endpoint_id: str, tenant: str, page: DeliveryPage
) -> tuple[list[DeliveryRecord], bool]:
    """Return the deliveries of a page, and True if older ones follow. Raises UnknownEndpoint."""
    find_endpoint(connection, endpoint_id, tenant)
    order = (deliveries.c.created_at.desc(), deliveries.c.id.desc())
    query = select(*SHOWN).where(deliveries.c.endpoint_id == endpoint_id).order_by(*order)
    if page.status is not None:
        query = query.where(deliveries.c.status == page.status)
    if page.after is not None:
        query = query.where(_before(page.after))
    records = [
        DeliveryRecord(**row._asdict()) for row in connection.execute(query.limit(page.limit + 1))
    ]
    return records[: page.limit], len(records) > page.limit


def replay(
    connection: Connection, endpoint_id: str, tenant: str, delivery_id: str
) -> DeliveryRecord:
    """Queue an ended delivery again, with the full schedule of attempts. Raises UnknownEndpoint,
    UnknownDelivery, NotReplayable."""
    _check_enabled(connection, endpoint_id, tenant)
    mine = (deliveries.c.endpoint_id == endpoint_id, deliveries.c.id == delivery_id)
    again = _enqueue(connection, *mine, deliveries.c.status != "pending")
    if again:
        return again[0]
    if connection.execute(select(deliveries.c.id).where(*mine)).one_or_none() is None:
        raise UnknownDelivery(f"the endpoint has no delivery {delivery_id!r}")
    raise NotReplayable("the delivery is still being attempted")


def replay_failed(connection: Connection, endpoint_id: str, tenant: str) -> int:
    """Queue every failed delivery again; return their number. Raises UnknownEndpoint,
    NotReplayable."""
    _check_enabled(connection, endpoint_id, tenant)
    failed = (deliveries.c.endpoint_id == endpoint_id, deliveries.c.status == "failed")
    return len(_enqueue(connection, *failed))


def _enqueue(connection: Connection, *which: ColumnElement[bool]) -> list[DeliveryRecord]:
    rows = connection.execute(
        update(deliveries)
        .where(*which)
        .values(status="pending", attempts=0, due_at=func.now(), ended_at=None)
        .returning(*SHOWN)
    )
    return [DeliveryRecord(**row._asdict()) for row in rows]


def _check_enabled(connection: Connection, endpoint_id: str, tenant: str) -> None:
    if find_endpoint(connection, endpoint_id, tenant).disabled_at is not None:
        raise NotReplayable("the endpoint is disabled; enable it first")


def _before(delivery_id: str) -> ColumnElement[bool]:
    last = deliveries.alias("place")
    after: Any = select(last.c.created_at, last.c.id).where(last.c.id == delivery_id)
    position: Any = func.row(deliveries.c.created_at, deliveries.c.id)
    older: ColumnElement[bool] = position < after.scalar_subquery()
    return older
