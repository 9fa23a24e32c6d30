"""The page of a job, in every state, for every metric, as people see it."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect
from sqlalchemy import Engine

from services.registry import metrics
from shared.ledger.tables import jobs
from tests.browser.conftest import Filled, Visits, example, put
from tests.browser.keyboard import grave
from tests.browser.timing import Record, elements, tell
from tests.gateway.judged import make_batch, quote_found
from tests.servers import finish_next

HOSTILE = "<script>alert(1)</script> \"quoted\" 'too' \u202eright to left\u202c مرحبا \U0001f600"
LIT = re.compile(r"\blit\b")
TOKENS = 1_000
MOST_HTML, MOST_ELEMENTS = 200_000, 3_500


@pytest.mark.parametrize("metric", sorted(metrics()))
def test_a_job_of_each_metric_in_each_state(filled: Filled, visits: Visits, metric: str) -> None:
    page = visits(filled.url)
    for state in ("succeeded", "failed", "running", "queued"):
        page.goto(f"/jobs/{filled.jobs[metric, state]}", wait_until="commit")
        expect(page.locator(".steps [aria-current=step]")).to_contain_text(state)
        expect(page.locator("h1")).to_contain_text(metric)
        if state == "failed":
            expect(page.locator("section.error")).to_contain_text("no such label")
        if state == "succeeded":
            expect(page.locator(".headline")).not_to_be_empty()
            assert page.locator("h2").count() > 0


def test_a_text_is_blurred_until_it_is_asked_for(filled: Filled, visits: Visits) -> None:
    page = visits(filled.url)
    page.goto(f"/jobs/{filled.jobs['hatexscore', 'succeeded']}")
    text = page.locator(".sensitive").first
    expect(text).to_have_css("filter", "blur(7.2px)")
    expect(text).to_have_attribute("aria-hidden", "true")
    page.get_by_role("button", name="Show texts").focus()
    page.keyboard.press("Enter")  # by keyboard
    expect(text).to_have_css("filter", "none")
    expect(text).not_to_have_attribute("aria-hidden", "true")
    page.reload()
    expect(text).to_have_css("filter", "blur(7.2px)")  # for one page only
    page.get_by_text("Settings").click()
    page.get_by_label("Always show texts").check()
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".sensitive").first).to_have_css("filter", "none")


def test_a_word_of_the_post_is_asked_about_by_enter(
    filled: Filled, engine: Engine, visits: Visits, results: dict[str, dict[str, Any]]
) -> None:
    page = visits(filled.url)
    address = f"/jobs/{filled.jobs['hatexscore', 'succeeded']}"
    page.goto(address)
    with engine.begin() as connection:  # the only job that waits is the lens's
        connection.execute(jobs.delete().where(jobs.c.status == "queued"))
    page.get_by_role("button", name="Show texts").click()
    page.locator("[data-of=text]").first.dblclick(position={"x": 30, "y": 28})
    expect(page.locator("#lens-words")).not_to_have_value("")
    word = page.locator("#lens-words").input_value()
    assert word in example("hatexscore")["text"]
    page.keyboard.press("Enter")
    answer = {"probability_original": 0.93, "probability_masked": 0.08, "model_agrees": True}
    finish_next(engine, results["hatexscore"] | answer)
    expect(page.locator("#lens table")).to_contain_text("0.08")
    expect(page.locator("#lens table")).to_contain_text(word)
    expect(page.locator("#news")).to_contain_text("without these words")
    assert page.url.endswith(address)
    assert grave(page) == []


def test_a_quotation_and_its_place_in_the_post_light_up_together(
    open_gateway: str, engine: Engine, visits: Visits
) -> None:
    said = 'It says "quite friendly". Conclusion: the text is non-hateful.'
    batch_id, [job_id] = make_batch(engine, [0.9], explanation=said)
    quote_found(engine)
    page = visits(open_gateway)
    for address in (f"/jobs/{job_id}", f"/batches/{batch_id}"):
        page.goto(address)
        if "batches" in address:
            page.get_by_role("link", name="line-1").click()
        marks = page.locator(".texts mark[data-quote]")
        expect(marks).to_have_count(2)
        place, quotation = marks.first, marks.last
        expect(quotation).to_have_attribute("tabindex", "-1")
        page.locator("#reveal").click()
        expect(quotation).to_have_attribute("tabindex", "0")
        for one, other in ((quotation, place), (place, quotation)):
            one.hover()
            expect(other).to_have_class(LIT)
            page.mouse.move(0, 0)
            expect(other).not_to_have_class(LIT)
            one.focus()
            expect(other).to_have_class(LIT)
            one.blur()
            expect(other).not_to_have_class(LIT)
        assert grave(page) == []


def test_a_hostile_text_is_shown_as_text(
    open_gateway: str,
    engine: Engine,
    visits: Visits,
    results: dict[str, dict[str, Any]],
) -> None:
    request = example("hatexscore") | {"text": HOSTILE, "explanation": HOSTILE}
    job_id = put(engine, "hatexscore", "succeeded", request, results["hatexscore"])
    page = visits(open_gateway)
    page.on("dialog", lambda _dialog: pytest.fail("a script of the text ran"))
    page.goto(f"/jobs/{job_id}")
    shown = [text for text in page.locator(".sensitive").all_text_contents() if "<script>" in text]
    assert shown
    assert page.locator("main script").count() == 0


def test_an_ice_job_of_a_thousand_tokens_is_light(
    open_gateway: str,
    engine: Engine,
    visits: Visits,
    results: dict[str, dict[str, Any]],
    record_property: Record,
) -> None:
    body, result = of_tokens(results["ice"], TOKENS)
    job_id = put(engine, "ice", "succeeded", body, result)
    page = visits(open_gateway)
    page.goto(f"/jobs/{job_id}")  # the first picture starts the engine
    answer = page.goto(f"/jobs/{job_id}")
    assert answer is not None
    assert len(answer.body()) < MOST_HTML
    assert elements(page) < MOST_ELEMENTS
    tell(page, f"ICE, {TOKENS} tokens", record_property)


def of_tokens(result: dict[str, Any], count: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """A request and a result with so many tokens under four operators."""
    text = " ".join(f"word{number % 97}" for number in range(count))
    spans, place = [], 0
    for word in text.split(" "):
        spans.append({"start": place, "end": place + len(word), "of": "text", "eligible": True})
        place += len(word) + 1
    test, reading = result["components"]["tests"][0], result["components"]["readings"][0]
    operators = ("delete", "mask_unk", "mask_pad", "infill")
    tests = [
        test | {"operator": operator, "aspect": aspect, "tokens": count // 5}
        for operator in operators
        for aspect in ("sufficiency", "necessity")
    ]
    readings = [reading | {"operator": operator} for operator in operators]
    values = [((number * 37) % 101 - 40) / 60 for number in range(count)]
    rationale = sorted(sorted(range(count), key=lambda one: -values[one])[: count // 5])
    given = {"explanation": test["explanation"], "values": values, "rationale": rationale}
    changed = {
        "components": result["components"] | {"tests": tests, "readings": readings},
        "tokens": spans,
        "token_values": [given],
        "eligible_tokens": count,
        "evidence": [],
    }
    return example("ice") | {"text": text}, result | changed
