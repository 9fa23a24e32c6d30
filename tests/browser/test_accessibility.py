"""axe-core on every page, light and dark, narrow and wide: no serious violation."""

from __future__ import annotations

from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from services.registry import metrics
from tests.browser.conftest import Filled, Visits

PATHS = ("/", "/jobs", "/batches", "/batches/new", "/views", "/drift", "/docs")
GRAVE = ("serious", "critical")
PHONE = {"width": 360, "height": 740}
MOST_SHIFT = 0.1
SHIFT = """() => new Promise(done => {
  let sum = 0
  new PerformanceObserver(list => {
    for (const one of list.getEntries()) if (!one.hadRecentInput) sum += one.value
  }).observe({type: "layout-shift", buffered: true})
  requestAnimationFrame(() => requestAnimationFrame(() => done(sum)))
})"""
Scheme = Literal["light", "dark"]


def grave(page: Page) -> list[str]:
    """What axe-core finds that is serious or critical, a line each."""
    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    return [
        f"{one['id']} ({one['impact']}): {one['nodes'][0]['html'][:200]}"
        for one in found
        if one["impact"] in GRAVE
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_pages_can_be_used_by_all(filled: Filled, visits: Visits, scheme: Scheme) -> None:
    page = visits(filled.url, color_scheme=scheme)
    faults = {}
    for path in (*PATHS, *(f"/try?metric={name}" for name in metrics())):
        page.goto(path)
        faults[path] = grave(page)
    for state in ("failed", "running", "queued"):
        page.goto(f"/jobs/{filled.jobs['hatexscore', state]}", wait_until="domcontentloaded")
        faults[state] = grave(page)
    assert {path: found for path, found in faults.items() if found} == {}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("metric", sorted(metrics()))
def test_a_result_can_be_read_by_all(
    filled: Filled, visits: Visits, metric: str, scheme: Scheme
) -> None:
    page = visits(filled.url, color_scheme=scheme)
    page.goto(f"/jobs/{filled.jobs[metric, 'succeeded']}")
    hidden = grave(page)
    page.get_by_role("button", name="Show texts").click()
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
    assert hidden + grave(page) == []


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
    faults = {}
    for path in (*PATHS, "/try?metric=hatexscore", *jobs):
        page.goto(path, wait_until="load")
        width, shift = page.evaluate("document.documentElement.scrollWidth"), page.evaluate(SHIFT)
        if width > 640 or shift > MOST_SHIFT:
            faults[path] = (width, shift)
    assert faults == {}
