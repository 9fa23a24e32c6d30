"""Rationales that quote are spans of the text; what is neither is refused in words that help."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ValidationError

from services.ice.contract import IceRequest
from shared.contracts.problems import parse_strict, validation_problem

TEXT = "Our hours are “long”, our nights short. 我们喜欢这个城市 again, and OUR again"


def asked(**fields: Any) -> IceRequest:
    """As the gateway reads it."""
    body = {"text": TEXT, **fields}
    return parse_strict(IceRequest, json.dumps(body), body)


def quoted(rationale: Any, **fields: Any) -> list[str]:
    spans = asked(rationale=rationale, **fields).rationale or ()
    texts: dict[str, str] = {"text": TEXT, "text_pair": fields.get("text_pair", "")}
    return [texts[span.of][span.start : span.end] for span in spans]


@pytest.mark.parametrize(
    ("rationale", "found"),
    [
        ("our nights", ["our nights"]),
        (["our"], ["our"]),  # whole words before parts of one, the case as written before others
        (["our nights SHORT"], ["our nights short"]),
        (["hours are long"], ["hours are “long"]),
        (["again", "again"], ["again", "again"]),
        (["喜欢"], ["喜欢"]),
        (["nigh"], ["nigh"]),
        ([{"start": 0, "end": 3}, "short"], ["Our", "short"]),
    ],
)
def test_a_quotation_is_a_span_of_the_text(rationale: Any, found: list[str]) -> None:
    assert quoted(rationale) == found


def test_each_mention_is_the_next_occurrence() -> None:
    spans = asked(rationale=["again", "again"]).rationale or ()
    assert [span.start for span in spans] == [TEXT.index("again"), TEXT.rindex("again")]


def test_the_pair_is_searched_where_the_text_has_it_not() -> None:
    assert quoted(["the pair"], text_pair="This is the pair") == ["the pair"]


def test_named_explanations_and_human_marks_quote_too() -> None:
    own = {"name": "a", "rationale": ["long"]}
    values = {"name": "b", "attributions": [{"start": 0, "end": 3, "value": 1}]}
    request = asked(explanations=[own, values], human="nights")
    [span] = request.explanations[0].rationale or ()
    assert TEXT[span.start : span.end] == "long"
    assert request.human is not None
    again = IceRequest.model_validate_json(request.model_dump_json())
    assert again == request


@pytest.mark.parametrize(
    ("fields", "pointer", "said"),
    [
        ({"rationale": [3, 4]}, "#/rationale", "quotations of it as strings"),
        ({"rationale": 7}, "#/rationale", "give spans, {start, end}"),
        ({"rationale": ["our", "their"]}, "#/rationale", "quote-not-found: quotation 2 of 2"),
        ({"rationale": ["short"] * 2}, "#/rationale", "does not stand in the text 2 times"),
        ({"rationale": [" "]}, "#/rationale", "quotation 1 of 1 is empty"),
        ({"rationale": []}, "#/rationale", "must not be empty"),
        ({"rationale": ["a"] * 201}, "#/rationale", "at most 200 quotations"),
        (
            {"explanations": [{"name": "a", "rationale": ["their"]}]},
            "#/explanations",
            "explanation 1: quote-not-found",
        ),
    ],
)
def test_what_cannot_be_found_is_said(fields: dict[str, Any], pointer: str, said: str) -> None:
    with pytest.raises(ValidationError) as caught:
        asked(**fields)
    problem = validation_problem(caught.value, {"text": TEXT, **fields})
    assert problem["errors"][0]["pointer"] == pointer
    assert said in problem["errors"][0]["detail"]
    assert "their" not in json.dumps(problem)
