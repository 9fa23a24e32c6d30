"""`/try` by real controls: spans by selection, sliders, growing tables; judging with quotations."""

from __future__ import annotations

import json
import operator
import re
from functools import reduce
from typing import Any

from playwright.sync_api import Page, expect
from sqlalchemy import Engine

from services.registry import metrics
from shared.ledger import jobs
from tests.browser.conftest import Visits
from tests.browser.keyboard import grave
from tests.gateway.results import a_result
from tests.servers import finish_next

OPEN = "document.querySelectorAll('details').forEach((one) => { one.open = true; })"
TAU = r"#options\.tau"
TEXT = "Those 🙂 immigrants are ruining our town"


def select(page: Page, words: str) -> None:
    """By keys: the caret before the words, then shift and the arrow for each letter."""
    text = page.locator("#text")
    text.fill(TEXT)
    text.press("Control+Home")
    for _ in range(TEXT.index(words)):
        text.press("ArrowRight")
    for _ in words:
        text.press("Shift+ArrowRight")


def test_selected_words_become_the_rationale_by_keys_alone(
    visits: Visits, open_gateway: str
) -> None:
    page = visits(open_gateway)
    page.goto("/try?metric=ice&example=a quotation")
    field = page.locator("#rationale")
    field.fill("")
    select(page, "ruining our")
    mark = page.get_by_role("button", name="Mark the selected words as rationale")
    mark.focus()
    page.keyboard.press("Enter")
    start = TEXT.index("ruining our")  # in code points, though the browser counts the smile twice
    expect(field).to_have_value(f"{start}-{start + len('ruining our')}")
    expect(page.get_by_role("status")).to_contain_text("ruining our")
    page.get_by_role("button", name="Remove ruining our").press("Enter")
    expect(field).to_have_value("")
    mark.press("Enter")  # what is selected stays so
    with page.expect_response("**/try") as answer:
        page.get_by_role("button", name="Only show the request").press("Enter")
    assert answer.value.status == 200
    expect(page.locator("pre").first).to_contain_text(f'"start": {start}')
    expect(field).to_have_value(f"{start}-{start + len('ruining our')}")


def test_a_slider_and_its_number_say_the_same(visits: Visits, open_gateway: str) -> None:
    page = visits(open_gateway)
    page.goto("/try?metric=hatexscore")
    page.evaluate(OPEN)
    slider = page.get_by_role("slider", name="Tau, slider")
    before = float(slider.input_value())
    slider.press("ArrowRight")
    expect(page.locator(TAU)).to_have_value(f"{before + 0.01:.2g}")
    page.locator(TAU).fill("0.25")
    expect(slider).to_have_value("0.25")
    whole = page.locator("#whole")  # and the request as JSON says it, too
    expect(whole).to_have_value(re.compile('"tau": 0.25'))
    whole.press_sequentially(" ")
    options = {"tau": 0.75, "weights": {"htc": 0.5}}
    body = {"text": "so", "options": options, "metadata": {"market": "it"}}
    whole.fill(json.dumps(body))
    expect(page.locator(TAU)).to_have_value("0.75")
    expect(page.locator("#text")).to_have_value("so")
    expect(page.get_by_role("slider", name="Tau, slider")).to_have_value("0.75")
    expect(page.locator("#rest")).to_have_value(re.compile("market"))
    page.locator("#text").fill("so it is")
    expect(whole).to_have_value(re.compile("so it is"))
    expect(whole).to_have_value(re.compile("market"))


def test_a_table_grows_and_its_rows_are_sent(visits: Visits, open_gateway: str) -> None:
    page = visits(open_gateway)
    page.goto("/try?metric=hlv")
    options = page.get_by_role("region", name="Options")
    count = options.get_by_role("row").count()
    for _ in range(2):
        page.locator("fieldset", has_text="Options").get_by_role(
            "button", name="Add a row"
        ).first.click()
    expect(options.get_by_role("row")).to_have_count(count + 2)
    options.get_by_label(f"Key of row {count + 1}").fill("D")
    options.get_by_label(f"Text of row {count + 1}").fill("None of these")
    page.get_by_role("button", name="Only show the request").click()
    expect(page.locator("pre").first).to_contain_text("None of these")


def test_an_error_stands_at_its_control_and_has_the_focus(
    visits: Visits, open_gateway: str
) -> None:
    page = visits(open_gateway)
    page.goto("/try?metric=hatexscore")
    page.evaluate(OPEN)
    page.locator(TAU).evaluate("one => { one.type = 'text'; one.value = 'much'; }")
    page.get_by_role("button", name="Score", exact=True).click()
    expect(page.locator(TAU)).to_have_attribute("aria-invalid", "true")
    expect(page.locator(TAU)).to_be_focused()
    expect(page.locator(f"{TAU}-error")).to_be_visible()


def test_every_metric_is_tried_by_its_controls_alone(
    visits: Visits, open_gateway: str, engine: Engine
) -> None:
    page = visits(open_gateway)
    for metric, contract in metrics().items():
        page.goto(f"/try?metric={metric}")
        expect(page.locator("#rest")).to_have_value("{}")  # nothing is left for the JSON
        first = contract.form[0].name if contract.form else "question.hypothesis"
        text = page.locator(f"[id='{first}']")
        said = f"{text.input_value()} So it is."
        text.fill(said)
        expect(page.locator("#whole")).to_be_hidden()
        with page.expect_response("**/jobs/job_*") as answer:
            page.get_by_role("button", name="Score", exact=True).press("Enter")
        with engine.connect() as connection:
            job = jobs.find(connection, answer.value.url.rpartition("/")[2])
        sent: Any = reduce(operator.getitem, first.split("."), job.request)
        assert (job.metric, sent) == (metric, said)


def test_a_request_is_edited_beside_its_result(
    visits: Visits, open_gateway: str, engine: Engine
) -> None:
    page = visits(open_gateway, viewport={"width": 1280, "height": 800})
    page.goto("/try?metric=hatexscore")
    result, score = page.locator("#result"), page.get_by_role("button", name="Score", exact=True)
    score.click()
    expect(result).to_contain_text("queued")
    finish_next(engine, a_result(0.25))
    expect(result.locator(".score p.figure")).to_have_text("0.25")
    form, beside = (page.locator(name).bounding_box() for name in ("#trial", "#result"))
    assert form is not None
    assert beside is not None
    assert beside["x"] >= form["x"] + form["width"]
    assert grave(page) == []
    page.locator("#explanation").fill("It is friendly.")
    score.click()
    finish_next(engine, a_result(0.875))
    expect(result.locator(".score p.figure")).to_have_text("0.875")
    expect(result.locator("#versions")).to_contain_text("2 versions")
    expect(page.locator("#explanation")).to_have_value("It is friendly.")
    assert page.url == f"{open_gateway}/try?metric=hatexscore"


def test_answers_of_haf_are_pasted_or_a_model_is_asked(
    visits: Visits, open_gateway: str, engine: Engine
) -> None:
    page = visits(open_gateway)
    page.goto("/try?metric=haf&example=your own responses")
    page.evaluate(OPEN)
    for stage in ("justify", "internal", "external"):
        page.locator(f"[name$='responses.{stage}.logprobs']").fill("")
        page.locator(f"[name$='responses.{stage}.text']").fill(f"The {stage} answer.")
    page.locator("[name$='responses.individual']").fill("Yes.\n---\nNo.")
    with page.expect_response("**/jobs/job_*") as answer:
        page.get_by_role("button", name="Score", exact=True).click()
    with engine.connect() as connection:
        sent = jobs.find(connection, answer.value.url.rpartition("/")[2]).request["responses"]
    assert sent["justify"] | {"text": ""} == sent["internal"] | {"text": ""}  # texts alone
    assert [one["text"] for one in sent["individual"]] == ["Yes.", "No."]
    page.goto("/try?metric=haf")
    page.evaluate(OPEN)
    for control in page.locator("[name^='field.responses']").all():
        control.fill("")
    model = page.locator("#model")
    model.fill("a-model-of-ours")
    page.get_by_role("button", name="Score", exact=True).click()
    expect(model).to_have_attribute("aria-invalid", "true")  # none is configured: at its control
    expect(model).to_have_value("a-model-of-ours")


def test_the_score_button_is_always_seen_and_ctrl_enter_presses_it(
    visits: Visits, open_gateway: str
) -> None:
    page = visits(open_gateway, viewport={"width": 1280, "height": 800})
    page.goto("/try?metric=hatexscore&example=a%20hateful%20text")
    button = page.get_by_role("button", name="Score", exact=True)
    expect(button).to_be_in_viewport(ratio=1)
    page.locator("#explanation").press("Control+Enter")
    expect(page.locator("#result")).not_to_be_empty()
