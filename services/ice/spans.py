"""Where an explanation points: spans of characters. Part of the contract: pydantic only."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from shared.contracts import Message

Of = Literal["text", "text_pair"]

MOST = 1e300  # of a value's magnitude: sums over a text stay finite


class Span(Message):
    """A span of the text, or of its pair."""

    start: int = Field(ge=0, description="character offset (Unicode code points)")
    end: int = Field(ge=1, description="character offset, exclusive")
    of: Of = Field(default="text", description="what the offsets point into")

    @model_validator(mode="after")
    def _not_empty(self) -> Self:
        if self.end <= self.start:
            raise ValueError("a span must end after its start")
        return self


class Attributed(Span):
    """A span with its importance."""

    value: float = Field(ge=-MOST, le=MOST, description="importance, in units of your own")
