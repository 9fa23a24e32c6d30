"""Whose jobs they are, and how many of them may be open at a time."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from shared.errors import QuotaExceeded
from shared.ledger.tables import DEFAULT_TENANT, jobs

OPEN_JOBS = "open-jobs"  # the policy's name in a refusal
RETRY_SECONDS = 5
# Nobody is let in unseen this close below the quota: more than two gateways commit at once.
UNSEEN = 100
ROOMY = 1_000
FRESH_SECONDS = 1.0

_lately: dict[str, tuple[float, int]] = {}  # tenant → when it was counted, and how many were open


@dataclass(frozen=True)
class Owner:
    """A tenant, and the most queued and running jobs that it may have; None: no limit."""

    tenant: str = DEFAULT_TENANT
    most_open: int | None = None


ANYBODY = Owner()


def admit(connection: Connection, owner: Owner) -> None:
    """Raises QuotaExceeded where one more open job would be too many.

    Far below the quota (a thousand jobs and more) one count serves a second. Near it the tenant's
    commits take turns (a lock until the transaction ends), so that a crowd that comes at once does
    not overrun it. Only more than a thousand that are let in within a second could overrun it.
    """
    if owner.most_open is None or _is_roomy(owner):
        return
    count = _open(connection, owner)
    _lately[owner.tenant] = (time.monotonic(), count)
    if count < owner.most_open - UNSEEN:
        return
    turn = func.pg_advisory_xact_lock(func.hashtextextended(f"open-jobs {owner.tenant}", 0))
    connection.execute(select(turn))
    if _open(connection, owner) >= owner.most_open:
        raise QuotaExceeded(
            f"{owner.most_open} jobs are queued or running; wait until some have ended",
            policy=OPEN_JOBS,
            retry_after=RETRY_SECONDS,
        )


def _is_roomy(owner: Owner) -> bool:
    """Whether a second ago there was so much room that the count need not be taken again."""
    taken, count = _lately.get(owner.tenant, (-math.inf, 0))
    is_fresh = time.monotonic() - taken < FRESH_SECONDS
    return is_fresh and owner.most_open is not None and owner.most_open - count > ROOMY


def _open(connection: Connection, owner: Owner) -> int:
    """How many open jobs there are, counted no further than the quota.

    Those of batches do not count: they are fed through a window of their own.
    """
    some = (
        select(jobs.c.id)
        .where(
            jobs.c.tenant == owner.tenant,
            jobs.c.status.in_(("queued", "running")),
            jobs.c.batch_id.is_(None),
        )
        .limit(owner.most_open)
        .subquery()
    )
    return connection.execute(select(func.count()).select_from(some)).scalar_one()
