"""What a report over many HLV results holds. Part of the contract: pydantic only.

Source: Chen et al., EMNLP 2025, Tables 11-13.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from services.hlv.report import Method
from shared.contracts import BatchReport, Interval, Message

Judged = Literal["explained", "baseline", "gain", "uniform", "majority"]


class Estimate(Message):
    """A number over items."""

    mean: Interval = Field(description="over items where it is defined; pooled ones over all pairs")
    undefined: int = Field(ge=0, description="items where it is undefined")
    undefined_as_zero: float | None = Field(
        default=None, description="the mean with these as 0; of correlations only"
    )


class Table(Message):
    """One way of judging: `gain` is explained minus baseline, item by item, positive = closer."""

    method: Method | None = Field(description="null for judges that read nothing")
    judged: Judged
    items: int = Field(ge=0)
    invalid_runs: int = Field(default=0, ge=0, description="answers that could not be read")
    metrics: dict[str, Estimate]


class HlvBatchReport(BatchReport):
    """Every judge beside the uniform one and the majority oracle."""

    score_of: Literal["gain", "agreement", "mixed"] | None = Field(
        description="what the mean score is of; `mixed`: results of both kinds, and no mean; null: "
        "no results"
    )
    tables: tuple[Table, ...]
