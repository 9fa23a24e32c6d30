"""Quotations are located when the request is scored; an invented one is a problem of the answer."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ValidationError

from services.ice.contract import IceRequest
from services.ice.metric import SERVICE
from services.ice.quotations import locate
from shared.contracts.errors import BadInput
from shared.contracts.problems import parse_strict, validation_problem
from tests.ice.planted import planted, word

TEXT = "Our hours are “long”, our nights short. 我们喜欢这个城市 again, and OUR again"
WORDS = " ".join(map(word, range(30)))


def asked(**fields: Any) -> IceRequest:
    """As the gateway reads it."""
    body = {"text": TEXT, **fields}
    return parse_strict(IceRequest, json.dumps(body), body)


def quoted(rationale: Any, **fields: Any) -> list[str]:
    request = asked(rationale=rationale, **fields)
    texts: dict[str, str] = {"text": TEXT, "text_pair": fields.get("text_pair", "")}
    return [texts[s.of][s.start : s.end] for s in locate(request.rationale or (), request)]


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
    request = asked(rationale=["again", "again"])
    spans = locate(request.rationale or (), request)
    assert [span.start for span in spans] == [TEXT.index("again"), TEXT.rindex("again")]


def test_the_pair_is_searched_where_the_text_has_it_not() -> None:
    assert quoted(["the pair"], text_pair="This is the pair") == ["the pair"]


def test_the_request_keeps_what_was_sent() -> None:
    fields = {
        "explanations": [
            {"name": "a", "rationale": ["long", "not there"]},
            {"name": "b", "attributions": [{"start": 0, "end": 3, "value": 1.0}]},
        ],
        "human": "nights",
    }
    request = asked(**fields)
    assert request.explanations[0].rationale == ("long", "not there")
    assert request.human == "nights"
    assert IceRequest.model_validate_json(request.model_dump_json()) == request
    assert IceRequest.model_validate(request.model_dump(mode="json")) == request


def test_quotations_score_as_their_spans() -> None:
    start = WORDS.index("w3 w4")
    span = {"start": start, "end": start + 5}
    reports = []
    for marked in ("w3 w4", [span]):
        body = {
            "text": WORDS,
            "human": marked,
            "explanations": [{"name": "a", "rationale": marked}],
        }
        with planted():
            reports.append(SERVICE.score(IceRequest.model_validate(body)))
    assert reports[0].model_dump_json() == reports[1].model_dump_json()
    assert reports[0].components.plausibility[0].f1 == 1


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"rationale": ["w1", "their"]}, "Quotation 2 of 2 is not in the text."),
        ({"rationale": ["w1", "w1"]}, "Quotation 2 of 2 is not in the text 2 times."),
        ({"rationale": "<b>"}, "Quotation 1 of 1 is not in the text."),
        (
            {"rationale": "w1", "explanations": [{"name": "a", "rationale": ["their"]}]},
            "Explanation 1: quotation 1 of 1 is not in the text.",
        ),
    ],
)
def test_an_invented_quotation_is_the_problem(fields: dict[str, Any], reason: str) -> None:
    with planted() as judge:
        report = SERVICE.score(IceRequest.model_validate({"text": WORDS, **fields}))
    assert (report.verdict, report.problems) == ("problem_found", ("quote-not-in-text",))
    assert report.reason == reason
    assert report.score is None
    assert judge.calls == []
    assert "their" not in report.model_dump_json()


@pytest.mark.parametrize("rationale", ["!?", [{"start": 2, "end": 6}]])
def test_a_rationale_of_punctuation_has_no_score(rationale: Any) -> None:
    with planted() as judge:
        request = {"text": f"w1 !? {WORDS}", "rationale": rationale}
        report = SERVICE.score(IceRequest.model_validate(request))
    assert (report.verdict, report.score) == ("not_tested", None)
    (reason,) = [reason for reason in report.reasons if reason.component == "score"]
    assert (reason.code, reason.detail) == ("no-words", "the rationale contains no word")
    assert judge.calls == []


def test_an_invented_quotation_of_people_is_an_error() -> None:
    request = IceRequest.model_validate(
        {"text": WORDS, "rationale": "w1", "human": ["w2", "their"]}
    )
    with planted() as judge, pytest.raises(BadInput, match="quotation 2 of 2") as caught:
        SERVICE.score(request)
    assert caught.value.pointer == "/human"
    assert judge.calls == []


@pytest.mark.parametrize(
    ("rationale", "pointer"),
    [
        ([3, 4], "#/rationale/0"),
        (7, "#/rationale"),
        ([{"start": 3}], "#/rationale/0/end"),
        ([""], "#/rationale/0"),
        ([], "#/rationale"),
        (["a"] * 201, "#/rationale"),
    ],
)
def test_lengths_and_types_are_checked_at_once(rationale: Any, pointer: str) -> None:
    with pytest.raises(ValidationError) as caught:
        asked(rationale=rationale)
    problem = validation_problem(caught.value, {"text": TEXT, "rationale": rationale})
    assert problem["errors"][0]["pointer"] == pointer
