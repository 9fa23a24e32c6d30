"""The jobs table in partitions of one day each, after `shared.ledger.partition_jobs` has converted
it.

Ids begin with the milliseconds of their creation. A day is therefore a range of ids, and the id
stays the primary key. Other jobs are in the default partition `jobs_rest` and are deleted row by
row. When all jobs of a partition have ended and have rows in `result_facts`, a constraint (seal)
forbids open jobs in it. Searches for open jobs then skip it.

References to jobs have no foreign keys here, because detaching a referenced partition would stop
the service. Instead a trigger deletes the rows that refer to a deleted job. Rows that refer to a
partition are deleted before the partition.

All changes wait at most `LOCK_TIMEOUT` for their locks. The next round tries again."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial

from sqlalchemy import (
    Column,
    Connection,
    Engine,
    TableClause,
    and_,
    column,
    delete,
    exists,
    func,
    or_,
    select,
    table,
    text,
    tuple_,
)

from shared.contracts.errors import Unavailable
from shared.ledger.engine import SEAL, transaction
from shared.ledger.jobs import first_id, is_expired
from shared.ledger.judgements import judgements
from shared.ledger.retention import PORTION, latest_id
from shared.ledger.tables import (
    FINAL,
    QUEUED,
    RUNNING,
    batches,
    idempotency_keys,
    job_steps,
    jobs,
    result_facts,
    review_items,
)
from shared.ledger.tenants import kept_for
from shared.process import telemetry

LAYOUT = 7_236_154_029  # an advisory lock: one process at a time changes the layout
CONVERSION = 7_236_154_030  # and one turns the table into partitions
LOCK_TIMEOUT = "200ms"
NOT_LOCKED = {"55P03", "40P01"}  # SQLSTATE: not in time, a deadlock
DAYS_AHEAD = 2
DAY = timedelta(days=1)
SETTLED = timedelta(hours=1)  # after its day's end a partition may be sealed: clocks differ
GRACE = 2 * DAY  # time that expired jobs may wait for the drop of their partition

FIRST, REST = "jobs_first", "jobs_rest"
BOUNDARY = "ck_jobs_first"  # of a table that is about to become the first partition
REFERRING: tuple[Column[str], ...] = (  # whose foreign keys the one table has
    idempotency_keys.c.job_id,
    job_steps.c.job_id,
    result_facts.c.job_id,
    judgements.c.job_id,
    review_items.c.job_id,
)

PARTITIONS = text("""
    SELECT child.relname AS name, pg_get_expr(child.relpartbound, child.oid) AS bounds,
        seal.conname IS NOT NULL AS has_seal, coalesce(seal.convalidated, false) AS is_sealed
    FROM pg_inherits JOIN pg_class AS child ON child.oid = inhrelid
    LEFT JOIN pg_constraint AS seal ON seal.conrelid = child.oid AND seal.conname = :seal
    WHERE inhparent = to_regclass('jobs') ORDER BY child.relname
""")
FORGET_FUNCTION = """
    CREATE OR REPLACE FUNCTION touchstone_forget_jobs() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        {deletions}
        RETURN NULL;
    END $$
"""
FORGET_ONE = "DELETE FROM {own.table} WHERE {own.name} = ANY (ARRAY(SELECT id FROM gone));"

FORGET_TRIGGER = """
    CREATE TRIGGER forget_jobs AFTER DELETE ON jobs REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION touchstone_forget_jobs()
"""
LIKE = "INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE INCLUDING COMPRESSION"

logger = telemetry.logger(__name__)


@dataclass(frozen=True)
class JobPartition:
    """A partition with the ids in [lower, upper). `lower` is empty for the first partition."""

    name: str
    lower: str
    upper: str
    has_seal: bool  # it holds for what is written from now on
    is_sealed: bool  # and for all that is there


def is_partitioned(connection: Connection) -> bool:
    kind = text("SELECT relkind = 'p' FROM pg_class WHERE oid = to_regclass('jobs')")
    return bool(connection.execute(kind).scalar_one_or_none())


def partitions(connection: Connection) -> list[JobPartition]:
    """Return the first partition and the partitions of days, oldest first, without the default
    partition."""
    rows = []
    for row in connection.execute(PARTITIONS, {"seal": SEAL}):
        limits = re.findall(r"'(job_[0-9a-f]{12})'", row.bounds)
        if limits:
            lower = limits[0] if len(limits) > 1 else ""
            rows.append(JobPartition(row.name, lower, limits[-1], row.has_seal, row.is_sealed))
    return sorted(rows, key=lambda part: part.upper)


def midnight(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


def in_short_lock(engine: Engine, work: Callable[[Connection], bool | None]) -> bool:
    """Run `work` in a transaction that waits only briefly for locks. Return True if it was done.
    Return False if `work` returns False, if another process changes the layout, or if a lock was
    not free in time. Raises Unavailable."""
    try:
        with transaction(engine) as connection:
            if not _try_lock(connection, LAYOUT):
                return False
            connection.execute(text(f"SET LOCAL lock_timeout = '{LOCK_TIMEOUT}'"))
            return work(connection) is not False
    except Unavailable as error:
        if getattr(getattr(error.__cause__, "orig", None), "sqlstate", None) not in NOT_LOCKED:
            raise
        logger.info("partitions.busy", detail="the table is locked; the next round tries again")
        return False


def _try_lock(connection: Connection, number: int) -> bool:
    mine = select(func.pg_try_advisory_xact_lock(number))
    return bool(connection.execute(mine).scalar_one())


def maintain(engine: Engine, now: datetime) -> int:
    """Create the partitions of the coming days, and forbid open jobs in past partitions (seal
    them). Return the number of partitions created or sealed."""
    with transaction(engine) as connection:
        existing = partitions(connection)
    created = 0
    for day in (midnight(now) + ahead * DAY for ahead in range(DAYS_AHEAD + 1)):
        if not any(part.lower <= first_id(day) < part.upper for part in existing):
            created += in_short_lock(engine, partial(make_day, day=day))
    settled = first_id(now - SETTLED)
    ended = [part for part in existing if part.upper <= settled and not part.is_sealed]
    return created + sum(_seal(engine, part) for part in ended)


def make_day(connection: Connection, day: datetime) -> bool:
    """Create the partition of this day. Return False, without creating the partition, if the
    default partition already has jobs of that day. All jobs of that day then stay in the default
    partition."""
    lower, upper = first_id(day), first_id(day + DAY)
    rest = _rows(REST).c
    if connection.execute(select(exists().where(rest.id >= lower, rest.id < upper))).scalar_one():
        logger.warning("partitions.day_is_in_rest", day=day.date().isoformat())
        return False
    name = f"jobs_{day:%Y%m%d}"
    connection.execute(text(f"CREATE TABLE {name} (LIKE jobs {LIKE})"))
    # attached, not made in its place: that would lock all jobs
    limits = f"FROM ('{lower}') TO ('{upper}')"
    connection.execute(text(f"ALTER TABLE jobs ATTACH PARTITION {name} FOR VALUES {limits}"))
    return True


def _rows(name: str) -> TableClause:
    columns = ("id", "tenant", "status", "finished_at", "batch_id", "has_facts")
    return table(name, *(column(name) for name in columns))


def _seal(engine: Engine, part: JobPartition) -> bool:
    """Add a constraint to the partition that forbids open jobs (a seal). Return False while the
    partition holds an open job."""
    if not part.has_seal and not in_short_lock(engine, lambda connection: _close(connection, part)):
        return False
    validate = text(f"ALTER TABLE {part.name} VALIDATE CONSTRAINT {SEAL}")  # it stops nobody
    return in_short_lock(engine, lambda connection: connection.execute(validate) is not None)


def _close(connection: Connection, part: JobPartition) -> bool:
    """Add a constraint to the partition that forbids open jobs, and jobs outside of batches without
    a row in the results table. Return False if the partition has such a job."""
    connection.execute(text(f"LOCK TABLE {part.name} IN ACCESS EXCLUSIVE MODE"))
    job = _rows(part.name).c
    is_owed = and_(job.batch_id.is_(None), ~job.has_facts)
    is_open = exists().where(or_(job.status.in_((QUEUED, RUNNING)), is_owed))
    if connection.execute(select(is_open)).scalar_one():
        return False
    ended = f"CHECK (status IN {FINAL} AND (batch_id IS NOT NULL OR has_facts)) NOT VALID"
    connection.execute(text(f"ALTER TABLE {part.name} ADD CONSTRAINT {SEAL} {ended}"))
    return True


def forget_referring(
    connection: Connection, reference: Column[str], older_than: timedelta, after: str
) -> str | None:
    """Delete rows that refer to the next expired or deleted jobs after `after`. Return the last
    job's id, or None if there are no more. `reference` is a column of `REFERRING`."""
    over = or_(jobs.c.id.is_(None), is_expired(older_than))
    query = (
        select(reference)
        .outerjoin_from(reference.table, jobs, jobs.c.id == reference)
        .where(reference > after, reference < latest_id(older_than), over)
        .order_by(reference)
        .limit(PORTION)
    )
    job_ids = list(connection.execute(query).scalars())
    connection.execute(delete(reference.table).where(reference.in_(job_ids)))
    return job_ids[-1] if job_ids else None


def drop_expired(engine: Engine, older_than: timedelta, now: datetime) -> int:
    """Drop the partitions that hold no job to keep; return how many."""
    with transaction(engine) as connection:
        existing = partitions(connection)
    old = [part for part in existing if part.is_sealed and part.upper <= first_id(now - older_than)]
    return sum(_drop(engine, part, older_than) for part in old)


def _drop(engine: Engine, part: JobPartition, older_than: timedelta) -> bool:
    """Drop the partition; return True if it no longer exists. All its jobs are final, so checking
    needs no lock."""
    job = _rows(part.name)
    of_batch = exists().where(batches.c.id == job.c.batch_id).correlate(job)
    term = kept_for(job.c.tenant, older_than)
    has_kept = exists().where(or_(job.c.finished_at >= func.now() - term, of_batch))
    with transaction(engine) as connection:
        if connection.execute(select(has_kept)).scalar_one():
            return False
    for reference in REFERRING:  # few are left, if any, for the lock
        while _forget_some(engine, reference, part) == PORTION:
            pass
    return in_short_lock(engine, lambda connection: _detach(connection, part))


def _forget_some(engine: Engine, reference: Column[str], part: JobPartition) -> int:
    """Delete up to PORTION rows that refer to jobs of a partition. Return the number of deleted
    rows."""
    rows = reference.table.primary_key.columns
    some = select(*rows).where(reference >= part.lower, reference < part.upper).limit(PORTION)
    with transaction(engine) as connection:
        return connection.execute(delete(reference.table).where(tuple_(*rows).in_(some))).rowcount


def _detach(connection: Connection, part: JobPartition) -> None:
    connection.execute(text("LOCK TABLE ONLY jobs IN ACCESS EXCLUSIVE MODE"))
    for reference in REFERRING:  # what came since: who could have written it has committed
        connection.execute(
            delete(reference.table).where(reference >= part.lower, reference < part.upper)
        )
    connection.execute(text(f"ALTER TABLE jobs DETACH PARTITION {part.name}"))
    connection.execute(text(f"DROP TABLE {part.name}"))
    logger.info("partitions.dropped", partition=part.name)


def remove_boundary(engine: Engine) -> None:
    """Remove the constraint that an interrupted conversion left behind. It would reject new jobs
    later."""
    left = text("""
        SELECT count(*) FROM pg_constraint WHERE conrelid = to_regclass('jobs') AND conname = :name
    """)
    with transaction(engine) as connection:
        is_left = connection.execute(left, {"name": BOUNDARY}).scalar_one()
    if is_left:
        in_short_lock(engine, _drop_left)


def _drop_left(connection: Connection) -> bool:
    """Drop the constraint that an interrupted conversion to partitions left behind. Return False if
    a conversion is running."""
    if not _try_lock(connection, CONVERSION):
        return False
    drop_boundary(connection)
    return True


def drop_boundary(connection: Connection) -> None:
    """Drop the constraint of the unpartitioned table."""
    connection.execute(text(f"ALTER TABLE jobs DROP CONSTRAINT IF EXISTS {BOUNDARY}"))


def adopt(engine: Engine) -> None:
    """Remove the foreign keys to jobs from tables that a later migration has added."""
    with transaction(engine) as connection:
        if is_partitioned(connection):
            replace_foreign_keys(connection)


def replace_foreign_keys(connection: Connection) -> None:
    """Replace the foreign keys to jobs by a trigger function with the same deletions."""
    keys = text("""
        SELECT conrelid::regclass::text AS referring, conname FROM pg_constraint
        WHERE contype = 'f' AND conparentid = 0 AND confrelid = to_regclass('jobs')
    """)
    for key in connection.execute(keys).all():
        connection.execute(text(f"ALTER TABLE {key.referring} DROP CONSTRAINT {key.conname}"))
    deletions = "\n".join(FORGET_ONE.format(own=reference) for reference in REFERRING)
    connection.execute(text(FORGET_FUNCTION.format(deletions=deletions)))
