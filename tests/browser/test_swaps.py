"""Forms whose answer stands in place of what the page said: cancelled, refused, overtaken."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, Route, expect
from sqlalchemy import Engine

from bench.pages import PATH, fill
from shared.ledger.tables import batches
from tests.browser.conftest import Visits
from tests.browser.waiting import heard
from tests.gateway.judged import make_batch
from tests.gateway.results import a_report

STORED = "Object.keys({...localStorage, ...sessionStorage})"
PROBLEM = (
    '<!doctype html><title>Gone</title><main id="content" tabindex="-1"><h1>It is gone</h1></main>'
)


@pytest.fixture
def waiting(open_gateway: str, engine: Engine, visits: Visits) -> Page:
    """The page of a batch in progress; it remembers that it has not been loaded again."""
    page = visits(open_gateway)
    batch_id, _ = make_batch(engine, [0.5])
    with engine.begin() as connection:
        is_it = batches.c.id == batch_id
        connection.execute(batches.update().where(is_it).values(status="in_progress"))
    page.goto(f"/batches/{batch_id}")
    page.evaluate("window.stays = true")
    return page


def test_a_batch_is_cancelled_in_place(waiting: Page) -> None:
    address = waiting.url
    tokens: list[str | None] = []
    waiting.on("request", lambda one: tokens.append(one.headers.get("x-csrf-token")))
    waiting.get_by_role("button", name="Cancel this batch").press("Enter")
    expect(waiting.locator("#live")).to_contain_text("cancelling")
    expect(waiting.locator("#content")).to_be_focused()
    assert waiting.url == address
    assert waiting.evaluate("window.stays") is True
    assert waiting.evaluate(STORED) == []
    sent = {one for one in tokens if one}
    assert sent == {waiting.locator("meta[name=csrf]").get_attribute("content")}


def test_a_refusal_stands_on_the_page(waiting: Page) -> None:
    waiting.route(
        "**/cancel", lambda one: one.fulfill(status=404, body=PROBLEM, content_type="text/html")
    )
    waiting.get_by_role("button", name="Cancel this batch").click()
    expect(waiting.locator("h1")).to_have_text("It is gone")
    assert waiting.evaluate("window.stays") is True


def test_without_a_network_the_page_says_that_nothing_was_sent(waiting: Page) -> None:
    waiting.route("**/cancel", lambda one: one.abort())
    waiting.get_by_role("button", name="Cancel this batch").click()
    expect(waiting.get_by_role("alert")).to_contain_text("nothing was sent")
    waiting.unroute("**/cancel")
    waiting.get_by_role("button", name="Cancel this batch").click()
    expect(waiting.locator("#live")).to_contain_text("cancelling")


def test_the_last_of_two_searches_counts(open_gateway: str, engine: Engine, visits: Visits) -> None:
    fill(engine, 200, a_report())
    page = visits(open_gateway)
    page.goto(PATH)
    held: list[Route] = []
    page.route("**/batches/*?*verdict=not_tested*", lambda one: held.append(one))
    verdict = page.locator("select[name=verdict]")
    verdict.select_option("not_tested")
    page.get_by_role("button", name="Filter").click()
    expect(page.locator(".chips")).to_contain_text("Searching")
    heard(page, lambda: held)
    verdict.select_option("holds_up")
    page.get_by_label("Text contains").fill("number 10")
    page.get_by_label("Text contains").press("Enter")
    expect(page.locator(".chips")).to_contain_text("of 200 lines:")
    expect(page.get_by_label("Text contains")).to_be_focused()
    expect(page).to_have_url(re.compile("verdict=holds_up"))
    expect(page.locator("a.chip")).to_have_count(2)
