"""Every page that the app has, with something to show: addresses of each of its routes.

The routes are the app's own, so that a new page without an address here fails.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import httpx
from fastapi.routing import APIRoute
from sqlalchemy import Engine

from services.gateway.pages.assets import PARTS
from services.registry import fact_plan, metrics
from shared.ledger import result_facts
from shared.ledger.tables import DEFAULT_TENANT
from tests.browser.conftest import Filled, example, put
from tests.gateway.judged import make_batch, run_reports
from tests.gateway.pages.test_drift import beta, filled
from tests.gateway.pages.test_new_batches import CSV, uploaded
from tests.gateway.pages.test_pages import created, token
from tests.gateway.results import a_result

NO_PAGE = re.compile(r"/live$|\.\w+$|\.\{\w+\}$")  # a stream, a file
KEY = "0123456789abcdef" * 2
OLD = [0.2, 0.3, 0.5, 0.9, 0.1, 0.4, 0.6, None]
NEW = [0.5, 0.6, 0.8, 0.95, 0.5, 0.8, None, 0.7]


def page_routes() -> set[str]:
    """The paths of the app's pages."""
    routes = (one for part in PARTS for one in part.router.routes if isinstance(one, APIRoute))
    read = (one.path for one in routes if "GET" in (one.methods or ()))
    return {path for path in read if not NO_PAGE.search(path)}


def addresses(app: Filled, engine: Engine) -> dict[str, list[str]]:
    """Path of a route → addresses of it, over jobs, batches, queues and scores of their own. Where
    keys are asked for is another app: `/login` has none here."""
    old, new = (make_batch(engine, scores)[0] for scores in (OLD, NEW))
    compared = f"/compare?baseline={old}&new={new}"
    filled(engine, DEFAULT_TENANT, 20, beta(1, 500), "2.0")
    filled(engine, DEFAULT_TENANT, 2, beta(2, 500, 0.15), "2.0")
    texts = of_one_text(engine)
    with httpx.Client(base_url=app.url, timeout=60) as client:
        body = {"batch": new, "name": "a look"}
        queue = client.post("/v1/review-queues", json=body).raise_for_status().json()["id"]
        view = {"metric": "hatexscore", "query": "verdict=holds_up", "name": "good", "next": "/"}
        client.post("/views", data=view | {"csrf": token(client.get("/views"))})
        table = uploaded(client, CSV.encode())
        for path in (compared, f"/batches/{new}/statistics"):
            created(client, path).raise_for_status()
    run_reports(engine)
    return {
        "/": ["/"],
        "/jobs": ["/jobs"],
        "/jobs/{job_id}": [*_jobs(app), f"/jobs/{texts[0]}?with={texts[1]}"],
        "/try": [f"/try?metric={name}" for name in metrics()],
        "/batches": ["/batches"],
        "/batches/new": ["/batches/new"],
        "/batches/new/{file_id}": [table],
        "/batches/{batch_id}": [f"/batches/{new}", f"/batches/{new}?open=2"],
        "/batches/{batch_id}/statistics": [f"/batches/{new}/statistics?split=verdict"],
        "/batches/{batch_id}/again": [f"/batches/{new}/again"],
        "/views": ["/views"],
        "/compare": ["/compare", compared],
        "/queues": ["/queues", f"/queues?batch={new}"],
        "/queues/{queue_id}": [f"/queues/{queue}"],
        "/queues/{queue_id}/judge": [f"/queues/{queue}/judge"],
        "/texts/{text_key}": [f"/texts/{KEY}"],
        "/drift": ["/drift"],
        "/docs": ["/docs"],
        "/login": [],
    }


def _jobs(app: Filled) -> Iterator[str]:
    for (metric, state), job_id in app.jobs.items():
        if state == "succeeded" or metric == "hatexscore":
            yield f"/jobs/{job_id}"


def of_one_text(engine: Engine) -> list[str]:
    """Two results of one text, whose rows are written."""
    made = []
    for score in (0.25, 0.75):
        result = a_result(score)
        result["provenance"] |= {"text_key": KEY}
        made.append(put(engine, "hatexscore", "succeeded", example("hatexscore"), result))
    with engine.begin() as connection:
        while result_facts.write_job_rows(connection, fact_plan, 100):
            pass
    return made
