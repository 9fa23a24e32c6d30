"""The result types of HLV. Imports only pydantic. A null within a block means an undefined value,
with the reason in `warnings`. A block is null if the humans or the judge have no such values.
Source: Chen et al., EMNLP 2025, Appendix E and Tables 11-13."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from shared.contracts.batches import BatchReport
from shared.contracts.messages import Count, Evidence, Message, Report, Share, Word
from shared.contracts.questions import Key
from shared.contracts.reports import Interval, ValueHistogram

Method = Literal["rank", "logits", "score"]
Judged = Literal["explained", "baseline", "gain", "uniform", "majority"]
Correlation = Annotated[float, Field(ge=-1, le=1)]
Change = Annotated[float, Field(ge=-2, le=2)]
AsPrinted = Annotated[float, Field(le=1)]  # Eq. 14 of ranks with ties can fall below -1
Distance = Annotated[float, Field(ge=0)]


class HlvGold(Message):
    """The humans' answers, averaged over sources."""

    kind: Literal["distribution", "scores", "ranking"]
    values: dict[Key, float] | None = Field(description="probabilities or mean ratings")
    ranks: dict[Key, float] = Field(description="1 = best; ties share the mean of their positions")
    sources: int


class HlvDivergences(Message):
    """Divergences between two distributions over the options; lower = more alike."""

    kl_model_gold: Distance | None = Field(description="D(model ‖ gold), nats")
    kl_gold_model: Distance | None = Field(description="D(gold ‖ model), nats")
    jsd: Distance = Field(description="Jensen-Shannon distance, at most 0.8326 (base e) or 1")
    tvd: Share = Field(description="total variation distance")


class HlvErrors(Message):
    """Errors between two sets of scores, in units of the human scale."""

    rmse: Distance
    mae: Distance
    r2: float | None = Field(
        le=1, description="R² over this item's options; null if all gold values are equal"
    )


class HlvMeasured(Message):
    """One judge's answers compared with the humans'."""

    ranks: dict[Key, float] = Field(description="ranks of the mean rank over all runs")
    values: dict[Key, float] | None = Field(description="mean distribution, or mean scores")
    tau_b: Correlation | None = Field(description="Kendall's tau, corrected for ties")
    tau_a: Correlation | None = Field(
        description="Kendall's tau as printed in the paper (Eq. 13); ties count 0"
    )
    spearman: Correlation | None = Field(description="Pearson's correlation of fractional ranks")
    spearman_without_ties: AsPrinted | None = Field(
        description="Spearman's rho as printed in the paper (Eq. 14)"
    )
    distribution: HlvDivergences | None
    scalar: HlvErrors | None
    runs: Count = Field(description="number of answers that are averaged")
    invalid_runs: Count = Field(default=0, description="number of answers that could not be read")
    label_mass: float | None = Field(
        default=None,
        ge=0,
        le=1.0001,
        description="probability that the first token is an option's letter",
    )
    normalised: dict[Annotated[str, Word], float | None] = Field(
        default_factory=dict,
        description="metric → (value - chance) / (ceiling - chance): 0 = the uniform judge, 1 = "
        "the agreement of people with themselves. Null where people hardly agree better than "
        "chance; empty without a ceiling",
    )


class HlvCeilingOf(Message):
    """The human ceiling of one metric: how well people agree with each other, in its unit."""

    high: float = Field(
        description="mean value of an ideal judge, which answers with the distribution that the "
        "annotators were drawn from"
    )
    low: float | None = Field(
        description="mean value when one half of the annotators is compared with the other; "
        "correlations are adjusted to the full number (Spearman-Brown). Null where no source "
        "has two votes"
    )
    chance: float = Field(
        description="value of a judge that gives every option the same probability; 0 for "
        "correlations"
    )
    least_room: float = Field(
        ge=0, description="smallest distance of `high` from chance at which values are normalised"
    )
    higher_is_better: bool


class HlvCeiling(Message):
    """The agreement of people with one another, the most that a judge can reach."""

    annotators: int = Field(ge=2, description="number of people's votes, ratings or rankings")
    resamples: int = Field(ge=1, description="number of draws that each value is based on")
    metrics: dict[Annotated[str, Word], HlvCeilingOf]


class HlvGain(Message):
    """The effect of explanations. Positive values mean that they bring the judge closer to humans.
    These are differences, with the sign reversed for distances and errors. Null if one side is
    null."""

    tau_b: Change | None = None
    tau_a: Change | None = None
    spearman: Change | None = None
    kl_model_gold: float | None = None
    kl_gold_model: float | None = None
    jsd: float | None = None
    tvd: float | None = None
    rmse: float | None = None
    mae: float | None = None


class HlvMethodResult(Message):
    """The results of one method."""

    method: Method
    explained: HlvMeasured | None = Field(
        description="the judge with explanations; null if none were given"
    )
    baseline: HlvMeasured | None = Field(description="the same judge without explanations")
    gain: HlvGain | None = Field(
        description="effect of the explanations; null without `explained` or `baseline`"
    )


class HlvComponents(Message):
    """The rank correlations of the first method."""

    kendall: Correlation | None = Field(description="tau-b; tau-a for variant `paper`")
    spearman: AsPrinted | None
    kendall_baseline: Correlation | None = Field(
        description="Kendall's tau of the judge without explanations"
    )
    spearman_baseline: AsPrinted | None
    kendall_gain: Change | None
    spearman_gain: float | None
    kendall_normalised: float | None = Field(
        default=None,
        description="Kendall's tau of the first method on a scale from 0 (chance) to 1 "
        "(agreement between people); null without a ceiling",
    )
    methods: tuple[HlvMethodResult, ...]


class HlvBaselines(Message):
    """Two judges that do not read the question."""

    uniform: HlvMeasured = Field(
        description="equal probability for every option; its rank correlation is undefined"
    )
    majority: HlvMeasured = Field(description="a judge that knows only the humans' first choice")


class HlvResult(Report):
    """The result of HLV, which compares a judge with human label variation."""

    range: tuple[float, float] = Field(description="[-2, 2] for a gain, [-1, 1] for an agreement")
    score_of: Literal["gain", "agreement"] = Field(
        description="`gain`: the change of Kendall's tau; `agreement`: the tau, if there "
        "are no explanations or no baseline"
    )
    components: HlvComponents
    evidence: tuple[Evidence, ...] = ()
    gold: HlvGold
    ceiling: HlvCeiling | None = Field(
        default=None,
        description="null if undefined (the reason is in `warnings`), and in results before 1.1",
    )
    control: HlvBaselines

    @property
    def unasked(self) -> frozenset[str]:
        """Return fields that are null by design: gains in agreement, and baselines that were not
        run."""
        methods = self.components.methods
        gains = ("kendall_gain", "spearman_gain") if self.score_of == "agreement" else ()
        without_baseline = methods and methods[0].baseline is None
        baselines = ("kendall_baseline", "spearman_baseline") if without_baseline else ()
        return frozenset((*gains, *baselines))


class HlvEstimate(Message):
    """A mean over items."""

    mean: Interval = Field(
        description="mean over the items where it is defined; pooled metrics are over all pairs"
    )
    undefined: Count = Field(description="number of items where the value is undefined")
    undefined_as_zero: float | None = Field(
        default=None, description="mean if undefined items count as 0; only for correlations"
    )


class HlvTable(Message):
    """Means for one method and condition. A positive `gain` means closer to humans."""

    method: Method | None = Field(description="null for judges that do not see the question")
    judged: Judged
    items: Count
    invalid_runs: Count = Field(default=0, description="answers that could not be read")
    metrics: dict[str, HlvEstimate]
    tied: Interval | None = Field(
        default=None,
        description="share of pairs of options with equal ranks, mean over items; null for gains",
    )
    normalised: dict[str, Interval] = Field(
        default_factory=dict,
        description="metric → sum of (value - chance) / sum of (ceiling - chance) over all "
        "items: 0 = the uniform judge, 1 = the agreement of people with themselves. Null "
        "where people hardly agree better than chance",
    )


class HlvCeilings(Message):
    """People's agreement with each other by one metric, over items with known annotators."""

    high: Interval = Field(
        description="agreement with an ideal judge, which knows the true shares of people's answers"
    )
    low: Interval = Field(description="agreement of one half of the people with the other half")
    chance: Interval = Field(
        description="value of a judge that gives every option the same probability"
    )


class HlvPaired(Message):
    """One method with and without explanations, over items where both agreements are defined."""

    method: Method
    items: Count = Field(description="number of items; those with an undefined side are left out")
    explained: Interval = Field(description="Kendall's tau in the variant's own form, [-1, 1]")
    baseline: Interval = Field(
        description="Kendall's tau of the judge without explanations, [-1, 1]"
    )
    gain: Interval = Field(description="explained - baseline, item by item, [-2, 2]")
    closer: Count = Field(description="items where explanations bring the judge closer to people")
    equal: Count = Field(description="items where explanations change nothing")
    farther: Count
    gains: ValueHistogram = Field(
        description="histogram of the gains in 21 bins; a gain of 0 is in the middle bin"
    )


class HlvBatchReport(BatchReport):
    """Results of every method and condition, with two references: a uniform judge, and the people's
    majority."""

    score_of: Literal["gain", "agreement", "mixed"] | None = Field(
        description="meaning of the mean score; `mixed`: some scores are gains and some "
        "agreements, so there is no mean; null: there are no results"
    )
    ceilings: dict[str, HlvCeilings] = Field(
        default_factory=dict, description="metric → agreement of people with themselves"
    )
    tables: tuple[HlvTable, ...]
    paired: tuple[HlvPaired, ...] = Field(
        default=(), description="each method's judge with and without explanations"
    )
    gold_tied: Interval = Field(
        description="share of pairs of options that people rank equally, mean over items"
    )
