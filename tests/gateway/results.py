"""Answers of a real run, which `make openapi` records."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from services.gateway.openapi_schemas import Json
from shared.contracts.answers import stored_result
from tests.end_to_end.service import ROOT

STORED = ROOT / "docs" / "openapi.json"
RECORDED = ROOT / "docs" / "answers.json"


@lru_cache(maxsize=1)
def _answers() -> dict[str, str]:
    """name → its answer as JSON, so that each reader gets a copy of its own."""
    found = json.loads(RECORDED.read_text("utf-8"))
    return {name: json.dumps(answer) for name, answer in found.items()}


def recorded(name: str) -> Any:
    """Return the recorded answer of an operation, or of `score_METRIC` and `report_METRIC`. Raises
    KeyError if there is none."""
    return json.loads(_answers()[name])


def a_report(metric: str = "hatexscore") -> Json:
    """This metric's example of a batch report."""
    return stored_result(recorded(f"report_{metric}")["result"])


def a_result(score: float, metric: str = "hatexscore") -> Json:
    """This metric's example, with this score."""
    return stored_result(recorded(f"score_{metric}")["result"]) | {"score": score}
