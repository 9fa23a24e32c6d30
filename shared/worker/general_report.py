"""The report of a metric that has no report of its own: how many, and the mean score."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from shared.batch_reports import BatchReport, BatchReportRequest, Scored
from shared.version import SERVICE_VERSION
from shared.worker.bootstrap import mean_interval


def general_report(
    metric: str, rows: Sequence[Scored[Any, Any]], request: BatchReportRequest
) -> BatchReport:
    """Counts, and the mean score with a percentile bootstrap interval over results."""
    return BatchReport(**common_part(metric, rows, request))


def common_part(
    metric: str, rows: Sequence[Scored[Any, Any]], request: BatchReportRequest
) -> dict[str, Any]:
    """What every batch report has. A room's own adds to it: `MyReport(**common_part(…), …)`."""
    scores = [row.report.score for row in rows]
    undefined = sum(score is None for score in scores)
    return {
        "metric": metric,
        "scored": len(scores),
        "undefined": undefined,
        "score": mean_interval("score", scores, request),
        "warnings": () if len(scores) > undefined else ("no result has a score",),
        "seed": request.seed,
        "resamples": request.resamples,
        "confidence": request.confidence,
        "service_version": SERVICE_VERSION,
    }
