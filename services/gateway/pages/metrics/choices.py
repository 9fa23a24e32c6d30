"""The options of a question as the pages of several metrics list them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from services.cot2el.contract import Cot2elRequest
from services.hlv.contract import HlvRequest


@dataclass(frozen=True, slots=True)
class Choice:
    """An option by its letter; `text` is "" where it was not kept."""

    key: str
    text: str


def choices(
    request: Cot2elRequest | HlvRequest | None, spoken: Collection[str]
) -> tuple[Choice, ...]:
    """In the order in which they were shown; where that is not known, `spoken` by letter."""
    if request is None:
        return tuple(Choice(key, "") for key in sorted(spoken))
    return tuple(Choice(option.key, option.text) for option in request.options)
