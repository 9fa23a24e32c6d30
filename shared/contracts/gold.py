"""Message types for people's labels (gold labels), marked passages and ratings, and for the
comparison of results with them."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from shared.contracts.messages import Count, Message, MetadataKey, Share, Word
from shared.contracts.reports import Interval


class GoldColumns(Message):
    """The metadata keys that hold people's labels, passages and ratings."""

    label: Annotated[MetadataKey, Word] = Field(
        default="gold", description="the gold label of the text"
    )
    rationale: Annotated[MetadataKey, Word] = Field(
        default="gold_rationale",
        description="passages of the text that people marked: JSON such as `[[start, end], …]` "
        "or `[{start, end}, …]` with character offsets, `end` exclusive; `[]` if they marked "
        "nothing",
    )
    rating: Annotated[MetadataKey, Word] = Field(
        default="rating",
        description="ratings of the explanation: one number, a list with one number per "
        "person (`4; 5`, or JSON), or one key per person that begins with this "
        "and `_`, as in `rating_anna`; yes and no are 1 and 0",
    )
    accepted_from: float | None = Field(
        default=None,
        description="a rating of at least this value accepts the explanation; absent: the higher "
        "value, if there are only two values",
    )


class ConfusionCell(Message):
    """The count for one gold label and decision."""

    gold: str
    decided: str | None = Field(description="the decision; null if none could be read")
    results: Count


class LabelAccuracy(Message):
    """Accuracy of one label, over results with a decision."""

    label: str
    gold: Count = Field(description="results with this gold label")
    decided: Count = Field(description="results with this decision")
    precision: Share | None = Field(description="precision; null if no result has this decision")
    recall: Share | None = Field(description="recall; null if no result has this gold label")
    f1: Interval


class GoldLabels(Message):
    """The decisions compared with the gold labels."""

    results: Count = Field(description="results with a gold label")
    unread: Count = Field(description="results with a gold label whose decision could not be read")
    refused: Count = Field(
        description="results with a gold label where the model refused to answer"
    )
    accuracy: Interval = Field(
        description="share of correct decisions among the decided results, [0, 1]"
    )
    accuracy_of_all: Interval = Field(
        description="share of correct decisions among all results: an undecided result counts"
        " as wrong"
    )
    chance: Share | None = Field(
        description="accuracy that always choosing the most frequent gold label would have on "
        "the decided results; null if nothing was decided"
    )
    chance_of_all: Share | None = Field(
        default=None, description="`majority`, over all results with a gold label"
    )
    macro_f1: Interval = Field(
        description="mean of the labels' F1 over the decided results, [0, 1]"
    )
    kappa: Interval = Field(description="Cohen's kappa of decisions and gold labels, [-1, 1]")
    labels: tuple[LabelAccuracy, ...]
    confusion: tuple[ConfusionCell, ...] = Field(
        description="the cells of the confusion matrix that are not empty"
    )


class Plausibility(Message):
    """Passages that explanations use, compared by character with those that people marked (ERASER;
    DeYoung et al., 2020). Texts without any passage are left out."""

    results: Count = Field(
        description="results where people marked passages, or where the explanation is based on "
        "passages"
    )
    without_spans: Count = Field(
        description="number of these results whose explanation is based on no passage"
    )
    character_f1: Interval = Field(
        description="F1 of the overlap in characters, mean over results, [0, 1]"
    )
    span_f1: Interval = Field(
        description="F1 of passages; a passage matches if intersection over union is at least 0.5"
    )
    chance: Interval = Field(
        description="expected `character_f1` if the passages were at random places in the text"
    )
    above_chance: Interval = Field(description="mean of `character_f1` - chance, [-1, 1]")


class CalibratedThreshold(Message):
    """The threshold on the score that agrees best with people's yes or no."""

    results: Count = Field(description="results whose ratings have a majority of yes or of no")
    ties: Count = Field(description="results left out because as many people say yes as no")
    value: float | None = Field(
        description="threshold of the score; a score at least as good is accepted; null: "
        "`reason` gives the reason"
    )
    low: float | None = Field(
        description="lower end of the threshold's interval, by percentile bootstrap over texts"
    )
    high: float | None
    agreed: Interval = Field(
        description="share of texts where score and majority agree, [0, 1]; the threshold for "
        "each text is chosen without this text"
    )
    chance: Share | None = Field(
        description="share of texts that would agree if every text had the more frequent answer"
    )
    kappa: Interval = Field(description="Cohen's kappa of the same decisions, [-1, 1]")
    alpha_people: Interval = Field(
        description="Krippendorff's alpha (nominal) of people's yes and no, over all texts rated "
        "by several people, ties included"
    )
    alpha_with_score: Interval = Field(
        description="`alpha_people` with the score's decisions as one more person; if it is not "
        "much lower, the score decides like a person"
    )
    reason: Annotated[str, Word] | None = Field(
        default=None, description="the reason why the threshold is null"
    )


class HumanRatings(Message):
    """The scores compared with people's ratings of the explanations."""

    results: Count = Field(description="results with a score and a rating")
    people: Count
    spearman: Interval = Field(
        description="Spearman's rank correlation with the mean rating, [-1, 1]"
    )
    kendall: Interval = Field(description="Kendall's tau-b with the mean rating, [-1, 1]")
    alpha: Interval = Field(
        description="Krippendorff's alpha (interval) of the ratings of several people, at most 1"
    )
    threshold: CalibratedThreshold


class GoldAgreement(Message):
    """Agreement of results with people's labels, passages and ratings. Missing data give null."""

    labels: GoldLabels | None
    rationales: Plausibility | None
    ratings: HumanRatings | None
    warnings: tuple[Annotated[str, Word], ...] = ()
