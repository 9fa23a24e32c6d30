"""`make pictures`: the README's pictures, of a running service with the example data."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import Page, ViewportSize, sync_playwright

from services.registry import metrics
from tests.browser.conftest import example, executable, screenshot_folder
from tests.end_to_end.service import ROOT, Service, serving

WINDOW = ViewportSize(width=1_080, height=1_000)
POSTS = ROOT / "examples" / "posts.jsonl"
WAIT = {"Prefer": "wait=30"}
COMPARED = "attention against gradient"  # the ICE example with two explanations


def main() -> int:
    """Start a service, score the examples, and take the pictures."""
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
        pages = _filled(service)
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = browser.new_page(base_url=service.url, viewport=WINDOW, color_scheme="light")
        for name, (address, heading) in pages.items():
            _take(page, address, heading, folder / f"{name}.png")
        browser.close()
    return 0


def _filled(service: Service) -> dict[str, tuple[str, str]]:
    """Score the examples; picture → the address that it shows, and the heading at its top."""
    with httpx.Client(base_url=service.url, timeout=120) as client:
        posts = [json.loads(line) for line in POSTS.read_text("utf-8").splitlines()]
        bodies = [
            {**post, "other_variants": True, "metadata": {"id": post["id"]}} for post in posts
        ]
        hatexscore, *_ = [_score(client, "hatexscore", body) for body in bodies]
        compared = metrics()["ice"].examples[COMPARED] | {"token_values": True}
        ice = _score(client, "ice", compared)
        _score(client, "ftc", example("ftc"))
    return {
        "overview": ("/", "Overview"),
        "hatexscore": (f"/jobs/{hatexscore}", "The text and what is quoted of it"),
        "ice": (f"/jobs/{ice}", "What it points at"),
    }


def _score(client: httpx.Client, metric: str, body: dict[str, Any]) -> str:
    body = {name: value for name, value in body.items() if name != "id"}
    job = client.post(f"/v1/scores/{metric}", json=body, headers=WAIT).raise_for_status().json()
    if job["status"] != "succeeded":
        raise RuntimeError(f"{metric} did not succeed: {job['error']}")
    return str(job["id"])


def _take(page: Page, address: str, heading: str, target: Path) -> None:
    page.goto(address)
    top = page.get_by_role("heading", name=heading, exact=True)
    reveal = page.get_by_role("button", name="Show texts")
    if reveal.is_visible():
        reveal.click()
    top.evaluate("one => one.tagName === 'H1' || one.scrollIntoView()")
    page.screenshot(path=str(target))


if __name__ == "__main__":
    sys.exit(main())
