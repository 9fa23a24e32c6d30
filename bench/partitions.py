"""Compares jobs in one table with jobs in daily partitions, and the costs of deleting old jobs.

`python -m bench.partitions`: the last line is JSON. `job_cpu`: CPU of PostgreSQL per job (accepted,
claimed, ended, its facts written, read) in partitions over that in one table (target at most 1.1;
less is better); `list_cpu` the same for a page of 50 jobs. `drop_cpu`, `drop_wal`: PostgreSQL's CPU
and log bytes for a day's retention in one table, vacuum included, over the same in partitions (more
is better). `purge_scan`: buffers read by a round of retention at a million jobs without an old one,
by the former statement over the present one. Paired: both ledgers, in one server, take turns.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psutil
from sqlalchemy import Engine, create_engine, make_url, text

from bench.environment import environment
from cli.stack.servers import Postgres
from services.scheduler.facts import AT_ONCE
from shared.contracts.facts import FactPlan, SurprisingRules
from shared.ledger import jobs, leases, partitions, result_facts, retention
from shared.ledger.claim_order import ClaimOrder, MetricQueue
from shared.ledger.engine import encode_json, sqlalchemy_url
from shared.ledger.leases import ClaimTerms
from shared.ledger.migrate import migrate
from shared.ledger.partition_jobs import partition_jobs
from shared.ledger.partitions import DAY

DAYS = 30
TERM = DAYS * DAY
BYTES = 1_050  # of a request; a result has three times as many
NOOP = MetricQueue("noop", batch=False)
TERMS = ClaimTerms(timedelta(minutes=1), max_attempts=3)
PLAN = FactPlan(SurprisingRules(()))
FILL = """
    INSERT INTO jobs (id, metric, status, request, result, attempts, resend_at, created_at,
        started_at, finished_at, has_facts)
    SELECT 'job_' || lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0')
            || substr(md5(number::text), 1, 20),
        'noop', 'succeeded', json_build_object('text', {words}),
        json_build_object('score', 0.5, 'evidence', {words} || {words} || {words}), 1, at, at, at,
        at, true
    FROM (SELECT number, :since + number * (:until - :since) / :count AS at
        FROM generate_series(0, :count - 1) AS number) AS made
"""
WORDS = "(SELECT string_agg(md5(number::text || part), '') FROM generate_series(1, :parts) AS part)"
FACTS = """
    INSERT INTO result_facts (source, line, job_id, tenant, metric, created_at, finished_at, status,
        verdict, score, parts, reasons, surprise, sentence, warnings, snippet, metadata, rules)
    SELECT id, 0, id, tenant, metric, created_at, finished_at, status, 'good', 0.5, '{0.1,0.2}',
        '{}', 9, repeat('a', 120), 0, left(request ->> 'text', 160), '{"k": "v"}', repeat('r', 64)
    FROM jobs WHERE finished_at < :until
"""
SCAN = "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) "
BEFORE = """
    SELECT id FROM jobs WHERE status IN ('succeeded', 'failed', 'cancelled')
    AND finished_at < now() - interval '720 h' AND batch_id IS NULL LIMIT 1000
    FOR UPDATE SKIP LOCKED
"""
NOW = """
    SELECT id FROM jobs WHERE id < :latest AND finished_at < now() - interval '720 h'
    AND NOT (batch_id IS NOT NULL AND EXISTS (SELECT FROM batches WHERE id = batch_id))
    ORDER BY id LIMIT 1000 FOR UPDATE SKIP LOCKED
"""

Json = dict[str, Any]


@dataclass
class Ledger:
    """A database of the server, used through one connection."""

    name: str
    engine: Engine
    cpu: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def run(self, statement: str, **values: Any) -> Any:
        """Return the first value of the result, in a separate transaction."""
        with self.engine.begin() as connection:
            found = connection.execute(text(statement), values)
            return found.scalar() if found.returns_rows else None

    def maintain(self, statement: str) -> None:
        """Run a statement that cannot run in a transaction."""
        with self.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(text(statement))

    @contextmanager
    def measured(self, what: str) -> Iterator[None]:
        """Record the server's CPU seconds of the block."""
        backend = psutil.Process(self.run("SELECT pg_backend_pid()"))
        before = backend.cpu_times()
        yield
        after = backend.cpu_times()
        self.cpu[what].append(after.user + after.system - before.user - before.system)

    def fill(self, since: datetime, until: datetime, count: int, size: int) -> None:
        """Insert ended jobs of this time. `size` is the number of bytes of a request."""
        self.run(
            FILL.format(words=WORDS),
            since=since,
            until=until,
            count=count,
            parts=max(1, size // 32),
        )


@contextmanager
def ledgers(today: datetime) -> Iterator[tuple[Ledger, Ledger]]:
    """Yield a ledger with one table, and one with partitions."""
    with tempfile.TemporaryDirectory() as folder:
        server = Postgres(Path(folder) / "postgres")
        url = make_url(sqlalchemy_url(server.url))
        first = create_engine(url, isolation_level="AUTOCOMMIT")
        found = []
        for name in ("one", "days"):
            with first.connect() as connection:
                connection.execute(text(f"CREATE DATABASE {name}"))
            engine = create_engine(
                url.set(database=name), pool_size=1, max_overflow=2, json_serializer=encode_json
            )
            migrate(engine)
            found.append(Ledger(name, engine))
        one, days = found
        partition_jobs(days.engine, DAY, today - (DAYS + 5) * DAY)
        for number in range(-DAYS - 5, 1):
            partitions.maintain(days.engine, today + number * DAY)
        try:
            yield one, days
        finally:
            for each in found:
                each.engine.dispose()
            first.dispose()
            server.stop()


def job_turn(ledger: Ledger, number: int) -> None:
    """Accept, claim, finish and read `number` jobs."""
    request = {"text": "a" * BYTES}
    result = {"score": 0.5, "evidence": "b" * (3 * BYTES)}
    with ledger.measured("accept"):
        made = [_accept(ledger, request) for _ in range(number)]
    claims = []
    with ledger.measured("claim"):
        for job_id in made:
            with ledger.engine.begin() as connection:
                claim = leases.claim(
                    connection, job_id, lease=TERMS.lease, max_attempts=3, turn=ClaimOrder(NOOP)
                )
            claims.append(claim)
    with ledger.measured("end"):
        for claim in claims:
            with ledger.engine.begin() as connection:
                if claim is None or not leases.succeed(connection, claim, result):
                    raise RuntimeError("a job was lost")
    with ledger.measured("facts"):
        while _in(
            ledger, lambda connection: result_facts.write_job_rows(connection, _plan, AT_ONCE)
        ):
            pass
    with ledger.measured("read"):
        for job_id in made:
            with ledger.engine.begin() as connection:
                jobs.find(connection, job_id)
    with ledger.measured("list"):
        for _ in range(number // 10):
            _in(ledger, lambda connection: jobs.page_of(connection, jobs.JobPage(50, "default")))


def _accept(ledger: Ledger, request: Json) -> str:
    with ledger.engine.begin() as connection:
        made = jobs.accept(connection, "noop", request, key=None, resend_after=timedelta(minutes=1))
    return made.job.id


def _plan(_: str) -> FactPlan:
    return PLAN


def _in(ledger: Ledger, work: Callable[[Any], Any]) -> Any:
    with ledger.engine.begin() as connection:
        return work(connection)


def forget_row_by_row(ledger: Ledger) -> None:
    while _in(ledger, lambda connection: retention.purge_jobs(connection, TERM)):
        pass


def forget_by_day(ledger: Ledger, today: datetime) -> None:
    for own in partitions.REFERRING:
        after: str | None = ""
        while after is not None:
            with ledger.engine.begin() as connection:
                after = partitions.forget_referring(connection, own, TERM, after)
    if not partitions.drop_expired(ledger.engine, TERM, today):
        raise RuntimeError("no partition was dropped")


def retained(ledger: Ledger, forget: Callable[[], None]) -> Json:
    """Return the CPU seconds and log bytes that deleting a day takes."""
    ledger.maintain("CHECKPOINT")
    before = ledger.run("SELECT pg_current_wal_insert_lsn()")
    with ledger.measured("retention"):
        forget()
        ledger.maintain("VACUUM jobs, result_facts")
    wal = ledger.run("SELECT pg_current_wal_insert_lsn() - CAST(:since AS pg_lsn)", since=before)
    return {"cpu_seconds": round(ledger.cpu["retention"][-1], 2), "wal_bytes": int(wal)}


def scanned(ledger: Ledger, statement: str, **values: Any) -> Json:
    """Return the buffers that a statement reads and its time, with a warm cache."""
    for _ in range(2):
        [found] = ledger.run(SCAN + statement, **values)
    plan = found["Plan"]
    buffers = plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]
    return {"ms": round(found["Execution Time"], 2), "buffers": buffers}


def measure(number: int, rounds: int, old: int, many: int) -> Json:
    """Return the measurements. `number` is the number of jobs in a turn, `rounds` that of turns,
    `old` that of jobs to delete, and `many` that of jobs to skip."""
    now = datetime.now(UTC)
    today = partitions.midnight(now)
    with ledgers(today) as (one, days):
        for each in (one, days):
            each.fill(today - TERM - 2 * DAY, today - TERM - DAY, old, BYTES)
            each.run(FACTS, until=today)
            each.fill(today - TERM, today - DAY, 1_000 * DAYS, 32)
        partitions.maintain(days.engine, now + partitions.SETTLED)  # what has ended is sealed
        for each in (one, days):
            each.maintain("VACUUM ANALYZE jobs")
        for turn in range(rounds + 1):
            for each in (one, days) if turn % 2 else (days, one):
                job_turn(each, number)
        figures: Json = {"per_job_ms": {each.name: _per_job(each, number) for each in (one, days)}}
        figures["retention"] = {
            "jobs": old,
            "one": retained(one, lambda: forget_row_by_row(one)),
            "days": retained(days, lambda: forget_by_day(days, now)),
        }
        one.fill(today - TERM + DAY, today - DAY, many, 32)
        one.maintain("VACUUM ANALYZE jobs")
        latest = retention.latest_id(TERM)
        figures["purge_of_none"] = {
            "jobs": many,
            "before": scanned(one, BEFORE),
            "now": scanned(one, NOW, latest=latest),
        }
    return figures


def _per_job(ledger: Ledger, number: int) -> dict[str, float]:
    counts = {"list": number // 10}
    return {
        what: round(1_000 * statistics.median(taken[1:]) / counts.get(what, number), 4)
        for what, taken in ledger.cpu.items()
        if len(taken) > 1
    }


def ratios(figures: Json) -> dict[str, float]:
    one, days = (figures["per_job_ms"][name] for name in ("one", "days"))
    kept, purged = figures["retention"], figures["purge_of_none"]
    steps = [name for name in one if name != "list"]
    found = {f"{name}_cpu": days[name] / one[name] for name in one}
    found["job_cpu"] = sum(days[name] for name in steps) / sum(one[name] for name in steps)
    found["drop_cpu"] = kept["one"]["cpu_seconds"] / max(0.01, kept["days"]["cpu_seconds"])
    found["drop_wal"] = kept["one"]["wal_bytes"] / kept["days"]["wal_bytes"]
    found["purge_scan"] = purged["before"]["buffers"] / max(1, purged["now"]["buffers"])
    return {name: round(value, 3) for name, value in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.partitions", description=__doc__)
    parser.add_argument("--jobs", type=int, default=1_000, help="in a turn")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--old", type=int, default=50_000, help="jobs of the day that is forgotten")
    parser.add_argument("--many", type=int, default=1_000_000, help="jobs that none is old of")
    chosen = parser.parse_args()
    figures = measure(chosen.jobs, chosen.rounds, chosen.old, chosen.many)
    told = {"bench": "partitions", "ratios": ratios(figures), "figures": figures}
    print(json.dumps({**told, "environment": environment()}))


if __name__ == "__main__":
    main()
