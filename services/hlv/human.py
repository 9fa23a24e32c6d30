"""What humans said: votes, ratings or rankings, from one source or several. Pydantic only."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, model_validator

from shared.choices import Key
from shared.contracts import Message

SOME = Field(min_length=1, max_length=1_000)


def _several(given: Any) -> Any:
    """One source may be sent bare."""
    return [given] if isinstance(given, dict) else given


Values = Annotated[dict[Key, float], Field(min_length=1, max_length=26)]
Counts = Annotated[dict[Key, Annotated[float, Field(ge=0, le=1e9)]], Field(max_length=26)]
Places = Annotated[dict[Key, Annotated[float, Field(ge=1, le=26)]], Field(max_length=26)]


class Scale(Message):
    """The ends of a rating scale."""

    low: float = Field(default=1, ge=-1e6, le=1e6, description="impossible")
    high: float = Field(default=5, ge=-1e6, le=1e6, description="very likely")

    @model_validator(mode="after")
    def _upwards(self) -> Self:
        if not self.low < self.high:
            raise ValueError("`low` must lie below `high`")
        return self


class Human(Message):
    """Exactly one of `votes`, `ratings`, `ranking`; each an object, or a list of them, a source
    each (an annotator, a data set): sources are averaged."""

    votes: Annotated[
        Annotated[tuple[Counts, ...], SOME] | None,
        BeforeValidator(_several),
        Field(
            description="option → count; a missing option is 0. Every source is normalised, then "
            "the mean is taken",
        ),
    ] = None
    ratings: Annotated[
        Annotated[tuple[Values, ...], SOME] | None,
        BeforeValidator(_several),
        Field(
            description="option → plausibility on `scale`, every option; the mean is taken",
        ),
    ] = None
    ranking: Annotated[
        Annotated[tuple[Places, ...], SOME] | None,
        BeforeValidator(_several),
        Field(
            description="option → place, 1 = best, equal places tie; options that are missing tie "
            "for last. The mean of fractional ranks is taken, and ranked again",
        ),
    ] = None
    scale: Scale = Field(default_factory=Scale, description="of `ratings`")

    @model_validator(mode="after")
    def _one_of_three(self) -> Self:
        given = [source for source in (self.votes, self.ratings, self.ranking) if source]
        if len(given) != 1:
            raise ValueError("give exactly one of `votes`, `ratings` and `ranking`")
        if self.votes and not all(sum(source.values()) > 0 for source in self.votes):
            raise ValueError("a source of votes has no vote")
        return self

    @model_validator(mode="after")
    def _on_the_scale(self) -> Self:
        low, high = self.scale.low, self.scale.high
        for source in self.ratings or ():
            if not all(low <= value <= high for value in source.values()):
                raise ValueError(f"a rating lies outside the scale, {low} to {high}")
        return self

    @property
    def sources(self) -> tuple[dict[str, float], ...]:
        """What was given, a source each."""
        return self.votes or self.ratings or self.ranking or ()
