"""Requests for batch reports, and the fields that all reports share. Depends on pydantic only."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, StringConstraints, model_validator

from shared.contracts.gold import GoldAgreement, GoldColumns
from shared.contracts.messages import (
    MOST_METADATA,
    Count,
    Id,
    JobRequest,
    Message,
    MetadataKey,
    MetadataValue,
    Word,
)
from shared.contracts.reports import (
    HumanAgreement,
    Interval,
    LanguageScores,
    PartSummary,
    ScoreSplit,
    SequenceInterval,
    SystemComparison,
)

MOST_JOBS = 50_000  # of one batch report
MOST_FURTHER = 5


def model_of(answered: str | None, named: str | None, default: str | None) -> str | None:
    """Return the model that a result came from: the first argument that is given."""
    return answered or named or default


OF_MODEL = (
    "only results of this model: the first that answered or, if none was called, the one in the "
    "request, or the metric's default"
)
OF_METADATA = (
    "only results of lines whose metadata has all of these values, for example those of one of "
    "several systems"
)


class Against(Message):
    """Another system's results, to compare with the report's text by text. Differences are the
    report's number minus this system's."""

    batch: Id | None = Field(default=None, description="a batch's id")
    jobs: tuple[Id, ...] | None = Field(
        default=None, min_length=1, max_length=MOST_JOBS, description="ids of jobs of this metric"
    )
    of_model: str | None = Field(default=None, max_length=200, description=OF_MODEL)
    of_metadata: dict[MetadataKey, MetadataValue] = Field(
        default_factory=dict, max_length=MOST_METADATA, description=OF_METADATA
    )
    wilcoxon: bool = Field(
        default=False,
        description="whether to add Wilcoxon's signed-rank test, applied to the mean difference "
        "of each text",
    )

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        if (self.batch is None) == (self.jobs is None):
            raise ValueError("give either `batch` or `jobs`")
        return self


class Judged(Message):
    """Selects which human judgements are used."""

    queue: Id | None = Field(default=None, description="only judgements of this review queue")
    random: bool = Field(
        default=False,
        description="whether the results are a random sample of all the texts you want to"
        " draw conclusions about",
    )


class WantedEffect(Message):
    """The size of the effect that a further study should detect."""

    effect: float | None = Field(
        default=None,
        gt=0,
        description="the smallest difference that the study should detect, in units of the "
        "score: between the mean score and a fixed value, or between the means of two systems "
        "on the same texts",
    )
    beat_rate: float | None = Field(
        default=None,
        gt=0.5,
        lt=1,
        description="the share of random explanations that a good explanation beats; the test of "
        "such an explanation should detect this",
    )
    power: float = Field(
        default=0.8,
        ge=0.5,
        le=0.999,
        description="power: the probability that the tests detect the effect",
    )
    alpha: float = Field(
        default=0.05, ge=0.001, le=0.2, description="significance level of the tests"
    )

    @model_validator(mode="after")
    def _one_at_least(self) -> Self:
        if self.effect is None and self.beat_rate is None:
            raise ValueError("give `effect`, `beat_rate` or both")
        return self


SplitKey = Annotated[
    str,
    StringConstraints(
        pattern=r"^(metadata\..{1,64}|model|variant|language|verdict|decision_sent|decision_stated)$"
    ),
]


class BatchReportRequest(JobRequest):
    """The results to summarise, and settings."""

    batch: Id | None = Field(default=None, description="a batch's id")
    jobs: tuple[Id, ...] | None = Field(
        default=None, min_length=1, max_length=MOST_JOBS, description="ids of jobs of this metric"
    )
    of_model: str | None = Field(default=None, max_length=200, description=OF_MODEL)
    of_metadata: dict[MetadataKey, MetadataValue] = Field(
        default_factory=dict, max_length=MOST_METADATA, description=OF_METADATA
    )
    seed: int = Field(default=0, ge=0, le=2**63 - 1, description="seed of the bootstrap")
    resamples: int = Field(
        default=2_000, ge=100, le=100_000, description="number of resamples of the bootstrap"
    )
    confidence: float = Field(
        default=0.95, gt=0.5, lt=1, description="confidence level of every interval"
    )
    cluster_key: Annotated[str, Word] | None = Field(
        default=None,
        min_length=1,
        max_length=64,
        description="metadata key whose value groups results; without a key, or for a result "
        "without a value, results of the same text form a group",
    )
    sequence: bool = Field(
        default=False,
        description="whether to add an interval of the mean score that is valid however often you "
        "check a growing batch",
    )
    against: Against | None = Field(
        default=None,
        description="another system's results on the same texts, for `comparison`",
    )
    further: tuple[Against, ...] = Field(
        default=(),
        max_length=MOST_FURTHER,
        description="more systems to compare with `against`",
    )
    judged: Judged | None = Field(
        default=None, description="people's judgements of these results, for `agreement`"
    )
    plan: WantedEffect | None = Field(
        default=None,
        description="an effect, for which `plan` states how many texts and draws would detect it",
    )
    by: tuple[SplitKey, ...] = Field(
        default=(),
        max_length=8,
        description="keys by which `splits` splits the scores: `metadata.<key>`, `model`, "
        "`variant`, `language`, `verdict`, `decision_sent`, `decision_stated`",
    )
    gold: GoldColumns = Field(
        default=GoldColumns(),
        description="metadata keys of gold labels, marked passages and ratings: see "
        "the report's `gold`",
    )
    pairwise: bool = Field(
        default=False, description="whether to compare the values of each split in pairs"
    )
    mixed: bool = Field(
        default=False,
        description="whether to combine results of several versions of the metric, with a "
        "warning; otherwise such a request is rejected, because the numbers of different "
        "versions have different meanings",
    )

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        if (self.batch is None) == (self.jobs is None):
            raise ValueError("give either `batch` or `jobs`")
        if self.further and self.against is None:
            raise ValueError("`further` needs a baseline; send the baseline as `against`")
        return self


class StudyPlan(Message):
    """The numbers of texts and draws that a study needs to detect the wanted effect. The plan
    assumes that new texts vary as the report's do. The numbers are for a single test; several tests
    need more."""

    wanted: WantedEffect
    texts: int | None = Field(
        default=None,
        ge=2,
        description="texts needed to detect a difference between the mean score and a fixed "
        "value (two-sided t test); null without `effect`; see `warnings`",
    )
    texts_upper: int | None = Field(
        default=None,
        ge=2,
        description="cautious number of `texts`, from the upper end of a one-sided 80 % interval "
        "of the scores' spread; for reports with few texts",
    )
    compared_texts: int | None = Field(
        default=None,
        ge=2,
        description="texts that both systems must share (paired t test), computed from their "
        "differences in this report; null without `effect` or `against`; see `warnings`",
    )
    compared_texts_upper: int | None = Field(
        default=None,
        ge=2,
        description="cautious number of `compared_texts`, computed as for `texts_upper`",
    )
    draws: int | None = Field(
        default=None,
        ge=1,
        description="random explanations that a two-sided test of one explanation needs, if all "
        "are drawn at once; null without `beat_rate`, and for metrics without random "
        "explanations; see `warnings`",
    )
    one_sided_draws: int | None = Field(
        default=None, ge=1, description="number of random explanations for a one-sided test"
    )
    warnings: tuple[str, ...] = Field(
        default=(), description="reasons why a number is null or doubtful"
    )


class Plot(Message):
    """One picture, as SVG and PNG."""

    name: str
    title: str
    svg: str
    png_base64: str


class BatchReport(Message):
    """Fields of every metric's batch report. A metric adds its own tables."""

    metric: str
    scored: Count = Field(description="number of results that this report is based on")
    undefined: Count = Field(description="number of results without a score")
    finding: str = Field(
        default="", description="the meaning of the results in a sentence or two, and their number"
    )
    left_out: dict[str, int] = Field(
        default_factory=dict, description="jobs without a result, by status"
    )
    duplicates: Count = Field(
        default=0,
        description="results left out because they have the same request and result as another one",
    )
    score: Interval = Field(description="mean score, with its interval over texts")
    sequence: SequenceInterval | None = Field(
        default=None,
        description="interval of the texts' mean score, valid however often you check a growing "
        "batch, if requested; null if the score has no range, or if earlier intervals contradict "
        "it",
    )
    reasons: dict[str, Count] = Field(
        default_factory=dict,
        description="code → number of results whose score is null for this reason; a result may "
        "have several reasons",
    )
    by_language: dict[str, LanguageScores] = Field(
        default_factory=dict,
        description="language of the text → number of results; results without a language are "
        "left out",
    )
    parts: dict[str, PartSummary] = Field(
        default_factory=dict,
        description="part of the score → its mean over all results; empty if there is no score",
    )
    splits: tuple[ScoreSplit, ...] = Field(
        default=(),
        description="the scores split by each of `by`; p-values are not corrected across splits",
    )
    comparison: SystemComparison | None = Field(
        default=None,
        description="comparison with the results of `against`; null if the request names none",
    )
    further: tuple[SystemComparison, ...] = Field(
        default=(),
        description="comparison of each of the request's `further` systems with `against`",
    )
    agreement: HumanAgreement | None = Field(
        default=None,
        description="agreement between people, and between people and the metric, if requested",
    )
    gold: GoldAgreement | None = Field(
        default=None,
        description="comparison with gold labels, marked passages and ratings; null if no "
        "line has them",
    )
    plan: StudyPlan | None = Field(
        default=None,
        description="texts and draws that would detect the effect in the request's `plan`; null "
        "without one",
    )
    corrected: dict[str, str] = Field(
        default_factory=dict,
        description="names of the p-values that are corrected for several tests → the correction; "
        "all other p-values and all intervals are uncorrected",
    )
    warnings: tuple[str, ...] = ()
    plots: tuple[Plot, ...] = ()
    seed: int
    resamples: int
    confidence: float
    statistics_version: str = Field(
        default="1", description="version of the methods that compute intervals"
    )
    service_version: str
