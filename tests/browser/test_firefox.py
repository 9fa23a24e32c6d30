"""The pages in Firefox: nothing overflows, scripts run under the policy, flows work by keys."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest
from sqlalchemy import Engine

from bench.pages import PATH, fill
from tests.browser.conftest import Filled
from tests.browser.every_page import addresses
from tests.browser.firefox import Marionette, firefox, started
from tests.browser.test_try import TEXT
from tests.gateway.results import a_report
from tests.patience import eventually

WIDTHS = (500, 640, 1280)  # 500: as narrow as a window gets; 640: 1,280 at 200 % zoom


@pytest.fixture(scope="module")
def window(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Marionette]:
    """Firefox; without one these tests are skipped."""
    path = firefox()
    if path is None:
        pytest.skip("there is no Firefox here: install Debian's `firefox-esr`")
    profile: Path = tmp_path_factory.mktemp("firefox")
    with started(path, profile, dark=True) as found:
        yield found


@pytest.mark.nightly
def test_no_page_is_wider_than_its_window_and_scripts_run(
    window: Marionette, filled: Filled, engine: Engine
) -> None:
    faults = {}
    for path in chain.from_iterable(addresses(filled, engine).values()):
        window.goto(filled.url + path)
        assert window.run("return document.querySelectorAll('h1').length") == 1, path
        texts = window.run("return document.querySelector('.sensitive') !== null")
        assert window.run("return document.getElementById('reveal').hidden") is not texts, path
        for width in WIDTHS:
            window.resize(width, 900)
            over = (
                "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
            )
            if window.run(over) > 0:
                faults[path] = width
    assert faults == {}


def test_a_filter_is_swapped_in_and_the_way_back_works(
    window: Marionette, open_gateway: str, engine: Engine
) -> None:
    fill(engine, 200, a_report())
    window.goto(f"{open_gateway}{PATH}")
    window.run("window.kept = true; document.querySelector('[name=verdict]').value = 'not_tested'")
    window.run("document.querySelector('[role=search]').requestSubmit()")
    chips = "return document.querySelector('.chips').textContent"
    eventually(lambda: "67 of 200 lines" in window.run(chips))
    eventually(lambda: "verdict=not_tested" in window.run("return location.search"))
    assert window.run("return window.kept") is True  # the page itself stayed
    window.run("history.back()")
    eventually(lambda: "200 of 200 lines" in window.run(chips))


def test_selected_words_become_a_span(window: Marionette, open_gateway: str) -> None:
    window.goto(f"{open_gateway}/try?metric=ice&example=a quotation")
    window.run(
        """const text = document.getElementById("text"), at = arguments[0].indexOf("ruining");
        text.value = arguments[0];
        document.getElementById("rationale").value = "";
        text.setSelectionRange(at, at + 7);
        for (const one of document.querySelectorAll("button"))
          if (/as rationale/.test(one.textContent)) one.click();""",
        TEXT,
    )
    start = TEXT.index("ruining")
    told = window.run("return document.getElementById('rationale').value")
    assert told == f"{start}-{start + 7}"


def test_texts_are_blurred_until_asked_for_and_the_dark_sheet_holds(
    window: Marionette, filled: Filled
) -> None:
    window.goto(f"{filled.url}/jobs/{filled.jobs['hatexscore', 'succeeded']}")
    blur = "return getComputedStyle(document.querySelector('.sensitive')).filter"
    assert "blur" in window.run(blur)
    window.run("document.getElementById('reveal').click()")
    assert window.run(blur) == "none"
    paper = "return getComputedStyle(document.body).backgroundColor"
    assert window.run(paper) == "rgb(23, 23, 28)"
