"""A null distribution: the scores of random explanations, for comparison. All metrics share the
message. `shared.statistics` computes its values."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from shared.contracts.messages import Count, Message, Share, Word


class Histogram(Message):
    """Counts of values in equal bins between the least and the greatest value."""

    low: float = Field(description="the smallest value, where the first bin begins")
    high: float = Field(description="the largest value, where the last bin ends (inclusive)")
    counts: tuple[Count, ...] = Field(
        min_length=1,
        description="number of values in each bin, lowest first; a single bin if all values are "
        "equal",
    )

    @model_validator(mode="after")
    def _ascending(self) -> Self:
        if self.high < self.low:
            raise ValueError("a histogram must not end before it begins")
        return self


PValue = Annotated[float, Field(gt=0, le=1)]


class Null(Message):
    """The scores of random explanations, to compare the real one with. A metric narrows `kind`,
    adds its own fields, and defines the scores and their unit."""

    kind: Annotated[str, Word] = Field(
        description="the property that random explanations share with the tested one"
    )
    placements: Count | None = Field(
        default=None,
        description="number of other possible explanations of this kind; null if above 1e15 or "
        "not counted",
    )
    draws: Count = Field(description="number of random explanations compared")
    win_rate_draws: Count | None = Field(
        default=None,
        description="number of draws in the first round, on which the win rate is based; whether "
        "more are drawn depends on their result",
    )
    exact: bool = Field(
        default=False, description="whether the draws are all possible explanations of this kind"
    )
    overlap: Share | None = Field(
        default=None,
        description="mean intersection over union of the tested explanation's units and those of a "
        "random one. Near 1, they are almost the same, and the win rate tends to 1/2. Null if the "
        "explanation is not a set of units",
    )
    p_value: PValue | None = Field(
        default=None,
        description="one-sided p-value: (1 + draws with at least this score) / (1 + draws); from "
        "the first round if its result is clear",
    )
    p_anti: PValue | None = Field(
        default=None,
        description="one-sided p-value of the opposite test: draws with at most this score",
    )
    p_two_sided: PValue | None = Field(
        default=None, description="two-sided p-value: twice the smaller of the two, at most 1"
    )
    attainable_p: PValue | None = Field(
        default=None,
        description="the smallest possible p-value, with all draws that the request allows or "
        "with all placements",
    )
    ties: Share | None = Field(default=None, description="share of the draws with the same score")
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
    least_placements: Count = Field(
        description="the smallest number of other placements that one of these passages has"
    )
    most_placements: Count = Field(description="the most")
    standing: float = Field(
        description="(fall of the log odds - mean) / (standard deviation + 0.1), for the "
        "explanation's words among all other placements: how much its words stand out"
    )
    p_anti: PValue = Field(
        description="p-value of the opposite test: how often a random passage stands out at most "
        "this much"
    )


class CalibratedNull(Null):
    """A null distribution. For small ones, it adds a p-value calibrated on other texts."""

    p_calibrated: PValue | None = Field(
        default=None,
        description="for texts with 4 to 18 other placements, too few for a `p_value` of 0.05: how "
        "often a random passage of another post stands out as much among its own placements. Valid "
        "on average over posts (`calibration`), for judges and languages that were measured",
    )
    calibration: Calibration | None = Field(
        default=None,
        description="the texts that `p_calibrated` is based on; null without `p_calibrated`",
    )
