"""A visitor of a real service: an example on `/try`, its stages, its result."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import browser  # noqa: F401 (a fixture)
from tests.end_to_end.service import Service
from tests.patience import SECONDS

pytestmark = pytest.mark.end_to_end


@pytest.mark.parametrize("metric", ["hatexscore", "ice"])
def test_try_an_example_and_see_why(
    whole_service: Service,
    browser: Browser,  # noqa: F811
    metric: str,
) -> None:
    page = browser.new_page(base_url=whole_service.url)
    page.set_default_timeout(1_000 * SECONDS)
    page.goto("/")
    with page.expect_navigation():
        page.get_by_role("link", name="Try", exact=True).click()
    with page.expect_navigation():  # what it says of another metric has a button of this name, too
        page.get_by_role("navigation", name="Metrics").get_by_role("link", name=metric).click()
    with page.expect_response("**/jobs/job_*") as answer:
        page.get_by_role("button", name="Score").click()
    expect(page.locator("#result .headline")).not_to_be_empty()
    job = urlsplit(answer.value.url).path
    page.get_by_role("link", name="Overview").click()
    expect(page.get_by_role("region", name="Jobs").locator(f'a[href="{job}"]')).to_have_count(1)
    page.close()
