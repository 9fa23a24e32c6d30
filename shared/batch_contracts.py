"""Messages about many results: what a batch report is asked for, and what every one answers.

Pydantic only, as `shared.contracts`.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from shared.contracts import Count, Id, JobRequest, Message, PValue, Word

MOST_JOBS = 50_000  # of one batch report


class Against(Message):
    """The results of another system, to be compared with those of the report, text by text."""

    batch: Id | None = Field(default=None, description="a batch's id")
    jobs: tuple[Id, ...] | None = Field(
        default=None, min_length=1, max_length=MOST_JOBS, description="ids of jobs of this metric"
    )
    wilcoxon: bool = Field(
        default=False,
        description="whether to add Wilcoxon's signed-rank test, over the texts' mean differences",
    )

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        if (self.batch is None) == (self.jobs is None):
            raise ValueError("give either `batch` or `jobs`")
        return self


class WantedEffect(Message):
    """What a further study should find: it is planned from the results of this report."""

    effect: float | None = Field(
        default=None,
        gt=0,
        description="the smallest difference worth finding, in units of the score: of its mean "
        "from a value named beforehand, and of the means of two systems on the same texts",
    )
    beat_rate: float | None = Field(
        default=None,
        gt=0.5,
        lt=1,
        description="of an explanation that a test should find: the share of random ones that it "
        "beats",
    )
    power: float = Field(default=0.8, ge=0.5, le=0.999, description="how often it is to be found")
    alpha: float = Field(default=0.05, ge=0.001, le=0.2, description="level of the tests")

    @model_validator(mode="after")
    def _one_at_least(self) -> Self:
        if self.effect is None and self.beat_rate is None:
            raise ValueError("give `effect`, `beat_rate` or both")
        return self


class BatchReportRequest(JobRequest):
    """Whose results are summed up, and how."""

    batch: Id | None = Field(default=None, description="a batch's id")
    jobs: tuple[Id, ...] | None = Field(
        default=None, min_length=1, max_length=MOST_JOBS, description="ids of jobs of this metric"
    )
    seed: int = Field(default=0, ge=0, le=2**63 - 1, description="of the bootstrap")
    resamples: int = Field(default=2_000, ge=100, le=100_000, description="of the bootstrap")
    confidence: float = Field(default=0.95, gt=0.5, lt=1, description="level of every interval")
    cluster_key: Annotated[str, Word] | None = Field(
        default=None,
        min_length=1,
        max_length=64,
        description="metadata key whose value says which results belong together; absent, or a "
        "result without it: those of one text do",
    )
    sequence: bool = Field(
        default=False,
        description="whether to add an interval of the mean score that holds however often a "
        "growing batch is looked at",
    )
    against: Against | None = Field(
        default=None, description="another system's results on the same texts: see `comparison`"
    )
    plan: WantedEffect | None = Field(
        default=None, description="how many texts and draws would find this effect: see `plan`"
    )
    mixed: bool = Field(
        default=False,
        description="whether results of several versions of the metric may be summed up together, "
        "with a warning; else they are refused, since their numbers mean different things",
    )

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        if (self.batch is None) == (self.jobs is None):
            raise ValueError("give either `batch` or `jobs`")
        return self


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
        "null where the quantity's range is not as wide",
    )


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


class ComponentDifference(Message):
    """One number of two systems, on the texts where both have it."""

    component: Annotated[str, Word] = Field(description="`score`, or the component's name")
    pairs: Count = Field(description="pairs where both systems have it")
    difference: Interval = Field(
        description="mean of first - second, in units of the component, with its interval over "
        "texts"
    )
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
    p_wilcoxon: PValue | None = Field(
        default=None,
        description="of the signed-rank test, where requested; null where no text differs",
    )
    effect: float | None = Field(
        description="mean difference in its standard deviations over pairs; null where that is 0"
    )
    better: Count = Field(description="pairs whose first has the larger value")
    equal: Count
    worse: Count


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
    warnings: tuple[str, ...] = Field(
        default=(), description="what to doubt of the pairs and of the difference of the scores"
    )


class StudyPlan(Message):
    """How many texts and draws find the wanted effect, if further texts vary as these do.

    Of single tests: what is corrected for several needs more.
    """

    wanted: WantedEffect
    texts: int | None = Field(
        default=None,
        ge=2,
        description="that a mean score needs to be told from a fixed value (two-sided t); null "
        "without `effect`; see `warnings`",
    )
    compared_texts: int | None = Field(
        default=None,
        ge=2,
        description="that both systems need on the same texts (paired t), from how these differ; "
        "null without `effect` or `against`; see `warnings`",
    )
    draws: int | None = Field(
        default=None,
        ge=1,
        description="random explanations that a two-sided test of one explanation needs, in one "
        "block; null without `beat_rate`; see `warnings`",
    )
    one_sided_draws: int | None = Field(
        default=None, ge=1, description="the same of a one-sided test"
    )
    warnings: tuple[str, ...] = Field(default=(), description="why a number is null or doubtful")


class Plot(Message):
    """One picture, in both formats."""

    name: str
    title: str
    svg: str
    png_base64: str


class BatchReport(Message):
    """What every metric's batch report has in common; a metric adds its own tables."""

    metric: str
    scored: int = Field(ge=0, description="results that this report rests on")
    undefined: int = Field(ge=0, description="of these, results without a score")
    left_out: dict[str, int] = Field(
        default_factory=dict,
        description="jobs without a result, by status; filled in by the worker",
    )
    duplicates: int = Field(
        default=0, ge=0, description="results that repeat another's request and report; left out"
    )
    score: Interval = Field(description="mean score, with its interval over texts")
    sequence: SequenceInterval | None = Field(
        default=None,
        description="of the mean score of the texts, where asked for; null where the score has no "
        "range, and where the looks so far contradict each other",
    )
    reasons: dict[str, Count] = Field(
        default_factory=dict,
        description="code → results whose score is null for it; one may have several",
    )
    by_language: dict[str, LanguageScores] = Field(
        default_factory=dict,
        description="language of the text → its results; those without one are left out",
    )
    comparison: SystemComparison | None = Field(
        default=None, description="with the results of `against`; null where none were named"
    )
    plan: StudyPlan | None = Field(
        default=None, description="of the further study that `plan` asked for; else null"
    )
    corrected: dict[str, str] = Field(
        default_factory=dict,
        description="p-values that are corrected for several tests → how. No other is, and no "
        "interval holds for several numbers at once",
    )
    warnings: tuple[str, ...] = ()
    plots: tuple[Plot, ...] = ()
    seed: int
    resamples: int
    confidence: float
    statistics_version: str = Field(default="1", description="of how intervals are made")
    service_version: str
