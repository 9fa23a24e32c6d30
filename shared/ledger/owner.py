"""Whose jobs, batches and files they are, and how many of them there may be at a time."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

from sqlalchemy import Connection, func, or_, select

from shared.errors import QuotaExceeded
from shared.ledger.batch_tables import OPEN, batches, files
from shared.ledger.tables import DEFAULT_TENANT, jobs

# the names of the policies in a refusal
OPEN_JOBS = "open-jobs"
OPEN_BATCHES = "open-batches"
STORED_FILES = "stored-files"
STORED_BYTES = "stored-bytes"
RETRY_SECONDS = 5
DELETE_SECONDS = 60  # whoever must delete something first need not ask so soon
# Nobody is let in unseen this close below the quota: more than two gateways commit at once.
UNSEEN = 100
ROOMY = 1_000
FRESH_SECONDS = 1.0

_lately: dict[str, tuple[float, int]] = {}  # tenant → when it was counted, and how many were open


@dataclass(frozen=True)
class Owner:
    """A tenant, and the most that it may have; None: no limit."""

    tenant: str = DEFAULT_TENANT
    most_open: int | None = None  # queued and running jobs
    most_batches: int | None = None  # that have not ended
    most_files: int | None = None  # uploaded
    most_bytes: int | None = None  # of all files


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
    _take_turns(connection, OPEN_JOBS, owner)
    if _open(connection, owner) >= owner.most_open:
        raise QuotaExceeded(
            f"{owner.most_open} jobs are queued or running; wait until some have ended",
            policy=OPEN_JOBS,
            retry_after=RETRY_SECONDS,
        )


def take_batch_turn(connection: Connection, owner: Owner) -> None:
    """The tenant's new batches take turns, until the transaction ends."""
    if owner.most_batches is not None:
        _take_turns(connection, OPEN_BATCHES, owner)


def check_batches(connection: Connection, owner: Owner) -> None:
    """Raises QuotaExceeded where there is one open batch too many; take your turn first."""
    if owner.most_batches is None:
        return
    count = select(func.count()).where(batches.c.tenant == owner.tenant, batches.c.status.in_(OPEN))
    if connection.execute(count).scalar_one() > owner.most_batches:
        raise QuotaExceeded(
            f"{owner.most_batches} batches are open; wait until one has ended, or cancel one",
            policy=OPEN_BATCHES,
            retry_after=RETRY_SECONDS,
        )


def admit_file(connection: Connection, owner: Owner, size: int) -> None:
    """Raises QuotaExceeded where one more uploaded file of this size, in bytes, would be too much.

    What batches write counts as bytes, since it lies there, but is never refused. The tenant's
    uploads take turns until the transaction ends.
    """
    if owner.most_files is None or owner.most_bytes is None:
        return
    _take_turns(connection, STORED_FILES, owner)
    uploaded = func.count().filter(files.c.purpose == "batch")
    query = select(uploaded, func.coalesce(func.sum(files.c.bytes), 0)).where(
        files.c.tenant == owner.tenant,
        or_(files.c.expires_at.is_(None), files.c.expires_at > func.now()),
    )
    count, total = connection.execute(query).one()
    if count >= owner.most_files:
        detail, policy = f"{owner.most_files} uploaded files are kept", STORED_FILES
    elif total + size > owner.most_bytes:
        detail, policy = f"your files may have {owner.most_bytes} bytes in all", STORED_BYTES
    else:
        return
    raise QuotaExceeded(f"{detail}; delete some", policy=policy, retry_after=DELETE_SECONDS)


def _take_turns(connection: Connection, policy: str, owner: Owner) -> None:
    """A lock until the transaction ends: a crowd that comes at once does not overrun the quota."""
    turn = func.pg_advisory_xact_lock(func.hashtextextended(f"{policy} {owner.tenant}", 0))
    connection.execute(select(turn))


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
