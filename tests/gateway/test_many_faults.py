"""A body of very many faults costs what one of a few costs, and is refused in few words."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from pydantic import ValidationError

from services.registry import metrics
from shared.contracts.problems import MOST_FAULTS, MOST_MEMBERS, parse_strict

TOKENS: list[Any] = [{}] * 5_000
RESPONSE = {"text": "a", "tokens": TOKENS}
HATEFUL = {"text": "a", "explanation": "b", "decision": "hateful"}
SPANS: list[Any] = [{}] * 20_000
WRONG: dict[str, tuple[str, Any]] = {
    "lists in lists": (
        "haf",
        {"text": "a", "responses": {"justify": RESPONSE, "individual": [RESPONSE] * 60}},
    ),
    "lists": ("ice", {"text": "a", "rationale": SPANS, "human": SPANS}),
    "lists of a mapping": (
        "hatexscore",
        HATEFUL | {"options": {"policy": {f"c{n}": list(range(1_900)) for n in range(99)}}},
    ),
    "members of a mapping": (
        "hatexscore",
        HATEFUL | {"metadata": {f"k{n}": n for n in range(MOST_MEMBERS)}},
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_faults_do_not_add_up(name: str) -> None:
    metric, body = WRONG[name]
    with pytest.raises(ValidationError) as caught:
        parse_strict(metrics()[metric].request, json.dumps(body), body)
    assert caught.value.error_count() <= MOST_FAULTS


@pytest.mark.parametrize("name", WRONG)
def test_the_answer_is_short(client: httpx.Client, name: str) -> None:
    metric, body = WRONG[name]
    refusal = client.post(f"/v1/scores/{metric}", json=body)
    assert refusal.status_code == 422
    assert refusal.json()["errors"]
    assert len(refusal.content) < 300_000


@pytest.mark.parametrize("where", ["request", "metadata"])
def test_an_object_of_very_many_members_is_refused_as_one_fault(
    client: httpx.Client, where: str
) -> None:
    many = {f"f{n}": 1 for n in range(90_000)}
    body = HATEFUL | (many if where == "request" else {"metadata": many})
    refusal = client.post("/v1/scores/hatexscore", json=body)
    assert refusal.status_code == 422
    assert "members" in refusal.json()["detail"]
    assert len(refusal.content) < 2_000


def test_each_field_is_told_still(client: httpx.Client) -> None:
    refusal = client.post("/v1/scores/hatexscore", json={"text": 1, "draws": 2, "explain": 3})
    places = {one["pointer"] for one in refusal.json()["errors"]}
    assert {"#/text", "#/explain", "#/draws"} <= places


def test_a_list_is_not_too_short_for_a_wrong_item(client: httpx.Client) -> None:
    body = {"text": "a b", "rationale": [{"start": -1, "end": 1}]}
    refusal = client.post("/v1/scores/ice", json=body)
    assert [one["pointer"] for one in refusal.json()["errors"]] == ["#/rationale/0/start"]
