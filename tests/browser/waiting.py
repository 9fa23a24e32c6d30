"""What a browser tells later: lists that its events fill, parts that a script swaps.

Both are waited for; the next line of a test is sooner than any of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from playwright.sync_api import Page, expect

from tests.patience import eventually

LOOK_MS = 20


def heard(page: Page, holds: Callable[[], object]) -> None:
    """Until this holds of what events bring; they come only while the browser is listened to."""

    def listened() -> bool:
        page.wait_for_timeout(LOOK_MS)
        return bool(holds())

    eventually(listened)


@contextmanager
def swapped(page: Page) -> Iterator[None]:
    """What is done in this block brings another content; it stands when the block is over."""
    with page.expect_response(lambda one: one.request.resource_type == "xhr"):
        yield
    expect(page.locator("main[aria-busy]")).to_have_count(0)
