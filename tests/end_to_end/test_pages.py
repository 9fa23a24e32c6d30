"""A visitor of a real service: an example on `/try`, its stages, its result."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import browser  # noqa: F401 (a fixture)
from tests.end_to_end.service import serving

pytestmark = pytest.mark.end_to_end


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A service with two metrics."""
    folder: Path = tmp_path_factory.mktemp("pages")
    with serving(folder, "--rooms", "hatexscore", "ice") as service:
        yield service.url


@pytest.mark.parametrize("metric", ["hatexscore", "ice"])
def test_try_an_example_and_see_why(address: str, browser: Browser, metric: str) -> None:  # noqa: F811
    page = browser.new_page(base_url=address)
    page.goto("/")
    page.get_by_role("link", name="Try", exact=True).click()
    page.get_by_role("navigation", name="Metrics").get_by_role("link", name=metric).click()
    page.get_by_role("button", name="Score").click()
    expect(page.locator(".headline")).not_to_be_empty()
    expect(page.locator(".steps [aria-current=step]")).to_contain_text("succeeded")
    page.get_by_role("link", name="Overview").click()
    expect(page.get_by_role("region", name="Jobs").get_by_role("row")).not_to_have_count(1)
    page.close()
