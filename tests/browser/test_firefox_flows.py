"""The flows by keyboard alone in Firefox, dark, wide and as narrow as its window gets."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import numpy as np
import pytest
from sqlalchemy import Engine

from bench.pages import PATH, fill
from shared.ledger.tables import DEFAULT_TENANT
from tests.browser.conftest import example, put
from tests.browser.firefox import Marionette, firefox, started
from tests.gateway.judged import make_batch, run_reports
from tests.gateway.pages.test_drift import beta, filled
from tests.gateway.results import a_report, a_result
from tests.patience import eventually
from tests.servers import finish_next

pytestmark = pytest.mark.nightly
WIDTHS = (1280, 500)
MOST_STOPS, MOST_OPTIONS = 400, 60
NAMED = re.compile("-results|judgements")  # files that are whole
FIND = """return ((css, text) => [...document.querySelectorAll(css)].find(one =>
  one.textContent.includes(text) && one.getClientRects().length) ?? null)"""
IS_HERE = f"{FIND}(arguments[0], arguments[1]) === document.activeElement"
WHERE = "return `its focus cannot be seen: ${document.activeElement.outerHTML}`"
SEEN = "return document.activeElement.matches(':focus-visible')"
VALUE = "return document.activeElement.value"
TEXT = f"{FIND}(arguments[0], '')?.textContent ?? ''"
ACROSS = "return document.documentElement.scrollWidth <= document.documentElement.clientWidth"


@dataclass(frozen=True)
class Visitor:
    """Whoever uses this window by keys alone. url: of the gateway; profile: where files come."""

    window: Marionette
    url: str
    profile: Path

    def goto(self, path: str) -> None:
        self.window.goto(f"{self.url}{path}")

    def press(self, *keys: str) -> None:
        self.window.press(*keys)

    def to(self, css: str, text: str = "", *, back: bool = False) -> None:
        for _ in range(MOST_STOPS):
            if self.window.run(IS_HERE, css, text):
                eventually(self._shows_focus, lambda: self.window.run(WHERE))
                return
            self.press("Shift+Tab" if back else "Tab")
        raise AssertionError(f"no key leads to {css} {text}")

    def _shows_focus(self) -> bool:
        """A download takes the focus of the window itself: it is given back."""
        if not self.window.run("return document.hasFocus()"):
            self.window.activate()
        return bool(self.window.run(SEEN))

    def follow(self, css: str, text: str = "", *, back: bool = False) -> None:
        """What is pressed there leads to another page."""
        self.to(css, text, back=back)
        self.leave("Enter")

    def leave(self, key: str) -> None:
        self.window.run("window.kept = true")
        self.press(key)
        new = "return window.kept === undefined && document.readyState === 'complete'"
        eventually(lambda: self.window.run(new))

    def write(self, css: str, text: str) -> None:
        self.to(css)
        self.press("Control+a", *text)

    def choose(self, css: str, value: str, *, back: bool = False) -> None:
        self.to(css, back=back)
        self.press("Home")
        for _ in range(MOST_OPTIONS):
            if self.window.run(VALUE) == value:
                return
            self.press("ArrowDown")
        raise AssertionError(f"{css} has no option {value}")

    def reads(self, css: str, text: str) -> None:
        """Sooner or later it says this, its scripts are there, and the page is no wider than its
        window."""
        eventually(lambda: text in self.window.run(TEXT, css), lambda: self.window.run(TEXT, css))
        eventually(lambda: self.window.run("return document.readyState === 'complete'"))
        assert self.window.run(ACROSS)

    def downloads(self, css: str, text: str) -> list[dict[str, str]]:
        for one in self.profile.glob("*.csv"):
            one.unlink()
        self.to(css, text)
        self.press("Enter")
        found = eventually(self._downloaded)
        return list(csv.DictReader(io.StringIO(found, newline="")))

    def _downloaded(self) -> str:
        """The whole file; while it is written it has another name."""
        whole = [one for one in self.profile.glob("*.csv") if NAMED.search(one.name)]
        if len(whole) != 1 or [*self.profile.glob("*.part")]:
            return ""
        return whole[0].read_text("utf-8")


@pytest.fixture(scope="module")
def window(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Marionette, Path]]:
    path = firefox()
    if path is None:
        pytest.skip("there is no Firefox here: install Debian's `firefox-esr`")
    profile = tmp_path_factory.mktemp("firefox")
    with started(path, profile, dark=True) as found:
        yield found, profile


@pytest.fixture
def visitors(window: tuple[Marionette, Path], open_gateway: str) -> Iterator[Visitor]:
    """The same visitor, on a wide and then on a narrow screen."""

    def walk() -> Iterator[Visitor]:
        for width in WIDTHS:
            window[0].resize(width, 900)
            yield Visitor(window[0], open_gateway, window[1])

    return walk()


def test_the_worst_lines_of_a_model_are_chosen_and_exported(
    engine: Engine, visitors: Iterator[Visitor]
) -> None:
    fill(engine, 200, a_report())
    for visitor in visitors:
        visitor.goto(PATH)
        visitor.press("/")
        visitor.choose("[name=verdict]", "problem_found", back=True)
        if not visitor.window.run("return document.querySelector('[role=search] details').open"):
            visitor.to("summary", "More filters")
            visitor.press("Enter")
        visitor.choose("[name=model]", "model 1")
        visitor.to("button", "Filter", back=True)
        visitor.press("Enter")
        visitor.reads(".chips", "of 200 lines:")
        visitor.to(".results .sort", "Score")
        visitor.press("Enter")
        visitor.reads("[aria-sort=ascending]", "Score")
        visitor.press("j", "x", "j", "x")
        found = visitor.downloads("button", "CSV")
        assert len(found) == 2
        assert {row["model"] for row in found} == {"model 1"}


def test_two_models_are_compared(engine: Engine, visitors: Iterator[Visitor]) -> None:
    random = np.random.default_rng(19)
    before = random.beta(3, 2, 100)
    after = np.clip(before + random.normal(0.1, 0.1, 100), 0, 1)
    old, _ = make_batch(engine, before.tolist())
    new, _ = make_batch(engine, after.tolist())
    names = [f"“batch …{one[-6:]}”" for one in (old, new)]
    for number, visitor in enumerate(visitors):
        visitor.goto("/compare")
        visitor.choose("#left", old)
        visitor.choose("#right", new)
        visitor.follow("button", "Compare")
        if not number:
            run_reports(engine)
        told = f"{names[1]} explains better than {names[0]} by 0."
        visitor.reads(".finding .first", told)
        visitor.follow("svg.density a")
        visitor.reads(".chips", "of 100 pairs")


def test_scores_are_disagreed_with_and_exported(
    engine: Engine, visitors: Iterator[Visitor], open_gateway: str
) -> None:
    batch_id, _ = make_batch(engine, [0.1, 0.9, 0.5])
    for visitor in visitors:
        with httpx.Client(base_url=open_gateway) as client:
            body = {"batch": batch_id, "name": "a look"}
            made = client.post("/v1/review-queues", json=body).raise_for_status().json()["id"]
        visitor.goto(f"/queues/{made}/judge")
        if "Who judges?" in visitor.window.run("return document.body.textContent"):
            visitor.write("#reviewer", "Ann")
            visitor.leave("Enter")
        for place in (1, 2):
            visitor.reads("main [role=status]", f"{place} of 3")
            visitor.press("d")
            visitor.reads("#news", "Show the texts first")
            visitor.press("t", "d")
            visitor.reads(".finding", "The metric says")
            if place == 1:
                visitor.press("ArrowRight")
        visitor.follow("a", "About this queue")
        assert [row["verdict"] for row in visitor.downloads("a", "CSV")] == ["disagree"] * 2


def test_a_text_is_changed_and_scored_again(engine: Engine, visitors: Iterator[Visitor]) -> None:
    job_id = put(engine, "hatexscore", "succeeded", example("hatexscore"), a_result(0.25))
    for visitor in visitors:
        visitor.goto(f"/jobs/{job_id}")
        visitor.follow("a", "Edit and score again")
        visitor.write("#explanation", "It is friendly.")
        visitor.follow("button[value=score]")
        finish_next(engine, a_result(0.875))
        visitor.reads("#versions", "the best has 0.875")


def test_the_week_is_seen(engine: Engine, visitors: Iterator[Visitor]) -> None:
    filled(engine, DEFAULT_TENANT, 20, beta(1, 500), "2.0")
    filled(engine, DEFAULT_TENANT, 2, beta(2, 500, 0.15), "2.0")
    for visitor in visitors:
        visitor.goto("/")
        visitor.follow("a", "Have they moved?")
        visitor.reads(".finding .first", "The mean has moved: it is")
        visitor.choose("[name=days]", "1")
        visitor.follow("button", "Compare")
        visitor.reads(".finding .first", "was scored in the last 1 day")
