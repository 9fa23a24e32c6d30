"""What tells a page that it should be fetched again."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator

import httpx
import pytest

from services.gateway.pages import page_route
from services.gateway.pages.templates import STATIC, style_sheet
from services.registry import contracts
from shared.contracts.errors import Unavailable
from tests.gateway.test_scores import GOOD, URL

SHEETS = sorted(
    [path.name for path in STATIC.glob("*.css")]
    + [name for one in contracts() if style_sheet(name := f"{one}.css")]
)


def told(looks: list[str | Exception], seen: str, monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """What is sent for these looks, and then no more."""
    monkeypatch.setattr(page_route, "LOOK_SECONDS", 0.0)
    left: Iterator[str | Exception] = iter(looks)

    async def look() -> str:
        now = next(left, None)
        if now is None:
            monkeypatch.setattr(page_route, "LONGEST_SECONDS", 0.0)
            return str(looks[-1])
        if isinstance(now, Exception):
            raise now
        return now

    async def gather() -> list[bytes]:
        return [one async for one in page_route.changes(look, seen).body_iterator]  # type: ignore[misc]

    return [one for one in asyncio.run(gather()) if b"changed" in one]


def test_a_change_since_the_page_was_made_is_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(told(["b", "b"], "a", monkeypatch)) == 1


def test_no_change_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    assert told(["a", "a", "a"], "a", monkeypatch) == []


def test_every_change_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(told(["a", "b", "b", "a"], "a", monkeypatch)) == 2


def test_a_ledger_that_is_away_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    away = Unavailable("away")
    assert len(told([away, away, "b", away, "b"], "a", monkeypatch)) == 1


def test_the_overview_names_its_digest_and_is_told_of_a_change(client: httpx.Client) -> None:
    found = re.search(r'data-live="(/live\?seen=[0-9a-f]{64})"', client.get("/").text)
    assert found is not None
    client.post(URL, json=GOOD)  # between rendering and opening
    with client.stream("GET", found[1]) as stream:
        lines = (line for line in stream.iter_lines() if line.startswith("event"))
        assert next(lines) == "event: changed"


def test_a_job_says_its_state_in_words_outside_of_what_is_replaced(client: httpx.Client) -> None:
    job = client.post(URL, json=GOOD).json()
    html = client.get(f"/jobs/{job['id']}").text
    assert 'data-said="The job waits for a worker."' in html
    assert html.index('role="status"') < html.index('id="live"')
    assert "aria-live" not in html


@pytest.mark.parametrize("sheet", SHEETS)
def test_nothing_moves_by_itself(sheet: str) -> None:
    rules = (style_sheet(sheet) or STATIC / sheet).read_text("utf-8")
    still = re.sub(r"@media \(prefers-reduced-motion.*?\n}\n", "", rules, flags=re.DOTALL)
    assert re.findall(r"@keyframes|animation|transition|scroll-behavior", still) == []
