"""The pages of a batch of 50,000 lines: server time and bytes of each.

`python -m bench.pages`: the last line is JSON. Rows of the results table are filled by SQL, as the
scheduler writes them; the gateway is the real one, over real HTTP, with a PostgreSQL of its own.
Budgets (p95): a page within a second, HTML within 150 kB.
"""

from __future__ import annotations

import argparse
import json
import secrets
import statistics
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
from sqlalchemy import Engine, create_engine, text

from bench.environment import environment
from services.registry import fact_plan
from services.stack.servers import HOST, Child, Postgres, free_port, redis_child, redis_url
from shared.ledger.engine import sqlalchemy_url
from shared.ledger.migrate import migrate

LINES, ROUNDS = 50_000, 10
START_SECONDS = 120
BATCH = f"batch_{'5' * 32}"
PATH = f"/batches/{BATCH}"
PAGES = {
    "first": PATH,
    "by score": f"{PATH}?sort=score&desc=1",
    "by part": f"{PATH}?sort=qf",
    "by metadata": f"{PATH}?sort=metadata.market&col=market",
    "verdict": f"{PATH}?verdict=undecided",
    "bin": f"{PATH}?score_from=0.5&score_to=0.55",
    "metadata": f"{PATH}?meta=market%3Dm3",
    "text": f"{PATH}?text=number+4999",
    "split": f"{PATH}?split=metadata.market",
    "later": f"{PATH}?sort=line&after=[40000]",
}
MAKE = """
INSERT INTO batches (id, metric, endpoint, input_file_id, metadata, expires_at, status, ending,
                     total, completed, failed, completed_at, report_job_id)
VALUES (:batch, 'hatexscore', '/v1/scores/hatexscore', 'f', '{}', now(), 'completed', 'completed',
        :lines, :lines, 0, now(), :report)
"""
REPORT = """
INSERT INTO jobs (id, metric, status, request, result, resend_at, finished_at)
VALUES (:report, 'hatexscore-report', 'succeeded', '{}', CAST(:result AS json), now(), now())
"""
FILL = """
INSERT INTO result_facts (source, line, batch_id, tenant, custom_id, metric, status, verdict, score,
    chance, parts, label_sent, label_stated, language, model, reasons, surprise, sentence, warnings,
    snippet, metadata, rules, finished_at)
SELECT :batch, n, :batch, 'default', 'line ' || n, 'hatexscore', 'succeeded',
    (ARRAY['supported', 'unsupported', 'undecided', 'contradicted', 'undefined'])[n % 5 + 1],
    CASE WHEN n % 5 <> 4 THEN (n * 7919 % 1000) / 999.0 END, (n * 31 % 100) / 99.0,
    ARRAY[n % 2, (n * 7919 % 1000) / 999.0, n % 3 / 2.0, NULL]::float8[],
    'hateful', 'hateful', 'en', 'model ' || n % 3,
    CASE WHEN n % 5 = 4 THEN ARRAY['undefined'] ELSE ARRAY[]::text[] END, n % 5,
    'Whether its quotes do more than random spans cannot be told, for one of reasons ' || n % 7,
    0, repeat('a text of no harm, number ', 5) || n,
    jsonb_build_object('market', 'm' || n % 20, 'team', 't' || n % 4), :rules, now()
FROM generate_series(1, :lines) n
"""


def fill(engine: Engine, lines: int, report: dict[str, Any]) -> None:
    """A batch that has ended, with so many results and this report."""
    plan = fact_plan("hatexscore")
    named = {
        "batch": BATCH,
        "lines": lines,
        "report": f"job_{'5' * 32}",
        "result": json.dumps(report),
        "rules": plan.fingerprint if plan else "",
    }
    with engine.begin() as connection:
        for statement in (REPORT, MAKE, FILL):
            connection.execute(text(statement), named)
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("ANALYZE result_facts"))


def measured(url: str, rounds: int) -> dict[str, dict[str, float]]:
    """page → the first, median and slowest milliseconds, and bytes of HTML. The first look at a
    batch reads what is known of all its lines; the gateway keeps that for a minute."""
    found = {}
    with httpx.Client(base_url=url, timeout=60) as client:
        for name, path in PAGES.items():
            seconds, size = [], 0
            for _ in range(rounds + 1):
                began = time.perf_counter()
                answer = client.get(path).raise_for_status()
                seconds.append(time.perf_counter() - began)
                size = len(answer.content)
            found[name] = {
                "first_ms": round(1_000 * seconds[0], 1),
                "median_ms": round(1_000 * statistics.median(seconds[1:]), 1),
                "slowest_ms": round(1_000 * max(seconds[1:]), 1),
                "bytes": size,
            }
    return found


def main() -> int:
    """Start the servers, fill them, and ask for every page."""
    parser = argparse.ArgumentParser(prog="python -m bench.pages", description=__doc__)
    parser.add_argument("--lines", type=int, default=LINES)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as var, ExitStack() as open_things:
        figures = _figures(Path(var), open_things, chosen.lines, chosen.rounds)
    print(json.dumps({"bench": "pages", "figures": figures, "environment": environment()}))
    return 0


def _figures(var: Path, open_things: ExitStack, lines: int, rounds: int) -> dict[str, Any]:
    postgres = Postgres(var / "postgres")
    open_things.callback(postgres.stop)
    engine = create_engine(sqlalchemy_url(postgres.url))
    open_things.callback(engine.dispose)
    migrate(engine)
    began = time.perf_counter()
    fill(engine, lines, {"scored": lines * 4 // 5, "score": None})
    filled = time.perf_counter() - began
    url = _gateway(var, open_things, postgres.url)
    return {"lines": lines, "fill_seconds": round(filled, 1), "pages": measured(url, rounds)}


def _gateway(var: Path, open_things: ExitStack, database: str) -> str:
    """A gateway over this database and a Redis of its own; its address."""
    redis_port, own, password = free_port(), str(free_port()), secrets.token_urlsafe(8)
    urls = {"DATABASE_URL": database, "REDIS_URL": redis_url(redis_port, password)}
    more = {"TOUCHSTONE_PORT": own, "TOUCHSTONE_LOG_LEVEL": "warning"}
    more["TOUCHSTONE_FILES_URL"] = str(var / "files")
    command = (sys.executable, "-m", "services.gateway")
    for child in (
        redis_child(var / "redis", redis_port, password),
        Child("gateway", command, urls | more),
    ):
        child.start(var)
        open_things.callback(child.stop)
    url = f"http://{HOST}:{own}"
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        try:
            httpx.get(f"{url}/healthz").raise_for_status()
        except httpx.HTTPError:
            time.sleep(0.2)
        else:
            return url
    raise RuntimeError(f"{url} did not start")


if __name__ == "__main__":
    sys.exit(main())
