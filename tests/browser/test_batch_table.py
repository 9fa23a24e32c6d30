"""A batch's page in a real browser: bars and chips lead where they say, without JavaScript too."""

from __future__ import annotations

import re

import httpx
import pytest
from playwright.sync_api import Page, Route, ViewportSize, expect
from sqlalchemy import Engine

from bench.pages import PATH, fill
from tests.browser.conftest import Visits
from tests.browser.keyboard import PHONE, grave
from tests.browser.waiting import heard, swapped
from tests.gateway.judged import make_batch
from tests.gateway.results import a_report

LINES = 200


@pytest.fixture
def filled_batch(open_gateway: str, engine: Engine) -> str:
    """The gateway's address; behind it a batch of 200 results."""
    fill(engine, LINES, a_report())
    return open_gateway


def counted(page: Page) -> int:
    """How many lines the chips say that there are."""
    return int(page.locator(".chips").inner_text().split(" of ")[0].replace("\u202f", ""))


def test_it_works_without_javascript(filled_batch: str, visits: Visits) -> None:
    page = visits(filled_batch, java_script_enabled=False)
    page.goto(f"{PATH}/statistics")
    bar = page.locator("svg.histogram a").first
    said = int((bar.get_attribute("aria-label") or "").split()[0])
    bar.click()
    expect(page.locator("a.chip")).to_have_count(1)  # both bounds of the bin
    expect(page.locator(".results tbody tr")).to_have_count(min(said, 50))
    assert counted(page) == said
    page.locator("a.chip").click()
    expect(page.locator("a.chip")).to_have_count(0)
    expect(page.locator(".results tbody tr")).to_have_count(50)
    assert counted(page) == LINES
    page.get_by_role("link", name="Score, 0 to 1", exact=True).click()
    expect(page).to_have_url(re.compile("sort="))
    page.wait_for_load_state()
    first = page.locator(".results tbody tr").first.inner_text()
    page.get_by_role("link", name="Next lines").click()
    expect(page.locator(".results tbody tr").first).not_to_have_text(first, use_inner_text=True)
    page.wait_for_load_state()
    address = page.url
    shown = page.locator(".results tbody th").all_inner_texts()
    again = visits(filled_batch, java_script_enabled=False)
    again.goto(address)
    assert again.locator(".results tbody th").all_inner_texts() == shown
    page.go_back()
    expect(page.locator(".results tbody tr").first).to_have_text(first, use_inner_text=True)


def test_a_filter_form_keeps_the_view_and_lines_are_chosen(
    filled_batch: str, visits: Visits
) -> None:
    page = visits(filled_batch, java_script_enabled=False)
    page.goto(f"{PATH}?sort=line&desc=1")
    page.locator("select[name=verdict]").select_option("not_tested")
    page.get_by_role("button", name="Filter").click()
    expect(page.locator(".chips")).to_contain_text(f"67 of {LINES} lines")
    expect(page).to_have_url(re.compile("sort=line"))
    box = page.locator(".results input[name=line]").nth(1)
    chosen = box.get_attribute("value")
    box.check()
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV").click()
    lines = download.value.path().read_text("utf-8").splitlines()
    assert len(lines) == 2
    assert lines[1].split(",")[1] == chosen


def test_rows_are_walked_chosen_and_opened_by_keys(filled_batch: str, visits: Visits) -> None:
    page = visits(filled_batch)
    page.goto(PATH)
    boxes = page.locator(".results input[name=line]")
    for key in ("j", "j", "k", "j", "x"):
        page.keyboard.press(key)
    expect(boxes.nth(1)).to_be_checked()
    boxes.nth(4).click(modifiers=["Shift"])
    expect(page.locator(".results input[name=line]:checked")).not_to_have_count(0)
    page.keyboard.press("?")
    help_dialog = page.get_by_role("dialog")
    expect(help_dialog).to_be_visible()
    assert grave(page) == []
    help_dialog.get_by_role("checkbox").uncheck()
    page.keyboard.press("Escape")
    expect(help_dialog).to_be_hidden()
    page.keyboard.press("g")
    page.keyboard.press("h")
    expect(page).to_have_url(f"{filled_batch}{PATH}")  # they are switched off
    kept = page.evaluate("Object.keys({...localStorage, ...sessionStorage})")
    assert kept == ["touchstone-keys-off"]
    page.locator("input[name=text]").fill("j")
    expect(page.locator("input[name=text]")).to_have_value("j")


def test_a_field_is_left_and_files_are_found_by_keys(filled_batch: str, visits: Visits) -> None:
    page = visits(filled_batch)
    page.goto(PATH)
    page.keyboard.press("/")
    page.keyboard.type("xj")
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.keyboard.press("x")
    expect(page.locator(".results input[name=line]").first).to_be_checked()
    page.keyboard.press("e")
    expect(page.locator("#export button").first).to_be_focused()


def test_a_table_is_scored_as_it_is_chosen_without_showing_it_again(
    open_gateway: str, visits: Visits
) -> None:
    page = visits(open_gateway)
    page.goto("/batches/new")
    page.get_by_label("Or paste rows").fill("post\twhy\tflag\na text\tit is hateful\thateful\n")
    with page.expect_navigation(url="**/batches/new/*"):  # only its scripts swap it in place
        page.get_by_role("button", name="Next: choose columns").click()
    with swapped(page):
        page.get_by_role("button", name="Check again").click()
    expect(page.locator("#again")).to_be_focused()
    page.wait_for_url("**c.text=post**")
    assert "csrf" not in page.url
    page.locator("select[name='c.decision']").select_option("why")
    page.get_by_role("button", name="Score 1 line").click()
    expect(page.locator("#faults")).to_contain_text("1 line cannot be scored")
    page.locator("select[name='c.decision']").select_option("flag")
    expect(page.locator("#meanings legend")).to_contain_text("decision")
    expect(page.locator("#meanings")).to_contain_text("Sent as it is")
    with swapped(page):
        page.get_by_role("button", name="Check again").click()
    page.get_by_role("button", name="Score 1 line").click()
    expect(page.locator("h1")).to_contain_text("Batch pasted.csv")


def test_a_search_swaps_the_table_alone_and_back_works(filled_batch: str, visits: Visits) -> None:
    page = visits(filled_batch)
    page.goto(PATH)
    page.evaluate("window.stays = true")
    held: list[Route] = []
    page.route("**/batches/**", lambda route: held.append(route))
    page.get_by_label("Text contains").fill("number 199")
    page.get_by_role("button", name="Filter").click()
    expect(page.locator(".chips")).to_have_text(f"Searching {LINES} lines…")
    expect(page.locator("#items")).to_have_attribute("aria-busy", "true")
    heard(page, lambda: held)
    held[0].continue_()
    expect(page.locator(".results tbody tr")).to_have_count(1)
    expect(page.locator("#items")).not_to_have_attribute("aria-busy", "true")
    assert counted(page) == 1
    expect(page.locator("#news")).to_contain_text("1 of")
    expect(page).to_have_url(re.compile("text=number%20199"))
    page.unroute("**/batches/**")
    page.locator("a.chip").click()
    expect(page.locator(".results tbody tr")).to_have_count(50)
    page.get_by_role("link", name="Next lines").click()
    expect(page.get_by_role("link", name="First lines")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("link", name="First lines")).to_have_count(0)
    page.go_back()
    expect(page.locator(".results tbody tr")).to_have_count(1)
    assert page.evaluate("window.stays") is True
    assert page.evaluate("Object.keys(sessionStorage).concat(Object.keys(localStorage))") == []
    again = visits(filled_batch)
    again.goto(page.url)
    assert counted(again) == 1
    assert grave(page) == []


def test_a_narrow_window_folds_all_filters_into_a_button_with_their_count(
    filled_batch: str, visits: Visits
) -> None:
    page = visits(filled_batch, viewport=PHONE)
    page.goto(PATH)
    verdict, fold = page.locator("select[name=verdict]"), page.locator("[role=search] summary")
    expect(verdict).to_be_hidden()
    fold.click()
    verdict.select_option("not_tested")
    page.get_by_role("button", name="Filter").click()
    expect(page.locator(".chips")).to_contain_text("67 of 200 lines")
    fold.click()
    expect(verdict).to_be_hidden()
    expect(fold.locator(".narrow")).to_have_attribute("data-count", "1")
    expect(fold).to_have_text("Filters", use_inner_text=True)  # a style adds the count


@pytest.fixture
def row_batch(open_gateway: str, engine: Engine) -> tuple[str, str]:
    """The gateway's address, and that of a batch whose lines have jobs with texts."""
    return open_gateway, f"/batches/{make_batch(engine, [0.9, 0.2, 0.5])[0]}"


def _is_refused(page: Page) -> None:
    """Neither a key nor the mouse answers while the texts are hidden."""
    for by_key in (True, False):
        if by_key:
            page.keyboard.press("d")
        else:
            page.locator("#desk [data-key=d]").click()
        expect(page.locator(".told")).to_contain_text("Show the texts first")
        expect(page.locator(".told")).to_be_in_viewport(ratio=1)
        page.keyboard.press("Shift")
        expect(page.locator(".told")).to_have_count(0)


def test_a_line_opens_beside_the_list_and_is_judged_by_keys(
    row_batch: tuple[str, str], visits: Visits
) -> None:
    url, path = row_batch
    page = visits(url, viewport={"width": 1280, "height": 800})
    page.goto(f"{path}?sort=line")
    desk = page.locator("#desk")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(desk).to_contain_text("number 1")
    expect(desk).to_contain_text("Decision: non-hateful")
    page.keyboard.press("j")
    expect(desk).to_contain_text("number 2")
    assert page.url == f"{url}{path}?sort=line#line-2"
    for block in desk.locator(".sensitive").all():
        expect(block).to_have_css("filter", re.compile("blur"))
    post, explanation = (desk.locator("section").nth(place).bounding_box() for place in (0, 1))
    assert post is not None
    assert explanation is not None
    assert post["y"] == explanation["y"]  # side by side
    assert grave(page) == []
    _is_refused(page)
    expect(desk.locator("[role=status]")).to_have_text("Is the verdict right?")
    page.keyboard.press("t")
    row = page.locator(".results tbody tr").nth(1)
    before = row.evaluate("row => row.offsetHeight")
    page.keyboard.press("d")  # the first answer waits for the name
    page.keyboard.type("Ann")
    page.keyboard.press("Enter")
    expect(desk.locator("[role=status]")).to_have_text("Your answer: disagree.")
    expect(desk.locator("[data-next]")).to_be_in_viewport(ratio=1)
    expect(desk.locator("[role=status]")).to_be_in_viewport()
    expect(page.locator(".results tbody tr").nth(1).locator(".judged")).to_contain_text("✗ 1")
    page.keyboard.press("1")
    expect(desk.locator("[role=status]")).to_have_text("Your answer: disagree, says the opposite.")
    expect(row.locator(".judged")).to_be_in_viewport(ratio=1)
    assert row.evaluate("row => row.offsetHeight") <= before
    expect(desk.locator(".sensitive").first).to_have_css("filter", "none")  # texts stay shown
    page.keyboard.press("j")
    expect(desk).to_contain_text("number 3")
    page.keyboard.press("a")
    expect(desk.locator("[role=status]")).to_have_text("Your answer: agree.")
    page.keyboard.press("1")
    expect(desk.locator("[role=status]")).to_contain_text("agree, says the opposite.")
    page.reload()
    expect(desk).to_contain_text("number 3")
    expect(desk.locator("[role=status]")).to_have_text("Your answer: agree, says the opposite.")
    page.keyboard.press("Escape")
    expect(desk).to_be_empty()
    assert page.url == f"{url}{path}?sort=line"
    page.locator("select[name=verdict]").select_option("holds_up")
    page.get_by_role("button", name="Filter").click()
    expect(page.locator("#finding")).to_contain_text(
        "We checked 1 of the 1 line that matches the filters (of 3)"
    )
    expect(page.locator(".chips")).to_contain_text("1 of 3 lines")


def test_a_phone_opens_a_line_over_the_list_with_its_answers_in_view(
    row_batch: tuple[str, str], visits: Visits
) -> None:
    url, path = row_batch
    page = visits(url, viewport=PHONE)
    page.goto(f"{path}?sort=line")
    page.locator(".results tbody th a").first.click()
    for key in ("a", "d", "u"):
        expect(page.locator(f"#desk [data-key={key}]")).to_be_in_viewport(ratio=1)
    expect(page.locator("#desk [data-next]")).to_be_in_viewport(ratio=1)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert grave(page) == []


def give_name(page: Page) -> None:
    page.get_by_label("Your name").fill("Ann")
    page.get_by_label("Your name").press("Escape")


def test_a_key_judges_no_other_line_than_the_selected_one(
    row_batch: tuple[str, str], visits: Visits
) -> None:
    url, path = row_batch
    page = visits(url)
    page.goto(f"{path}?sort=line")
    page.locator(".results tbody th a").first.click()
    desk, status = page.locator("#desk"), page.locator("#desk [role=status]")
    expect(desk).to_contain_text("Line 1")
    page.keyboard.press("t")
    give_name(page)
    held: list[Route] = []
    page.route("**/*open=2", lambda route: held.append(route))
    page.keyboard.press("j")
    page.keyboard.press("u")
    expect(page.locator("#news")).to_have_text("Line 2 is not open yet. Press Enter to open it.")
    expect(page.locator("#news")).to_be_in_viewport(ratio=1)
    heard(page, lambda: held)
    held[0].continue_()
    expect(desk).to_contain_text("Line 2")
    expect(status).to_have_text("Is the verdict right?")
    give_name(page)
    page.keyboard.press("d")
    expect(status).to_have_text("Your answer: disagree.")
    given = httpx.get(f"{url}/v1/judgements").json()["data"]
    assert [one["verdict"] for one in given] == ["disagree"]


@pytest.mark.parametrize("size", [PHONE, {"width": 1280, "height": 800}])
def test_an_opened_line_is_seen_and_has_the_focus(
    open_gateway: str, engine: Engine, visits: Visits, size: ViewportSize
) -> None:
    batch_id = make_batch(engine, [0.5] * 50)[0]
    page = visits(open_gateway, viewport=size)
    page.goto(f"/batches/{batch_id}?sort=line")
    rows, desk = page.locator(".results tbody tr"), page.locator("#desk")
    rows.nth(4).locator("th a").click()
    expect(desk).to_be_focused()
    expect(desk.locator(".opened strong").first).to_be_in_viewport(ratio=1)
    page.keyboard.press("j")
    expect(desk).to_contain_text("Line 6")
    expect(desk).to_be_focused()
    expect(desk.locator(".opened strong").first).to_be_in_viewport(ratio=1)
    if size is not PHONE:
        expect(desk.locator("[data-key=a]")).to_be_in_viewport(ratio=1)
    shown = page.locator("html[data-revealed]")
    desk.locator(".sensitive").first.click()
    expect(shown).to_have_count(1)
    desk.get_by_role("button", name="Hide texts").click()
    expect(shown).to_have_count(0)
    desk.get_by_role("button", name="Next line").click()
    expect(desk).to_contain_text("Line 7")
    expect(desk.locator(".opened strong").first).to_be_in_viewport(ratio=1)
    desk.get_by_role("link", name="Back to the list").click()
    expect(rows.nth(6).locator("th a")).to_be_focused()
    expect(rows.nth(6)).to_be_in_viewport()


def test_without_javascript_a_row_leads_to_its_texts(
    row_batch: tuple[str, str], visits: Visits, engine: Engine
) -> None:
    url, path = row_batch
    page = visits(url, java_script_enabled=False)
    page.goto(f"{path}?sort=line")
    page.locator(".results tbody tr").nth(2).locator("th a").click()
    expect(page.locator("h1")).to_contain_text("Line 3")
    expect(page.locator(".texts .sensitive")).to_have_count(2)
    page.get_by_role("link", name="batch").last.click()
    expect(page.locator(".results tbody tr")).to_have_count(3)


def test_what_is_no_part_of_the_page_is_opened_as_a_page(
    row_batch: tuple[str, str], visits: Visits
) -> None:
    url, path = row_batch
    page = visits(url)
    page.goto(path)
    page.route("**/batches/*?verdict=*", lambda route: redirected(route, "/jobs"))
    page.locator("select[name=verdict]").select_option("holds_up")
    page.get_by_role("button", name="Filter").click()
    expect(page.locator("h1")).to_have_text("Jobs")  # asked again, as by a form
    page.goto(path)
    page.route("**/batches/*?open=*", lambda route: route.fulfill(status=429, body="<h1>Wait"))
    page.locator(".results tbody th a").first.click()
    expect(page.locator("h1")).to_have_text("Wait")


def redirected(route: Route, path: str) -> None:
    route.fulfill(status=303, headers={"Location": path})


MOST_SHIFT = 0.05  # after a swap
WATCH = """() => {
  window.shift = 0
  new PerformanceObserver(list => {
    for (const one of list.getEntries()) window.shift += one.value
  }).observe({type: "layout-shift"})
  document.querySelector("[name=verdict]").value = "not_tested"
  document.querySelector("[role=search]").requestSubmit()
}"""


def test_nothing_jumps_when_a_table_is_swapped(filled_batch: str, visits: Visits) -> None:
    """The script asks, so that no shift is excused as an answer to a key."""
    page = visits(filled_batch)
    for anchor in ("", "#items"):
        page.goto(PATH + anchor)
        page.evaluate(WATCH)
        expect(page.locator(".chips")).to_contain_text("67 of 200 lines")
        page.evaluate("() => new Promise(done => setTimeout(done, 300))")
        assert page.evaluate("window.shift") <= MOST_SHIFT
