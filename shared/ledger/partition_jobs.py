"""Splits the jobs table into partitions of one day each, so that retention drops days instead of
deleting rows: `python -m shared.ledger.partition_jobs`.

The service keeps running. Jobs are locked only briefly, no row is copied, and the existing table
becomes the first partition. A second run does nothing. An interrupted run leaves the ledger
unchanged and can be repeated. docs/guide/capacity.md describes the cost of partitions.

To go back, stop the service and run `pg_dump --data-only --load-via-partition-root
--exclude-table=alembic_version`. Migrate an empty database and load the dump with `psql -c 'SET
session_replication_role = replica' -f FILE`.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import IntegrityError

from shared.ledger.engine import ledger
from shared.ledger.jobs import first_id
from shared.ledger.migrate import configuration
from shared.ledger.partitions import (
    BOUNDARY,
    CONVERSION,
    DAY,
    DAYS_AHEAD,
    FIRST,
    FORGET_TRIGGER,
    LIKE,
    REFERRING,
    REST,
    drop_boundary,
    in_short_lock,
    is_partitioned,
    maintain,
    make_day,
    midnight,
    replace_foreign_keys,
)
from shared.process import telemetry
from shared.process.settings import settings_or_exit

TRIES, WAIT_SECONDS = 600, 1.0  # ten minutes
AT_ONCE = 16  # statements at a time that read every partition
FOLLOWING = DAYS_AHEAD * DAY  # how far the first partition reaches beyond today's midnight
OLDEST_SERVER = 140_000

INDEXES = text("""
    SELECT name.relname AS name, pg_get_indexdef(indexrelid) AS definition, indisprimary
    FROM pg_index JOIN pg_class AS name ON name.oid = indexrelid
    WHERE indrelid = to_regclass('jobs')
""")
TRIGGERS = text("""
    SELECT tgname AS name, pg_get_triggerdef(oid) AS definition FROM pg_trigger
    WHERE tgrelid = to_regclass('jobs') AND NOT tgisinternal
""")
GRANTS = text("""
    SELECT DISTINCT privilege_type AS privilege, CASE grantee WHEN 0 THEN 'PUBLIC'
        ELSE quote_ident(pg_get_userbyid(grantee)) END AS who
    FROM pg_class, aclexplode(relacl)
    WHERE pg_class.oid = to_regclass('jobs') AND grantee <> relowner
""")
NAMED_BY = text("""
    SELECT DISTINCT ev_class::regclass::text FROM pg_rewrite
    JOIN pg_depend ON pg_depend.objid = pg_rewrite.oid AND classid = 'pg_rewrite'::regclass
    WHERE refobjid = to_regclass('jobs') AND ev_class <> refobjid
    UNION SELECT 'publication ' || pubname FROM pg_publication_rel
    JOIN pg_publication ON pg_publication.oid = prpubid WHERE prrelid = to_regclass('jobs')
""")
MOST_LOCKS = text("""
    SELECT current_setting('max_locks_per_transaction')::int,
        current_setting('max_connections')::int
            + current_setting('max_prepared_transactions')::int
""")

logger = telemetry.logger(__name__)


class NotPartitioned(Exception):
    """Raised with the reason if the table of jobs is not partitioned."""


def partition_jobs(engine: Engine, retention: timedelta, now: datetime) -> None:
    """Split the jobs table into partitions, and wait until this is done. `retention` is how long
    jobs are kept. Raises NotPartitioned, for example if another process is already doing this."""
    until = midnight(now) + FOLLOWING
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as guard:
        guard.detach()  # its lock ends with its session
        mine = text("SELECT pg_try_advisory_lock(:lock)")
        if not guard.execute(mine, {"lock": CONVERSION}).scalar_one():
            raise NotPartitioned("another process is already doing this")
        try:
            if not is_partitioned(guard):
                _check(guard, retention)
                _bound(engine, until)
                _patiently(engine, "swap", lambda connection: _swap(connection, until))
        finally:
            if not guard.invalidated:
                guard.execute(text("SELECT pg_advisory_unlock(:lock)"), {"lock": CONVERSION})
    maintain(engine, now)
    logger.info("partition_jobs.done")


def _check(connection: Connection, retention: timedelta) -> None:
    """Raise NotPartitioned if the conversion is impossible or harmful."""
    script = ScriptDirectory.from_config(configuration(connection.engine))
    if MigrationContext.configure(connection).get_current_revision() != script.get_current_head():
        raise NotPartitioned(
            "the database has an old schema; first run python -m shared.ledger.migrate"
        )
    version = connection.execute(text("SHOW server_version_num")).scalar_one()
    if int(version) < OLDEST_SERVER:
        raise NotPartitioned("PostgreSQL is too old; version 14 or later is needed")
    dependants = ", ".join(connection.execute(NAMED_BY).scalars())
    if dependants:
        raise NotPartitioned(
            "these objects depend on the table of jobs; remove them first and "
            f"create them again afterwards: {dependants}"
        )
    indexes = len(connection.execute(INDEXES).all())
    partitions = retention // DAY + DAYS_AHEAD + 5
    needed = AT_ONCE * partitions * (indexes + 1)
    per_session, sessions = connection.execute(MOST_LOCKS).one()
    if per_session * sessions < needed:
        raise NotPartitioned(
            f"{partitions} partitions need more locks. Set max_locks_per_transaction of "
            f"PostgreSQL to {-(-needed // sessions)} or more (now {per_session}), and "
            "restart it"
        )


def _bound(engine: Engine, until: datetime) -> None:
    """Add and validate a temporary constraint that all job ids are below those of `until`. Without
    it, the swap would scan all rows under its lock. It is dropped again, because it would reject
    the jobs of later days."""
    bound = f"CHECK (id < '{first_id(until)}') NOT VALID"

    def add(connection: Connection) -> None:
        drop_boundary(connection)
        connection.execute(text(f"ALTER TABLE jobs ADD CONSTRAINT {BOUNDARY} {bound}"))

    _patiently(engine, "boundary", add)
    logger.info("partition_jobs.reading_ids", until=until.date().isoformat())
    try:
        with engine.begin() as connection:
            connection.execute(text(f"ALTER TABLE jobs VALIDATE CONSTRAINT {BOUNDARY}"))
    except BaseException as error:
        in_short_lock(engine, drop_boundary)
        if isinstance(error, IntegrityError):
            reason = (
                f"there are jobs dated {until.date()} or later, because a clock was ahead; "
                "delete them"
            )
            raise NotPartitioned(reason) from error
        raise


def _patiently(engine: Engine, step: str, work: Callable[[Connection], None]) -> None:
    """Run `work` until it succeeds, with a pause after each try. A try waits only briefly for
    locks, because a long wait would block other processes. Raises NotPartitioned after the last
    try."""
    for tried in range(TRIES):
        if in_short_lock(engine, work):
            logger.info("partition_jobs.step_done", step=step)
            return
        if tried % 10 == 0:
            logger.info("partition_jobs.waits_for_lock", step=step, tries=tried + 1)
        time.sleep(WAIT_SECONDS)
    raise NotPartitioned(
        "the table of jobs was in use the whole time; end the queries that run for minutes"
    )


def _swap(connection: Connection, until: datetime) -> None:
    """Replace the table `jobs` by a partitioned one whose first partition is the old table, in one
    transaction."""
    referring = ", ".join(column.table.name for column in REFERRING)
    connection.execute(text(f"LOCK TABLE jobs, {referring} IN ACCESS EXCLUSIVE MODE"))
    indexes, triggers, grants = (connection.execute(q).all() for q in (INDEXES, TRIGGERS, GRANTS))
    run = connection.exec_driver_sql
    for trigger in triggers:
        run(f"DROP TRIGGER {trigger.name} ON jobs")
    replace_foreign_keys(connection)
    run(f"ALTER TABLE jobs RENAME TO {FIRST}")
    for index in indexes:
        run(f"ALTER INDEX {index.name} RENAME TO {index.name}_first")
    run(f"CREATE TABLE jobs (LIKE {FIRST} {LIKE}) PARTITION BY RANGE (id)")
    run(f"ALTER TABLE jobs DROP CONSTRAINT {BOUNDARY}")
    run("ALTER TABLE jobs ADD CONSTRAINT pk_jobs PRIMARY KEY (id)")
    for index in indexes:
        if not index.indisprimary:
            run(index.definition)
    limits = f"FROM (MINVALUE) TO ('{first_id(until)}')"
    run(f"ALTER TABLE jobs ATTACH PARTITION {FIRST} FOR VALUES {limits}")
    run(f"ALTER TABLE {FIRST} DROP CONSTRAINT {BOUNDARY}")
    run(f"CREATE TABLE {REST} PARTITION OF jobs DEFAULT")
    for definition in (*(trigger.definition for trigger in triggers), FORGET_TRIGGER):
        run(definition)
    for grant in grants:
        run(f"GRANT {grant.privilege} ON jobs TO {grant.who}")
    make_day(connection, until)


def main() -> None:
    """Partition the jobs table of the database `DATABASE_URL`, as a command."""
    argparse.ArgumentParser(
        prog="python -m shared.ledger.partition_jobs", description=__doc__
    ).parse_args()
    settings = settings_or_exit()
    telemetry.configure_logging(settings.log_level, settings.log_format)
    try:
        partition_jobs(ledger(), timedelta(hours=settings.retention_hours), datetime.now(UTC))
    except NotPartitioned as error:
        sys.exit(f"the table of jobs was not partitioned: {error}")


if __name__ == "__main__":
    main()
