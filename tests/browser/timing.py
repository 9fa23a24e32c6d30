"""How soon a page stands; one look at a busy machine says nothing, so several are taken."""

from __future__ import annotations

from playwright.sync_api import Page

from tests.patience import busy, looks

MOST_SECONDS = 1.0  # of an idle machine


def quick(page: Page) -> bool:
    """Whether this page stands soon, at the first look or when it is loaded anew."""
    for _ in looks(seconds=10):
        if spent(page) < MOST_SECONDS * busy():
            return True
        page.reload(wait_until="load")
    return False


def spent(page: Page) -> float:
    """Seconds from asking for the page that is open until it stood."""
    found: float = page.evaluate(
        "() => { const t = performance.getEntriesByType('navigation')[0];"
        " return (t.loadEventEnd - t.startTime) / 1000; }"
    )
    return found
