"""A result as a worker writes one."""

from __future__ import annotations

import copy
from typing import Any

from services.gateway.openapi_examples import example_of


def a_result(score: float, metric: str = "hatexscore") -> dict[str, Any]:
    """This metric's example, with this score."""
    example = example_of(f"score_{metric}")
    assert example is not None
    found: dict[str, Any] = copy.deepcopy(example["answer"]["result"])
    return found | {"score": score}
