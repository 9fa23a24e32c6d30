"""Comparing and judging in a real browser: by links and forms alone, and by keyboard alone."""

from __future__ import annotations

import re

import httpx
from playwright.sync_api import Page, expect
from sqlalchemy import Engine

from tests.browser.conftest import Visits
from tests.browser.keyboard import faults, screens
from tests.gateway.judged import make_batch, run_reports
from tests.gateway.pages.test_pages import created

OLD = [0.2, 0.3, 0.5, 0.9, 0.1, 0.4, 0.6, None]
NEW = [0.5, 0.6, 0.8, 0.95, 0.5, 0.8, None, 0.7]


def test_two_batches_are_compared_without_javascript(
    open_gateway: str, engine: Engine, visits: Visits
) -> None:
    old, new = make_batch(engine, OLD)[0], make_batch(engine, NEW)[0]
    page = visits(open_gateway, java_script_enabled=False)
    page.goto("/compare")
    page.locator("#baseline").select_option(old)
    page.locator("#new").select_option(new)
    page.get_by_role("button", name="Compare").click()
    expect(page.locator("#live")).to_contain_text("is being computed")
    run_reports(engine)
    page.reload()
    expect(page.locator(".finding")).to_contain_text("0.292 higher")
    page.get_by_role("link", name=re.compile("from problem_found to not_tested")).click()
    expect(page.locator(".pair")).not_to_have_count(0)
    page.locator("a.chip").click()
    page.get_by_label("Right minus left, from").fill("0.35")
    page.get_by_label("Left verdict").select_option("problem_found")
    page.get_by_role("button", name="Filter").click()
    expect(page.locator(".chips")).to_contain_text("1 of 8 pairs")
    expect(page.locator(".pair")).to_have_count(1)
    expect(page.get_by_label("Right minus left, from")).to_have_value("0.35")
    page.get_by_role("link", name="swap the sides").click()
    page.get_by_role("button", name="Compute the comparison").click()
    expect(page.locator("#live")).to_contain_text("is being computed")
    run_reports(engine)
    page.reload()
    expect(page.locator(".finding")).to_contain_text("0.292 lower")


def judge_by_keys(page: Page, place: int, key: str) -> None:
    """One line, from hidden texts to the next one."""
    expect(page.locator("[data-key=a]")).to_be_visible()
    expect(page.locator(".finding")).to_have_count(0)
    expect(page.locator("html:not([data-revealed])")).to_have_count(1)  # a new line
    page.wait_for_load_state()  # before its script runs no key does anything
    page.keyboard.press("t")
    mark_by_keys(page, place)
    page.keyboard.press("4")
    page.keyboard.press(key)
    expect(page.locator(".finding")).to_contain_text("The metric says")
    expect(page.locator("html[data-revealed]")).to_have_count(1)  # one sees what one judged
    page.wait_for_load_state()
    expect(page.get_by_role("link", name="Next line")).to_be_focused()
    if not place:  # a key that does nothing here says why
        page.keyboard.press("a")
        expect(page.locator(".told")).to_contain_text("This line has your answer")
    page.keyboard.press("Enter" if not place else "ArrowRight")


def test_lines_are_judged_by_keyboard_alone(
    open_gateway: str, engine: Engine, visits: Visits
) -> None:
    batch_id, _ = make_batch(engine, [*OLD, *NEW[:4]])
    with httpx.Client(base_url=open_gateway) as client:
        rubric = ["agree", "score", "spans", "note"]
        body = {"batch": batch_id, "name": "first look", "rubric": rubric}
        queue = client.post("/v1/review-queues", json=body).raise_for_status().json()
        page = visits(open_gateway)
        page.goto(f"/queues/{queue['id']}/judge")
        page.keyboard.press("Tab")
        page.locator("#reviewer").press_sequentially("Ann")
        page.keyboard.press("Enter")
        for place, key in enumerate(TEN):
            judge_by_keys(page, place, key)
        progress = page.locator("main [role=status]", has_text="of 12")
        expect(progress).to_contain_text("11 of 12")
        page.wait_for_load_state()
        expect(page.locator(".told")).to_have_count(0)
        page.keyboard.press("z")
        expect(progress).to_contain_text("10 of 12")
        page.wait_for_load_state()
        with page.expect_navigation():
            page.keyboard.press("s")
        page.keyboard.press("t")
        expect(page.locator("#reveal")).to_have_text("Hide texts")
        page.keyboard.press("?")
        expect(page.locator("#keys")).to_be_visible()
        listed = page.locator("#keys dt").all_inner_texts()
        assert {one.strip() for one in listed} >= set("adsuznmt12345")
        assert not {one.strip() for one in listed} & {"j", "k", "x", "e", "/"}
        expect(page.locator("#keys dd", has_text="undo the last answer")).to_have_count(1)
        said = client.get("/v1/judgements", params={"queue": queue["id"]}).json()["data"]
    verdicts = {"a": "agree", "d": "disagree", "u": "unsure"}
    kept = said[::-1]  # in the order in which they were given, the last one undone
    assert [one["verdict"] for one in kept] == [verdicts[key] for key in TEN[:-1]]
    assert {(one["human_score"], one["blind"]) for one in said} == {(0.75, True)}
    written, selected = (one["spans"] for one in kept[:2])
    assert [(one["of"], one["end"] - one["start"]) for one in written] == [
        ("text", len("friendly"))
    ]
    assert [(one["of"], one["end"] - one["start"]) for one in selected] == [
        ("explanation", len("greets its"))
    ]


TEN = "adudddaadu"  # answers


def mark_by_keys(page: Page, place: int) -> None:
    """The first time words are written, then they are selected; later nothing is."""
    if place == 0:
        page.keyboard.press("m")
        page.keyboard.type("friendly")
        page.keyboard.press("Tab")
    elif place == 1:
        page.evaluate(SELECT, ["explanation", " greets its "])
        page.keyboard.press("m")
        expect(page.locator(".marked li bdi")).to_have_text("greets its")


SELECT = """([name, words]) => {
  const block = document.querySelector(`.block[data-of=${name}]`);
  const range = document.createRange();
  const first = block.textContent.indexOf(words), ends = [first, first + words.length];
  const walker = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
  for (let passed = 0, text; (text = walker.nextNode()); passed += text.length) {
    const [start, end] = ends.map((place) => place - passed);
    if (start >= 0 && start <= text.length) range.setStart(text, start);
    if (end > 0 && end <= text.length) range.setEnd(text, end);
  }
  getSelection().removeAllRanges();
  // the page is told of it some time later
  const told = new Promise((done) => {
    document.addEventListener("selectionchange", done, { once: true });
  });
  getSelection().addRange(range);
  return told.then(() => null);
}"""


def test_they_can_be_used_by_all_on_any_screen(
    open_gateway: str, engine: Engine, visits: Visits
) -> None:
    old, new = make_batch(engine, OLD)[0], make_batch(engine, NEW)[0]
    asked = {
        "batch": old,
        "name": "first look",
        "rubric": ["agree", "score", "label", "spans", "note"],
    }
    with httpx.Client(base_url=open_gateway) as client:
        queue = client.post("/v1/review-queues", json=asked).raise_for_status().json()["id"]
        lease, ann = f"/v1/review-queues/{queue}/lease", {"reviewer": "Ann"}
        job = client.post(lease, json=ann).json()["item"]["job_id"]
        said = {"verdict": "agree", "reviewer": "Ann", "queue": queue}
        client.post("/v1/judgements", json={"job_id": job} | said).raise_for_status()
        client.post(lease, json=ann)
        created(client, f"/queues/{queue}")
        compared = f"/compare?baseline={old}&new={new}"
        created(client, compared)
    run_reports(engine)
    for scheme, viewport in screens():
        page = visits(open_gateway, color_scheme=scheme, viewport=viewport)
        page.goto(f"/queues/{queue}/judge")
        page.locator("#reviewer").fill("Ben")
        page.keyboard.press("Enter")
        expect(page.locator("[data-key=a]")).to_be_visible()
        progress = page.locator("main [role=status]", has_text=" of 8")
        expect(progress).to_contain_text("1 of 8")  # though two of them are with Ann
        expect(progress).to_contain_text("2 are assigned to or judged by other people")
        paths = (page.url, compared, f"/queues/{queue}", f"/queues?batch={old}", "/compare")
        for path in paths:
            page.goto(path)
            page.evaluate(OPEN)
            assert faults(page) == [], path


OPEN = "document.querySelectorAll('details').forEach(one => { one.open = true })"
