"""Messages that compare results with people's gold labels, marked passages and ratings."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from shared.contracts.messages import Count, Message, MetadataKey, Word
from shared.contracts.reports import Interval


class GoldColumns(Message):
    """Keys of the lines' metadata that hold what people say."""

    label: Annotated[MetadataKey, Word] = Field(
        default="gold", description="the gold label of the text"
    )
    rationale: Annotated[MetadataKey, Word] = Field(
        default="gold_rationale",
        description="passages of the text that people marked: JSON, `[[start, end], …]` or "
        "`[{start, end}, …]`, character offsets, `end` exclusive; `[]`: they marked nothing",
    )
    rating: Annotated[MetadataKey, Word] = Field(
        default="rating",
        description="ratings of the explanation: one number, a list of one a person (`4; 5`, or "
        "JSON), or one key a person that begins with this and `_`, as in `rating_anna`; yes and no "
        "are 1 and 0",
    )
    accepted_from: float | None = Field(
        default=None,
        description="ratings of at least this accept the explanation; absent: the higher one, "
        "where there are two values",
    )


class ConfusionCell(Message):
    """Results with this gold label and this decision."""

    gold: str
    decided: str | None = Field(description="null: no decision could be read")
    results: Count


class LabelAccuracy(Message):
    """One label among those results whose decision was read."""

    label: str
    gold: Count = Field(description="results with this gold label")
    decided: Count = Field(description="results that decided so")
    precision: float | None = Field(ge=0, le=1, description="null where nothing decided so")
    recall: float | None = Field(ge=0, le=1, description="null without this gold label")
    f1: Interval


class GoldLabels(Message):
    """The decisions beside the gold labels."""

    results: Count = Field(description="with a gold label")
    unread: Count = Field(description="of these, results whose decision could not be read")
    refused: Count = Field(description="of these, results whose model refused")
    accuracy: Interval = Field(description="share of what was decided that is right, [0, 1]")
    accuracy_of_all: Interval = Field(
        description="the same of all: what was not decided is not right"
    )
    chance: float | None = Field(
        ge=0,
        le=1,
        description="accuracy that always deciding for the most frequent gold label would have on "
        "what was decided; null where nothing was",
    )
    chance_of_all: float | None = Field(
        default=None, ge=0, le=1, description="the same of all results with a gold label"
    )
    macro_f1: Interval = Field(description="mean of the labels' F1, of what was decided, [0, 1]")
    kappa: Interval = Field(description="Cohen's, of decisions and gold labels, [-1, 1]")
    labels: tuple[LabelAccuracy, ...]
    confusion: tuple[ConfusionCell, ...] = Field(description="cells that are not empty")


class Plausibility(Message):
    """The passages that explanations rest on beside those that people marked (ERASER; DeYoung et
    al., 2020), over characters. A text on which both sides mark nothing is left out."""

    results: Count = Field(description="with marked passages, or with passages of their own")
    without_spans: Count = Field(description="of these, explanations that rest on no passage")
    character_f1: Interval = Field(description="F1 of the overlap, mean over results, [0, 1]")
    span_f1: Interval = Field(
        description="F1 of passages, one found where intersection over union is at least 0.5"
    )
    chance: Interval = Field(
        description="`character_f1` of the same passages at a random place of the text"
    )
    above_chance: Interval = Field(description="mean of `character_f1` - chance, [-1, 1]")


class CalibratedThreshold(Message):
    """The threshold on the score that agrees best with people's yes and no."""

    results: Count = Field(description="whose ratings say yes or no by majority")
    ties: Count = Field(description="results left out: as many yes as no")
    value: float | None = Field(
        description="of the score: what is at least as good is accepted; null: `reason` says why"
    )
    low: float | None = Field(description="of its interval, percentile bootstrap over texts")
    high: float | None
    agreed: Interval = Field(
        description="share where score and majority agree, each text decided by a threshold that "
        "was chosen without it, [0, 1]"
    )
    chance: float | None = Field(
        ge=0, le=1, description="share that always saying what most people say would have"
    )
    kappa: Interval = Field(description="Cohen's, of the same decisions, [-1, 1]")
    alpha_people: Interval = Field(
        description="Krippendorff's, nominal, of the people's yes and no among each other, over "
        "all texts that several rated, those on which they are divided as well"
    )
    alpha_with_score: Interval = Field(
        description="the same with the score's decisions as one person more; not far below "
        "`alpha_people`: it decides as one of them would"
    )
    reason: Annotated[str, Word] | None = Field(default=None, description="why it is null")


class HumanRatings(Message):
    """The scores beside people's ratings of the explanations."""

    results: Count = Field(description="with a score and a rating")
    people: Count
    spearman: Interval = Field(description="rank correlation with the mean rating, [-1, 1]")
    kendall: Interval = Field(description="tau-b with the mean rating, [-1, 1]")
    alpha: Interval = Field(
        description="Krippendorff's, interval, of the ratings of several people, at most 1"
    )
    threshold: CalibratedThreshold


class GoldAgreement(Message):
    """Results beside gold labels, marked passages and ratings; a part that no line has is null."""

    labels: GoldLabels | None
    rationales: Plausibility | None
    ratings: HumanRatings | None
    warnings: tuple[Annotated[str, Word], ...] = ()
