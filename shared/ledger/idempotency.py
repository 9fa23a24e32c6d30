"""One idempotency key, one job: the second caller gets the first one's job.

Source: draft-ietf-httpapi-idempotency-key-header-07; the key is bound to a fingerprint of the
request, and another request under the same key is an error of the caller.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import Connection, delete, func, select
from sqlalchemy.dialects.postgresql import insert

from shared.errors import BadInput
from shared.ledger.jobs import Job, find, insert_job, new_id
from shared.ledger.owner import ANYBODY, Owner, admit
from shared.ledger.tables import idempotency_keys


class KeyReused(BadInput):
    """The same Idempotency-Key came with another request."""

    slug = "idempotency-key-reused"
    title = "This Idempotency-Key belongs to another request"


@dataclass(frozen=True)
class Accepted:
    """A committed job, and whether an earlier request had made it."""

    job: Job
    replayed: bool


def fingerprint(metric: str, request: Mapping[str, Any]) -> str:
    """SHA-256 over the validated request: spelling and key order do not matter."""
    canonical = json.dumps([metric, request], sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(canonical.encode()).hexdigest()


def accept(
    connection: Connection,
    metric: str,
    request: Mapping[str, Any],
    *,
    key: str | None,
    resend_after: timedelta,
    owner: Owner = ANYBODY,
) -> Accepted:
    """A new job, or under a known key the job that is there already.

    Fifty at once: the key's primary key lets one insert through, the others wait for its commit
    and then read it. Raises KeyReused where the key belongs to another request, QuotaExceeded
    where the owner has too many open jobs.
    """
    job_id = new_id()
    if key is not None:
        mark = fingerprint(metric, request)
        claimed = connection.execute(
            insert(idempotency_keys)
            .values(tenant=owner.tenant, key=key, fingerprint=mark, job_id=job_id)
            .on_conflict_do_nothing()
            .returning(idempotency_keys.c.key)
        ).one_or_none()
        earlier = None if claimed else _earlier(connection, owner.tenant, key, mark)
        if earlier is not None:
            return Accepted(job=earlier, replayed=True)
    admit(connection, owner)
    job = insert_job(connection, job_id, metric, request, resend_after, tenant=owner.tenant)
    return Accepted(job=job, replayed=False)


def _earlier(connection: Connection, tenant: str, key: str, mark: str) -> Job | None:
    """The job of this key; None where the key was purged this very moment."""
    row = connection.execute(
        select(idempotency_keys.c.fingerprint, idempotency_keys.c.job_id).where(
            idempotency_keys.c.tenant == tenant, idempotency_keys.c.key == key
        )
    ).one_or_none()
    if row is None:
        return None
    if row.fingerprint != mark:
        raise KeyReused("the first request with this key had another body", pointer="")
    return find(connection, row.job_id)


def purge(connection: Connection, older_than: timedelta) -> int:
    """Forget keys of this age; how many there were."""
    gone = connection.execute(
        delete(idempotency_keys).where(idempotency_keys.c.created_at < func.now() - older_than)
    )
    return gone.rowcount
