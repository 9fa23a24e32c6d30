"""What HLV reports. Part of the contract: pydantic only.

Source: Chen et al., EMNLP 2025, Appendix E and Tables 11-13. Null within a block means undefined,
with the reason in `warnings`; a block is null where the humans or the judge have no such values.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from shared.contracts.batches import BatchReport
from shared.contracts.messages import Count, Evidence, Message, Report, Word
from shared.contracts.questions import Key
from shared.contracts.reports import Interval, ValueHistogram

Method = Literal["rank", "logits", "score"]
Judged = Literal["explained", "baseline", "gain", "uniform", "majority"]
Correlation = Annotated[float, Field(ge=-1, le=1)]
Change = Annotated[float, Field(ge=-2, le=2)]
AsPrinted = Annotated[float, Field(le=1)]  # Eq. 14 of ranks with ties can fall below -1
Distance = Annotated[float, Field(ge=0)]


class HlvGold(Message):
    """What humans said, averaged over sources."""

    kind: Literal["distribution", "scores", "ranking"]
    values: dict[Key, float] | None = Field(description="probabilities or mean ratings")
    ranks: dict[Key, float] = Field(description="1 = best; ties share the mean of their places")
    sources: int


class HlvDivergences(Message):
    """Between two distributions over the options; lower = more alike."""

    kl_model_gold: Distance | None = Field(description="D(model ‖ gold), nats")
    kl_gold_model: Distance | None = Field(description="D(gold ‖ model), nats")
    jsd: Distance = Field(description="Jensen-Shannon distance, at most 0.8326 (base e) or 1")
    tvd: float = Field(ge=0, le=1, description="total variation distance")


class HlvErrors(Message):
    """Between two rows of scores, in units of the human scale."""

    rmse: Distance
    mae: Distance
    r2: float | None = Field(le=1, description="over this item's options; null: gold is constant")


class HlvMeasured(Message):
    """One judge's answers against what humans said."""

    ranks: dict[Key, float] = Field(description="mean over runs, ranked again")
    values: dict[Key, float] | None = Field(description="mean distribution, or mean scores")
    tau_b: Correlation | None = Field(description="Kendall, corrected for ties")
    tau_a: Correlation | None = Field(description="Kendall as printed (Eq. 13): ties count 0")
    spearman: Correlation | None = Field(description="Pearson's correlation of fractional ranks")
    spearman_without_ties: AsPrinted | None = Field(description="as printed (Eq. 14)")
    distribution: HlvDivergences | None
    scalar: HlvErrors | None
    runs: int = Field(ge=0, description="answers that were averaged")
    invalid_runs: int = Field(default=0, ge=0, description="answers that could not be read")
    label_mass: float | None = Field(
        default=None, ge=0, le=1.0001, description="probability of all letters as the first token"
    )
    normalised: dict[Annotated[str, Word], float | None] = Field(
        default_factory=dict,
        description="metric → (value - chance) / (ceiling - chance): 0 as the uniform judge, 1 as "
        "near as people come to themselves; null where these are hardly better than chance; empty "
        "without a ceiling",
    )


class HlvCeilingOf(Message):
    """One metric of people before themselves, in its own unit."""

    high: float = Field(
        description="mean of a judge that is the distribution which the annotators were drawn from"
    )
    low: float | None = Field(
        description="mean of one half of the annotators before the other; correlations stepped up "
        "to all of them (Spearman-Brown); null where no source has two votes"
    )
    chance: float = Field(description="of the uniform judge; of correlations 0")
    least_room: float = Field(
        ge=0, description="between chance and `high`; with less nothing is normalised"
    )
    higher_is_better: bool


class HlvCeiling(Message):
    """How near people come to themselves: what no judge can be expected to exceed."""

    annotators: int = Field(ge=2, description="votes, ratings or rankings that were given")
    resamples: int = Field(ge=1, description="draws behind each number")
    metrics: dict[Annotated[str, Word], HlvCeilingOf]


class HlvGain(Message):
    """How much the explanations bring the judge closer to humans; positive = closer.

    Differences of the same numbers with and without explanations, with the sign turned for
    distances and errors; null where one of the two is.
    """

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
    """One way of asking for a ranking."""

    method: Method
    explained: HlvMeasured | None = Field(
        description="with explanations; null where none were given"
    )
    baseline: HlvMeasured | None = Field(description="the same judge without")
    gain: HlvGain | None = Field(description="null where one of the two is missing")


class HlvComponents(Message):
    """The headline method in the variant's own form of the coefficients; the rest is below."""

    kendall: Correlation | None = Field(description="tau-b; tau-a for variant `paper`")
    spearman: AsPrinted | None
    kendall_baseline: Correlation | None = Field(description="of the explanation-free judge")
    spearman_baseline: AsPrinted | None
    kendall_gain: Change | None
    spearman_gain: float | None
    kendall_normalised: float | None = Field(
        default=None,
        description="the headline's Kendall between chance, 0, and what people reach, 1; null "
        "without a ceiling",
    )
    methods: tuple[HlvMethodResult, ...]


class HlvBaselines(Message):
    """Judges that read nothing."""

    uniform: HlvMeasured = Field(
        description="every option alike: its rank correlation is undefined"
    )
    majority: HlvMeasured = Field(description="an oracle that knows the humans' first choice only")


class HlvResult(Report):
    """The result."""

    range: tuple[float, float] = Field(description="[-2, 2] for a gain, [-1, 1] for an agreement")
    score_of: Literal["gain", "agreement"] = Field(
        description="`gain`: what explanations add to Kendall's tau; `agreement`: the tau itself, "
        "where there are no explanations or no baseline"
    )
    components: HlvComponents
    evidence: tuple[Evidence, ...] = ()
    gold: HlvGold
    ceiling: HlvCeiling | None = Field(
        default=None, description="null with its reason in `warnings`, and in earlier results"
    )
    control: HlvBaselines

    @property
    def unasked(self) -> frozenset[str]:
        """An agreement has nothing beside which to put it, so no gain; and no baseline where the
        judge was not asked without explanations."""
        methods = self.components.methods
        gains = ("kendall_gain", "spearman_gain") if self.score_of == "agreement" else ()
        alone = ("kendall_baseline", "spearman_baseline")
        return frozenset((*gains, *(alone if methods and methods[0].baseline is None else ())))


class HlvEstimate(Message):
    """A number over items."""

    mean: Interval = Field(description="over items where it is defined; pooled ones over all pairs")
    undefined: int = Field(ge=0, description="items where it is undefined")
    undefined_as_zero: float | None = Field(
        default=None, description="the mean with these as 0; of correlations only"
    )


class HlvTable(Message):
    """One way of judging: `gain` is explained minus baseline, item by item, positive = closer."""

    method: Method | None = Field(description="null for judges that read nothing")
    judged: Judged
    items: int = Field(ge=0)
    invalid_runs: int = Field(default=0, ge=0, description="answers that could not be read")
    metrics: dict[str, HlvEstimate]
    tied: Interval | None = Field(
        default=None,
        description="share of an item's pairs of options that are ranked alike, mean over items; "
        "null of gains, and in earlier reports",
    )
    normalised: dict[str, Interval] = Field(
        default_factory=dict,
        description="metric → over all items together, sum of (value - chance) / sum of (ceiling - "
        "chance): 0 as the uniform judge, 1 as near as people come to themselves; null where these "
        "are hardly better than chance",
    )


class HlvCeilings(Message):
    """One metric of people before themselves, over the items whose annotators are known."""

    high: Interval = Field(description="a judge that is the distribution they were drawn from")
    low: Interval = Field(description="one half of them before the other")
    chance: Interval = Field(description="the uniform judge")


class HlvPaired(Message):
    """One method with and without explanations, on the items where both agreements are defined."""

    method: Method
    items: Count = Field(description="pairs; those where one is undefined are left out")
    explained: Interval = Field(description="Kendall's tau in the variant's own form, [-1, 1]")
    baseline: Interval = Field(description="the same of the judge without explanations")
    gain: Interval = Field(description="explained - baseline, item by item, [-2, 2]")
    closer: Count = Field(description="items where explanations bring the judge closer to people")
    equal: Count = Field(description="items where they change nothing")
    farther: Count
    gains: ValueHistogram = Field(description="21 bins: no change is in the middle one")


class HlvBatchReport(BatchReport):
    """Every judge beside the uniform one and the majority oracle."""

    score_of: Literal["gain", "agreement", "mixed"] | None = Field(
        description="what the mean score is of; `mixed`: results of both kinds, and no mean; null: "
        "no results"
    )
    ceilings: dict[str, HlvCeilings] = Field(
        default_factory=dict, description="metric → what people themselves reach"
    )
    tables: tuple[HlvTable, ...]
    paired: tuple[HlvPaired, ...] = Field(
        default=(), description="methods that were asked both ways; empty in earlier reports"
    )
    gold_tied: Interval | None = Field(
        default=None, description="as `tied`, of the people's ranking; null in earlier reports"
    )
