"""Rows of the batch report's tables: means of the four scores with intervals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from services.ftc import kernel
from services.ftc.report import FtcReport, Satisfaction
from services.ftc.report_over_many import FtcBatchReportRequest, Scores, Statistic
from shared.statistics.intervals import BatchStatistics

STATISTICS: tuple[Statistic, ...] = ("delta", "k", "w", "w_normalized")


def components(reports: Iterable[FtcReport]) -> list[Satisfaction]:
    """The means that covered results report."""
    return [
        Satisfaction.model_validate(report.components.model_dump())
        for report in reports
        if report.counterfactuals
    ]


def scores_of(
    name: str, found: Sequence[Satisfaction], over: BatchStatistics[FtcBatchReportRequest]
) -> Scores:
    """Their means with intervals."""
    means = {
        part: over.mean(f"{name} {part}", [getattr(one, part) for one in found])
        for part in STATISTICS
    }
    mean_k = means["k"].value
    p = None if mean_k is None else kernel.geometric_mean_p(mean_k)
    return Scores(**means, geometric_mean_p=p)
