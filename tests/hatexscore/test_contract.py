from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from services.hatexscore.contract import POLICY_LANGUAGES, HatexscoreRequest
from services.hatexscore.lexicon import FOLDER
from tests.flat_requests import flat_request


def request(**fields: Any) -> HatexscoreRequest:
    return flat_request(HatexscoreRequest, **{"text": "a", "explanation": "b", **fields})


def locations(fields: dict[str, Any]) -> set[tuple[str | int, ...]]:
    with pytest.raises(ValidationError) as caught:
        request(**fields)
    locations = (error["loc"] for error in caught.value.errors())
    return {loc[1:2] if loc[0] == "options" else loc[:1] for loc in locations}


def test_an_empty_explanation_is_legal_and_an_empty_text_is_not() -> None:
    assert request(explanation="").explanation == ""
    assert locations({"text": ""}) == {("text",)}


@pytest.mark.parametrize(
    ("fields", "where"),
    [
        ({"policy": {}}, "policy"),
        ({"policy": {"group": []}}, "policy"),
        ({"policy": "meta", "language": "ko"}, "policy"),
        ({"policy": "nobody"}, "policy"),
        ({"policy": {"group": ["x" * 101]}}, "policy"),
        ({"tau": 1.01}, "tau"),
        ({"tau": float("nan")}, "tau"),
        ({"weights": {"htc": 0, "qf": 0, "tgi": 0, "cc": 0}}, "weights"),
        ({"weights": {"htc": -1}}, "weights"),
        ({"short_text_max_words": 51}, "short_text_max_words"),
        ({"control_draws": -1}, "control_draws"),
        ({"control_draws": 201}, "control_draws"),
        ({"probabilities": {"original": 1.2, "masked": 0}}, "probabilities"),
        ({"probabilities": {"original": 0.2}}, "probabilities"),
        ({"decision": "purple"}, "decision"),
        ({"decision": "safe", "labels": "hate"}, "decision"),
        ({"labels": "politeness"}, "labels"),
        ({"labels": {"hateful": ["rude"]}}, "labels"),
        ({"labels": {"hateful": [], "non-hateful": ["fine"]}}, "labels"),
        ({"text": "x" * 20_001}, "text"),
        ({"explanation": "x" * 20_001}, "explanation"),
        ({"surprise": 1}, "surprise"),
        ({"options": {"surprise": 1}}, "surprise"),
    ],
)
def test_a_bad_field_is_named(fields: dict[str, Any], where: str) -> None:
    assert locations(fields) == {(where,)}


def test_a_policy_of_your_own_is_not_bound_to_a_language() -> None:
    assert request(policy={"road users": ["cyclist"]}, language="ko").language == "ko"


def test_the_contract_knows_the_lists_that_exist() -> None:
    names = {f"{name}.{code}.json" for name, codes in POLICY_LANGUAGES.items() for code in codes}
    assert names == {path.name for path in FOLDER.glob("*.*.json")}


def test_more_masked_characters_than_two_millions_are_refused() -> None:
    HatexscoreRequest(text="x" * 10_000, explanation="", options={"control_draws": 200})
    with pytest.raises(ValidationError) as refused:
        HatexscoreRequest(text="x" * 10_001, explanation="", options={"control_draws": 200})
    assert [error["loc"] for error in refused.value.errors()] == [("options", "control_draws")]
