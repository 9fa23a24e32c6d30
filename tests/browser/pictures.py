"""`make pictures`: the README's pictures, of a running service with the example data.

Each is the first screen of a page; it is an error if the verdict, the score or the evidence lies
below the fold.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import Page, ViewportSize, sync_playwright

from services.registry import metrics, page_details
from shared.contracts.fields import merge_fields
from tests.browser.conftest import example, executable, screenshot_folder
from tests.end_to_end.load import finished
from tests.end_to_end.service import ROOT, Service, serving
from tests.patience import eventually

WINDOW = ViewportSize(width=1_080, height=1_000)
POSTS = ROOT / "examples" / "posts.jsonl"
URL = "/v1/scores/hatexscore"
JOB = (".finding .headline", ".score .figure")
COMPARED = "LIME against attention"  # the ICE example with two explanations


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
        for name, shown in pages.items():
            _take(page, shown, folder / f"{name}.png")
        browser.close()
    return 0


@dataclass(frozen=True)
class Shown:
    """An address, and the CSS selectors of what its first screen must show."""

    address: str
    first: tuple[str, ...]


def _filled(service: Service) -> dict[str, Shown]:
    """Score the examples; picture → what it shows."""
    with httpx.Client(base_url=service.url, timeout=120) as client:
        posts = [json.loads(line) for line in POSTS.read_text("utf-8").splitlines()]
        bodies = [{**post, "metadata": {"id": post["id"]}} for post in posts]
        jobs = [_score(client, "hatexscore", body) for body in bodies]
        hatexscore = next(one["id"] for one in jobs if one["result"]["verdict"] == "holds_up")
        compared = merge_fields(metrics()["ice"].examples[COMPARED], page_details("ice"))
        ice = _score(client, "ice", compared)["id"]
        _score(client, "ftc", example("ftc"))
        whole = _batch(client, "whole explanations", posts)
        cut = [post | {"explanation": _first_sentence(post["explanation"])} for post in posts]
        first = _batch(client, "their first sentences", cut)
    return {
        "overview": Shown("/", (".trend .dot", "#recent-batches ~ .wide tbody tr")),
        "hatexscore": Shown(f"/jobs/{hatexscore}", (*JOB, "mark.mark-quote")),
        "ice": Shown(f"/jobs/{ice}", (*JOB, ".ice-heat")),
        "batch": Shown(
            f"/batches/{whole}", (".finding .first", ".actions li", ".results .snippet")
        ),
        "compare": Shown(
            f"/compare?left={first}&right={whole}", (".finding .first", "#parts ~ .wide tbody tr")
        ),
    }


def _first_sentence(explanation: str) -> str:
    return explanation.split(". ")[0].rstrip(".") + "."


def _batch(client: httpx.Client, name: str, posts: Sequence[dict[str, Any]]) -> str:
    """Scored to its end."""
    lines = [
        {"custom_id": post["id"], "method": "POST", "url": URL, "body": _body(post)}
        for post in posts
    ]
    file = client.post(
        "/v1/files",
        files={"file": ("posts.jsonl", "\n".join(json.dumps(line) for line in lines))},
        data={"purpose": "batch"},
    ).raise_for_status()
    asked = {"input_file_id": file.json()["id"], "endpoint": URL, "metadata": {"name": name}}
    asked |= {"completion_window": "24h"}
    made: str = client.post("/v1/batches", json=asked).raise_for_status().json()["id"]
    eventually(lambda: client.get(f"/v1/batches/{made}").json()["status"] == "completed", every=0.5)
    return made


def _body(post: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in post.items() if name != "id"}


def _score(client: httpx.Client, metric: str, body: dict[str, Any]) -> dict[str, Any]:
    return finished(client, f"/v1/scores/{metric}", _body(body))


def _take(page: Page, shown: Shown, target: Path) -> None:
    """Raises RuntimeError where what must be seen first lies below the fold."""
    page.goto(shown.address)
    for selector in shown.first:
        page.wait_for_selector(selector)
    reveal = page.get_by_role("button", name="Show texts")
    if reveal.is_visible():
        reveal.click()
    for selector in shown.first:
        box = page.locator(selector).first.bounding_box()
        if box is None or box["y"] + box["height"] > WINDOW["height"]:
            raise RuntimeError(f"{selector} of {shown.address} lies below the fold")
    page.screenshot(path=str(target))


if __name__ == "__main__":
    sys.exit(main())
