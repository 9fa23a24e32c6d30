"""Clocks that are set while jobs run: the database's, or those of all our processes.

The database's clock is set for our sessions alone: a function `now` that comes before the server's
own one adds what a table says.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from shared.ledger.engine import libpq_url
from tests.chaos.faults import AWAY_SECONDS
from tests.chaos.stores import END_OURS, OURS
from tests.chaos.trial import Trial

BEFORE_SECONDS = 5.0  # with the function, before it says another time: schedulers have looked
CLOCK = "clock"  # under the service's folder: what is added to the clocks of our processes
INSTALL = """
CREATE SCHEMA IF NOT EXISTS chaos;
CREATE TABLE IF NOT EXISTS chaos.steps AS SELECT interval '0' AS step;
UPDATE chaos.steps SET step = '0';
CREATE OR REPLACE FUNCTION chaos.now() RETURNS timestamptz LANGUAGE sql STABLE AS
    'SELECT pg_catalog.now() + (SELECT step FROM chaos.steps)';
"""
PATH = 'ALTER DATABASE {} SET search_path = chaos, pg_catalog, "$user", public'
ATTEMPTS = "SELECT coalesce(max(attempts), 0), count(*) FILTER (WHERE attempts > 1) FROM jobs"
EXPIRED = "SELECT count(*) FROM batches WHERE status = 'expired'"


def database_stepped(step: str) -> Callable[[Trial], str]:
    """A fault: the database's clock is set by so much, and right again after a while."""

    def set_clock(service: Trial) -> str:
        with psycopg.connect(libpq_url(service.database_url), autocommit=True) as connection:
            name = connection.info.dbname
            connection.execute(INSTALL)
            connection.execute(PATH.format(name))
            connection.execute(END_OURS, (OURS,))
            try:
                time.sleep(BEFORE_SECONDS)
                connection.execute("UPDATE chaos.steps SET step = %s", (step,))
                time.sleep(AWAY_SECONDS)
                connection.execute("UPDATE chaos.steps SET step = '0'")
                time.sleep(BEFORE_SECONDS)
            finally:
                connection.execute(f"ALTER DATABASE {name} RESET search_path")
                connection.execute(END_OURS, (OURS,))
            return _seen(connection)

    return set_clock


@contextmanager
def own_clock(folder: Path) -> Iterator[dict[str, str]]:
    """Our processes add to their clock what a file says."""
    file = folder / CLOCK
    file.write_text("+0")
    yield {"CHAOS_CLOCK_FILE": str(file)}


def ours_stepped(step: str) -> Callable[[Trial], str]:
    """A fault: the clocks of all our processes are set, and right again after a while."""

    def set_clock(service: Trial) -> str:
        file = service.folder / CLOCK
        file.write_text(step)
        try:
            time.sleep(AWAY_SECONDS)
        finally:
            file.write_text("+0")
        with psycopg.connect(libpq_url(service.database_url), autocommit=True) as connection:
            return _seen(connection)

    return set_clock


def _seen(connection: psycopg.Connection) -> str:
    most, again = connection.execute(ATTEMPTS).fetchone() or (0, 0)
    expired = (connection.execute(EXPIRED).fetchone() or (0,))[0]
    return f"at most {most} attempts, {again} jobs had several; {expired} batches expired"
