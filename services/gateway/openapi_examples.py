"""Examples of the API: one request and one answer of every operation, from a real run.

`make examples` writes `examples/<operation>.json` anew: `{"request", "status", "type", "answer"}`.
"""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "examples"


@lru_cache(maxsize=256)
def example_of(operation_id: str) -> dict[str, Any] | None:
    """As it was recorded; None where there is none."""
    file = FOLDER / f"{operation_id}.json"
    return json.loads(file.read_text("utf-8")) if file.exists() else None


def with_example(operation: dict[str, Any]) -> None:
    """Put it where its request and its answer are described."""
    found = example_of(operation["operationId"])
    if found is None:
        return
    body = operation.get("requestBody", {}).get("content", {}).get("application/json")
    if body is not None and "examples" not in body and found["request"] is not None:
        body["example"] = found["request"]
    answer = operation["responses"].get(found["status"], {}).get("content", {}).get(found["type"])
    if answer is not None and found["answer"] is not None:
        answer["example"] = found["answer"]
