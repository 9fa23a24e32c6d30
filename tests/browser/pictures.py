"""`make pictures`: the README's picture, of a running service with the example data.

It is the first screen of a job's page; it is an error if the verdict, the score or the evidence
lies below the fold.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import Page, ViewportSize, sync_playwright

from tests.browser.conftest import executable, screenshot_folder
from tests.end_to_end.load import finished
from tests.end_to_end.service import ROOT, Service, serving

WINDOW = ViewportSize(width=1_080, height=1_000)
POSTS = ROOT / "examples" / "posts.jsonl"
URL = "/v1/scores/hatexscore"
FIRST = (".finding .headline", ".score .figure", "mark.mark-quote")


def main() -> int:
    """Start a service, score the examples, and take the picture."""
    path = executable()
    if path is None:
        sys.exit("there is no Chromium here: install Debian's `chromium`")
    folder = screenshot_folder()
    folder.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as var,
        serving(Path(var)) as service,
        sync_playwright() as playwright,
    ):
        address = _scored(service)
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = browser.new_page(base_url=service.url, viewport=WINDOW, color_scheme="light")
        _take(page, address, folder / "hatexscore.png")
        browser.close()
    return 0


def _scored(service: Service) -> str:
    """Score the examples; return the page of the first one that holds up."""
    with httpx.Client(base_url=service.url, timeout=120) as client:
        posts = [json.loads(line) for line in POSTS.read_text("utf-8").splitlines()]
        bodies = [{**post, "metadata": {"id": post["id"]}} for post in posts]
        jobs = (finished(client, URL, _body(body)) for body in bodies)
        return f"/jobs/{next(one['id'] for one in jobs if one['result']['verdict'] == 'holds_up')}"


def _body(post: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in post.items() if name != "id"}


def _take(page: Page, address: str, target: Path) -> None:
    """Raises RuntimeError where what must be seen first lies below the fold."""
    page.goto(address)
    for selector in FIRST:
        page.wait_for_selector(selector)
    reveal = page.get_by_role("button", name="Show texts")
    if reveal.is_visible():
        reveal.click()
    for selector in FIRST:
        box = page.locator(selector).first.bounding_box()
        if box is None or box["y"] + box["height"] > WINDOW["height"]:
            raise RuntimeError(f"{selector} of {address} lies below the fold")
    page.screenshot(path=str(target))


if __name__ == "__main__":
    sys.exit(main())
