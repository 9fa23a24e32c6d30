"""Answers of a judge that the caller asked. Pydantic only."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from services.hlv.human import Counts, Places, Values
from shared.contracts import Message
from shared.questions import Key

MOST_RUNS = 26

Logit = Annotated[float, Field(ge=-1e39, le=1e39)]  # any number of single precision
Logits = Annotated[dict[Key, Logit], Field(min_length=1, max_length=26)]


class Answers(Message):
    """What a judge said, a list entry a run; option → value."""

    rankings: tuple[Places, ...] = Field(
        default=(), max_length=MOST_RUNS, description="places, 1 = best; missing ones tie for last"
    )
    distributions: tuple[Counts, ...] = Field(
        default=(), max_length=MOST_RUNS, description="probabilities, or weights of any sum > 0"
    )
    logits: tuple[Logits, ...] = Field(
        default=(), max_length=MOST_RUNS, description="of the options' letters, every option"
    )
    scores: tuple[Values, ...] = Field(
        default=(), max_length=MOST_RUNS, description="on the scale of `human`, every option"
    )

    @model_validator(mode="after")
    def _something(self) -> Self:
        if not (self.rankings or self.distributions or self.logits or self.scores):
            raise ValueError("there are no answers")
        if self.distributions and self.logits:
            raise ValueError("give `distributions` or `logits`, not both")
        if not all(sum(row.values()) > 0 for row in self.distributions):
            raise ValueError("a distribution has no mass")
        return self

    @property
    def rows(self) -> tuple[dict[str, float], ...]:
        """Every answer."""
        return (*self.rankings, *self.distributions, *self.logits, *self.scores)


class Predictions(Message):
    """Answers of a judge that you asked yourself."""

    explained: Answers | None = Field(default=None, description="asked with the explanations")
    baseline: Answers | None = Field(default=None, description="asked without")

    @model_validator(mode="after")
    def _some_side(self) -> Self:
        if self.explained is None and self.baseline is None:
            raise ValueError("give `explained`, `baseline` or both")
        return self

    @property
    def sides(self) -> tuple[Answers, ...]:
        """Those that were given."""
        return tuple(side for side in (self.explained, self.baseline) if side is not None)
