"""The start page: what makes it change, and what it does not ask at every look."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import httpx
import pytest
from sqlalchemy import Connection

from services.gateway.pages.home import Overview, QueueDepth
from shared.ledger import overview
from shared.ledger.jobs import JobSummary
from shared.ledger.overview import Answered, Signs
from shared.models.status_board import Status

NOW = datetime.now(UTC)
JOB = JobSummary("job_1", "ice", "queued", NOW, False, None)
FOUND = Overview({("ice", "queued"): 1}, Signs({}, {}), [QueueDepth("ice", 1, 0)], [JOB], [], {})


def test_the_page_changes_when_a_job_or_a_queue_does() -> None:
    answered = Signs({"embedded-hate": Answered("job_0", NOW)}, {})
    assert replace(FOUND, signs=answered).digest == FOUND.digest
    older, newer = (
        replace(FOUND, models={"m": Status(state="ready", reason="", since=at)}) for at in (0, 9)
    )
    assert older.digest == newer.digest
    for changed in (
        replace(FOUND, jobs=[replace(JOB, status="succeeded")]),
        replace(FOUND, counts={("ice", "running"): 1}),
        replace(FOUND, queues=[QueueDepth("ice", 0, 0)]),
        replace(FOUND, signs=Signs({}, {("ice", "m"): 1})),
        replace(FOUND, models={"m": Status(state="failed", reason="no weights", since=0)}),
    ):
        assert changed.digest != FOUND.digest


def test_results_are_not_opened_at_every_look(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def signs(_connection: Connection, tenant: str) -> Signs:
        asked.append(tenant)
        return Signs({}, {})

    monkeypatch.setattr(overview, "signs", signs)
    for _ in range(3):
        assert client.get("/").status_code == 200
    assert len(asked) <= 1
