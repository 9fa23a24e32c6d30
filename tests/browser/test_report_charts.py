"""The charts of a batch's report: read by all, spoken, with tables; their bars lead to lines."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect
from sqlalchemy import Engine

from tests.browser.conftest import Visits
from tests.browser.keyboard import faults, screens
from tests.gateway.judged import make_batch_of, run_reports

NARROWEST = 6  # pixels of a bar
UNSPOKEN = """() => [...document.querySelectorAll("figure svg.chart")]
  .filter(one => !(one.getAttribute("aria-label") || "").trim()).length"""
WITHOUT_TABLE = """() => [...document.querySelectorAll("figure:has(svg.histogram)")]
  .filter(one => !one.querySelector("details table")).length"""
WIDTHS = """() => [...document.querySelectorAll("svg.histogram rect")]
  .map(one => one.getBoundingClientRect().width)"""


def report_page(page: Page, engine: Engine, metric: str) -> Page:
    """The page of a batch with its report."""
    path = f"/batches/{make_batch_of(engine, metric, [0.25, 0.5, 0.75])}/statistics"
    page.goto(path)
    page.get_by_role("button", name="Compute the statistics").click()
    run_reports(engine, metric)
    page.goto(path)
    expect(page.locator("#report + figure").first).to_be_visible()
    return page


@pytest.mark.parametrize("metric", ["hatexscore", "ice"])
def test_the_charts_of_a_report_are_read_by_all(
    open_gateway: str, visits: Visits, engine: Engine, metric: str
) -> None:
    for scheme, viewport in screens():
        page = report_page(
            visits(open_gateway, color_scheme=scheme, viewport=viewport), engine, metric
        )
        assert min(page.evaluate(WIDTHS)) >= NARROWEST
        page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
        assert faults(page) == []
        assert (page.evaluate(UNSPOKEN), page.evaluate(WITHOUT_TABLE)) == (0, 0)


def test_a_bar_of_a_histogram_leads_to_its_lines(
    open_gateway: str, visits: Visits, engine: Engine
) -> None:
    page = report_page(visits(open_gateway, java_script_enabled=False), engine, "ice")
    bar = page.locator("figure", has_text="Random explanations beaten:").locator("a").first
    said = int((bar.get_attribute("aria-label") or "").split()[0])
    bar.click()
    expect(page.locator("a.chip")).to_have_count(1)
    expect(page.locator(".results tbody tr")).to_have_count(said)
