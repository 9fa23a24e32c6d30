"""What ICE reports over many results. Part of the contract: pydantic only."""

from __future__ import annotations

from pydantic import Field

from services.ice.report import Share, TestedOperator, Verdict
from shared.contracts import BatchReport, BatchReportRequest, Interval, Message, Variant


class IceBatchReportRequest(BatchReportRequest):
    """Whose results, and at which levels they are tested."""

    alpha: float = Field(
        default=0.05, gt=0, lt=1, description="false discovery rate over configurations"
    )
    example_alpha: float = Field(
        default=0.10, gt=0, lt=1, description="false discovery rate over examples (the paper's)"
    )


class Configuration(Message):
    """What a result is averaged over: these tests of all examples."""

    model: str
    variant: Variant
    explanation: str
    k: float | None = Field(description="null for rationales that were sent as spans")
    operator: TestedOperator


class OverExamples(Message):
    """Benjamini-Hochberg over examples, as the paper does it, and why it can hardly reject."""

    alpha: float
    rejected: int = Field(ge=0, description="examples whose one-sided p survives")
    least_p: float | None = Field(description="the smallest p that the draws allow, 1 / (M + 1)")
    needed: int | None = Field(
        description="examples that would have to reach it before any is rejected"
    )
    raw: int = Field(ge=0, description="examples with p <= alpha, uncorrected")


class ConfigurationResult(Message):
    """One configuration over its examples."""

    configuration: Configuration
    undefined: int = Field(ge=0, description="examples whose win rate is null; left out")
    win_rate: Interval = Field(description="mean mid-rank win rate, bootstrap over examples")
    strict_win_rate: float | None = Field(description="mean; ties count as losses")
    tie_rate: float | None = Field(description="mean")
    z: float | None = Field(description="(mean - 1/2) / its exact sd under the null")
    p_value: Share | None = Field(description="of z, two-sided")
    q_value: Share | None = Field(description="Benjamini-Hochberg over configurations")
    verdict: Verdict | None = Field(description="of the configuration, by q and the sign of z")
    effect: Interval = Field(
        description="median effect, distribution-free interval by order statistics"
    )
    exact: int = Field(ge=0, description="examples whose test was exact")
    verdicts: dict[Verdict, int] = Field(description="of the examples")
    over_examples: OverExamples


class MeanDifference(Message):
    """Two explanations on the same examples, paired."""

    first: Configuration
    second: Configuration
    difference: Interval = Field(description="mean win rate, first - second, bootstrap")
    first_better: int = Field(ge=0, description="examples where first has the higher win rate")
    second_better: int = Field(ge=0)


class Agreement(Message):
    """Two operators on the same tests: do they say the same?"""

    first: Configuration
    second: Configuration
    examples: int = Field(ge=0)
    spearman: float | None = Field(description="of the win rates; null where one is constant")
    same_side: Share | None = Field(description="share on one side of 0.5 under both")
    same_verdict: Share | None


class Orthogonality(Message):
    """Faithfulness against plausibility over examples, as in the paper's Table 14."""

    configuration: Configuration
    measure: str = Field(description="iou, f1 or auprc")
    mean: Interval = Field(description="of the measure, bootstrap")
    pearson: Interval = Field(description="with the win rate, bootstrap interval")
    spearman: float | None
    p_value: Share | None = Field(description="of Pearson's r, two-sided")


class AntiFaithful(Message):
    """What points at the wrong tokens: worse than chance, not merely no better."""

    configurations: tuple[Configuration, ...]
    examples: tuple[str, ...] = Field(
        description="jobs (custom id, else id) whose first test is anti-faithful; at most 1,000"
    )
    examples_in_all: int = Field(ge=0)


class IceBatchReport(BatchReport):
    """Win rates with intervals, tests at both levels, agreements, and a plot."""

    configurations: tuple[ConfigurationResult, ...]
    differences: tuple[MeanDifference, ...]
    operator_agreement: tuple[Agreement, ...]
    orthogonality: tuple[Orthogonality, ...]
    anti_faithful: AntiFaithful
