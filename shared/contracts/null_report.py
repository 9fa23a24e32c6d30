"""The message of a null distribution: random explanations for comparison with an explanation.

All metrics share it; `shared.statistics` draws and computes the values. Pydantic only.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from shared.contracts.messages import Count, Message, Word


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


PValue = Annotated[float, Field(gt=0, le=1)]
Rate = Annotated[float, Field(ge=0, le=1)]


class Null(Message):
    """Random explanations of the same kind, which an explanation is compared with.

    One message for every metric, which narrows `kind` and adds what it alone has. What the scores
    are, and their unit, is the metric's.
    """

    kind: Annotated[str, Word] = Field(description="in what they are like the explanation")
    placements: int | None = Field(
        default=None,
        ge=0,
        description="that exist besides the explanation; null above 1e15 and where not counted",
    )
    draws: int = Field(ge=0, description="random ones compared with")
    win_rate_draws: int | None = Field(
        default=None,
        ge=0,
        description="of these, the first ones, which the win rate rests on: how many follow was "
        "decided by what they showed; null in results of before: all",
    )
    exact: bool = Field(default=False, description="whether they are all that exist")
    overlap: Rate | None = Field(
        default=None,
        description="mean intersection over union of the explanation's units with a random one's: "
        "near 1 the null is the explanation itself, and the win rate tends to 1/2; null where it "
        "is no set of units",
    )
    p_value: PValue | None = Field(
        default=None,
        description="one-sided, (1 + draws that score as high) / (1 + draws), of the first draws "
        "where these settle it",
    )
    p_anti: PValue | None = Field(default=None, description="the other side: as low")
    p_two_sided: PValue | None = Field(
        default=None, description="twice the smaller of both, at most 1"
    )
    attainable_p: PValue | None = Field(
        default=None,
        description="the least p that could have come: of as many draws as the request allows, or "
        "of all placements",
    )
    ties: Rate | None = Field(default=None, description="share of the draws that score the same")
    mean: float | None = Field(default=None, description="of the draws' scores")
    sd: float | None = Field(
        default=None, ge=0, description="of the draws' scores, over n - 1; null for a single one"
    )
    deciles: tuple[float, ...] = Field(
        default=(),
        description="the 10 % to 90 % quantiles of the draws' scores; empty without draws",
    )
    histogram: Histogram | None = Field(
        default=None, description="of the draws' scores, in 20 equal bins; null without draws"
    )


class Calibration(Message):
    """The other texts that `p_calibrated` rests on. It holds on average over texts: for a given
    text its size may be larger or smaller."""

    basis: Literal["other posts"] = "other posts"
    posts: Count = Field(
        description="passages of other posts, single words if the explanation's are"
    )
    least_placements: Count = Field(description="the fewest other placements that they have")
    most_placements: Count = Field(description="the most")
    standing: float = Field(
        description="(fall of the log odds - mean) / (standard deviation + 0.1), over the "
        "explanation's words and all other placements: how far its words stand out"
    )
    p_anti: PValue = Field(description="the other side: how often one stands out as little")


class CalibratedNull(Null):
    """A null with few placements can be compared with those of other texts."""

    p_calibrated: PValue | None = Field(
        default=None,
        description="where 4 to 18 other placements exist, too few for a `p_value` of 0.05: how "
        "often a random passage of another post stands out as far among its placements. Valid on "
        "average over posts (`calibration`), for posts that the judge calls hateful, for judges "
        "and languages that were measured",
    )
    calibration: Calibration | None = Field(
        default=None, description="what `p_calibrated` rests on; null without it"
    )
