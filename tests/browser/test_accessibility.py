"""Every page, light and dark, narrow and wide: no serious violation for axe-core, nothing cut,
nothing that moves or jumps, targets for fingers, and columns of numbers that can be compared at a
glance. The policy is kept, no other host is asked, and the browser keeps nothing but a setting."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain

import pytest
from playwright.sync_api import ConsoleMessage, Error, Page
from sqlalchemy import Engine

from tests.browser.conftest import Filled, Visits
from tests.browser.every_page import addresses, page_routes
from tests.browser.keyboard import HEIGHT, across, faults, jump, small, still, unlike

WIDTHS = (360, 640, 768, 1920)  # 640: 1,280 at 200 %
VIOLATIONS = {  # a script → what is said of it
    "document.head.append(Object.assign(document.createElement('script'), {text: 1}))": (
        "policy: script-src-elem inline"
    ),
    "document.body.setAttribute('style', 'color: red')": "policy: style-src-attr inline",
}
STORED = "Object.keys({...localStorage, ...sessionStorage})"


def looked_at(page: Page, path: str) -> list[str]:
    """What is wrong with the page of this address, with everything of it unfolded and shown."""
    page.goto(path)
    found = jump(page) + unlike(page)
    for key in ("?", "Escape", "j", "k", "t"):
        page.keyboard.press(key)
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
    return found + faults(page)


def exported(page: Page, known: dict[str, list[str]]) -> list[str]:
    """What is wrong with the file that a batch's page gives away, opened as it is."""
    batch = known["/batches/{batch_id}"][0].partition("?")[0]
    file = page.request.get(f"{batch}/report.html")
    page.goto("about:blank")
    page.set_content(file.text())
    assert page.locator("#report").count() == 1
    return faults(page)


def test_every_page_can_be_used_by_all_on_a_wide_screen(
    filled: Filled, visits: Visits, engine: Engine
) -> None:
    known, found = addresses(filled, engine), {}
    assert known.keys() == page_routes()
    page = visits(filled.url, viewport={"width": 1280, "height": HEIGHT})
    for path in chain.from_iterable(known.values()):
        told = looked_at(page, path)
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": HEIGHT})
            told += [f"{width}: {one}" for one in across(page)]
        page.set_viewport_size({"width": 1280, "height": HEIGHT})
        if told:
            found[path] = told
    assert found == {}
    assert page.evaluate(STORED) == []
    assert exported(page, known) == []


def test_every_page_can_be_used_by_all_on_a_phone_in_the_dark(
    filled: Filled, visits: Visits, engine: Engine
) -> None:
    known, found = addresses(filled, engine), {}
    size = {"width": 390, "height": HEIGHT}
    page = visits(filled.url, color_scheme="dark", reduced_motion="reduce", viewport=size)
    for path in chain.from_iterable(known.values()):
        if told := looked_at(page, path) + small(page) + still(page):
            found[path] = told
    assert found == {}
    assert page.evaluate(STORED) == []
    assert exported(page, known) == []


def saying(told: str) -> Callable[[ConsoleMessage], bool]:
    return lambda said: said.text.startswith(told)


def test_a_violation_and_a_request_to_elsewhere_are_counted(
    open_gateway: str, visits: Visits, complaints: list[str]
) -> None:
    """So that the windows of all these tests are known to listen."""
    page = visits(open_gateway)
    page.goto("/docs")
    for script, told in VIOLATIONS.items():  # a browser tells of them some time later
        with page.expect_console_message(saying(told)):
            page.evaluate(script)
    with page.expect_request("http://127.0.0.1:9/"), pytest.raises(Error):
        page.goto("http://127.0.0.1:9/")
    for told in (*VIOLATIONS.values(), "asks http"):
        assert any(one.startswith(told) for one in complaints), complaints
    complaints.clear()
