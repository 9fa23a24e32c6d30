"""One value of a result as a page shows it: a number, an interval, our own word, or a text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

MOST_CHARACTERS = 300
INTERVAL = {"value", "low", "high", "of"}  # the fields of `shared.batch_reports.Interval`

Json = Any
Kind = Literal["number", "interval", "ours", "text"]


@dataclass(frozen=True, slots=True)
class Cell:
    """One value, and how it is to be shown; numbers may be None, texts are blurred."""

    kind: Kind
    value: Json


def cell(value: Json, ours: bool) -> Cell:
    """ours: whether strings in it are our own words. What is nested is JSON, and cut short."""
    if isinstance(value, bool):
        return Cell("ours", "yes" if value else "no")
    if value is None or isinstance(value, int | float):
        return Cell("number", value)
    if is_interval(value):
        return Cell("interval", value)
    if not isinstance(value, str) and not value:
        return Cell("ours", "none")
    said = value if isinstance(value, str) else _written(value)
    if len(said) > MOST_CHARACTERS:
        said = said[:MOST_CHARACTERS] + "…"
    return Cell("ours" if ours or _is_wordless(value) else "text", said)


def is_interval(value: Json) -> bool:
    """Whether this is an estimate with its interval."""
    return isinstance(value, Mapping) and set(value) == INTERVAL


def _is_wordless(value: Json) -> bool:
    """Numbers within lists hold no text."""
    if isinstance(value, list):
        return all(map(_is_wordless, value))
    return value is None or isinstance(value, bool | int | float)


def _written(value: Json) -> str:
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return ", ".join(value)
    return json.dumps(value, ensure_ascii=False)
