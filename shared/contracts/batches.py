"""Messages about many results: requests of batch reports, and the common part of their answers.

Pydantic only, as `shared.contracts.messages`.
"""

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
    """Return the model of a result; without a call, the model that would have been called. named:
    by the request; default: the metric's."""
    return answered or named or default


OF_MODEL = (
    "only the results of this model: the first that answered or, where none had to be asked, the "
    "one that the request names, or the metric's default"
)
OF_METADATA = (
    "only the results of lines whose metadata has all of these values, as where one file holds the "
    "explanations of several systems"
)


class Against(Message):
    """The results of another system, to be compared with those of the report, text by text: every
    difference is the report's number minus this system's."""

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
        description="whether to add Wilcoxon's signed-rank test, over the texts' mean differences",
    )

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        if (self.batch is None) == (self.jobs is None):
            raise ValueError("give either `batch` or `jobs`")
        return self


class Judged(Message):
    """Which judgements of these results are looked at; see `agreement`."""

    queue: Id | None = Field(default=None, description="those of this review queue alone")
    random: bool = Field(
        default=False, description="whether the results are a random sample of what they stand for"
    )


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


SplitKey = Annotated[
    str,
    StringConstraints(
        pattern=r"^(metadata\..{1,64}|model|variant|language|verdict|decision_sent|decision_stated)$"
    ),
]


class BatchReportRequest(JobRequest):
    """Whose results are summed up, and how."""

    batch: Id | None = Field(default=None, description="a batch's id")
    jobs: tuple[Id, ...] | None = Field(
        default=None, min_length=1, max_length=MOST_JOBS, description="ids of jobs of this metric"
    )
    of_model: str | None = Field(default=None, max_length=200, description=OF_MODEL)
    of_metadata: dict[MetadataKey, MetadataValue] = Field(
        default_factory=dict, max_length=MOST_METADATA, description=OF_METADATA
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
        default=None,
        description="another system's results on the same texts, which are taken off the report's "
        "own: see `comparison`",
    )
    further: tuple[Against, ...] = Field(
        default=(),
        max_length=MOST_FURTHER,
        description="further systems that are compared with `against`, too: see `further`",
    )
    judged: Judged | None = Field(
        default=None, description="people's judgements of these results: see `agreement`"
    )
    plan: WantedEffect | None = Field(
        default=None, description="how many texts and draws would find this effect: see `plan`"
    )
    by: tuple[SplitKey, ...] = Field(
        default=(),
        max_length=8,
        description="what the scores are split by, see `splits`: `metadata.<key>`, `model`, "
        "`variant`, `language`, `verdict`, `decision_sent`, `decision_stated`",
    )
    gold: GoldColumns = Field(
        default=GoldColumns(),
        description="where the lines' metadata has gold labels, marked passages and ratings: see "
        "the report's `gold`",
    )
    pairwise: bool = Field(
        default=False, description="whether to compare the values of each split two by two"
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
        if self.further and self.against is None:
            raise ValueError("`further` systems are compared with `against`: name that, too")
        return self


class StudyPlan(Message):
    """How many texts and draws find the wanted effect, if further texts vary as these do.

    Texts are those with a score. Of single tests: what is corrected for several needs more.
    """

    wanted: WantedEffect
    texts: int | None = Field(
        default=None,
        ge=2,
        description="that a mean score needs to be told from a fixed value (two-sided t); null "
        "without `effect`; see `warnings`",
    )
    texts_upper: int | None = Field(
        default=None,
        ge=2,
        description="the same if the scores spread as far as the upper end of the one-sided 80 % "
        "interval of their spread: what few texts can vouch for",
    )
    compared_texts: int | None = Field(
        default=None,
        ge=2,
        description="that both systems need on the same texts (paired t), from how these differ; "
        "null without `effect` or `against`; see `warnings`",
    )
    compared_texts_upper: int | None = Field(
        default=None, ge=2, description="the same as `texts_upper`, of `compared_texts`"
    )
    draws: int | None = Field(
        default=None,
        ge=1,
        description="random explanations that a two-sided test of one explanation needs, in one "
        "block; null without `beat_rate`, and of a metric that compares with none; see `warnings`",
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
    finding: str = Field(default="", description="what they come to, and how many they are")
    left_out: dict[str, int] = Field(
        default_factory=dict, description="jobs without a result, by status"
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
    parts: dict[str, PartSummary] = Field(
        default_factory=dict,
        description="part of the score → its mean over all results; empty in reports of earlier "
        "versions, and where there is no score",
    )
    splits: tuple[ScoreSplit, ...] = Field(
        default=(), description="the scores by each of `by`; no p-value holds for several at once"
    )
    comparison: SystemComparison | None = Field(
        default=None, description="with the results of `against`; null where none were named"
    )
    further: tuple[SystemComparison, ...] = Field(
        default=(), description="of each of the request's `further` systems with `against`"
    )
    agreement: HumanAgreement | None = Field(
        default=None, description="of people with each other and the metric, where asked for"
    )
    gold: GoldAgreement | None = Field(
        default=None,
        description="with what people say of the texts and explanations; null where no line has it",
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
