"""What a served model cannot do is said when the request is posted, not after a queue."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from services.registry import contracts
from shared.errors import ModelCannot
from shared.models.catalogue import Catalogue
from shared.models.entry import ModelEntry
from shared.service_contract import ServiceContract

SERVED = ModelEntry(name="there", kind="causal", source="openai:http://vllm:8000/v1")
CLASSIFIES = ModelEntry(name="head", kind="classifier", source="classify:http://tei")
HERE = ModelEntry(name="here", kind="classifier", source="embedded:hate")
CATALOGUE = Catalogue((SERVED, CLASSIFIES, HERE), Path())
EXAMPLES = [{"text": "A text"}]
ROWS = [{"example": {"text": "A text"}, "rows": []}]


def post(contract: ServiceContract, **body: Any) -> None:
    """As the gateway does before it commits a job."""
    asked = contract.request.model_validate(body)
    CATALOGUE.demand(contract, asked.model, asked)


@pytest.mark.parametrize(
    ("model", "ability", "ask"),
    [
        ("there", "token_rows", {"operation": "judge_rows", "asked": ROWS}),
        ("head", "token_rows", {"operation": "tokens", "examples": EXAMPLES}),
        ("head", "generate", {"operation": "generate", "prompts": [{"text": "a"}]}),
        (
            "there",
            "attributions",
            {
                "operation": "attributions",
                "examples": EXAMPLES,
                "targets": ["hateful"],
                "method": {"name": "gradient"},
            },
        ),
    ],
)
def test_an_operation_that_no_server_does(model: str, ability: str, ask: dict[str, Any]) -> None:
    with pytest.raises(ModelCannot) as caught:
        post(contracts()["inference"], model=model, ask=ask)
    assert (caught.value.model, caught.value.ability) == (model, ability)
    assert ability not in caught.value.abilities
    assert caught.value.pointer == "/model"


def test_what_servers_do_is_taken() -> None:
    inference = contracts()["inference"]
    post(inference, model="there", ask={"operation": "judge", "examples": EXAMPLES})
    post(inference, model="head", ask={"operation": "judgements", "examples": EXAMPLES})
    post(inference, model="there", ask={"operation": "score", "prompts": [{"text": "a"}],
                                        "completions": ["b"]})  # fmt: skip
    post(inference, model="here", ask={"operation": "judge_rows", "asked": ROWS})


def test_ice_needs_rows_of_tokens() -> None:
    body = {"text": "We lost the match", "rationale": [{"start": 3, "end": 7}]}
    post(contracts()["ice"], model="here", **body)
    with pytest.raises(ModelCannot, match=r"'head' \(classify:\) cannot give token rows"):
        post(contracts()["ice"], model="head", **body)
