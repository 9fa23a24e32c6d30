"""/v1/batches/{id}/report: one job, made by the first POST, found by every later one."""

from __future__ import annotations

import base64
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from sqlalchemy import Engine, func, select

from services.registry import metrics
from shared.contracts.answers import stored_result
from shared.ledger import leases
from shared.ledger.tables import jobs
from shared.process.settings import Settings
from shared.queue import broker
from tests.batches import Json, Scene, line
from tests.gateway.judged import make_batch
from tests.gateway.results import a_report
from tests.ledger import must_claim

PLOT = {
    "name": "means",
    "title": "t",
    "svg": "<svg/>",
    "png_base64": base64.b64encode(b"p").decode(),
}
REPORT = a_report() | {"scored": 1, "plots": [PLOT]}


@pytest.fixture
def scene(client: httpx.Client, engine: Engine, chosen: Settings) -> Scene:
    return Scene(client, engine, chosen)


@pytest.fixture
def batch(scene: Scene) -> Json:
    """A batch that has ended."""
    return scene.finish(scene.make([line("a", "a")]))


def end_report(scene: Scene, **end: Any) -> str:
    """What the worker does to the one queued report job."""
    with scene.engine.begin() as connection:
        job_id = connection.execute(
            select(jobs.c.id).where(jobs.c.metric == "hatexscore-report", jobs.c.status == "queued")
        ).scalar_one()
        claim = must_claim(connection, job_id)
        if "error" in end:
            leases.fail(connection, claim, end["error"])
        else:
            leases.succeed(connection, claim, end["result"])
    return str(job_id)


def report_jobs(scene: Scene) -> int:
    with scene.engine.connect() as connection:
        query = select(func.count()).where(jobs.c.metric == "hatexscore-report")
        return connection.execute(query).scalar_one()


def test_the_first_ask_makes_the_job_and_the_end_is_the_report(scene: Scene, batch: Json) -> None:
    url = f"/v1/batches/{batch['id']}/report"
    assert scene.client.get(url).status_code == 409
    first, second = scene.client.post(url), scene.client.post(url)
    assert (first.status_code, second.status_code) == (202, 202)
    assert first.headers["Location"] == second.headers["Location"]
    assert broker.queue_length("hatexscore-report") == 1
    job_id = end_report(scene, result=REPORT)
    assert first.headers["Location"] == f"/v1/jobs/{job_id}"
    answer = scene.client.get(url)
    assert (answer.status_code, stored_result(answer.json())) == (200, REPORT)


def test_a_crowd_makes_one_job(scene: Scene, batch: Json) -> None:
    with ThreadPoolExecutor(16) as pool:
        asked = [
            pool.submit(scene.client.post, f"/v1/batches/{batch['id']}/report") for _ in range(16)
        ]
        places = {one.result().headers["Location"] for one in asked}
    assert (len(places), report_jobs(scene)) == (1, 1)


def test_a_picture_comes_in_both_formats(scene: Scene, batch: Json) -> None:
    url = f"/v1/batches/{batch['id']}/report"
    scene.client.post(url)
    end_report(scene, result=REPORT)
    svg = scene.client.get(url, params={"plot": "means"})
    png = scene.client.get(url, params={"plot": "means"}, headers={"Accept": "image/png"})
    assert (svg.headers["content-type"], svg.content) == ("image/svg+xml", b"<svg/>")
    assert (png.headers["content-type"], png.content) == ("image/png", b"p")
    assert scene.client.get(url, params={"plot": "x"}).status_code == 404


@pytest.mark.parametrize(("status", "made"), [(422, 1), (500, 2)])
def test_only_a_failure_of_ours_is_tried_again(
    scene: Scene, batch: Json, status: int, made: int
) -> None:
    url = f"/v1/batches/{batch['id']}/report"
    scene.client.post(url)
    end_report(scene, error={"type": "x/y", "title": "t", "status": status, "detail": "d"})
    assert scene.client.get(url).status_code == status
    assert scene.client.post(url).status_code == (202 if status == 500 else 200)
    assert report_jobs(scene) == made


def test_an_open_batch_has_no_report_yet(scene: Scene) -> None:
    batch = scene.make([line("a", "a")])
    assert scene.client.get(f"/v1/batches/{batch['id']}/report").status_code == 409
    assert scene.client.post(f"/v1/batches/{batch['id']}/report").status_code == 409


def test_every_metric_takes_report_jobs(scene: Scene) -> None:
    _, listed = make_batch(scene.engine, [0.5])
    for metric, contract in ((name, one.batch) for name, one in metrics().items()):
        answer = scene.client.post("/v1/reports", json={"metric": metric, "jobs": listed})
        assert answer.status_code == 202, answer.text
        assert answer.json()["metric"] == contract.name
    assert scene.client.post("/v1/reports", json={"metric": "astrology"}).status_code == 422
    assert scene.client.post("/v1/reports", json={"metric": "hatexscore"}).status_code == 422


def test_fifty_thousand_jobs_may_be_listed(scene: Scene) -> None:
    listed = [f"job_{number:032x}" for number in range(50_000)]
    _, ours = make_batch(scene.engine, [0.5])
    answer = scene.client.post(
        "/v1/reports", json={"metric": "hatexscore", "jobs": [*ours, *listed[1:]]}
    )
    assert answer.status_code == 422  # read whole, and the first that is nobody's is named
    assert answer.json()["errors"][0]["pointer"] == "#/jobs/1"


@pytest.mark.parametrize("ids", [{"jobs": ["job_\x00"]}, {"batch": "batch_\x00"}])
def test_an_id_that_the_ledger_could_not_even_look_up_is_refused(
    client: httpx.Client, ids: dict[str, object]
) -> None:
    answer = client.post("/v1/reports", json={"metric": "hatexscore"} | ids)
    assert answer.status_code == 422, answer.text
