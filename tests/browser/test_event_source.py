"""A browser's own EventSource of a job stops by itself: one reconnect, then it is closed."""

from __future__ import annotations

import pytest
from playwright.sync_api import Response
from sqlalchemy import Engine

from services.gateway.routes import events
from tests.browser.conftest import Visits, example, put
from tests.browser.waiting import heard
from tests.patience import eventually
from tests.servers import finish_next

CLOSED = 2  # EventSource.readyState
RETRY_MS = 300
LISTEN = """id => {
    window.heard = [];
    window.ours = new EventSource(`/v1/jobs/${id}/events`);
    for (const name of ["job.queued", "job.running", "job.succeeded", "end"])
        ours.addEventListener(name, () => heard.push(name));
}"""


def test_an_event_source_is_told_to_stop(
    open_gateway: str, engine: Engine, visits: Visits, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "RETRY_MILLISECONDS", RETRY_MS)
    job_id = put(engine, "hatexscore", "queued", example("hatexscore"), {})
    page, statuses = visits(open_gateway), list[int]()

    def note(answer: Response) -> None:
        if answer.url.endswith("/events") and job_id in answer.url:
            statuses.append(answer.status)

    page.on("response", note)
    page.goto("/login")
    page.evaluate(LISTEN, job_id)
    eventually(lambda: page.evaluate("heard.includes('job.queued')"))
    finish_next(engine, {"score": 0.5})
    eventually(lambda: page.evaluate(f"ours.readyState === {CLOSED}"))
    heard(page, lambda: len(statuses) == 2)
    assert page.evaluate("heard") == ["job.queued", "job.running", "job.succeeded", "end"]
    page.wait_for_timeout(5 * RETRY_MS)
    assert statuses == [200, 204]
    assert page.evaluate("ours.readyState") == CLOSED
