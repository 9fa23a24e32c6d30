"""The fields of an explanation are written out and found again, and a schema asks for them."""

from __future__ import annotations

import json
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from services.hatexscore.contract import HatexscoreRequest
from shared.contracts.explanation_fields import (
    WRITTEN,
    ExplanationFields,
    fields_in,
    schema_for_models,
)
from shared.contracts.problems import parse_strict, validation_problem

WORDS = st.text('ab "\u201d\n:{}', max_size=12)
FIELDS = st.fixed_dictionaries(
    {"decision": st.sampled_from(["hateful", "non-hateful"])},
    optional={
        "text": WORDS,
        "quotes": st.lists(WORDS, max_size=3),
        "reasons": st.lists(WORDS, max_size=3),
        "target_groups": st.lists(WORDS, max_size=3),
    },
)


@given(FIELDS)
def test_each_value_stands_where_its_span_says(body: dict[str, Any]) -> None:
    fields = ExplanationFields.model_validate(body)
    for name in WRITTEN:
        values = [value for field, value in fields.values() if field == name]
        assert [fields.written[slice(*span)] for span in fields.spans(name)] == values


@given(FIELDS)
def test_a_text_that_is_the_json_has_the_same_fields(body: dict[str, Any]) -> None:
    fields = ExplanationFields.model_validate(body)
    assert fields_in(json.dumps(body)) == fields
    assert fields_in(f"```json\n{fields.model_dump_json()}\n```") == fields


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "The post is hateful.",
        '{"decision": "hateful", "colour": "red"}',
        '{"decision": "hateful"} and more',
        '{"decision": "hate',
        '[{"decision": "hateful"}]',
        '{"quotes": "not a list"}',
    ],
)
def test_other_text_stays_text(text: str) -> None:
    assert fields_in(text) is None


def test_a_schema_asks_for_what_is_taken() -> None:
    schema = schema_for_models()
    assert set(schema["required"]) == set(schema["properties"]) == set(WRITTEN)
    answer = {
        name: ["a"] if field["type"] == "array" else "a"
        for name, field in schema["properties"].items()
    }
    jsonschema_rs.validator_for(schema).validate(answer)
    assert fields_in(json.dumps(answer)) is not None


def test_strict_json_is_taken_and_a_fault_has_its_place() -> None:
    body = {"text": "a", "explanation": {"decision": "hateful", "quotes": ["a"], "reasons": []}}
    asked = parse_strict(HatexscoreRequest, json.dumps(body), body)
    assert isinstance(asked.explanation, ExplanationFields)
    assert HatexscoreRequest.model_validate_json(asked.model_dump_json(), strict=True) == asked
    wrong: dict[str, Any] = {"text": "a", "explanation": {"quotes": ["a", 5]}}
    with pytest.raises(ValidationError) as refused:
        parse_strict(HatexscoreRequest, json.dumps(wrong), wrong)
    [fault] = validation_problem(refused.value, wrong)["errors"]
    assert fault["pointer"] == "#/explanation/quotes/1"


def test_fields_that_say_nothing_are_refused() -> None:
    for body in ({}, {"decision": None}, {"text": "a" * 20_001}):
        with pytest.raises(ValidationError):
            ExplanationFields.model_validate(body)
