"""Pages that follow what happens: said once, nothing stolen, nothing lost, and they can be held."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route, expect
from sqlalchemy import Engine

from tests.browser.conftest import Visits, example, put
from tests.gateway.results import a_result
from tests.gateway.serving import PAGE_LOOK_SECONDS
from tests.patience import SECONDS
from tests.servers import finish_next

RESULT = a_result(0.75)
LOOKS_MS = 5_000 * PAGE_LOOK_SECONDS  # longer than between two looks of the overview's stream
FOLDED = "<details><summary>Advanced</summary><p>inside</p></details>"


def queued(engine: Engine) -> str:
    """A job that waits; its id."""
    return put(engine, "hatexscore", "queued", example("hatexscore"), {})


def jobs_shown(page: Page) -> int:
    return page.locator("#recent-jobs ~ .wide tbody tr").count()


def test_what_has_happened_is_said_and_the_focus_stays(
    open_gateway: str, engine: Engine, visits: Visits
) -> None:
    page = visits(open_gateway)
    page.goto(f"/jobs/{queued(engine)}")
    expect(page.locator("#news")).to_be_empty()
    page.get_by_role("button", name="Cancel this job").focus()
    finish_next(engine, RESULT)
    expect(page.locator("#news")).to_have_text("The job has succeeded.")
    expect(page.locator(".score p.figure")).to_have_text("0.75")
    assert page.evaluate("document.getElementById('live').contains(document.activeElement)")


def test_the_overview_is_silent_and_keeps_focus_and_what_is_unfolded(
    open_gateway: str, engine: Engine, visits: Visits
) -> None:
    page = visits(open_gateway)
    page.route("**/", unfoldable)
    queued(engine)
    page.goto("/")
    page.get_by_text("Advanced").click()
    link = page.locator("#live a[href='/jobs?status=failed']")
    link.focus()
    queued(engine)
    expect(page.locator("#recent-jobs ~ .wide tbody tr")).to_have_count(2)
    expect(link).to_be_focused()
    expect(page.get_by_text("inside")).to_be_visible()
    expect(page.locator("#news")).to_be_empty()


def unfoldable(route: Route) -> None:
    """The page with something folded in its live part."""
    answer = route.fetch(timeout=1_000 * SECONDS)
    body = answer.text().replace('aria-labelledby="waiting">', f'aria-labelledby="x">{FOLDED}', 1)
    route.fulfill(response=answer, body=body)


def test_updates_can_be_paused_and_what_was_missed_comes_later(
    open_gateway: str, engine: Engine, visits: Visits
) -> None:
    page = visits(open_gateway)
    queued(engine)
    page.goto("/")
    page.get_by_role("button", name="Pause updates").click()
    queued(engine)
    page.wait_for_timeout(LOOKS_MS)
    assert jobs_shown(page) == 1
    page.get_by_role("button", name="Resume updates").click()
    expect(page.locator("#recent-jobs ~ .wide tbody tr")).to_have_count(2)
    expect(page.get_by_role("button", name="Pause updates")).to_be_visible()


def failing(times: int, fail: Callable[[Route], None]) -> Callable[[Route], None]:
    """Fails the first fetches by a script; lets pass all else."""
    left = [times]

    def handle(route: Route) -> None:
        if route.request.resource_type == "fetch" and left[0]:
            left[0] -= 1
            fail(route)
        else:
            route.continue_()

    return handle


@pytest.mark.parametrize(
    "fail",
    [
        lambda route: route.fulfill(status=503, body="away"),
        lambda route: route.fulfill(status=429, headers={"Retry-After": "1"}, body="slowly"),
        lambda route: route.abort(),
    ],
    ids=["unavailable", "too many", "no network"],
)
def test_a_refresh_that_fails_is_tried_again_and_keeps_what_is_shown(
    open_gateway: str, engine: Engine, visits: Visits, fail: Callable[[Route], None]
) -> None:
    page = visits(open_gateway)
    job_id = queued(engine)
    page.goto(f"/jobs/{job_id}")
    page.evaluate("window.kept = true")
    page.route(f"**/jobs/{job_id}", failing(2, fail))
    finish_next(engine, RESULT)
    page.wait_for_timeout(1_000)
    expect(page.locator("h1")).to_contain_text("hatexscore")
    expect(page.locator(".score p.figure")).to_have_text("0.75")
    assert page.evaluate("window.kept")


def test_without_a_stream_the_page_still_follows(
    open_gateway: str, engine: Engine, visits: Visits
) -> None:
    page = visits(open_gateway)
    page.route("**/live", lambda route: route.fulfill(status=503, body="too many"))
    page.goto(f"/jobs/{queued(engine)}")
    finish_next(engine, RESULT)
    expect(page.locator(".score p.figure")).to_have_text("0.75")
