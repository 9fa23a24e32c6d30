"""The parts of a batch report: intervals, splits, comparisons of systems, people's labels."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from shared.contracts.messages import Count, Message, VerdictWord, Word
from shared.contracts.null_report import PValue

IntervalMethod = Literal["wilson", "studentised", "bca", "order", "t", "exact"]


class Interval(Message):
    """An estimate with its interval and the number of observations behind it."""

    value: float | None = Field(description="null where nothing was observed")
    low: float | None = Field(description="null for fewer than two clusters, or where undefined")
    high: float | None
    of: int = Field(ge=0, description="observations")
    method: IntervalMethod | None = Field(default=None, description="how the ends were found")
    clusters: int | None = Field(
        default=None, ge=0, description="texts that the observations belong to; null: not known"
    )
    effective: float | None = Field(
        default=None, ge=0, description="independent observations that these are worth"
    )
    se: float | None = Field(default=None, description="standard error, in units of the value")
    detectable: float | None = Field(
        default=None,
        ge=0,
        description="smallest true distance that so many texts find with power 0.8, same units; "
        "null where the quantity's range is not as wide, and where all values are equal, which "
        "does not tell how far further ones spread",
    )


class ValueHistogram(Message):
    """Values in equal bins over the whole range of what they can be."""

    low: float = Field(description="where the first bin begins")
    high: float = Field(description="where the last bin ends")
    counts: tuple[Count, ...] = Field(
        min_length=1,
        description="values in each bin, the lowest first: [a, b), the last one [a, b]; together "
        "all that are defined",
    )


def bin_edges(low: float, high: float, bins: int) -> list[float]:
    """Return the ascending borders of equal bins, bins + 1, as in links of pages."""
    return [low + (high - low) * place / bins for place in range(bins)] + [high]


class PartSummary(Message):
    """A part of the score over all results: those that have it, and the two ways to be without it,
    add up to all."""

    mean: Interval = Field(description="over the results that have it")
    undefined: Count = Field(description="results where it is asked for, and cannot be told")
    not_applicable: Count = Field(description="results of which there is nothing to ask")


class SequenceInterval(Message):
    """An interval of a mean that holds at every look, for values in the order of their arrival."""

    low: float
    high: float
    of: int = Field(ge=1, description="texts so far; several results of one are averaged")


class LanguageScores(Message):
    """The results whose text is in one language."""

    results: Count
    undefined: Count = Field(description="of these, results without a score")
    score: Interval = Field(description="mean score, with its interval over texts")


class SplitValue(Message):
    """The results that have one value of what they are split by."""

    value: str
    results: Count
    undefined: Count = Field(description="of these, results without a score")
    score: Interval = Field(description="mean score, with its interval over texts")


class SplitPair(Message):
    """Two values of a split."""

    first: str
    second: str
    difference: float = Field(description="mean of second - mean of first, units of the score")
    p_value: PValue | None = Field(
        description="that the two means are equal; null where nothing can be permuted"
    )
    p_adjusted: PValue | None = Field(description="`p_value` after Holm over all pairs")


class ScoreSplit(Message):
    """The scores by the values of one key."""

    by: str
    values: tuple[SplitValue, ...] = Field(default=(), description="the lowest mean first")
    without: Count = Field(description="results without a value; left out")
    p_value: PValue | None = Field(
        default=None,
        description="that all means are equal: the values of whole texts are permuted, and those "
        "of a text with several within it; null where nothing can be permuted",
    )
    within_texts: bool | None = Field(
        default=None,
        description="whether some texts have several values, which were permuted within them",
    )
    texts: Count | None = Field(
        default=None, description="with a score under any value; null in earlier reports"
    )
    common_texts: Count | None = Field(
        default=None,
        description="of these, those with a score under every value: where they are fewer, the "
        "values differ in their texts as well",
    )
    pairs: tuple[SplitPair, ...] = Field(default=(), description="where asked for by `pairwise`")
    warnings: tuple[str, ...] = Field(default=(), description="why there is no split")


class ComponentDifference(Message):
    """One number of two systems, on the texts where both have it. First: of the report's results;
    second: of those of `against`. What is signed is first - second."""

    component: Annotated[str, Word] = Field(description="`score`, or the component's name")
    pairs: Count = Field(description="pairs where both systems have it")
    difference: Interval = Field(
        description="mean of first - second, in units of the component, with its interval over "
        "texts; above 0, the report's own results have more of it"
    )
    first: float | None = Field(default=None, description="mean of the first on these pairs")
    second: float | None = Field(default=None, description="mean of the second on these pairs")
    p_value: PValue | None = Field(
        description="that the mean difference is 0, two-sided: the larger of the next two; null "
        "without pairs, 1 for a single text"
    )
    p_t: PValue | None = Field(description="of t over texts")
    p_randomization: PValue | None = Field(
        description="of sign flips of whole texts; of 0/1 parts on single texts McNemar's exact p"
    )
    p_adjusted: PValue | None = Field(
        default=None, description="`p_value` after Holm over all components of the comparison"
    )
    p_systems: PValue | None = Field(
        default=None, description="of the score: `p_value` after Holm over `further` systems, too"
    )
    p_wilcoxon: PValue | None = Field(
        default=None, description="of the signed-rank test, where requested; null: no text differs"
    )
    effect: float | None = Field(
        description="mean of first - second in its standard deviations over pairs; null where "
        "that is 0"
    )
    better: Count = Field(description="pairs whose first has the larger value")
    equal: Count
    worse: Count = Field(description="pairs whose second has the larger value")


class DifferenceBounds(Message):
    """What the mean difference of the scores of all pairs could be, whatever the undefined ones
    are: undefined scores of the first at their worst and of the second at their best, and the
    other way round."""

    low: float
    high: float
    pairs: Count = Field(description="all, those with an undefined score among them")


class VerdictChange(Message):
    """Pairs whose verdicts are these."""

    first: VerdictWord
    second: VerdictWord
    pairs: Count


class ProblemChange(Message):
    """Pairs where only one of two systems has a problem."""

    problem: Annotated[str, Word] = Field(description="its code, as in `problems` of a result")
    only_first: Count = Field(description="pairs where only the report's own result has it")
    only_second: Count = Field(description="pairs where only the result of `against` has it")
    p_value: PValue | None = Field(description="that both systems have it equally often, two-sided")
    p_adjusted: PValue | None = Field(description="`p_value` after Holm over all problems")


class ScoreChange(Message):
    """A pair whose scores differ much."""

    first_job: str
    second_job: str
    custom_id: Annotated[str, Word] | None
    first: float
    second: float
    difference: float = Field(description="first - second")


class DifferenceHistogram(Message):
    """Pairs by the difference of their scores, in equal bins from `low` to `high`."""

    low: float
    high: float
    counts: tuple[Count, ...]


class DensityCell(Message):
    """Pairs whose scores lie in one cell of a grid over the range of the score, 40 by 40."""

    first: int = Field(ge=0, lt=40, description="column, from the least score")
    second: int = Field(ge=0, lt=40, description="row, from the least score")
    pairs: Count


class ComparisonSlice(Message):
    """The pairs of one value of what the request splits by, as the first system has it."""

    by: str
    value: str
    pairs: Count = Field(description="pairs where both have a score")
    difference: Interval = Field(description="mean of first - second, with its interval over texts")


class SystemComparison(Message):
    """The report's results, first, and those of `against`, second, paired by `custom_id`, else by
    text and explained label; of several results of one text and label the mean is taken."""

    pairs: Count
    unpaired_a: Count = Field(description="results of the report without a partner; left out")
    unpaired_b: Count = Field(description="results of `against` without a partner; left out")
    left_out: dict[str, int] = Field(
        default_factory=dict, description="jobs of `against` without a result, by status"
    )
    differences: tuple[ComponentDifference, ...]
    conflicting: Count = Field(
        default=0, description="of the unpaired, those that share a custom_id and not the text"
    )
    by_text: Count | None = Field(
        default=None,
        description="of the pairs, those of one text and label without a custom_id in common; "
        "null in reports of an earlier version",
    )
    undefined_a: Count = Field(default=0, description="pairs where only the first has no score")
    undefined_b: Count = Field(default=0, description="pairs where only the second has no score")
    bounds: DifferenceBounds | None = Field(
        default=None, description="null without pairs, and where the score has no range"
    )
    verdicts: tuple[VerdictChange, ...] = Field(default=(), description="those that there are")
    problems: tuple[ProblemChange, ...] = Field(
        default=(), description="problems that only one of the two has in some pair, worst first"
    )
    changes: tuple[ScoreChange, ...] = Field(
        default=(), description="the 200 pairs whose scores differ most, the largest first"
    )
    histogram: DifferenceHistogram | None = None
    density: tuple[DensityCell, ...] = Field(default=(), description="cells that are not empty")
    slices: tuple[ComparisonSlice, ...] = Field(
        default=(), description="by each of 2 to 50 values of the request's `by`, the lowest first"
    )
    warnings: tuple[str, ...] = Field(
        default=(), description="what to doubt of the pairs and of the difference of the scores"
    )


class ReviewerPair(Message):
    """Two people on the texts that both judged."""

    first: str
    second: str
    texts: Count
    agreed: Interval = Field(description="share of texts where both say the same")
    kappa: float | None = Field(
        description="Cohen's, [-1, 1]; null where both said one thing of all texts"
    )


class DisputedResult(Message):
    """A result on which people differ."""

    job_id: str
    custom_id: Annotated[str, Word] | None
    agree: Count
    disagree: Count
    unsure: Count


class ScoreDecile(Message):
    """Judgements of results whose score lies in one tenth of its range."""

    low: float
    high: float
    agreed: Interval = Field(description="share that agrees with the metric")


class PartAgreement(Message):
    """A number of the report beside what people say."""

    part: Annotated[str, Word] = Field(description="`score`, or the part's name")
    auc: Interval = Field(
        description="how often what people agree with has the higher value; chance is 0.5"
    )
    human_score: Interval = Field(
        description="rank correlation with the score that people would give, [-1, 1]"
    )


class HumanAgreement(Message):
    """Judgements of the results' scores: between people, and between people and the metric.

    Who is unsure counts between people, and not for or against the metric.
    """

    judgements: Count
    texts: Count = Field(description="results that somebody judged")
    reviewers: Count
    random: bool = Field(description="whether the figures hold for more than these lines")
    agreed: Interval = Field(description="share of pairs of people on one text who say the same")
    kappa: Interval = Field(description="Cohen's, of exactly two people; null for others")
    alpha: Interval = Field(description="Krippendorff's, nominal, gaps allowed")
    pairs: tuple[ReviewerPair, ...] = ()
    disputed: tuple[DisputedResult, ...] = ()
    with_metric: Interval = Field(
        description="share that agrees with the metric: of those who judged blind, who calls the "
        "explanation good where the verdict is `holds_up`, and not where it is `problem_found`"
    )
    above: Interval = Field(description="the same, of scores in the upper 3 tenths of the range")
    below: Interval = Field(description="the same, of scores in the lower 3 tenths of the range")
    deciles: tuple[ScoreDecile, ...] = ()
    parts: tuple[PartAgreement, ...] = ()
    by_verdict: dict[str, Interval] = Field(default_factory=dict)
    by_language: dict[str, Interval] = Field(default_factory=dict)
    warnings: tuple[str, ...] = ()
