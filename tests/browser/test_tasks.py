"""The tasks of an analyst, each within a number of clicks, on a wide screen and on a phone."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass

import httpx
import pytest
from playwright.sync_api import Locator, Page, ViewportSize, expect
from sqlalchemy import Engine, text

from services.registry import fact_plan, service
from shared.contracts.checks import route_of
from shared.ledger import result_facts
from shared.models import ports
from shared.process.settings import Settings
from shared.worker import tasks
from tests.batches import WorkedScene, line
from tests.browser.conftest import Visits
from tests.browser.keyboard import grave
from tests.gateway.judged import make_batch, run_reports
from tests.shipped import shipped_models

WIDE, PHONE = ViewportSize(width=1280, height=800), ViewportSize(width=390, height=844)
SCREENS = [pytest.param(WIDE, id="wide"), pytest.param(PHONE, id="phone")]
LINES = 300
MIXED = (  # verdict, problem, reason for no test, lines
    ("problem_found", "opposite-decision", None, 7),
    ("problem_found", "misquoted", None, 43),
    ("problem_found", "group-not-named", None, 40),
    ("not_tested", None, "too-few-places", 40),
    ("not_tested", None, "language-undecided", 18),
    ("not_tested", None, "model-disagrees", 2),
    ("holds_up", None, None, 150),
)
THREE_CLASSES = """post,reason,decision
You people are vermin and should leave.,"It calls people ""vermin"". Conclusion: hateful.",hateful
You people are idiots and should go.,"It says ""idiots"". Conclusion: offensive.",offensive
You people are welcome and should stay.,"It greets people. Conclusion: normal.",normal
"""
TABLE = "post,reason,decision,model\n" + "a text,it is hateful,hateful,hermes\n" * 2


@dataclass
class Analyst:
    """A visitor whose clicks are counted."""

    page: Page
    clicks: int = 0

    def click(self, where: Locator) -> None:
        where.click()
        self.clicks += 1

    def choose(self, where: Locator, value: str) -> None:
        where.select_option(value)
        self.clicks += 1


@pytest.fixture(params=SCREENS)
def analyst(request: pytest.FixtureRequest, open_gateway: str, visits: Visits) -> Analyst:
    return Analyst(visits(open_gateway, viewport=request.param))


@pytest.fixture
def mixed(engine: Engine) -> str:
    """The address of a batch of 300 lines with every kind of result."""
    path = f"/batches/{make_batch(engine, [0.1 + 0.8 * n / LINES for n in range(LINES)])[0]}"
    with engine.begin() as connection:
        result_facts.write_of_lines(connection, fact_plan, LINES)
    first = 1
    change = text(
        "UPDATE result_facts SET verdict = :verdict, reasons = :problems, facets = :facets, "
        "surprise = :surprise, metadata = jsonb_build_object('target', CAST(:target AS text)) "
        "WHERE batch_id = :batch AND line >= :first"
    )
    with engine.begin() as connection:
        for place, (verdict, problem, why, lines) in enumerate(MIXED):
            connection.execute(
                change,
                {
                    "verdict": verdict, "problems": [problem] if problem else [],
                    "facets": [f"untested={why}"] * bool(why)
                    + [f"route={route_of(verdict, [problem or ''])}"], "surprise": place,
                    "target": "Women, Islam" if place % 2 else "Women",
                    "batch": path.rpartition("/")[2], "first": first,
                },
            )  # fmt: skip
            first += lines
    return path


def bottom(where: Locator) -> float:
    box = where.bounding_box()
    assert box is not None
    return box["y"] + box["height"]


def test_the_first_screen_answers(analyst: Analyst, mixed: str) -> None:
    page = analyst.page
    page.goto(mixed)
    expect(page.locator("#finding")).to_have_text(
        "We checked 240 of 300 explanations: 150 hold up and 90 have a problem (7 say the opposite "
        "of the decision)."
    )
    for words, lines in (
        ("150 hold up", 150),
        ("90 have a problem", 90),
        ("7 say the opposite", 7),
    ):
        link = page.locator("#finding a", has_text=words)
        answer = page.request.get(link.get_attribute("href") or "").text()
        assert f"{lines} of {LINES} lines" in answer
    expect(page.locator(".actions ul").first.locator("li").first).to_have_text(
        "7: says the opposite"
    )
    expect(page.locator(".actions ul").first.locator("li")).to_have_count(3)
    expect(page.locator(".actions form")).to_have_count(2)  # no other judge is configured
    assert grave(page) == []
    rows = page.locator(".results tbody tr")
    if page.viewport_size == WIDE:
        assert bottom(page.locator(".actions form").last) <= WIDE["height"]
        assert bottom(rows.nth(1)) <= WIDE["height"]
    else:
        assert bottom(rows.first) <= 2.2 * PHONE["height"]


def test_the_worst_lines_say_why_without_a_click(analyst: Analyst, mixed: str) -> None:
    page = analyst.page
    page.goto(mixed)
    rows = page.locator(".results tbody tr")
    for place in range(7):
        expect(rows.nth(place)).to_contain_text("Says the opposite")
    expect(rows.nth(0)).to_contain_text("non-hateful")
    expect(rows.nth(0).locator(".said")).to_contain_text("greets its readers")
    expect(rows.nth(7)).to_contain_text("Misquotes the post")
    assert analyst.clicks == 0


def test_the_share_that_misquotes_leads_to_its_lines(analyst: Analyst, mixed: str) -> None:
    page = analyst.page
    page.goto(mixed)
    analyst.click(page.get_by_role("link", name="43: misquotes the post"))
    expect(page.locator(".chips")).to_contain_text("43 of 300 lines")
    expect(page.locator("#finding")).to_contain_text("We checked 43 of the 43")
    assert analyst.clicks == 1


def test_lines_are_worked_through_by_failure(analyst: Analyst, mixed: str) -> None:
    page = analyst.page
    page.goto(mixed)
    failures = page.get_by_role("navigation", name="Lines by failure")
    analyst.click(failures.get_by_role("link", name="43 × misquotes the post"))
    expect(page.locator(".chips")).to_contain_text("43 of 300 lines")
    analyst.click(failures.get_by_role("link", name="40 × group missing"))  # not within the last
    expect(page.locator(".chips")).to_contain_text("40 of 300 lines")
    analyst.click(page.locator(".results tbody th a").first)
    desk = page.locator("#desk")
    desk.get_by_label("Your name").fill("Ann")
    analyst.click(desk.get_by_role("button", name="Show texts"))
    analyst.click(desk.get_by_role("button", name="Misquotes the post"))
    expect(desk.locator("[role=status]")).to_have_text("Your answer: disagree, misquotes the post.")
    assert grave(page) == []
    assert analyst.clicks == 5


@pytest.fixture
def worker(open_gateway: str, engine: Engine, _settings: Settings) -> Iterator[WorkedScene]:
    """Validates and scores what is uploaded."""
    ports.bind(shipped_models())
    tasks.register(service("hatexscore"))
    with httpx.Client(base_url=open_gateway) as client:
        yield WorkedScene(client, engine, _settings)
    ports.bind(None)


def scored_batch(page: Page, worker: WorkedScene) -> str:
    """The path of the batch whose page is shown, after it has been scored."""
    expect(page.locator("h1")).to_contain_text("Batch")
    path = page.url.partition("/batches/")[2].partition("?")[0]
    assert worker.finish({"id": path})["status"] == "completed"
    return f"/batches/{path}"


def test_an_uploaded_third_class_is_mapped(analyst: Analyst, worker: WorkedScene) -> None:
    page = analyst.page
    page.goto("/batches/new")
    page.get_by_label("Or paste rows").fill(THREE_CLASSES)
    analyst.click(page.get_by_role("button", name="Next: choose columns"))
    analyst.click(page.get_by_role("button", name="Score 3 lines"))
    page.goto(scored_batch(page, worker))
    form = page.locator(".actions li", has_text="1: judge has no such label: offensive")
    form.get_by_label("Count offensive as").select_option("hateful")
    assert grave(page) == []
    analyst.click(form.get_by_role("button", name="Score this line again"))
    page.goto(scored_batch(page, worker))
    expect(page.locator(".results tbody tr")).to_have_count(1)
    expect(page.locator(".actions")).not_to_contain_text("judge has no such label")
    assert analyst.clicks == 3
    page.locator(".results tbody th a").click()
    expect(page.locator("#desk mark", has_text="idiots")).to_have_count(2)  # in both texts


def test_a_running_batch_shows_what_is_scored_so_far(analyst: Analyst, worker: WorkedScene) -> None:
    page = analyst.page
    lines = [line(f"post-{number}", f"A fine post, number {number}.") for number in range(3)]
    made = worker.read(worker.make(lines))
    page.goto(f"/batches/{made['id']}")
    expect(page.locator(".note")).to_contain_text("This batch is waiting ")
    worker.feeder(batch_window=2).round()
    worker.work()
    worker.feeder(batch_window=2).round()  # the page hears of it
    expect(page.get_by_role("region", name="Results so far")).to_contain_text("of 2 explanations")
    expect(page.get_by_role("link", name="post-0")).to_be_visible()
    assert grave(page) == []
    assert analyst.clicks == 0


def test_the_answer_follows_a_group(analyst: Analyst, mixed: str) -> None:
    page = analyst.page
    page.goto(mixed)
    analyst.click(page.locator("[role=search] summary"))
    target = page.locator("select[name=meta]")
    analyst.choose(target, "target=Islam")
    analyst.click(page.get_by_role("button", name="Filter"))
    expect(page.locator("#finding")).to_contain_text("We checked 43 of the 85")
    assert analyst.clicks == 3


def test_lines_in_no_known_language_are_scored_again(analyst: Analyst, mixed: str) -> None:
    page = analyst.page
    page.goto(mixed)
    form = page.locator("form", has=page.get_by_label("These lines are in"))
    form.get_by_label("These lines are in").fill("en")
    analyst.click(form.get_by_role("button", name="Score again"))
    expect(page.locator("h1")).to_contain_text("Batch")
    expect(page.locator("#live")).to_contain_text("validating")
    assert analyst.clicks == 1


def test_short_posts_are_left_out(analyst: Analyst, mixed: str) -> None:
    page = analyst.page
    page.goto(mixed)
    analyst.click(page.get_by_role("button", name="Leave these lines out"))
    expect(page.locator("#finding")).to_contain_text("We checked 240 of the 260")
    assert analyst.clicks == 1


def test_a_line_is_disagreed_with_and_the_judgement_exported(analyst: Analyst, mixed: str) -> None:
    page = analyst.page
    page.goto(mixed)
    analyst.click(page.locator(".results tbody th a").first)
    desk = page.locator("#desk")
    desk.get_by_label("Your name").fill("Ann")
    analyst.click(desk.get_by_role("button", name="Show texts"))
    analyst.click(desk.get_by_role("button", name="Disagree"))
    expect(desk.locator("[role=status]")).to_have_text("Your answer: disagree.")
    size = page.viewport_size
    is_sheet = size is not None and size["width"] == PHONE["width"]  # it covers the page's links
    if is_sheet:
        analyst.click(desk.locator("[data-shut]").first)
    with page.expect_download() as download:
        analyst.click(
            page.locator("li", has_text="Judgements").get_by_role("link", name="CSV").first
        )
    with download.value.path().open(encoding="utf-8") as file:
        assert [row["verdict"] for row in csv.DictReader(file)] == ["disagree"]
    assert analyst.clicks == 4 + is_sheet


def test_the_natural_table_is_scored(analyst: Analyst) -> None:
    page = analyst.page
    page.goto("/batches/new")
    page.get_by_label("Or paste rows").fill(TABLE)
    analyst.click(page.get_by_role("button", name="Next: choose columns"))
    analyst.click(page.get_by_role("button", name="Score 2 lines"))
    expect(page.locator("h1")).to_contain_text("pasted.csv")
    assert analyst.clicks == 2


def test_two_systems_are_decided_on(analyst: Analyst, engine: Engine) -> None:
    page = analyst.page
    old, new = (make_batch(engine, [0.5, 0.5, 0.6, value])[0] for value in (0.4, 0.5))
    page.goto("/compare")
    analyst.choose(page.locator("#baseline"), old)
    analyst.choose(page.locator("#new"), new)
    analyst.click(page.get_by_role("button", name="Compare"))
    run_reports(engine)
    expect(page.locator(".finding .first")).to_contain_text("No clear difference between")
    assert grave(page) == []
    assert analyst.clicks == 3


def test_a_link_shows_a_colleague_the_same_lines(
    analyst: Analyst, mixed: str, open_gateway: str, visits: Visits
) -> None:
    page = analyst.page
    page.goto(f"{mixed}?reason=misquoted&sort=score")
    other = visits(open_gateway)
    other.goto(page.url)
    shown = [one.locator(".results tbody th").all_inner_texts() for one in (page, other)]
    assert shown[0] == shown[1]
    assert len(shown[0]) == 43
