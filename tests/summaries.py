"""The report of a metric over many results, without jobs and processes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from shared.reports.estimates import BatchStatistics


def summaries(metric: Any) -> Callable[[Any, Any], Any]:
    """Return the function of (results, report request) that makes the metric's batch report."""
    return lambda rows, request: metric.summarize(
        rows, BatchStatistics(metric.contract, rows, request)
    )
