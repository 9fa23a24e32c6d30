"""What FTC reports over many results. Part of the contract: pydantic only.

Source: Sia et al., AAAI 2023, arXiv:2205.12469, Tables 4 to 6 and 10.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from services.ftc.study import Inputs
from shared.contracts import BatchReport, BatchReportRequest, Interval, Message

Case = Literal["contradiction", "entailment", "neutral", "neutral a", "neutral b"]
Statistic = Literal["delta", "k", "w", "w_normalized"]

# Table 10: how often the majority of three people gave the counterfactual the derived label.
HUMAN_CEILING: dict[Case, float] = {
    "contradiction": 0.534,
    "entailment": 0.867,
    "neutral a": 0.756,
    "neutral b": 0.790,
}


class Scores(Message):
    """Means over results, with intervals; higher is better."""

    delta: Interval
    k: Interval
    w: Interval
    w_normalized: Interval
    geometric_mean_p: float | None = Field(description="exp(mean k - 1)")


class CaseScores(Message):
    """One row of the table: an original label, of neutral also each of its counterfactuals."""

    case: Case
    coverage: Interval = Field(description="share of the label's results that have a score")
    scores: Scores
    human_ceiling: float | None = Field(
        description="delta of people in the paper (Table 10): what even a perfect model cannot "
        "be expected to exceed; null for the mean of both"
    )
    null_win_rate: Interval = Field(description="mean over results; chance is 0.5")


class BaselineScores(Message):
    """What an answer that has not seen the explanation earns, over the covered results."""

    name: Literal["always_entailment", "majority", "uniform", "unedited", "blank_premise"]
    delta: float
    k: float
    w: float
    w_normalized: float


class Las(Message):
    """Leakage-adjusted simulatability (Hase et al., 2020)."""

    las: Interval = Field(description="mean of the two groups, [-1, 1]")
    leaking: float | None = Field(description="where the explanation alone gives the label away")
    not_leaking: float | None
    of_leaking: int
    of_not_leaking: int


class Lra(Message):
    """Label-rationale association (Wiegreffe et al., 2020) at one strength of noise."""

    variance: float
    literal: Interval = Field(description="as printed: stable label = simulator's gain")
    stability: Interval = Field(description="both stable or both not; null without `simulated`")


class Simulatability(Message):
    """Do scores tell where people agree with the model's label of the counterfactual?"""

    case: Case
    statistic: Statistic
    rho: float | None = Field(
        ge=0, le=1, description="P(score where they agree > where not) + half the ties = U/(n m)"
    )
    p_value: float | None = Field(ge=0, le=1, description="Wilcoxon rank-sum, two-sided")
    agreeing: int
    disagreeing: int
    dropped: int = Field(description="counterfactuals whose votes tie")


class InputScores(Message):
    """Explanations that were generated from these inputs."""

    inputs: Inputs
    results: int
    coverage: Interval
    scores: Scores
    difference: dict[Statistic, Interval] = Field(
        description="`all` minus this one over the items (premise, hypothesis) that both cover"
    )


class FtcBatchReport(BatchReport):
    """Never pooled blindly: a row a label, then macro and micro."""

    coverage: Interval = Field(description="share of results that have a score")
    cases: tuple[CaseScores, ...]
    macro: Scores = Field(description="mean of the original labels' means; the headline")
    micro: Scores = Field(description="mean over results")
    baselines: tuple[BaselineScores, ...]
    null_win_rate: Interval
    null_significant: Interval = Field(description="share of results with p <= 0.05")
    rules: dict[str, int] = Field(description="pattern that fired → results")
    transformations: dict[str, int] = Field(description="how the hypothesis changed → results")
    abstentions: dict[str, int] = Field(description="reason → results")
    las: Las | None = Field(description="null unless results bring `study.simulation`")
    lra: tuple[Lra, ...] = Field(description="empty unless results bring `study.perturbations`")
    simulatability: tuple[Simulatability, ...] = Field(
        description="empty unless results bring `study.human_labels`"
    )
    sensitivity: tuple[InputScores, ...] = Field(
        description="empty unless results bring `study.inputs`"
    )


class FtcBatchReportRequest(BatchReportRequest):
    """Which results to sum up."""
