"""A null distribution: the scores of random explanations, for comparison. All metrics share the
message. `shared.statistics` computes its values."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from shared.contracts.messages import Count, Message, Word


class Histogram(Message):
    """Counts of values in equal bins between the least and the greatest value."""

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


PValue = Annotated[float, Field(gt=0, le=1)]
Rate = Annotated[float, Field(ge=0, le=1)]


class Null(Message):
    """The scores of random explanations, to compare the real one with. A metric narrows `kind`,
    adds its own fields, and defines the scores and their unit."""

    kind: Annotated[str, Word] = Field(
        description="the property that they share with the explanation"
    )
    placements: int | None = Field(
        default=None,
        ge=0,
        description="number of other possible explanations of this kind; null above 1e15, and"
        " if not counted",
    )
    draws: int = Field(ge=0, description="number of random explanations compared")
    win_rate_draws: int | None = Field(
        default=None,
        ge=0,
        description="number of the first draws, on which the win rate is based; further draws"
        " depend on their result. null in results of earlier versions: all draws",
    )
    exact: bool = Field(
        default=False, description="whether the draws are all possible explanations of this kind"
    )
    overlap: Rate | None = Field(
        default=None,
        description="mean intersection over union of the explanation's units with those of a "
        "random one. Near 1, random explanations are almost the same as the explanation, and the "
        "win rate tends to 1/2. null if the explanation is not a set of units",
    )
    p_value: PValue | None = Field(
        default=None,
        description="one-sided, (1 + draws with at least this score) / (1 + draws); of the "
        "first draws if these settle it",
    )
    p_anti: PValue | None = Field(
        default=None, description="the other side: draws with at most this score"
    )
    p_two_sided: PValue | None = Field(
        default=None, description="twice the smaller of both, at most 1"
    )
    attainable_p: PValue | None = Field(
        default=None,
        description="the least possible p-value, with all draws that the request allows, or "
        "with all placements",
    )
    ties: Rate | None = Field(default=None, description="share of the draws with the same score")
    mean: float | None = Field(default=None, description="mean of the draws' scores")
    sd: float | None = Field(
        default=None,
        ge=0,
        description="standard deviation of the draws' scores, over n - 1; null for a single draw",
    )
    deciles: tuple[float, ...] = Field(
        default=(),
        description="the 10 % to 90 % quantiles of the draws' scores; empty without draws",
    )
    histogram: Histogram | None = Field(
        default=None,
        description="histogram of the draws' scores, in 20 equal bins; null without draws",
    )


class Calibration(Message):
    """The passages of other posts from which the p-value `p_calibrated` is calculated. This p-value
    is valid on average, not for each text."""

    basis: Literal["other posts"] = "other posts"
    posts: Count = Field(
        description="number of passages of other posts; single words if the explanation "
        "quotes single words"
    )
    least_placements: Count = Field(description="the fewest other placements of these passages")
    most_placements: Count = Field(description="the most")
    standing: float = Field(
        description="(fall of the log odds - mean) / (standard deviation + 0.1), for the "
        "explanation's words among all other placements: how much its words stand out"
    )
    p_anti: PValue = Field(
        description="the other side: how often a random passage stands out as little or less"
    )


class CalibratedNull(Null):
    """A null distribution. For small ones, it adds a p-value calibrated on other texts."""

    p_calibrated: PValue | None = Field(
        default=None,
        description="for texts with 4 to 18 other placements, too few for a `p_value` of 0.05: how "
        "often a random passage of another post stands out as much among its placements. Valid on "
        "average over posts (`calibration`), for posts that the judge calls hateful, and for "
        "judges and languages that were measured",
    )
    calibration: Calibration | None = Field(
        default=None, description="the texts that `p_calibrated` is based on; null without it"
    )
