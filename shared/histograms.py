"""Counts of a null's scores, for whoever draws it. Pydantic only.

What is counted is a room's (scores of random rationales, effects of random substitutions); how it
is said is the same for all.
"""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from shared.contracts import Message

Count = Annotated[int, Field(ge=0)]


class Histogram(Message):
    """How many values lie in each of equal bins between the least and the greatest of them."""

    low: float = Field(description="the least value: where the first bin begins")
    high: float = Field(description="the greatest value: where the last bin ends, inclusive")
    counts: tuple[Count, ...] = Field(
        min_length=1,
        description="values in each bin, lowest first; one bin where all values are the same",
    )

    @model_validator(mode="after")
    def _ascending(self) -> Self:
        if self.high < self.low:
            raise ValueError("a histogram must not end before it begins")
        return self
