"""What a report on many ICE results holds, and how one is asked for.

Part of the contract: pydantic only.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from services.ice.report import (
    Aspect,
    Operator,
    Reading,
    RowKind,
    Share,
    TestedOperator,
    Verdict,
)
from shared.contracts.batches import BatchReport, BatchReportRequest
from shared.contracts.messages import Count, Message, Variant
from shared.contracts.reports import Interval, ValueHistogram


class IceBatchReportRequest(BatchReportRequest):
    """Whose results, and at which levels they are tested."""

    alpha: float = Field(
        default=0.05, gt=0, lt=1, description="false discovery rate over configurations"
    )
    example_alpha: float = Field(
        default=0.10, gt=0, lt=1, description="false discovery rate over examples (the paper's)"
    )
    error: Literal["discovery", "family"] = Field(
        default="discovery",
        description="what `alpha` bounds over configurations: the share of false verdicts "
        "(Benjamini-Hochberg), or the chance of any (Holm)",
    )


BatchVerdict = Literal["faithful", "inconclusive", "anti-faithful", "undecidable"]


class IceConfiguration(Message):
    """What a result is averaged over: these tests of all examples."""

    model: str
    variant: Variant
    explanation: str
    k: float | None = Field(description="null for rationales that were sent as spans")
    operator: TestedOperator
    rows: RowKind = Field(
        default="tokens",
        exclude_if=lambda rows: bool(rows == "tokens"),
        description="what rationales are made of",
    )
    aspect: Aspect = "sufficiency"


class IceOverExamples(Message):
    """Benjamini-Hochberg over examples, as the paper does it, and why it can hardly reject."""

    alpha: float
    rejected: int = Field(ge=0, description="examples whose one-sided p survives")
    least_p: float | None = Field(description="the smallest p that the draws allow, 1 / (M + 1)")
    needed: int | None = Field(
        description="examples that would have to reach it before any is rejected"
    )
    raw: int = Field(ge=0, description="examples with p <= alpha, uncorrected")


class IcePValueHistogram(Message):
    """One-sided p-values in equal bins (a, b] from 0 to 1. Of random explanations all bins are
    equally full, as far as the draws are fine enough; ties make p larger, never smaller."""

    counts: tuple[Count, ...] = Field(
        min_length=1,
        description="p-values in each bin, the lowest first; as many bins, up to 20, as the "
        "p-values that the draws allow are spread evenly over",
    )
    expected: float = Field(
        ge=0, description="in each bin if all explanations were random: tests / bins"
    )


class IceConfigurationResult(Message):
    """One configuration over its examples."""

    configuration: IceConfiguration
    undefined: int = Field(ge=0, description="examples whose win rate is null; left out")
    win_rate: Interval = Field(description="mean mid-rank win rate")
    strict_win_rate: float | None = Field(description="mean; ties count as losses")
    tie_rate: float | None = Field(description="mean")
    z: float | None = Field(
        default=None, description="of reports before metric version 2.0; now `omnibus_z`"
    )
    t: float | None = Field(
        default=None,
        description="(mean - 1/2) / its standard error over texts; null without spread",
    )
    p_t: Share | None = Field(default=None, description="of t, two-sided")
    p_randomization: Share | None = Field(
        default=None, description="of sign flips of whole texts, two-sided"
    )
    p_value: Share | None = Field(description="that the mean is 1/2: the larger of both")
    q_value: Share | None = Field(description="corrected over configurations, see `error`")
    verdict: BatchVerdict | None = Field(
        description="of the configuration, by q and the side of 1/2; `undecidable`: so few texts "
        "could not have reached alpha"
    )
    omnibus_z: float | None = Field(
        default=None,
        description="is any explanation better or worse than random? (mean - 1/2) / its exact sd "
        "if all were random; null where draws could repeat or ended by what they showed",
    )
    omnibus_p: Share | None = Field(default=None, description="of omnibus_z, two-sided")
    effect: Interval = Field(
        description="median effect, distribution-free interval by order statistics"
    )
    exact: int = Field(ge=0, description="examples whose test was exact")
    verdicts: dict[Verdict, int] = Field(description="of the examples")
    win_rates: ValueHistogram | None = Field(
        default=None, description="of the examples; null in reports of earlier versions"
    )
    p_values: IcePValueHistogram | None = Field(
        default=None, description="of the examples; null likewise, and where none has one"
    )
    over_examples: IceOverExamples
    leads: bool = Field(
        default=False,
        description="whether it is the first test of every result: what tables of results show",
    )


class IceMeanDifference(Message):
    """Two explanations on the same examples, paired."""

    first: IceConfiguration
    second: IceConfiguration
    difference: Interval = Field(description="mean win rate, first - second")
    first_better: int = Field(ge=0, description="examples where first has the higher win rate")
    second_better: int = Field(ge=0)
    equal: int = Field(default=0, ge=0, description="examples where neither has")
    p_value: Share | None = Field(
        default=None, description="that the mean difference is 0: the larger of the next two"
    )
    p_t: Share | None = Field(default=None, description="of t over texts, two-sided")
    p_randomization: Share | None = Field(
        default=None, description="of sign flips of whole texts, two-sided"
    )
    p_adjusted: Share | None = Field(default=None, description="Holm over all pairs of the report")
    effect: float | None = Field(
        default=None, description="mean difference in its sds over examples; null where that is 0"
    )


class IceAgreement(Message):
    """Two operators on the same tests: do they say the same?"""

    first: IceConfiguration
    second: IceConfiguration
    examples: int = Field(ge=0)
    spearman: float | None = Field(description="of the win rates; null where one is constant")
    p_value: Share | None = Field(
        default=None, description="of Spearman's rho over the means of each text, two-sided"
    )
    q_value: Share | None = Field(default=None, description="Benjamini-Hochberg over this table")
    same_side: Share | None = Field(description="share on one side of 0.5 under both")
    same_verdict: Share | None


class IceOrthogonality(Message):
    """Faithfulness against plausibility over examples, as in the paper's Table 14."""

    configuration: IceConfiguration
    measure: str = Field(description="iou, f1 or auprc")
    mean: Interval = Field(description="of the measure")
    pearson: Interval = Field(description="with the win rate")
    spearman: float | None
    p_value: Share | None = Field(
        description="of Pearson's r over the means of each text, two-sided"
    )
    q_value: Share | None = Field(default=None, description="Benjamini-Hochberg over this table")


class IceAntiFaithful(Message):
    """What points at the wrong tokens: worse than chance, not merely no better."""

    configurations: tuple[IceConfiguration, ...]
    examples: tuple[str, ...] = Field(
        description="jobs (custom id, else id) whose first test is anti-faithful; at most 1,000"
    )
    examples_in_all: int = Field(ge=0)


class IceReadingCounts(Message):
    """How often an explanation was read as what."""

    model: str
    explanation: str
    k: float | None
    operator: Operator
    examples: int = Field(ge=0)
    readings: dict[Reading, int]


class IceBatchReport(BatchReport):
    """Win rates with intervals, tests at both levels, agreements, and a plot."""

    configurations: tuple[IceConfigurationResult, ...]
    differences: tuple[IceMeanDifference, ...]
    operator_agreement: tuple[IceAgreement, ...]
    readings: tuple[IceReadingCounts, ...] = Field(
        default=(), description="where both sides were tested"
    )
    orthogonality: tuple[IceOrthogonality, ...]
    anti_faithful: IceAntiFaithful
