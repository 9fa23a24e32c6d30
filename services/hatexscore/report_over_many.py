"""What HateXScore reports over many results. Part of the contract: pydantic only."""

from __future__ import annotations

from pydantic import Field

from shared.contracts import BatchReport, Interval, Message

MOST_NAMED = 100


class LabelConflicts(Message):
    """Where an explanation states another decision than the one it was sent for."""

    compared: int = Field(ge=0, description="results with both a sent and a stated label")
    conflicting: int = Field(ge=0, description="of these, results in which they differ")
    no_conclusion: int = Field(ge=0, description="results whose explanation states no decision")
    conflicts: tuple[str, ...] = Field(
        max_length=MOST_NAMED, description="the first of them, by custom_id, else by job"
    )


class HatexscoreBatchReport(BatchReport):
    """Means over the results in which the quantity is defined."""

    components: dict[str, Interval] = Field(description="mean of htc, qf, tgi and cc, each [0, 1]")
    share_beaten: Interval = Field(
        description="mean share of random spans that the quotations beat; 0.5 is chance"
    )
    labels: LabelConflicts
    groups: dict[str, int] = Field(description="group that counts as identified → results")
    languages: dict[str, int] = Field(description="language of the text → results")
