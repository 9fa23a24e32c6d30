"""How soon a page stands: told in the run's summary beside what it may take. No test fails by a
clock; what a page costs wherever it is shown is its bytes and its elements."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page

MOST_MS = 1_000  # of an idle machine

Record = Callable[[str, object], None]  # pytest's record_property


def tell(page: Page, name: str, record: Record) -> None:
    """Milliseconds from asking for the page that is open until it stood."""
    took = page.evaluate(
        "() => { const t = performance.getEntriesByType('navigation')[0];"
        " return t.loadEventEnd - t.startTime; }"
    )
    record("budget", f"{name}: {took:.0f} of {MOST_MS} ms")


def elements(page: Page) -> int:
    return page.locator("*").count()
