"""Idempotency keys. A key belongs to one request. Repeating the request with its key creates no new
jobs, as long as the jobs of the first call are kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import ColumnElement, Connection, func, update

from shared.contracts.errors import BadInput
from shared.ledger.tables import idempotency_keys


class KeyReused(BadInput):
    """The same Idempotency-Key came with another request."""

    slug = "idempotency-key-reused"
    title = "This Idempotency-Key belongs to another request"
    cure = (
        "Use a new key for each new request; reuse a key only to send exactly the same request "
        "again."
    )


def take_over_key(connection: Connection, ours: Mapping[str, Any], expired: str) -> bool:
    """Assign the key of an expired job to the new job in `ours`. Return False if another caller got
    the key first. `expired` is the id of the expired job."""
    updated = connection.execute(
        update(idempotency_keys)
        .where(*of_key(ours), idempotency_keys.c.job_id == expired)
        .values(**ours, created_at=func.now())
    )
    return updated.rowcount == 1


def of_key(ours: Mapping[str, Any]) -> tuple[ColumnElement[bool], ...]:
    key = idempotency_keys.c
    return key.tenant == ours["tenant"], key.key == ours["key"]
