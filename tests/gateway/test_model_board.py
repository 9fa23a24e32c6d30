"""A request is refused at once where any model that it names is known to be unusable."""

from __future__ import annotations

from typing import Any

import pytest

from services.gateway.state import ModelBoard
from services.registry import contracts
from shared.contracts.errors import ModelState, ModelUnusable
from shared.models.catalogue.availability import Status

TEXTS = {"text": "They are kind.", "explanation": "It praises them. Not hateful."}


def board(**states: ModelState) -> ModelBoard:
    made = ModelBoard()
    made._statuses = {
        name: Status(state=state, reason=f"{name} is {state}", since=0.0)
        for name, state in states.items()
    }
    return made


@pytest.mark.parametrize(
    ("service", "body", "pointer"),
    [
        ("hatexscore", TEXTS | {"model": "broken"}, "/model"),
        ("hatexscore", TEXTS | {"options": {"reader_model": "broken"}}, "/options/reader_model"),
        ("explanations", {"text": "a", "model": "broken"}, "/model"),
        (
            "explanations",
            {
                "text": "a",
                "model": "well",
                "score": {"hatexscore": {"options": {"reader_model": "broken"}}},
            },
            "/score/hatexscore",
        ),
    ],
)
def test_a_model_that_somebody_must_mend_is_refused_where_it_is_named(
    service: str, body: dict[str, Any], pointer: str
) -> None:
    contract = contracts()[service]
    asked = contract.request.model_validate(body)
    with pytest.raises(ModelUnusable, match="touchstone models check broken") as caught:
        board(well="ready", broken="failed").check_models(contract, asked)
    assert caught.value.pointer == pointer
    board(broken="loading").check_models(contract, asked)  # what comes by itself is waited for
