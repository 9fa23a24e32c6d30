"""Witnesses inside the ledger: a trigger writes down every change of every job's state."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from shared.ledger.engine import connect
from tests.end_to_end.service import Service
from tests.patience import looks

PATIENCE_SECONDS = 300

INSTALL = """
CREATE TABLE IF NOT EXISTS chaos_states (
    job_id text, before text, after text, result_changed boolean, at timestamptz DEFAULT now());
CREATE OR REPLACE FUNCTION chaos_note() RETURNS trigger AS $$
BEGIN
    IF OLD.status IS DISTINCT FROM NEW.status
       OR OLD.result::text IS DISTINCT FROM NEW.result::text THEN
        INSERT INTO chaos_states (job_id, before, after, result_changed)
        VALUES (NEW.id, OLD.status, NEW.status, OLD.result::text IS DISTINCT FROM NEW.result::text);
    END IF;
    RETURN NEW;
END $$ LANGUAGE plpgsql;
CREATE OR REPLACE TRIGGER chaos_watch AFTER UPDATE ON jobs
    FOR EACH ROW EXECUTE FUNCTION chaos_note();
"""
FINAL = "('succeeded', 'failed', 'cancelled')"
COUNTS = "SELECT status, count(*) FROM jobs WHERE id = ANY(:ids) GROUP BY status"
ENDED_TWICE = f"""
SELECT count(*) FROM (SELECT job_id FROM chaos_states WHERE after IN {FINAL} AND job_id = ANY(:ids)
                      GROUP BY job_id HAVING count(*) > 1) AS twice
"""  # noqa: S608 - constants
CHANGED_AFTER = f"""
SELECT count(*) FROM chaos_states WHERE before IN {FINAL} AND job_id = ANY(:ids)
"""  # noqa: S608
ATTEMPTS = "SELECT coalesce(max(attempts), 0) FROM jobs WHERE id = ANY(:ids)"


@dataclass(frozen=True)
class Findings:
    """What became of the jobs that were accepted."""

    accepted: int
    succeeded: int
    failed: int
    cancelled: int
    ended_twice: int
    changed_after_the_end: int
    most_attempts: int

    @property
    def lost(self) -> int:
        """Accepted, and in no final state."""
        return self.accepted - self.succeeded - self.failed - self.cancelled


def install(service: Service) -> None:
    """Start to watch."""
    engine = connect(service.database_url)
    with engine.begin() as connection:
        connection.execute(text(INSTALL))
    engine.dispose()


def findings(service: Service, ids: Sequence[str]) -> Findings:
    """What the ledger and its witness say of these jobs."""
    engine = connect(service.database_url)
    with engine.connect() as connection:

        def one(query: str) -> int:
            return int(connection.execute(text(query), {"ids": list(ids)}).scalar_one())

        rows = connection.execute(text(COUNTS), {"ids": list(ids)})
        counts: dict[str, int] = {status: number for status, number in rows}
        found = Findings(
            accepted=len(set(ids)),
            succeeded=counts.get("succeeded", 0),
            failed=counts.get("failed", 0),
            cancelled=counts.get("cancelled", 0),
            ended_twice=one(ENDED_TWICE),
            changed_after_the_end=one(CHANGED_AFTER),
            most_attempts=one(ATTEMPTS),
        )
    engine.dispose()
    return found


def ended(service: Service, ids: Sequence[str]) -> Findings:
    """The findings once every job has ended, or nobody waits any more."""
    for _ in looks(PATIENCE_SECONDS, every=0.5):
        with suppress(OperationalError):  # it may still be coming back
            if not findings(service, ids).lost:
                break
    return findings(service, ids)
