"""What a page costs: its own assets, and a list of thousands."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect
from sqlalchemy import Engine, text

from services.gateway.rooms import metrics
from tests.browser.conftest import Filled, Visits

MOST_BYTES = 300_000
MANY = 5_000
MOST_SECONDS = 1.0


@pytest.mark.parametrize("metric", sorted(metrics()))
def test_a_page_is_light(filled: Filled, visits: Visits, metric: str) -> None:
    page = visits(filled.url)
    weights: list[int] = []
    page.on("response", lambda answer: weights.append(len(answer.body())))
    page.goto(f"/jobs/{filled.jobs[metric, 'succeeded']}", wait_until="networkidle")
    assert 0 < sum(weights) < MOST_BYTES


def test_a_list_of_thousands_pages_quickly(
    open_gateway: str, engine: Engine, visits: Visits, results: dict[str, dict[str, Any]]
) -> None:
    with engine.begin() as connection:
        connection.execute(
            text(
                "INSERT INTO jobs (id, metric, status, request, resend_at) "
                "SELECT 'job_' || lpad(to_hex(number), 32, '0'), 'hatexscore', 'queued', '{}', "
                "now() + interval '1 hour' FROM generate_series(1, :many) AS number"
            ),
            {"many": MANY},
        )
    page = visits(open_gateway)
    page.goto("/jobs")
    seen = page.locator("tbody tr").count()
    for _ in range(3):
        page.get_by_role("link", name="Older").click()
        page.wait_for_load_state("load")
        seen += page.locator("tbody tr").count()
        spent = page.evaluate(
            "() => { const t = performance.getEntriesByType('navigation')[0];"
            " return (t.loadEventEnd - t.startTime) / 1000; }"
        )
        assert spent < MOST_SECONDS
    assert seen == 4 * 50
    expect(page.get_by_role("link", name="Newest")).to_be_visible()
