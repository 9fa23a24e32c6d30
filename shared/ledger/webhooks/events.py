"""An event makes one delivery for each endpoint that listens: `due`, in the caller's transaction.

The body is thin (ids, status, score), below 20 kB, and fixed here once: every attempt sends the
same bytes under the same `webhook-id`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Literal, get_args

from sqlalchemy import Connection, String, cast, func, insert, literal, or_, select

from shared.ledger.webhooks.tables import deliveries, endpoints

EventType = Literal[
    "job.succeeded",
    "job.failed",
    "job.cancelled",
    "batch.completed",
    "batch.failed",
    "batch.expired",
    "batch.cancelled",
]
EVENT_TYPES: tuple[str, ...] = get_args(EventType)
MOST_BYTES = 20_000


def due(
    connection: Connection,
    event: EventType,
    tenant: str,
    data: Mapping[str, Any],
    endpoint: str | None = None,
) -> int:
    """Owe this event to the tenant's endpoints that listen to it; how many there are.

    endpoint: the one that the request named: then no other is told. Disabled endpoints are owed
    nothing. Call it in the transaction that makes the event true.
    Raises ValueError where the body is 20 kB or more.
    """
    body = body_of(event, data)
    listening = [
        endpoints.c.tenant == tenant,
        endpoints.c.disabled_at.is_(None),
        or_(endpoints.c.events == [], endpoints.c.events.contains([event])),
    ]
    if endpoint is not None:
        listening.append(endpoints.c.id == endpoint)
    new_id = func.concat("msg_", func.replace(cast(func.gen_random_uuid(), String), "-", ""))
    owed = select(new_id, endpoints.c.id, endpoints.c.tenant, literal(event), literal(body)).where(
        *listening
    )
    columns = ["id", "endpoint_id", "tenant", "event", "body"]
    return connection.execute(insert(deliveries).from_select(columns, owed)).rowcount


def body_of(event: EventType, data: Mapping[str, Any]) -> str:
    """The payload as it is signed and sent. Raises ValueError where it is 20 kB or more."""
    timestamp = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    payload = {"type": event, "timestamp": timestamp, "data": data}
    body = json.dumps(payload, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    if len(body) >= MOST_BYTES:
        raise ValueError(f"a webhook's body must stay below {MOST_BYTES} bytes")
    return body
