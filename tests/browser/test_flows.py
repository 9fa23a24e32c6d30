"""What analysts come for, each by keyboard alone, on a wide light and a narrow dark screen.

Whatever screen they see is clean for axe-core; nothing is cut, columns of numbers
are aligned.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from playwright.sync_api import Page, expect
from sqlalchemy import Engine, text

from bench.pages import PATH, fill
from shared.ledger.tables import DEFAULT_TENANT
from tests.browser.conftest import Visits, example, put
from tests.browser.keyboard import Keyboard, faults, screens
from tests.gateway.judged import make_batch, run_reports
from tests.gateway.pages.test_drift import beta, filled
from tests.gateway.results import a_report, a_result
from tests.servers import finish_next

REASON = "opposite-decision"
MARK = text(
    "UPDATE result_facts SET reasons = ARRAY[:reason], surprise = 0 "
    "WHERE line % 7 = 0 AND score IS NOT NULL"
)
WORST = text(
    "SELECT line FROM result_facts WHERE model = 'model 1' AND :reason = ANY(reasons) "
    "ORDER BY score, line LIMIT 10"
)


@pytest.fixture
def walks(open_gateway: str, visits: Visits) -> Iterator[Keyboard]:
    """A visitor on each screen in turn."""

    def walk() -> Iterator[Keyboard]:
        for scheme, viewport in screens():
            page: Page = visits(
                open_gateway, color_scheme=scheme, viewport=viewport, accept_downloads=True
            )
            yield Keyboard(page)

    return walk()


def rows_of(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text("utf-8"), newline="")))


@pytest.mark.full
def test_the_ten_worst_of_two_thousand_by_model_and_reason(
    engine: Engine, walks: Iterator[Keyboard]
) -> None:
    fill(engine, 2_000, a_report())
    with engine.begin() as connection:
        connection.execute(MARK, {"reason": REASON})
        worst = list(connection.execute(WORST, {"reason": REASON}).scalars())
    for keys in walks:
        page = keys.page
        page.goto(PATH)
        keys.press("/")
        keys.enter(page.get_by_role("link", name="× says the opposite"))
        expect(page.locator(".chips")).to_contain_text("problem: says the opposite")
        more = page.locator("summary", has_text="More filters")
        is_open = more.evaluate("one => one.parentElement.open")  # by "/", where it is narrow
        if not is_open:
            keys.enter(more)
        keys.choose(page.locator("[name=model]"), "model 1")
        keys.enter(page.get_by_role("button", name="Filter"), back=True)
        expect(page.locator(".chips")).to_contain_text("of 2\u202f000 lines:")
        keys.enter(page.locator(".results").get_by_role("link", name="Score, 0 to 1"))
        expect(page.locator("[aria-sort=ascending]")).to_have_count(1)
        for _ in worst:
            keys.press("j", "x")
        keys.press("t")
        assert faults(page) == []
        keys.to(page.get_by_role("button", name="CSV"))
        with page.expect_download() as download:
            keys.press("Enter")
        found = rows_of(download.value.path())
        assert sorted(int(row["line"]) for row in found) == sorted(worst)
        assert {row["judge_model"] for row in found} == {"model 1"}


@pytest.mark.full
def test_which_of_two_models_explains_better_and_how_sure(
    open_gateway: str, engine: Engine, walks: Iterator[Keyboard]
) -> None:
    random = np.random.default_rng(19)
    before = random.beta(3, 2, 300)
    after = np.clip(before + random.normal(0.05, 0.1, 300), 0, 1)
    old, _ = make_batch(engine, before.tolist())
    new, _ = make_batch(engine, after.tolist(), model="other")
    for number, keys in enumerate(walks):
        page = keys.page
        page.goto("/")
        keys.follow(page.get_by_role("link", name="Compare", exact=True))
        keys.choose(page.locator("#baseline"), old)
        keys.choose(page.locator("#new"), new)
        keys.follow(page.get_by_role("button", name="Compare"))
        if not number:
            expect(page.locator("#live")).to_contain_text("is being computed")
            run_reports(engine)
        finding = page.locator(".finding")
        expect(finding).to_contain_text("Over 300 pairs the mean score of")
        names = [f"“batch …{one[-6:]}”" for one in (old, new)]
        expect(finding).to_contain_text("95 % interval")
        expect(finding).to_contain_text(f"{names[1]} is better: its score is clearly better.")
        term = page.locator("button[popovertarget=term-words-paired]").first
        keys.enter(term)
        expect(page.locator("#term-words-paired")).to_be_visible()
        keys.press("Escape")
        expect(page.locator("#term-words-paired")).to_be_hidden()
        assert faults(page) == []
        keys.follow(page.locator("#verdicts ~ .wide a").first)
        expect(page.locator(".pair")).not_to_have_count(0)
        keys.write(page.get_by_label("Right minus left, from"), "0.01")
        keys.follow(page.get_by_role("button", name="Filter"))
        expect(page.locator(".chips")).to_contain_text("of 300 pairs")
        assert faults(page) == []
    with httpx.Client(base_url=open_gateway, timeout=60) as client:
        asked = {"batch": new, "against": {"batch": old}}
        told = (
            client.post("/v1/reports", json={"metric": "hatexscore"} | asked)
            .raise_for_status()
            .json()
        )
        run_reports(engine)
        found = client.get(f"/v1/jobs/{told['id']}").json()["result"]["comparison"]
    assert found["differences"][0]["difference"]["value"] > 0  # as on the page: new minus baseline


@pytest.mark.full
def test_five_scores_are_disagreed_with_and_the_judgements_exported(
    engine: Engine, walks: Iterator[Keyboard]
) -> None:
    batch_id, _ = make_batch(engine, [0.1, 0.9, 0.5, 0.7, 0.3, 0.8])
    for number, keys in enumerate(walks):
        page = keys.page
        page.goto(f"/batches/{batch_id}")
        keys.follow(page.locator("main").get_by_role("link", name="Judge", exact=True))
        keys.follow(page.get_by_role("button", name="60 random lines of this batch"))
        keys.follow(page.locator("main").get_by_role("link", name="Judge", exact=True))
        keys.write(page.locator("#reviewer"), f"Ann {number}")
        with page.expect_navigation(wait_until="load"):
            keys.press("Enter")
        for place in range(1, 6):
            status = page.locator("main [role=status]", has_text=" of 6")
            expect(status).to_contain_text(f"{place} of 6")
            expect(page.locator(".decision")).to_contain_text("non-hateful")
            keys.press("d")  # nobody judges what nobody has read
            expect(page.locator("#news")).to_contain_text("Show the texts first")
            expect(page.locator(".finding")).to_have_count(0)
            keys.press("t")
            if place == 1:
                assert faults(page) == []
            with page.expect_navigation(wait_until="load"):
                keys.press("d")
            expect(page.locator(".finding")).to_contain_text("The metric says")
            if place < 5:
                with page.expect_navigation(wait_until="load"):
                    keys.press("ArrowRight")
        keys.follow(page.get_by_role("link", name="About this queue"))
        assert faults(page) == []
        keys.to(page.get_by_role("link", name="CSV", exact=True))
        with page.expect_download() as download:
            keys.press("Enter")
        found = rows_of(download.value.path())
        assert [row["verdict"] for row in found] == ["disagree"] * 5
        assert {row["reviewer"] for row in found} == {f"Ann {number}"}


@pytest.mark.full
def test_a_text_is_changed_and_scored_again(engine: Engine, walks: Iterator[Keyboard]) -> None:
    job_id = put(engine, "hatexscore", "succeeded", example("hatexscore"), a_result(0.25))
    for number, keys in enumerate(walks):
        page = keys.page
        page.goto(f"/jobs/{job_id}")
        keys.follow(page.get_by_role("link", name="Edit and score again"))
        keys.write(page.locator("#explanation"), f"It is friendly, for {number + 1} reasons.")
        assert faults(page) == []
        keys.enter(page.get_by_role("button", name="Score", exact=True))
        expect(page.locator(".steps [aria-current=step]")).to_contain_text("queued")
        finish_next(engine, a_result(0.875))
        expect(page.locator("#versions")).to_contain_text("0.875")
        assert page.locator("ins").count() * page.locator("del").count()
        expect(page.get_by_role("region", name="Parts before and after")).to_contain_text("0.250")
        keys.press("t")
        assert faults(page) == []


def test_a_table_is_uploaded_with_its_columns_mapped(
    engine: Engine, walks: Iterator[Keyboard], tmp_path: Path, open_gateway: str
) -> None:
    table = tmp_path / "posts.csv"
    table.write_text("post;why;flag;market\na text;it is hateful;1;de\nanother;it is fine;0;fr\n")
    for keys in walks:
        page = keys.page
        # who waits for a dialog is told of it from a while later on only; here from the beginning
        page.on("filechooser", lambda _: None)
        page.goto("/")
        keys.press("g", "b")
        page.wait_for_url("**/batches")
        keys.follow(page.get_by_role("link", name="New batch"))
        keys.to(page.locator("#file"))
        with page.expect_file_chooser() as chooser:
            keys.press("Enter")
        chooser.value.set_files(table)
        keys.follow(page.get_by_role("button", name="Next: choose columns"))
        expect(page.locator("h1")).to_contain_text("New batch of hatexscore")
        keys.choose(page.locator("select[name='c.text']"), "post")
        keys.choose(page.locator("select[name='c.explanation']"), "why")
        keys.choose(page.locator("select[name='c.decision']"), "flag")
        again = page.get_by_role("button", name="Check again")
        keys.follow(again)
        keys.choose(page.locator("select[name='v.decision.1']"), "hateful")
        keys.choose(page.locator("select[name='v.decision.0']"), "non-hateful")
        keys.follow(again)
        expect(page.locator("pre").first).to_contain_text('"decision": "hateful"')
        assert faults(page) == []
        keys.follow(page.get_by_role("button", name="Score 2 lines"))
        expect(page.locator("h1")).to_contain_text("Batch posts.csv")
    with httpx.Client(base_url=open_gateway) as client:
        made = client.get("/v1/batches").json()["data"]
        content = client.get(f"/v1/files/{made[0]['input_file_id']}/content").text
    sent: list[dict[str, Any]] = [json.loads(line)["body"] for line in content.splitlines()]
    assert [one["decision"] for one in sent] == ["hateful", "non-hateful"]


@pytest.mark.full
def test_the_week_is_seen(engine: Engine, walks: Iterator[Keyboard]) -> None:
    filled(engine, DEFAULT_TENANT, 20, beta(1, 500), "2.0")
    filled(engine, DEFAULT_TENANT, 2, beta(2, 500, 0.15), "2.0")
    for keys in walks:
        page = keys.page
        page.goto("/")
        expect(page.locator("#scores")).to_be_visible()
        assert faults(page) == []
        keys.follow(page.get_by_role("link", name="Have the scores moved?"))
        finding = page.locator(".finding .first")
        expect(finding).to_contain_text("The mean has changed and is now")
        expect(finding).to_contain_text("higher than before")
        expect(page.get_by_role("region", name="Both windows of hatexscore m_1")).to_be_visible()
        keys.enter(page.locator("button[popovertarget=term-words-psi]"))
        expect(page.locator("#term-words-psi")).to_be_visible()
        keys.press("Escape")
        assert faults(page) == []
        keys.choose(page.locator("[name=days]"), "1")
        keys.follow(page.get_by_role("button", name="Compare"))
        expect(page.locator(".finding .first")).to_contain_text("was scored in the last 1 day")
