"""Jobs in one line each: the same page as of whole jobs, without what is large."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Engine, event

from shared.ledger import jobs, leases
from shared.ledger.jobs import JobPage
from tests.ledger import must_claim

MINUTE = timedelta(minutes=1)
LARGE = "x" * 100_000


def put(engine: Engine, tenant: str, result: dict[str, Any] | None) -> str:
    """A job that has succeeded with this; without one it waits."""
    with engine.begin() as connection:
        job = jobs.insert_job(
            connection, jobs.new_id(), "echo", {"text": LARGE}, MINUTE, tenant=tenant
        )
        if result is not None:
            assert leases.succeed(connection, must_claim(connection, job.id), result)
    return job.id


@pytest.mark.parametrize(
    ("result", "is_scored", "score"),
    [
        ({"score": 0.25, "range": [0, 1], "text": LARGE}, True, 0.25),
        ({"score": None, "range": [0, 1]}, True, None),
        ({"rows": [1]}, False, None),
        (None, False, None),
    ],
)
def test_a_line_says_the_score_where_the_metric_has_one(
    engine: Engine, result: dict[str, Any] | None, is_scored: bool, score: float | None
) -> None:
    put(engine, "a", result)
    with engine.begin() as connection:
        (found,), more = jobs.summary_page(connection, JobPage(limit=5))
        (whole,), _ = jobs.page_of(connection, JobPage(limit=5))
    assert (found.is_scored, found.score, more) == (is_scored, score, False)
    assert (found.id, found.metric, found.status, found.created_at) == (
        whole.id,
        whole.metric,
        whole.status,
        whole.created_at,
    )


def test_a_page_is_the_same_page(engine: Engine) -> None:
    for number in range(6):
        put(engine, "ab"[number % 2], {"score": number, "range": [0, 9]} if number < 4 else None)
    with engine.begin() as connection:
        every, _ = jobs.page_of(connection, JobPage(limit=10))
        for page in (
            JobPage(limit=2),
            JobPage(limit=2, tenant="a"),
            JobPage(limit=3, tenant="b", status="succeeded"),
            JobPage(limit=2, after=every[2].id, metric="echo"),
            JobPage(limit=2, metric="none"),
        ):
            lines, more = jobs.summary_page(connection, page)
            jobs_found, more_jobs = jobs.page_of(connection, page)
            assert [line.id for line in lines] == [job.id for job in jobs_found]
            assert more == more_jobs


def test_what_is_large_stays_in_the_ledger(engine: Engine) -> None:
    put(engine, "a", {"score": 1, "range": [0, 1], "text": LARGE})
    asked: list[str] = []
    event.listen(engine, "before_cursor_execute", lambda *heard: asked.append(heard[2]))
    with engine.begin() as connection:
        found, _ = jobs.summary_page(connection, JobPage(limit=5))
    columns = asked[-1].partition("FROM")[0]
    assert "jobs.request" not in columns
    assert "jobs.result," not in columns
    assert len(repr(found)) < 1_000
