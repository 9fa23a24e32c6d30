"""Results as workers write them."""

from __future__ import annotations

import copy
from typing import Any

from services.gateway.openapi_examples import example_of


def a_report(metric: str = "hatexscore") -> dict[str, Any]:
    """This metric's example of a batch report."""
    return _result_of(f"report_{metric}")


def a_result(score: float, metric: str = "hatexscore") -> dict[str, Any]:
    """This metric's example, with this score."""
    return _result_of(f"score_{metric}") | {"score": score}


def _result_of(operation_id: str) -> dict[str, Any]:
    example = example_of(operation_id)
    assert example is not None
    found: dict[str, Any] = copy.deepcopy(example["answer"]["result"])
    return found
