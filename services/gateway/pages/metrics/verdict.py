"""What a page says first: the result in words, how to take it, and what chance would do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Tone = Literal["good", "bad", "neutral"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """A result in words. chance: stands beside it; None where there is nothing to compare."""

    text: str
    tone: Tone = "neutral"
    chance: str | None = None
