"""A job's end is told to webhook endpoints in the very transaction that writes it.

Whoever ends a job (a worker, a caller who cancels, the scheduler) returns the columns `TOLD` from
its update and calls `tell`: no end without its deliveries, no delivery without its end.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from sqlalchemy import Connection, Row, select

from shared.ledger.tables import jobs
from shared.ledger.webhooks.events import EventType, due
from shared.ledger.webhooks.tables import endpoints

TOLD = (
    jobs.c.id,
    jobs.c.metric,
    jobs.c.tenant,
    jobs.c.status,
    jobs.c.batch_id,
    jobs.c.request["webhook"].as_string().label("webhook"),
    jobs.c.result["score"].label("score"),
    jobs.c.error["type"].as_string().label("error_type"),
    select(endpoints.c.id)
    .where(endpoints.c.tenant == jobs.c.tenant, endpoints.c.disabled_at.is_(None))
    .correlate(jobs)
    .exists()
    .label("listened"),  # without endpoints an end costs no second statement
)


def tell(connection: Connection, row: Row[Any]) -> int:
    """Make the deliveries of this ended job; how many. `row` has the columns `TOLD`.

    A job of a batch is told only to an endpoint that its line names: the batch's end is told.
    """
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
    return due(connection, event, row.tenant, data, endpoint=row.webhook)


def tell_batch(
    connection: Connection, batch_id: str, tenant: str, status: str, counts: Mapping[str, int]
) -> int:
    """Make the deliveries of this ended batch; how many. status: its final one."""
    data = {"id": batch_id, "object": "batch", "status": status, "request_counts": dict(counts)}
    return due(connection, cast(EventType, f"batch.{status}"), tenant, data)
