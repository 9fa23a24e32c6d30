from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from services.ftc.contract import FtcRequest
from services.ftc.hypotheses import TARGETS

TEXT = {"kind": "substituted", "text": "x"}


def request(**fields: Any) -> FtcRequest:
    return FtcRequest(**{"premise": "a", "hypothesis": "b", "explanation": "c", **fields})


@pytest.mark.parametrize(
    "fields",
    [
        {"alpha": float("nan")},
        {"extractor": "llm"},
        {"counterfactuals": [TEXT]},
        {"counterfactuals": [], "decision": "entailment"},
        {"counterfactuals": [TEXT], "decision": "neutral"},
        {"counterfactuals": [TEXT, TEXT], "decision": "entailment"},
        {"counterfactuals": [{"kind": "a", "text": "x"}], "decision": "contradiction"},
        {"counterfactuals": [TEXT, {"kind": "a", "text": "x"}], "decision": "neutral"},
        {"targets": {"a": {"entailment": 0.5, "neutral": 0.1, "contradiction": 0.1}}},
        {"targets": {"c": {"entailment": 1, "neutral": 0, "contradiction": 0}}},
        {"substitutes": [" "]},
    ],
)
def test_a_bad_field_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        request(**fields)


def test_the_logic_is_that_of_table_2() -> None:
    assert TARGETS == {
        "entailment": {"substituted": "entailment"},
        "contradiction": {"substituted": "entailment"},
        "neutral": {"a": "entailment", "b": "neutral"},
    }
