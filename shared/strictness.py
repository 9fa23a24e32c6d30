"""A message from JSON, read as strictly as its schema is written, and no more strictly.

To JSON Schema 1.0 is an integer (2020-12, validation 6.1.1), to pydantic's strict mode it is none.
"""

from __future__ import annotations

import json
from typing import Any, TypeVar

from pydantic import ValidationError

from shared.contracts import Message

M = TypeVar("M", bound=Message)


def read_strictly(message: type[M], raw: bytes | str, body: Any) -> M:
    """The message. body: the same JSON, decoded. Raises ValidationError."""
    try:
        return message.model_validate_json(raw, strict=True)
    except ValidationError as error:
        if all(found["type"] != "int_type" for found in error.errors(include_url=False)):
            raise
    return message.model_validate_json(json.dumps(whole(body)), strict=True)


def whole(value: Any) -> Any:
    """The same JSON with every whole number written as an integer."""
    if isinstance(value, dict):
        return {name: whole(one) for name, one in value.items()}
    if isinstance(value, list):
        return [whole(one) for one in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
