"""What a page costs: its own assets, and a list of thousands."""

from __future__ import annotations

import json
import secrets
import time
from typing import Any

import pytest
from playwright.sync_api import Response, expect
from sqlalchemy import Engine, text

from services.registry import metrics
from shared.reports.pages.page_text import thousands
from tests.browser.conftest import Filled, Visits
from tests.browser.timing import Record, elements, tell

MOST_BYTES = 300_000
MOST_ELEMENTS = 1_200
MANY = 5_000
LONG_BYTES = 20_000  # hex digits, which do not shrink: as of a text of some hundred tokens
SUCCEEDED = text(
    "INSERT INTO jobs (id, metric, status, request, result, resend_at, finished_at) "
    "SELECT 'job_' || :moment || lpad(to_hex(number * 64 + :place), 20, '0'), :metric, "
    "'succeeded', '{}', CAST(:result AS json), now(), now() FROM generate_series(1, :many) number"
)


@pytest.mark.parametrize("metric", sorted(metrics()))
def test_a_page_is_light(filled: Filled, visits: Visits, metric: str) -> None:
    page = visits(filled.url)
    answers: list[Response] = []
    page.on("response", lambda answer: answers.append(answer))
    page.goto(f"/jobs/{filled.jobs[metric, 'succeeded']}", wait_until="networkidle")
    assert 0 < sum(len(one.body()) for one in answers) < MOST_BYTES


def test_a_list_of_thousands_is_paged(
    open_gateway: str,
    engine: Engine,
    visits: Visits,
    results: dict[str, dict[str, Any]],
    record_property: Record,
) -> None:
    fill(engine, results)
    page = visits(open_gateway)
    page.goto("/")
    tell(page, f"overview of {MANY} jobs", record_property)
    assert page.locator(".tiles .figure").all_inner_texts().count(thousands(MANY)) == 1
    page.goto("/jobs")
    seen = page.locator("tbody tr").count()
    for _ in range(3):
        with page.expect_navigation():
            page.get_by_role("link", name="Older").click()
        seen += page.locator("tbody tr").count()
        assert elements(page) < MOST_ELEMENTS
        tell(page, f"older ones of {MANY} jobs", record_property)
    assert seen == 4 * 50
    assert page.locator("tbody tr").filter(has_text="0.").count() > 0  # their scores
    expect(page.get_by_role("link", name="Newest")).to_be_visible()


def fill(engine: Engine, results: dict[str, dict[str, Any]]) -> None:
    """Thousands of jobs of today, of all metrics in turn, with results of long texts."""
    moment = f"{time.time_ns() // 1_000_000:012x}"
    rows = [
        {
            "moment": moment,
            "place": place,
            "metric": metric,
            "result": json.dumps(result | {"warnings": [secrets.token_hex(LONG_BYTES // 2)]}),
            "many": MANY // len(results) + (place < MANY % len(results)),
        }
        for place, (metric, result) in enumerate(sorted(results.items()))
    ]
    with engine.begin() as connection:
        connection.execute(SUCCEEDED, rows)
