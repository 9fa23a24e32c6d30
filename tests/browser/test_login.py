"""Log in, be refused, log out."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect
from sqlalchemy import Engine

from shared.ledger import keys
from shared.ledger.keys import NewKey
from shared.settings import Settings
from tests.browser.conftest import Visits
from tests.browser.test_accessibility import grave
from tests.gateway.serving import serving


@pytest.fixture
def locked(_settings: Settings) -> Iterator[str]:
    """A gateway that asks for keys."""
    with serving(_settings.model_copy(update={"authentication": "keys"})) as url:
        yield url


def test_log_in_be_refused_and_log_out(locked: str, engine: Engine, visits: Visits) -> None:
    with engine.begin() as connection:
        _, secret = keys.make(connection, NewKey("a", "browser", ("score",)))
    page = visits(locked)
    page.goto("/jobs")
    expect(page).to_have_title("Log in · Touchstone")
    assert grave(page) == []
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
