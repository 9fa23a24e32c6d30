"""Measures pages of batches with 50,000 lines: a batch, a comparison, the next line of a review
queue, the start page.

`python -m bench.pages`: the last line is JSON. Rows of the results table are filled by SQL, as the
scheduler writes them; the gateway is real, over real HTTP, with a separate PostgreSQL. Each page
has a budget in milliseconds of server time (p95), printed beside the measured time; HTML has 150
kB. A comparison's report is synthetic; `bench.growth` measures its job.
"""

from __future__ import annotations

import argparse
import json
import re
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
from cli.stack.servers import HOST, Child, Postgres, free_port, redis_child, redis_url
from services.registry import fact_plan
from shared.contracts.reports import SystemComparison
from shared.ledger.engine import sqlalchemy_url
from shared.ledger.migrate import migrate

LINES, ROUNDS = 50_000, 10
CSRF = re.compile(r'name="csrf" value="([0-9a-f]+)"')
START_SECONDS = 120
BATCH = f"batch_{'5' * 32}"
PATH = f"/batches/{BATCH}"
LEFT, RIGHT = f"batch_{'a' * 32}", f"batch_{'b' * 32}"
LEFT_PATH = f"/batches/{LEFT}"  # whose lines have jobs, which alone are judged
COMPARE = f"/compare?baseline={LEFT}&new={RIGHT}"
PAGES = {  # address, milliseconds
    "first": (PATH, 300),
    "by score": (f"{PATH}?sort=score&desc=1", 300),
    "by part": (f"{PATH}?sort=qf", 300),
    "by metadata": (f"{PATH}?sort=metadata.market&col=market", 300),
    "by why": (f"{PATH}?sort=why", 300),
    "by text": (f"{PATH}?sort=text", 300),
    "later by text": (f"{PATH}?sort=text&after=[40000]", 300),
    "by judged": (f"{LEFT_PATH}?sort=judged&desc=1", 300),
    "by custom id": (f"{PATH}?sort=custom_id", 300),
    "verdict": (f"{PATH}?verdict=not_tested", 300),
    "bin": (f"{PATH}?score_from=0.5&score_to=0.55", 300),
    "metadata": (f"{PATH}?meta=market%3Dm3", 300),
    "text": (f"{PATH}?text=number+4999", 1_000),
    "statistics": (f"{PATH}/statistics", 500),
    "split": (f"{PATH}/statistics?split=metadata.market", 400),
    "later": (f"{PATH}?sort=line&after=[40000]", 300),
    "compare": (COMPARE, 500),
    "compare: verdicts": (f"{COMPARE}&verdicts=holds_up,holds_up", 500),
    "compare: change": (f"{COMPARE}&change_from=0.35", 500),
    "compare: metadata": (f"{COMPARE}&meta=market%3Dm3", 500),
    "compare: text": (f"{COMPARE}&text=number+4999", 1_000),
    "start": ("/", 300),
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
    chance, parts, decision_sent, decision_stated, language, model, reasons, surprise, sentence,
    warnings, snippet, metadata, rules, finished_at, job_id, text_key)
SELECT :batch, n, :batch, 'default', 'line ' || n, 'hatexscore', 'succeeded',
    (ARRAY['holds_up', 'problem_found', 'not_tested'])[n % 3 + 1],
    CASE WHEN n % 5 <> 4 THEN (n * :factor % 1000) / 999.0 END, (n * 31 % 100) / 99.0,
    ARRAY[n % 2, (n * 7919 % 1000) / 999.0, n % 3 / 2.0, NULL]::float8[],
    'hateful', 'hateful', 'en', 'model ' || n % 3,
    CASE WHEN n % 5 = 4 THEN ARRAY['no-score'] ELSE ARRAY[]::text[] END, n % 5,
    'Whether its quotes do more than random spans cannot be told, for one of reasons ' || n % 7,
    0, repeat('a text of no harm, number ', 5) || n,
    jsonb_build_object('market', 'm' || n % 20, 'team', 't' || n % 4), :rules, now(),
    CAST(:job AS text) || lpad(n::text, 31, '0'), NULL
FROM generate_series(1, :lines) n
"""


JOBS = """
INSERT INTO jobs (id, metric, status, request, result, resend_at, finished_at, batch_id, has_facts)
SELECT :job || lpad(n::text, 31, '0'), 'hatexscore', 'succeeded',
    CAST('{"explanation": "It greets its readers, so it is friendly."}' AS json),
    CAST('{"score": 0.5, "verdict": "not_tested", "reason": "It is short."}' AS json),
    now(), now(), :batch, true
FROM generate_series(1, :lines) n
"""
HOURS = """
INSERT INTO score_hours (tenant, metric, metric_version, model, variant, hour, results, undefined,
    total, squares, bins, verdicts)
SELECT 'default', 'hatexscore', '2.0', 'model ' || m, 'robust',
    date_trunc('hour', now()) - make_interval(hours => h), 100, 10, 50 + h % 7, 40,
    array_fill(5, ARRAY[20]), array_fill(20, ARRAY[3])
FROM generate_series(1, 720) h, generate_series(1, 5) m
"""
JUDGED = """
INSERT INTO judgements (id, tenant, job_id, reviewer, verified, verdict, blind)
SELECT 'jdg_' || id, tenant, id, 'Ann', false, 'agree', true FROM jobs
WHERE batch_id = :batch AND right(id, 1) = '7'
"""
MADE = """
UPDATE jobs SET status = 'succeeded', result = CAST(:result AS json), started_at = now(),
    finished_at = now() WHERE metric = 'hatexscore-report' AND status = 'queued'
"""


def fill(engine: Engine, lines: int, report: dict[str, Any]) -> None:
    """Insert a finished batch with `lines` results and this report."""
    with engine.begin() as connection:
        named = _named(BATCH, lines, report)
        for statement in (REPORT, MAKE, FILL):
            connection.execute(text(statement), named)
    _analyze(engine)


def fill_comparison(engine: Engine, lines: int) -> None:
    """Insert two batches with the same texts and their jobs, and a month of hourly sums of five
    models."""
    with engine.begin() as connection:
        for batch, factor in ((LEFT, 7919), (RIGHT, 7907)):
            named = _named(batch, lines, {}) | {"job": f"job_{batch[-1]}", "factor": factor}
            for statement in (REPORT, MAKE, JOBS, FILL):
                connection.execute(text(statement), named)
        same = "UPDATE result_facts SET text_key = md5(line::text) WHERE job_id IS NOT NULL"
        connection.execute(text(same))
        connection.execute(text(HOURS))
    _analyze(engine)


def _named(batch: str, lines: int, report: dict[str, Any]) -> dict[str, Any]:
    plan = fact_plan("hatexscore")
    return {
        "batch": batch,
        "lines": lines,
        "report": f"job_{batch[-1] * 32}",
        "result": json.dumps(report),
        "rules": plan.fingerprint if plan else "",
        "factor": 7919,
        "job": None,
    }


def _analyze(engine: Engine) -> None:
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("VACUUM ANALYZE result_facts"))


def comparison(lines: int) -> dict[str, Any]:
    """Return the largest possible report: every cell, 200 changes, all pairs of verdicts."""
    interval = {"value": 0.03, "low": 0.02, "high": 0.04, "of": lines}
    numbers = dict.fromkeys(("new", "baseline", "p_value", "p_t", "p_randomization"), 0.5)
    differences = [
        {"component": name, "pairs": lines, "difference": interval, "effect": 0.1, "higher": 9,
         "equal": 0, "lower": 1, **numbers}
        for name in ("score", "htc", "qf", "tgi", "cc")
    ]  # fmt: skip
    words = ("holds_up", "problem_found", "not_tested")
    changes = [
        {"new_job": f"job_b{n:031}", "baseline_job": f"job_a{n:031}", "custom_id": f"line {n}",
         "new": 1.0, "baseline": n / 200, "difference": 1 - n / 200}
        for n in range(1, 201)
    ]  # fmt: skip
    cells = [
        {"new": place // 40, "baseline": place % 40, "pairs": place + 1} for place in range(1_600)
    ]
    found = SystemComparison.model_validate(
        {"pairs": lines, "unpaired_new": 0, "unpaired_baseline": 0, "by_text": 0,
         "differences": differences,
         "verdicts": [{"new": a, "baseline": b, "pairs": 9} for a in words for b in words],
         "changes": changes, "histogram": {"low": -1, "high": 1, "counts": [9] * 20},
         "density": cells}
    )  # fmt: skip
    return {"comparison": found.model_dump(mode="json"), "further": []}


def measured(url: str, engine: Engine, rounds: int, lines: int) -> dict[str, dict[str, float]]:
    """Return for each page the first, median and longest time in milliseconds, its budget, and the
    bytes of HTML. The first view of a batch reads a summary of its lines, which the gateway caches
    for a minute."""
    found = {}
    with httpx.Client(base_url=url, timeout=60) as client:
        csrf = CSRF.search(client.get("/compare").text)
        sides = {"baseline": LEFT, "new": RIGHT, "csrf": csrf[1] if csrf else ""}
        client.post("/compare", data=sides)
        with engine.begin() as connection:
            connection.execute(text(MADE), {"result": json.dumps(comparison(lines))})
        asked = {"batch": LEFT, "name": "a look", "lines": min(lines, 5_000)}
        queue = client.post("/v1/review-queues", json=asked).raise_for_status().json()["id"]
        for name, (address, budget) in PAGES.items():
            path = address.replace("{queue}", queue)
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
                "budget_ms": budget,
                "bytes": size,
            }
    return found


def main() -> int:
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
    fill_comparison(engine, lines)
    with engine.begin() as connection:
        connection.execute(text(JUDGED), {"batch": LEFT})
    filled = time.perf_counter() - began
    url = _gateway(var, open_things, postgres.url)
    return {
        "lines": lines,
        "fill_seconds": round(filled, 1),
        "pages": measured(url, engine, rounds, lines),
    }


def _gateway(var: Path, open_things: ExitStack, database: str) -> str:
    """Start a gateway over this database and a new Redis; return its address."""
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
