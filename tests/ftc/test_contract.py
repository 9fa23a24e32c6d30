from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from pydantic import ValidationError

from services.ftc.contract import CONTRACT, FtcRequest
from services.ftc.hypotheses import TARGETS, target

TEXT = {"kind": "substituted", "text": "x"}


def request(**fields: Any) -> FtcRequest:
    return FtcRequest(**{"premise": "a", "hypothesis": "b", "explanation": "c", **fields})


@pytest.mark.parametrize("name", CONTRACT.examples)
def test_every_example_is_a_valid_request_that_survives_the_wire(name: str) -> None:
    sent = CONTRACT.request.model_validate(CONTRACT.examples[name])
    assert CONTRACT.request.model_validate_json(sent.model_dump_json()) == sent


@pytest.mark.parametrize(
    "fields",
    [
        {"hypothesis": ""},
        {"premise": "x" * 20_001},
        {"decision": "maybe"},
        {"alpha": 0.49},
        {"alpha": 1.01},
        {"alpha": float("nan")},
        {"epsilon": 0},
        {"draws": 201},
        {"extractor": "llm"},
        {"extractor": "regex"},
        {"counterfactuals": [TEXT]},
        {"counterfactuals": [], "decision": "entailment"},
        {"counterfactuals": [TEXT], "decision": "neutral"},
        {"counterfactuals": [TEXT, TEXT], "decision": "entailment"},
        {"counterfactuals": [{"kind": "a", "text": "x"}], "decision": "contradiction"},
        {"counterfactuals": [TEXT, {"kind": "a", "text": "x"}], "decision": "neutral"},
        {"targets": {"a": {"entailment": 0.5, "neutral": 0.1, "contradiction": 0.1}}},
        {"targets": {"c": {"entailment": 1, "neutral": 0, "contradiction": 0}}},
        {"study": {"inputs": "nothing"}},
        {"substitutes": [" "]},
        {"surprise": 1},
    ],
)
def test_a_bad_field_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        request(**fields)


def test_an_empty_premise_and_an_empty_explanation_are_legal() -> None:
    assert request(premise="", explanation="").explanation == ""


def test_the_logic_is_that_of_table_2() -> None:
    assert target("entailment", "substituted") == "entailment"
    assert target("contradiction", "substituted") == "entailment"
    assert target("neutral", "a") == "entailment"
    assert target("neutral", "b") == "neutral"
    assert sum(map(len, TARGETS.values())) == 4
    with pytest.raises(KeyError):
        target("neutral", "substituted")


def test_the_contract_loads_no_model_code() -> None:
    heavy = "{'numpy', 'scipy', 'torch', 'spacy', 'lemminflect', 'snowballstemmer'}"
    program = f"import sys, services.ftc.contract; assert not {heavy} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True)
