"""Controls of `/try`: every example fills them, and what they say is the request again."""

from __future__ import annotations

import json
import re

import httpx
import pytest

from services.gateway.pages.form_controls import PREFIX, form_groups, form_inputs
from services.gateway.pages.form_input import TABLES, FormInput
from services.gateway.pages.try_it import body_of, fill_form, form_of_body, listed_metrics, sent
from services.registry import metrics, page_details
from shared.contracts.fields import merge_fields
from tests.end_to_end.service import ROOT
from tests.gateway.pages.test_pages import token


def as_sent(one: FormInput, typed: str) -> dict[str, str]:
    """The inputs of a control as a browser sends them."""
    name = f"{PREFIX}{one.name}"
    if one.kind == "choices":
        return {f"{name}:{choice}": "1" for choice in typed.split("\n")}
    if one.kind not in TABLES:
        return {name: typed}
    return {
        f"{name}:{place}:{column.name}": cell
        for place, row in enumerate(one.rows_of(typed))
        for column, cell in zip(one.columns, row, strict=True)
    }


def typed_in(metric: str, controls: dict[str, str]) -> dict[str, str]:
    known = {one.name: one for one in form_inputs(metric)}
    found: dict[str, str] = {}
    for name, typed in controls.items():
        found |= as_sent(known[name], typed)
    return found


@pytest.mark.parametrize("metric", sorted(metrics()))
def test_a_form_says_the_example_that_fills_it(metric: str) -> None:
    contract = metrics()[metric]
    for example in contract.examples.values():
        form = fill_form(contract, example)
        typed = form.values | typed_in(metric, form.controls)
        again = sent(contract, typed | {"rest": form.rest})
        wanted = contract.request.model_validate(merge_fields(page_details(metric), example))
        assert contract.request.model_validate(body_of(contract, again)) == wanted


def test_metrics_are_in_the_order_of_the_guide_and_have_a_question() -> None:
    guide = (ROOT / "docs/guide/which-metric.md").read_text("utf-8")
    assert [one.name for one in listed_metrics()] == re.findall(r"\(metrics/(\w+)\.md\)", guide)
    assert [one.name for one in listed_metrics() if "?" not in one.summary] == []


@pytest.mark.parametrize("metric", sorted(metrics()))
def test_at_most_eight_fields_are_basic(metric: str) -> None:
    contract = metrics()[metric]
    basic = {name for name, _, is_basic in form_groups(metric) if is_basic}
    fields = contract.request.model_fields.items()
    required = {name for name, field in fields if field.is_required()}
    texts = {field.name for field in contract.form}
    assert len(basic) + len(texts) <= 8
    assert required <= basic | texts
    assert not basic & {"variant", "seed"}


def test_numbers_have_their_bounds_and_choices_their_words() -> None:
    found = {one.name: one for one in form_inputs("hatexscore")}
    tau = found["options.tau"]
    assert (tau.kind, tau.low, tau.high) == ("number", 0, 1)
    assert found["seed"].whole
    assert "robust" in found["variant"].choices
    assert found["accept_untrained_languages"].kind == "switch"
    assert found["model"].is_basic
    assert tau.has_slider
    assert not tau.is_basic
    assert found["options.weights.htc"].kind == "number"
    assert not found["seed"].has_slider


ALL_CONTROLS = {  # every example is said by controls alone, but for these fields
    ("ice", "LIME against attention"): {"attribution"},  # two of them
    ("hatexscore", "your own groups"): {"options"},  # whose groups are lists of words
}


@pytest.mark.parametrize("metric", sorted(metrics()))
def test_examples_need_no_json(metric: str) -> None:
    contract = metrics()[metric]
    for name, example in contract.examples.items():
        rest = json.loads(fill_form(contract, example).rest)
        assert set(rest) == ALL_CONTROLS.get((metric, name), set())


def test_lists_and_groups_have_controls_of_their_own() -> None:
    kinds = {one.name: one.kind for one in form_inputs("ice")}
    assert kinds["rationale"] == "spans"
    assert kinds["options.operators"] == "choices"
    assert kinds["options.k"] == "numbers"
    assert {one.name: one.kind for one in form_inputs("hlv")}["human.votes"] == "maps"
    assert {one.name: one.kind for one in form_inputs("cot2el")}["options"] == "rows"


@pytest.mark.parametrize(
    ("name", "typed", "value"),
    [
        ("rationale", "12-20\nits words", [{"start": 12, "end": 20}, "its words"]),
        ("options.operators", "delete\nmask", {"operators": ["delete", "mask"]}),
        ("options.k", "0.2", {"k": 0.2}),
        ("options.k", "0.1, 0.2", {"k": [0.1, 0.2]}),
        ("options.k", "much", {"k": "much"}),
        ("options.match_tokens", "yes", {"match_tokens": True}),
        ("options.infill_pool", "one\n\ntwo", {"infill_pool": ["one", "two"]}),
    ],
)
def test_what_is_typed_is_what_json_would_say(name: str, typed: str, value: object) -> None:
    contract = metrics()["ice"]
    form = sent(contract, typed_in("ice", {name: typed}) | {"rest": ""})
    assert body_of(contract, form) == {name.partition(".")[0]: value}


def test_an_option_without_a_control_stays_json_beside_those_with_one() -> None:
    contract = metrics()["hatexscore"]
    body = {"options": {"policy": {"a": ["b"]}, "tau": 0.2, "weights": {"htc": 2}}}
    form = form_of_body(contract, body)
    assert json.loads(form.rest) == {"options": {"policy": {"a": ["b"]}}}
    assert set(form.controls) == {"options.tau", "options.weights.htc"}
    assert body_of(contract, form) == body


def test_a_group_without_parts_is_one_text_and_its_parts_a_message() -> None:
    contract = metrics()["hlv"]
    for typed, question in (
        ({"question.": "Is it?"}, "Is it?"),
        ({"question.premise": "It is.", "question.hypothesis": "So?"},
         {"premise": "It is.", "hypothesis": "So?"}),
    ):  # fmt: skip
        form = sent(contract, typed_in("hlv", typed) | {"rest": ""})
        assert body_of(contract, form) == {"question": question}


def test_votes_are_a_table() -> None:
    contract = metrics()["hlv"]
    cells = {f"{PREFIX}human.votes:0:key": "A", f"{PREFIX}human.votes:0:value": "40"}
    cells |= {f"{PREFIX}human.votes:2:key": "B", f"{PREFIX}human.votes:2:value": "2"}
    assert body_of(contract, sent(contract, cells)) == {"human": {"votes": {"A": 40, "B": 2}}}
    cells |= {f"{PREFIX}human.votes:{row}:source": who for row, who in ((0, "Ann"), (2, "Ben"))}
    assert body_of(contract, sent(contract, cells)) == {"human": {"votes": [{"A": 40}, {"B": 2}]}}


@pytest.mark.parametrize(
    ("typed", "value"),
    [
        (
            "No.\n---\nYes, one is:\n1. It lies.",
            [{"text": "No."}, {"text": "Yes, one is:\n1. It lies."}],
        ),
        ('[{"text": "No."}, null]', [{"text": "No."}, None]),
        ("[No", "[No"),
    ],
)
def test_answers_are_texts_between_dashes_or_json(typed: str, value: object) -> None:
    contract = metrics()["haf"]
    name = "responses.individual"
    form = sent(contract, typed_in("haf", {name: typed}) | {"rest": ""})
    body = body_of(contract, form)
    assert body == {"responses": {"individual": value}}
    if isinstance(value, list):
        assert body_of(contract, form_of_body(contract, body)) == body


def test_more_is_folded_until_something_of_it_is_said(client: httpx.Client) -> None:
    folded = "<details><summary>Advanced</summary>"
    page = client.get("/try?metric=hatexscore")
    assert folded in page.text
    form = {"csrf": token(page), "metric": "hatexscore", "text": "a", "explanation": "b"}
    form |= {"action": "show"}
    assert folded in client.post("/try", data=form).text
    for more in ({"options.weights.htc": "2"}, {"options.tau": "high"}):
        filled = {f"{PREFIX}{name}": value for name, value in more.items()}
        told = client.post("/try", data=form | filled).text
        assert "<details open><summary>Advanced</summary>" in told


def test_a_hint_is_a_clause_with_its_brackets() -> None:
    says = {one.name: one.says for name in metrics() for one in form_inputs(name)}
    assert "Capital letters match only capital letters" in says["options.labels"]
    assert [name for name, said in says.items() if said.count("(") != said.count(")")] == []


@pytest.mark.parametrize("metric", sorted(metrics()))
def test_no_two_inputs_of_a_form_have_the_same_label(metric: str) -> None:
    labels = [control.label for control in form_inputs(metric)]
    assert len(set(labels)) == len(labels)
