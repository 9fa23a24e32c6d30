"""The parts of a batch report: intervals, splits, comparisons of systems, people's labels."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from shared.contracts.messages import Count, Message, VerdictWord, Word
from shared.contracts.null_report import PValue

IntervalMethod = Literal["wilson", "studentised", "bca", "order", "t", "exact"]


class Interval(Message):
    """An estimate with its interval and the number of observations behind it."""

    value: float | None = Field(description="the estimate; null if there are no observations")
    low: float | None = Field(
        description="lower end; null for fewer than two clusters, or if undefined"
    )
    high: float | None
    of: Count = Field(description="observations")
    method: IntervalMethod | None = Field(
        default=None, description="the method that computed the two ends"
    )
    clusters: Count | None = Field(
        default=None, description="number of texts that the observations belong to; null: unknown"
    )
    effective: float | None = Field(
        default=None, ge=0, description="effective number of independent observations"
    )
    se: float | None = Field(default=None, description="standard error, in units of the value")
    detectable: float | None = Field(
        default=None,
        ge=0,
        description="smallest true difference that this number of texts detects with power 0.8, "
        "in units of the value; null if the range of the value is narrower. Also null if all "
        "values are equal, because the spread of further values is then unknown",
    )


class ValueHistogram(Message):
    """Counts of values in equal bins over their whole possible range."""

    low: float = Field(description="start of the first bin")
    high: float = Field(description="end of the last bin")
    counts: tuple[Count, ...] = Field(
        min_length=1,
        description="values in each bin, the lowest first: [a, b), the last one [a, b]; their"
        " sum is the number of defined values",
    )


def bin_edges(low: float, high: float, bins: int) -> list[float]:
    """Return the `bins` + 1 ascending edges of equal bins."""
    return [low + (high - low) * index / bins for index in range(bins)] + [high]


class PartSummary(Message):
    """One part of the score, summarised over all results. The counts with and without it add up to
    all results."""

    mean: Interval = Field(description="mean over the results that have this part")
    undefined: Count = Field(description="number of results where this part applies but is unknown")
    not_applicable: Count = Field(description="number of results where this part does not apply")


class SequenceInterval(Message):
    """An interval of a mean that stays valid if checked after every new value."""

    low: float
    high: float
    of: int = Field(
        ge=1, description="number of texts so far; several results of one text are averaged"
    )


class LanguageScores(Message):
    """The results whose text is in one language."""

    results: Count
    undefined: Count = Field(description="results without a score")
    score: Interval = Field(description="mean score, with its interval over texts")


class SplitValue(Message):
    """Results that share one value of a property."""

    value: str
    results: Count
    undefined: Count = Field(description="results with this value but no score")
    score: Interval = Field(description="mean score, with its interval over texts")


class SplitPair(Message):
    """The difference in mean score between two values of the property that splits the results."""

    first: str
    second: str
    difference: float = Field(
        description="mean of `second` minus mean of `first`, in units of the score"
    )
    p_value: PValue | None = Field(
        description="p-value for equal means; null if there is nothing to permute"
    )
    p_adjusted: PValue | None = Field(description="`p_value` after Holm over all pairs")


class ScoreSplit(Message):
    """The scores split by the values of one property."""

    by: str
    values: tuple[SplitValue, ...] = Field(
        default=(), description="the values of the split, the lowest mean first"
    )
    without: Count = Field(description="results left out because they have no value")
    p_value: PValue | None = Field(
        default=None,
        description="p-value for the hypothesis that all means are equal. Whole texts are "
        "permuted, and for a text with several values, these values within the text; null if "
        "there is nothing to permute",
    )
    within_texts: bool | None = Field(
        default=None,
        description="whether some texts have several values, which are permuted within the text",
    )
    texts: Count | None = Field(default=None, description="texts with a score under any value")
    common_texts: Count | None = Field(
        default=None,
        description="texts with a score under every value; if fewer than `texts`, the groups "
        "also differ in their texts",
    )
    pairs: tuple[SplitPair, ...] = Field(
        default=(), description="pairwise comparisons, if `pairwise` requests them"
    )
    warnings: tuple[str, ...] = Field(default=(), description="the reason why there is no split")


class ComponentDifference(Message):
    """Compares one number of two systems, on texts where both have it. The new system is the
    report's, the baseline is `against`. Differences are new - baseline."""

    component: Annotated[str, Word] = Field(description="`score`, or the component's name")
    pairs: Count = Field(description="number of pairs where both systems have this component")
    difference: Interval = Field(
        description="mean of new - baseline, in units of the component, with its interval "
        "over texts; above 0, the report's own results have the larger number"
    )
    new: float | None = Field(default=None, description="mean of the new system on these pairs")
    baseline: float | None = Field(default=None, description="mean of the baseline on these pairs")
    p_value: PValue | None = Field(
        description="two-sided p-value for a mean difference of 0: the larger of `p_t` and "
        "`p_randomization`; null without pairs, 1 for a single text"
    )
    p_t: PValue | None = Field(description="p-value of a t test over texts")
    p_randomization: PValue | None = Field(
        description="p-value of sign flips of whole texts; for 0/1 parts on single texts "
        "McNemar's exact p"
    )
    p_adjusted: PValue | None = Field(
        default=None, description="`p_value` after Holm over all components of the comparison"
    )
    p_systems: PValue | None = Field(
        default=None,
        description="for the score: `p_value` after Holm also over `further` systems",
    )
    p_wilcoxon: PValue | None = Field(
        default=None,
        description="p-value of the signed-rank test, if requested; null: no text differs",
    )
    effect: float | None = Field(
        description="mean of new - baseline, divided by its standard deviation over pairs; "
        "null if that is 0"
    )
    higher: Count = Field(description="pairs where the new system has the larger value")
    equal: Count
    lower: Count = Field(description="pairs where the new system has the smaller value")


class DifferenceBounds(Message):
    """Bounds on the mean score difference, if undefined scores could have any value."""

    low: float
    high: float
    pairs: Count = Field(description="all pairs, including those with an undefined score")


class VerdictChange(Message):
    """The number of pairs with these two verdicts."""

    new: VerdictWord
    baseline: VerdictWord
    pairs: Count


class ProblemChange(Message):
    """Pairs where only one of two systems has a problem."""

    problem: Annotated[str, Word] = Field(
        description="code of the problem, as in `problems` of a result"
    )
    only_new: Count = Field(description="pairs where only the report's own result has the problem")
    only_baseline: Count = Field(
        description="pairs where only the result of `against` has the problem"
    )
    p_value: PValue | None = Field(
        description="two-sided p-value for the hypothesis that both systems have the problem "
        "equally often"
    )
    p_adjusted: PValue | None = Field(description="`p_value` after Holm over all problems")


class ScoreChange(Message):
    """Two results for the same text, one per system, with different scores."""

    new_job: str
    baseline_job: str
    custom_id: Annotated[str, Word] | None
    new: float
    baseline: float
    difference: float = Field(description="new - baseline")


class DifferenceHistogram(Message):
    """Pairs by the difference of their scores, in equal bins from `low` to `high`."""

    low: float
    high: float
    counts: tuple[Count, ...]


class DensityCell(Message):
    """The number of pairs in one cell of a 40 by 40 grid over the score's range."""

    new: int = Field(ge=0, lt=40, description="column of the grid, counted from the lowest score")
    baseline: int = Field(ge=0, lt=40, description="row of the grid, counted from the lowest score")
    pairs: Count


class ComparisonSlice(Message):
    """The pairs in which the new result has the value `value` of the property `by`."""

    by: str
    value: str
    pairs: Count = Field(description="pairs where both systems have a score")
    difference: Interval = Field(description="mean of new - baseline, with its interval over texts")


class SystemComparison(Message):
    """Compares the report's results (new) with those of `against` (baseline). They are paired by
    `custom_id`, else by text and explained label. Results of one text and label are averaged."""

    decision: str = Field(
        default="",
        description="which side is better, in one sentence: problems with a corrected p-value of "
        "at most 0.05 decide first, then the score",
    )
    pairs: Count
    unpaired_new: Count = Field(
        description="results of the report that match no result of `against`, and are left out"
    )
    unpaired_baseline: Count = Field(
        description="results of `against` that match no result of the report, and are left out"
    )
    left_out: dict[str, int] = Field(
        default_factory=dict, description="jobs of `against` without a result, by status"
    )
    differences: tuple[ComponentDifference, ...]
    conflicting: Count = Field(
        default=0,
        description="results left out because they have a common custom_id but different texts",
    )
    by_text: Count | None = Field(
        default=None, description="pairs matched by text and label, without a common custom_id"
    )
    undefined_new: Count = Field(
        default=0, description="pairs where only the new system has no score, or failed"
    )
    undefined_baseline: Count = Field(
        default=0, description="pairs where only the baseline has no score, or failed"
    )
    bounds: DifferenceBounds | None = Field(
        default=None, description="null if there are no pairs, or if the score has no range"
    )
    verdicts: tuple[VerdictChange, ...] = Field(
        default=(), description="the pairs of verdicts that occur"
    )
    problems: tuple[ProblemChange, ...] = Field(
        default=(),
        description="problems that only one of the two results has in some pair, worst first",
    )
    changes: tuple[ScoreChange, ...] = Field(
        default=(), description="the 200 pairs whose scores differ most, the largest first"
    )
    histogram: DifferenceHistogram | None = None
    density: tuple[DensityCell, ...] = Field(default=(), description="cells that are not empty")
    slices: tuple[ComparisonSlice, ...] = Field(
        default=(),
        description="comparisons by the request's `by`, for keys with 2 to 50 values, lowest first",
    )
    warnings: tuple[str, ...] = Field(
        default=(), description="reasons to doubt the pairs or the difference of the scores"
    )


class ReviewerPair(Message):
    """The agreement of two people on the texts that both judged."""

    first: str
    second: str
    texts: Count
    agreed: Interval = Field(description="share of texts with the same judgement by both")
    kappa: float | None = Field(
        description="Cohen's kappa, [-1, 1]; null if both gave the same answer to every text"
    )


class DisputedResult(Message):
    """A result on which reviewers disagree, with the counts of their judgements."""

    job_id: str
    custom_id: Annotated[str, Word] | None
    agree: Count
    disagree: Count
    unsure: Count


class ScoreDecile(Message):
    """Judgements of results whose score is in one tenth of its range."""

    low: float
    high: float
    agreed: Interval = Field(description="share of judgements that agree with the metric")


class PartAgreement(Message):
    """A number of the report compared with people's judgements."""

    part: Annotated[str, Word] = Field(description="`score`, or the part's name")
    auc: Interval = Field(
        description="how often an explanation that people agree with has the higher value; "
        "chance is 0.5"
    )
    human_score: Interval = Field(
        description="rank correlation with the scores given by people, [-1, 1]"
    )


class HumanAgreement(Message):
    """Agreement of judgements between people, and between people and the metric.

    The answer "unsure" counts in the agreement between people, but not in that with the metric."""

    judgements: Count
    texts: Count = Field(description="number of results that somebody judged")
    reviewers: Count
    random: bool = Field(description="whether the numbers also apply to lines that nobody judged")
    agreed: Interval = Field(
        description="share of pairs of people who give the same judgement on a text"
    )
    kappa: Interval = Field(description="Cohen's kappa, for exactly two people; else null")
    alpha: Interval = Field(
        description="Krippendorff's alpha (nominal); people need not judge every text"
    )
    pairs: tuple[ReviewerPair, ...] = ()
    disputed: tuple[DisputedResult, ...] = ()
    with_metric: Interval = Field(
        description="share of judgements that agree with the metric. A blind judgement agrees if "
        "it calls the explanation good and the verdict is `holds_up`, or calls it not good and the "
        "verdict is `problem_found`"
    )
    above: Interval = Field(
        description="`with_metric`, for results with a score in the top 30 % of its range"
    )
    below: Interval = Field(
        description="`with_metric`, for results with a score in the lowest 30 % of its range"
    )
    deciles: tuple[ScoreDecile, ...] = ()
    parts: tuple[PartAgreement, ...] = ()
    by_verdict: dict[str, Interval] = Field(default_factory=dict)
    by_language: dict[str, Interval] = Field(default_factory=dict)
    warnings: tuple[str, ...] = ()
