"""Every panel of a page asks the ledger at most twice, and reads no large table from end to end.

What pages really send is explained, over tables of many batches. A first look may write the job of
a report; these are second looks.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import httpx
import pytest
from sqlalchemy import Connection, Engine, event, text

from bench.pages import COMPARE, LEFT, MADE, RIGHT, comparison, fill_comparison
from tests.gateway.pages.test_pages import created

MOST = 2  # statements of a panel
LINES, OTHERS = 100, 120  # of a batch; batches
SETTING = "SELECT set_config"  # for the planner; it reads no table
SMALL = ("clock", "tenants")  # a row, and a row for each tenant with a retention of its own
SCANNED = re.compile(r"Seq Scan on (\w+)")
PATH, SECOND = f"/batches/{LEFT}", f"/batches/{RIGHT}"  # only the first one is judged
BATCH_COPY, JOB_COPY = "'batch_' || md5({} || n)", "'job_00' || substr(md5({} || n), 3)"
COPY = (
    "INSERT INTO {table} SELECT one.* FROM {table} old, generate_series(1, {times}) n, LATERAL "
    "jsonb_populate_record(old, jsonb_build_object({changed})) one WHERE {which}"
)
CROWD = (  # what other batches, tenants and days have; their jobs are of long ago
    ("batches", OTHERS * 10, f"'key', NULL, 'report_job_id', NULL, 'id', {BATCH_COPY}", "id"),
    ("jobs", OTHERS, f"'id', {JOB_COPY}, 'batch_id', {BATCH_COPY}", "id batch_id"),
    (
        "result_facts",
        OTHERS,
        f"'job_id', {JOB_COPY}, 'batch_id', {BATCH_COPY}, 'source', {BATCH_COPY}, "
        "'text_key', md5(old.text_key || n)",
        "job_id batch_id batch_id",
    ),
)
MORE = (
    "INSERT INTO batch_lines (batch_id, number, custom_id, fingerprint, status, "
    "job_id, has_facts) SELECT batch_id, line, custom_id, line, 'succeeded', job_id, true "
    "FROM result_facts",
    "INSERT INTO judgements (id, tenant, job_id, reviewer, verified, verdict, blind, queue_id) "
    "SELECT 'jdg_' || id, tenant, id, 'Ann', false, 'agree', true, 'rq_' || substr(md5(id), 1, 2) "
    "FROM jobs WHERE batch_id NOT LIKE 'batch_bb%'",  # the second one is not judged
    "INSERT INTO score_hours SELECT one.* FROM score_hours old, generate_series(1, 12) n, LATERAL "
    "jsonb_populate_record(old, jsonb_build_object('tenant', 'tenant ' || n)) one "
    "WHERE old.model IN ('model 1', 'model 2')",
    "INSERT INTO review_queues SELECT one.* FROM review_queues old, generate_series(1, 1000) n, "
    "LATERAL jsonb_populate_record(old, jsonb_build_object('id', 'rq_' || n, 'batch_id', "
    "(SELECT id FROM batches ORDER BY id OFFSET n LIMIT 1))) one",
    "INSERT INTO review_items SELECT one.* FROM review_items old, generate_series(1, 50) n, "
    "LATERAL jsonb_populate_record(old, jsonb_build_object('queue_id', 'rq_' || n)) one",
    "INSERT INTO idempotency_keys (tenant, key, fingerprint, job_id) "
    "SELECT tenant, 'key ' || id, id, id FROM jobs",
    "INSERT INTO files (id, tenant, purpose, filename, bytes) "
    "SELECT 'file_' || n, 'default', 'batch', 'f', 1 FROM generate_series(1, 5000) n",
    "INSERT INTO saved_views SELECT 'tenant ' || n % 100, 'results hatexscore', 'view ' || n, "
    "'\"verdict=not_tested\"' FROM generate_series(1, 5000) n",
)
PANELS = {  # the function that asks → the panel; the one that is deepest counts
    "requires_key": "who looks",
    "find_batch": "the batch",
    "_side": "the batch",
    "view_report_job": "what the results say together",
    "job_ids": "whose report",
    "write_facts": "rows of lines that have none yet",
    "counts_of": "verdicts, scores and filters",
    "metadata_keys": "what to split by",
    "metadata_values": "what to split by",
    "provenance_of": "who answered",
    "summary_of": "whether these still hold",
    "_results": "lines",
    "card_counts": "the answer",
    "explanations_of": "explanations",
    "of_job": "judgements of the opened line",
    "load_row_detail": "the opened line",
    "saved_views": "tabs",
    "judgement_state": "how far people agree",
    "split_of": "split",
    "_rows": "pairs",
    "_form": "sides to choose",
    "file_names": "names of files",
    "summary_page": "recent jobs",
    "page_of": "recent batches",
    "counts": "jobs by state",
    "model_history": "models",
    "oldest_seconds": "queues",
    "days_of": "scores over time",
    "first_days": "scores over time",
    "sums_of": "what has moved",
    "last_hour": "what there is at all",
    "text_page": "results of the text",
    "find_queue": "the queue",
    "progress": "how far it has come",
    "progress_by_queue": "how far it has come",
    "jobs_of": "lines of the queue",
    "batch_list": "batches",
    "verdict_counts": "outcomes of batches",
    "queue_list": "queues",
    "_job": "the texts to judge",
}


@dataclass(frozen=True)
class Look:
    """A page. job: the panel whose numbers a job has made."""

    address: str
    job: str = ""


SORTED = ("score", "verdict", "model", "qf", "custom_id", "why", "text", "judged")
BATCH_PAGES = {
    "answer and lines": PATH,
    "judged": f"{PATH}?judged=yes&by=Ann",
    "later": f"{PATH}?sort=line&after=[60]",
    "later by text": f"{PATH}?sort=text&desc=1&after=[60]",
    "opened": f"{PATH}?open=7",
    **{f"by {name}": f"{PATH}?sort={name}" for name in SORTED},
    "by label": f"{PATH}?sort=decision_stated&desc=1",
    "by metadata": f"{PATH}?sort=metadata.market&col=market",
    "score": f"{PATH}?score_from=0.5&score_to=0.55",
    "verdict": f"{PATH}?verdict=not_tested",
    "label": f"{PATH}?decision_sent=hateful",
    "model": f"{PATH}?model=model+1",
    "metadata": f"{PATH}?meta=market%3Dm3",
    "part": f"{PATH}?qf_from=0.3&qf_to=0.5",
    "reason": f"{PATH}?reason=undefined",
    "facet": f"{PATH}?facet=group%3DWomen",
    "text": f"{PATH}?text=number+19",
}
PAGES = {
    **{name: Look(address) for name, address in BATCH_PAGES.items()},
    "statistics": Look(f"{PATH}/statistics", "how far people agree"),
    "statistics of a filter": Look(f"{PATH}/statistics?meta=market%3Dm3", "the filtered report"),
    "split": Look(f"{SECOND}/statistics?split=metadata.market", "split"),
    "compare": Look(COMPARE, "the comparison"),
    "compare: verdicts": Look(f"{COMPARE}&verdicts=holds_up,holds_up", "the comparison"),
    "compare: text": Look(f"{COMPARE}&text=number+19", "the comparison"),
    "sides": Look("/compare"),
    "start": Look("/"),
    "text": Look("/texts/{text}"),
    "drift": Look("/drift"),
    "batches": Look("/batches"),
    "queues": Look(f"/queues?batch={LEFT}", "how far people agree"),
    "queue": Look("/queues/{queue}", "how far people agree"),
}
KNOWN = {*PANELS.values(), *(look.job for look in PAGES.values())}


@dataclass
class Asked:
    """What a page has sent: how often each panel, and what is read from end to end."""

    panels: Counter[str] = field(default_factory=Counter)
    scans: list[str] = field(default_factory=list)

    @property
    def faults(self) -> list[str]:
        often = [f"{panel}, {count} times" for panel, count in self.panels.items() if count > MOST]
        nobody = [panel for panel in self.panels if panel not in KNOWN]
        return [*often, *nobody, *self.scans] if self.panels else ["nothing was asked"]


@pytest.fixture
def addresses(client: httpx.Client, engine: Engine) -> dict[str, str]:
    """Of a queue and a text, in a filled ledger."""
    fill_comparison(engine, LINES)
    asked = {"batch": LEFT, "name": "a look", "lines": LINES}
    queue = client.post("/v1/review-queues", json=asked).raise_for_status().json()["id"]
    with engine.begin() as connection:
        for table, times, changed, names in CROWD:
            changed = changed.format(*(f"old.{name}" for name in names.split()))
            which = f"old.{'id' if table == 'batches' else 'batch_id'} = '{LEFT}'"
            sql = COPY.format(table=table, times=times, changed=changed, which=which)
            connection.execute(text(sql))
        for sql in MORE:
            connection.execute(text(sql))
        query = text("SELECT min(text_key) FROM result_facts WHERE batch_id = :batch")
        key = connection.execute(query, {"batch": LEFT}).scalar_one()
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("VACUUM ANALYZE"))
    created(client, COMPARE).raise_for_status()
    with engine.begin() as connection:
        connection.execute(text(MADE), {"result": json.dumps(comparison(LINES))})
    return {"queue": queue, "text": key}


def test_a_panel_asks_twice_at_most_and_by_an_index(
    client: httpx.Client, addresses: dict[str, str]
) -> None:
    wrong: list[str] = []
    for name, look in PAGES.items():
        address = look.address.format(**addresses)
        if look.job and "/queues" not in address:  # nobody has judged a line
            created(client, address).raise_for_status()
        client.get(address).raise_for_status()
        with watched(look) as asked:
            client.get(address).raise_for_status()
        wrong += [f"{name}: {one}" for one in asked.faults]
    assert not wrong, "\n".join(wrong)


@contextmanager
def watched(look: Look) -> Iterator[Asked]:
    """What is asked meanwhile."""
    asked = Asked()

    def explain(connection: Connection, _: Any, statement: str, values: Any, *__: Any) -> None:
        if statement.startswith(("EXPLAIN", SETTING)):
            return
        asked.panels[_panel(look)] += 1
        rows = connection.exec_driver_sql(f"EXPLAIN {statement}", values).scalars()
        plan = "\n".join(map(str, rows))
        asked.scans += [f"{table}: {plan}" for table in SCANNED.findall(plan) if table not in SMALL]

    event.listen(Engine, "before_cursor_execute", explain)
    try:
        yield asked
    finally:
        event.remove(Engine, "before_cursor_execute", explain)


def _panel(look: Look) -> str:
    frame: FrameType | None = sys._getframe(1)
    names: list[str] = []
    while frame is not None:
        if re.search(r"/(services|shared)/", frame.f_code.co_filename):
            names += frame.f_code.co_qualname.split(".<locals>.")[::-1]
        frame = frame.f_back
    if "find_existing" in names:
        return look.job
    return next((PANELS[name] for name in names if name in PANELS), f"of nobody: {names}")
