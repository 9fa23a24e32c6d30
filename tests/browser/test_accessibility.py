"""Every page, light and dark, narrow and wide: no serious violation for axe-core, nothing cut, and
columns of numbers that can be compared at a glance."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine

from services.registry import fact_plan, metrics
from shared.ledger import result_facts
from tests.browser.conftest import Filled, Visits, example, put
from tests.browser.keyboard import faults, grave, screens
from tests.gateway.results import a_result

PATHS = ("/", "/jobs", "/batches", "/batches/new", "/views", "/drift", "/docs")
PHONE = {"width": 360, "height": 740}
MOST_SHIFT = 0.1
KEY = "0123456789abcdef" * 2
SHIFT = """() => new Promise(done => {
  let sum = 0
  new PerformanceObserver(list => {
    for (const one of list.getEntries()) if (!one.hadRecentInput) sum += one.value
  }).observe({type: "layout-shift", buffered: true})
  requestAnimationFrame(() => requestAnimationFrame(() => done(sum)))
})"""


def of_one_text(engine: Engine) -> list[str]:
    """Two results of one text, whose rows are written."""
    made = []
    for score in (0.25, 0.75):
        result = a_result(score)
        result["provenance"] |= {"text_key": KEY}
        made.append(put(engine, "hatexscore", "succeeded", example("hatexscore"), result))
    with engine.begin() as connection:
        while result_facts.write_job_rows(connection, fact_plan, 100):
            pass
    return made


def test_the_pages_can_be_used_by_all(filled: Filled, visits: Visits, engine: Engine) -> None:
    found, two = {}, of_one_text(engine)
    for scheme, viewport in screens():
        page = visits(filled.url, color_scheme=scheme, viewport=viewport)
        for path in (*PATHS, *(f"/try?metric={name}" for name in metrics())):
            page.goto(path)
            found[path, scheme] = faults(page)
        for state in ("failed", "running", "queued"):
            page.goto(f"/jobs/{filled.jobs['hatexscore', state]}", wait_until="domcontentloaded")
            found[state, scheme] = faults(page)
        for path in (f"/texts/{KEY}", f"/jobs/{two[0]}?with={two[1]}"):
            page.goto(path)
            page.get_by_role("button", name="Show texts").click()
            found[path, scheme] = faults(page)
    assert {path: told for path, told in found.items() if told} == {}


@pytest.mark.parametrize("metric", sorted(metrics()))
def test_a_result_can_be_read_by_all(filled: Filled, visits: Visits, metric: str) -> None:
    for scheme, viewport in screens():
        page = visits(filled.url, color_scheme=scheme, viewport=viewport)
        page.goto(f"/jobs/{filled.jobs[metric, 'succeeded']}")
        hidden = grave(page)
        page.get_by_role("button", name="Show texts").click()
        page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
        assert hidden + faults(page) == []


@pytest.mark.parametrize("metric", sorted(metrics()))
def test_a_phone_scrolls_down_only(filled: Filled, visits: Visits, metric: str) -> None:
    page = visits(filled.url, viewport=PHONE)
    for path in ("/", f"/try?metric={metric}", f"/jobs/{filled.jobs[metric, 'succeeded']}"):
        page.goto(path)
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_at_200_percent_nothing_is_cut_and_nothing_jumps(filled: Filled, visits: Visits) -> None:
    """A window of 1280 pixels at 200 % is one of 640; the shift is web.dev's "good" (CLS)."""
    page = visits(filled.url, viewport={"width": 640, "height": 360}, device_scale_factor=2)
    jobs = (f"/jobs/{filled.jobs[name, 'succeeded']}" for name in metrics())
    found = {}
    for path in (*PATHS, "/try?metric=hatexscore", *jobs):
        page.goto(path, wait_until="load")
        width, shift = page.evaluate("document.documentElement.scrollWidth"), page.evaluate(SHIFT)
        if width > 640 or shift > MOST_SHIFT:
            found[path] = (width, shift)
    assert found == {}
