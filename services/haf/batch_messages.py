"""What a report over many HAF results says. Part of the contract: pydantic only.

Source of the tables: Mothilal et al., arXiv:2506.19113, Tables 1 to 5 and Figure 3.
"""

from __future__ import annotations

from pydantic import Field

from services.haf.report import Stance
from shared.contracts import BatchReport, BatchReportRequest, Interval, Message, MetadataKey

UNNAMED = "(unnamed)"


class HafBatchReportRequest(BatchReportRequest):
    """Which results, and which of their `metadata` say where they come from."""

    model_key: MetadataKey = Field(
        default="model", description="metadata that names the model of brought responses"
    )
    dataset_key: MetadataKey = Field(
        default="dataset", description="metadata that names the data set"
    )


class Means(Message):
    """Table 1 with the sample sizes of Table 4: the mean of each metric over results."""

    sos: Interval
    dis: Interval
    uii: Interval
    uei: Interval
    rs: Interval
    rn: Interval


class Individual(Message):
    """Table 3: the two factors of RS and RN, mean over the reasons of a result, then results."""

    rs_decision: Interval = Field(description="w_S C(Y)")
    rs_informativeness: Interval = Field(description="I_S (Eq. 10)")
    rn_decision: Interval = Field(description="w_N C(Y)")
    rn_informativeness: Interval = Field(description="I_N (Eq. 12)")


class Shares(Message):
    """A share of the decisions of each stage, mean over results."""

    internal: Interval
    external: Interval
    sufficiency: Interval
    necessity: Interval


class StanceScores(Message):
    """Every metric by the stance that was taken; Figure 3 has SoS and DiS."""

    stance: Stance
    results: int = Field(ge=1)
    score: Interval
    means: Means


class HafGroup(Message):
    """One model on one data set."""

    model: str = Field(description="the request's, else as its metadata names it")
    dataset: str
    results: int = Field(ge=1)
    score: Interval
    means: Means
    individual: Individual
    sufficient: Shares = Field(description="Table 2: decisions that say `sufficient`")
    irrelevant: Shares = Field(description="Table 5: decisions that do not answer the question")
    refused: Interval = Field(description="share of results that refuse at JUSTIFY")
    by_stance: tuple[StanceScores, ...]


class HafBatchReport(BatchReport):
    """Every model and data set, sorted."""

    groups: tuple[HafGroup, ...]
    variants: tuple[str, ...] = Field(description="that the results were scored with")
