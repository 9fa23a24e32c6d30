"""The start page: what makes it change, and what it does not ask at every look."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import httpx
import pytest
from sqlalchemy import Connection, Engine, func, update

from services.gateway.pages.home import Overview, QueueDepth
from services.gateway.results import overview
from services.gateway.results.overview import LastResponse, ModelHistory
from services.sor.contract import CONTRACT as SOR
from shared.ledger import leases
from shared.ledger.jobs import JobSummary
from shared.ledger.tables import jobs
from shared.models.catalogue.availability import Status
from shared.process import redis_client
from shared.process.settings import Settings
from shared.queue.worker_board import WorkerSender
from tests.gateway.serving import serving
from tests.gateway.test_scores import GOOD, URL
from tests.patience import SECONDS, eventually

NOW = datetime.now(UTC)
JOB = JobSummary("job_1", "ice", "queued", NOW, False, None)
FOUND = Overview(
    {("ice", "queued"): 1}, ModelHistory({}, {}), [QueueDepth("ice", 1, 0)], [JOB], [], {}
)


def test_the_page_changes_when_a_job_or_a_queue_does() -> None:
    answered = ModelHistory({"embedded-hate": LastResponse("job_0", NOW)}, {})
    assert replace(FOUND, signs=answered).digest == FOUND.digest
    older, newer = (
        replace(FOUND, models={"m": Status(state="ready", reason="", since=at)}) for at in (0, 9)
    )
    assert older.digest == newer.digest
    for changed in (
        replace(FOUND, jobs=[replace(JOB, status="succeeded")]),
        replace(FOUND, counts={("ice", "running"): 1}),
        replace(FOUND, queues=[QueueDepth("ice", 0, 0)]),
        replace(FOUND, workers={"ice": "no worker"}),
        replace(FOUND, lost=1),
        replace(FOUND, late={"ice": 61.0}),
        replace(FOUND, signs=ModelHistory({}, {("ice", "m"): 1})),
        replace(FOUND, models={"m": Status(state="failed", reason="no weights", since=0)}),
    ):
        assert changed.digest != FOUND.digest


def test_results_are_not_opened_at_every_look(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def signs(_connection: Connection, tenant: str) -> ModelHistory:
        asked.append(tenant)
        return ModelHistory({}, {})

    monkeypatch.setattr(overview, "model_history", signs)
    for _ in range(3):
        assert client.get("/").status_code == 200
    assert len(asked) <= 1


def test_workers_that_start_and_jobs_that_lost_theirs_are_said(
    client: httpx.Client, engine: Engine
) -> None:
    redis_client.board_client.cache_clear()
    WorkerSender(["ice"], lambda: {"worker": "is warming up"}).report()
    ids = [client.post(URL, json=GOOD | {"seed": seed}).json()["id"] for seed in (1, 2)]
    with engine.begin() as connection:
        for job_id in ids:
            assert leases.claim(connection, job_id, lease=timedelta(hours=1), max_attempts=3)
    with engine.begin() as connection:
        connection.execute(
            update(jobs)
            .where(jobs.c.id == ids[0])
            .values(lease_expires_at=func.now() - timedelta(seconds=1))
        )
    page = client.get("/").text
    assert "1 of these jobs lost their worker" in page
    assert "its worker is warming up" in page
    assert "no worker" in page
    eventually(lambda: client.get("/readyz").json()["workers"]["ice"] == "its worker is warming up")
    assert client.get("/readyz").json()["workers"]["ftc"] == "no worker"


def test_the_page_of_a_job_says_why_it_waits(client: httpx.Client) -> None:
    WorkerSender(["hatexscore"], lambda: {"worker": "is warming up"}).report()
    job_id = client.post(URL, json=GOOD).json()["id"]
    page = f"/jobs/{job_id}"
    eventually(lambda: "waiting because its worker is warming up" in client.get(page).text)
    WorkerSender(["hatexscore"], dict).report()
    said = "waiting for a free worker<"
    eventually(lambda: said in client.get(page).text)


def test_a_gateway_lists_the_services_that_it_serves_alone(chosen: Settings) -> None:
    settings = chosen.model_copy(update={"authentication": "none", "serve": "ice ftc"})
    with serving(settings) as url, httpx.Client(base_url=url, timeout=SECONDS) as client:
        workers = eventually(lambda: client.get("/readyz").json()["workers"])
        assert workers.keys() == {"ftc", "ice", "inference", "similarity"}
        refused = client.post("/v1/scores/sor", json=next(iter(SOR.examples.values())))
        assert (refused.status_code, "choose one of: ice, ftc" in refused.text) == (503, True)


def test_a_job_that_waits_for_longer_than_a_minute_needs_eyes(
    client: httpx.Client, engine: Engine
) -> None:
    job_id = client.post(URL, json=GOOD).json()["id"]
    assert "Needs attention" not in client.get("/").text
    with engine.begin() as connection:
        earlier = jobs.c.created_at - timedelta(minutes=5)
        connection.execute(update(jobs).where(jobs.c.id == job_id).values(created_at=earlier))
    page = client.get("/").text
    assert "Needs attention" in page
    assert "a job has waited for 5.0 min, and no worker is running" in page
