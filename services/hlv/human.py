"""What humans said: votes, ratings or rankings, from one source or several. Pydantic only."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from shared.contracts import Message
from shared.questions import Key

SOME = Field(min_length=1, max_length=1_000)

WIDEST = 1e6  # scale of ratings: squares of what is on it stay far from infinity

Rating = Annotated[float, Field(ge=-WIDEST, le=WIDEST)]
Values = Annotated[dict[Key, Rating], Field(min_length=1, max_length=26)]
Counts = Annotated[dict[Key, Annotated[float, Field(ge=0, le=1e9)]], Field(max_length=26)]
Places = Annotated[dict[Key, Annotated[float, Field(ge=1, le=26)]], Field(max_length=26)]

Sources = tuple[dict[str, float], ...]


class Scale(Message):
    """The ends of a rating scale."""

    low: float = Field(default=1, ge=-WIDEST, le=WIDEST, description="impossible")
    high: float = Field(default=5, ge=-WIDEST, le=WIDEST, description="very likely")

    @model_validator(mode="after")
    def _upwards(self) -> Self:
        if not self.low < self.high:
            raise ValueError("`low` must lie below `high`")
        return self


class Human(Message):
    """Exactly one of `votes`, `ratings`, `ranking`; each an object, or a list of them, a source
    each (an annotator, a data set): sources are averaged."""

    votes: Annotated[
        Annotated[tuple[Counts, ...], SOME] | Counts | None,
        Field(
            description="option → count; a missing option is 0. Every source is normalised, then "
            "the mean is taken",
        ),
    ] = None
    ratings: Annotated[
        Annotated[tuple[Values, ...], SOME] | Values | None,
        Field(
            description="option → plausibility on `scale`, every option; the mean is taken",
        ),
    ] = None
    ranking: Annotated[
        Annotated[tuple[Places, ...], SOME] | Places | None,
        Field(
            description="option → place, 1 = best, equal places tie; options that are missing tie "
            "for last. The mean of fractional ranks is taken, and ranked again",
        ),
    ] = None
    scale: Scale = Field(default_factory=Scale, description="of `ratings`")

    @model_validator(mode="after")
    def _one_of_three(self) -> Self:
        given = [kind for kind in (self.votes, self.ratings, self.ranking) if kind is not None]
        if len(given) != 1:
            raise ValueError("give exactly one of `votes`, `ratings` and `ranking`")
        if self.votes is not None and not all(sum(source.values()) > 0 for source in self.sources):
            raise ValueError("a source of votes has no vote")
        return self

    @model_validator(mode="after")
    def _on_the_scale(self) -> Self:
        low, high = self.scale.low, self.scale.high
        for source in self.sources if self.ratings is not None else ():
            if not all(low <= value <= high for value in source.values()):
                raise ValueError(f"a rating lies outside the scale, {low:g} to {high:g}")
        return self

    @property
    def sources(self) -> Sources:
        """What was given, a source each."""
        given = next(one for one in (self.votes, self.ratings, self.ranking) if one is not None)
        return (given,) if isinstance(given, dict) else given
