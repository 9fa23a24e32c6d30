"""What a page needs to draw: every token with its values, and where the null lies."""

from __future__ import annotations

import json
from typing import Any

import pytest

from services.ice.contract import IceRequest
from services.ice.metric import SERVICE
from services.ice.report import IceResult
from shared.contracts.redaction import without_text
from tests.flat_requests import flat_request
from tests.ice.planted import planted

score = SERVICE.score

TEXT = "w0 w1 w2 w3 w4 w5 w6 w7 w8 w9"


def ask(**fields: Any) -> IceResult:
    whole = {"text": TEXT, "attribution": "attention", "token_values": True, **fields}
    with planted():
        return score(flat_request(IceRequest, whole))


def test_tokens_are_all_that_the_model_reads_in_order() -> None:
    report = ask(text_pair="w20 w21")
    assert [token.of for token in report.tokens] == [
        "special", *["text"] * 10, *["text_pair"] * 2, "special"
    ]  # fmt: skip
    first, pair = report.tokens[1], report.tokens[-2]
    assert TEXT[first.start : first.end] == "w0"
    assert "w20 w21"[pair.start : pair.end] == "w21"
    assert [token.eligible for token in report.tokens] == [False, *[True] * 12, False]
    assert sum(token.eligible for token in report.tokens) == report.eligible_tokens


def test_every_explanation_has_one_value_a_token_and_its_rationale_at_the_first_budget() -> None:
    report = ask(
        attribution=["attention", "gradient"],
        attributions=[{"start": 3, "end": 5, "value": -2.5}],
        rationale=[{"start": 6, "end": 11}],
        k=[0.3, 0.1],
        rank_by="magnitude",
    )
    named = {told.explanation: told for told in report.token_values}
    assert list(named) == ["attention", "gradient", "attributions", "rationale"]
    assert {len(told.values) for told in named.values()} == {len(report.tokens)}
    assert named["attributions"].values == (None, 0.0, -2.5, *[0.0] * 8, None)
    assert named["attributions"].rationale == (1, 2, 3)
    assert set(named["rationale"].values) == {None}
    assert named["rationale"].rationale == (3, 4)
    sizes = {(test.explanation, test.k): test.tokens for test in report.components.tests}
    assert sizes["attention", 0.3] == len(named["attention"].rationale)


def test_rationales_of_tokens_are_the_spans_of_the_evidence() -> None:
    report = ask(k=0.3)
    inside = {
        place
        for token in (report.tokens[place] for place in report.token_values[0].rationale)
        for place in range(token.start or 0, token.end or 0)
    }
    spans = {
        place
        for span in report.evidence
        for place in range(span.start or 0, span.end or 0)
        if TEXT[place] != " "
    }
    assert inside == spans


@pytest.mark.parametrize("variant", ["robust", "paper", "reference"])
def test_who_does_not_ask_has_the_bytes_of_before_and_the_histogram(variant: str) -> None:
    asked, plain = ask(variant=variant), ask(variant=variant, token_values=False)
    wire = json.loads(plain.model_dump_json())
    assert not {"tokens", "token_values"} & set(wire)
    told = json.loads(asked.model_dump_json())
    assert wire["provenance"]["parameters"].pop("token_values") is False
    assert told["provenance"]["parameters"].pop("token_values") is True
    assert {**wire, "tokens": told["tokens"], "token_values": told["token_values"]} == told


def test_results_of_before_are_still_reports() -> None:
    wire = json.loads(ask(token_values=False).model_dump_json())
    for test in wire["components"]["tests"]:
        del test["null"]["histogram"]
    old = IceResult.model_validate(wire)
    assert (old.tokens, old.token_values) == ((), ())
    assert old.components.tests[0].null.histogram is None


def test_a_null_without_draws_has_no_histogram() -> None:
    assert ask(k=1.0).components.tests[0].null.histogram is None


def test_tokens_stay_where_no_text_is_kept_as_they_hold_none() -> None:
    sent = IceRequest.model_validate(
        {
            "text": TEXT,
            "attribution": "attention",
            "do_not_store_text": True,
            "options": {"token_values": True},
        }
    )
    with planted():
        report = score(sent)
    kept = IceResult.model_validate(json.loads(json.dumps(without_text(report, sent))))
    assert (kept.tokens, kept.token_values) == (report.tokens, report.token_values)
