"""Log in, be refused, log out."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect
from sqlalchemy import Engine

from shared.ledger import keys
from shared.ledger.keys import NewKey
from shared.process.settings import Settings
from tests.browser.conftest import Visits
from tests.browser.keyboard import PHONE, faults, small, unlike
from tests.gateway.judged import make_batch
from tests.gateway.serving import serving


@pytest.fixture
def locked(_settings: Settings) -> Iterator[str]:
    """A gateway that asks for keys."""
    with serving(_settings.model_copy(update={"authentication": "keys"})) as url:
        yield url


def test_a_chosen_file_outlives_the_session(locked: str, engine: Engine, visits: Visits) -> None:
    with engine.begin() as connection:
        _, secret = keys.make(connection, NewKey("a", "browser", ("score", "batch")))

    def log_in(page: Page) -> None:
        page.get_by_label("API key").fill(secret)
        page.get_by_role("button", name="Log in").click()

    page = visits(locked)
    page.goto("/batches/new")
    log_in(page)
    rows = b"text,explanation,decision\nA post,It says so,hateful\n"
    table = {"name": "posts.csv", "mimeType": "text/csv", "buffer": rows}
    page.get_by_label("File", exact=True).set_input_files(table)  # type: ignore[arg-type]
    page.context.clear_cookies()
    page.get_by_role("button", name="Next: choose columns").click()
    expect(page.get_by_role("alert")).to_contain_text("the file stays chosen")
    expect(page).to_have_title("New batch · Touchstone")
    with page.context.expect_page() as opened:
        page.get_by_role("link", name="Log in in another tab").press("Enter")
    log_in(opened.value)
    expect(opened.value).to_have_title("Batches · Touchstone")
    page.get_by_role("button", name="Next: choose columns").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("New batch of hatexscore")
    expect(page.get_by_text("posts.csv: 1 line")).to_be_visible()


def test_a_row_opened_after_the_session_is_there_after_the_login(
    locked: str, engine: Engine, visits: Visits
) -> None:
    batch, _ = make_batch(engine, [0.2, 0.9], tenant="a")
    with engine.begin() as connection:
        _, secret = keys.make(connection, NewKey("a", "browser", ("score", "batch")))

    def log_in() -> None:
        expect(page).to_have_title("Log in · Touchstone")
        page.get_by_label("API key").fill(secret)
        page.get_by_role("button", name="Log in").click()

    page = visits(locked)
    table = f"/batches/{batch}?custom_id=line-2&sort=score"
    page.goto(table)
    log_in()
    expect(page.locator(".results tbody tr")).to_have_count(1)
    expect(page).to_have_url(f"{locked}{table}")
    page.context.clear_cookies()
    page.locator(".results tbody th a").click()
    log_in()
    expect(page.locator("h1")).to_contain_text("Line 2")


def test_log_in_be_refused_and_log_out(locked: str, engine: Engine, visits: Visits) -> None:
    with engine.begin() as connection:
        _, secret = keys.make(connection, NewKey("a", "browser", ("score",)))
    page = visits(locked)
    page.goto("/jobs")
    expect(page).to_have_title("Log in · Touchstone")
    assert faults(page) + unlike(page) == []
    page.set_viewport_size(PHONE)
    page.emulate_media(color_scheme="dark")
    assert faults(page) + small(page) == []
    page.get_by_label("API key").fill("tsk_" + "x" * 43)
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("alert")).to_contain_text("unknown")
    page.get_by_label("API key").fill(secret)
    page.get_by_role("button", name="Log in").click()
    expect(page).to_have_title("Jobs · Touchstone")  # where it wanted to go
    assert secret not in page.content()
    assert page.evaluate("document.cookie") == ""
    page.get_by_role("button", name="Log out").click()
    expect(page).to_have_title("Log in · Touchstone")
    page.goto("/")
    expect(page).to_have_title("Log in · Touchstone")
