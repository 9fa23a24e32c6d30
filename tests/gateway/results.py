"""Answers of a real run, which `make openapi` records in docs/openapi.json."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from services.gateway.openapi import operations
from services.gateway.openapi_schemas import Json
from tests.end_to_end.service import ROOT

STORED = ROOT / "docs" / "openapi.json"


@lru_cache(maxsize=1)
def _answers() -> dict[str, str]:
    """operation → its answer as JSON, so that each reader gets a copy of its own."""
    return {
        operation["operationId"]: json.dumps(media["example"])
        for _, operation in operations(json.loads(STORED.read_text("utf-8")))
        for response in operation["responses"].values()
        for media in response.get("content", {}).values()
        if "example" in media
    }


def recorded(operation_id: str) -> Any:
    """Return the recorded answer of an operation. Raises KeyError if it has none."""
    return json.loads(_answers()[operation_id])


def a_report(metric: str = "hatexscore") -> Json:
    """This metric's example of a batch report."""
    report: Json = recorded(f"report_{metric}")["result"]
    return report


def a_result(score: float, metric: str = "hatexscore") -> Json:
    """This metric's example, with this score."""
    result: Json = recorded(f"score_{metric}")["result"]
    return result | {"score": score}
