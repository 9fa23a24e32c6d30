"""A report over many CoT2EL results: faithfulness, statuses, agreement with annotators. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from services.cot2el.batch_message import Cot2elBatchReport, Validated
from services.cot2el.comparing import COLUMNS
from services.cot2el.contract import METRIC, Cot2elRequest
from services.cot2el.report import Agreement, Cot2elReport
from shared.batch_reports import BatchReportRequest, Interval, Scored
from shared.resampling import Floats, interval
from shared.worker.bootstrap import mean_interval
from shared.worker.general_report import common_part

Rows = Sequence[Scored[Cot2elRequest, Cot2elReport]]


def batch_report(rows: Rows, request: BatchReportRequest) -> Cot2elBatchReport:
    """Means over items with bootstrap intervals."""
    reports = [row.report for row in rows]
    parts = [report.components for report in reports]
    common = common_part(METRIC.name, rows, request)
    chance = [report.control.faithfulness for report in reports if report.control]
    found = [report.validation for report in reports if report.validation]
    gains = [one.group_mean.f1 - one.parsed.f1 for one in found]
    return Cot2elBatchReport(
        **common,
        statuses=dict(sorted(Counter(report.status for report in reports).items())),
        faithfulness=common["score"],
        faithfulness_pooled=_pooled(reports, request),
        faithfulness_by_chance=mean_interval("chance", chance, request),
        mean_similarity=mean_interval("similarity", [p.mean_similarity for p in parts], request),
        kept_per_item=mean_interval("kept", [p.distinct for p in parts], request),
        filtered=_validated("filtered", [one.group_mean for one in found], request),
        parsed=_validated("parsed", [one.parsed for one in found], request),
        refinement=mean_interval("refinement", gains, request) if found else None,
    )


def _pooled(reports: Sequence[Cot2elReport], request: BatchReportRequest) -> Interval:
    """Kept / parsed over all explanations; items are drawn."""
    counts = [(one.components.kept, one.components.parsed) for one in reports]
    table = np.array(counts, dtype=np.float64).reshape(-1, 2)
    return interval("pooled", table, _share, request)


def _share(sums: Floats) -> Floats:
    """NaN where there is nothing to share."""
    whole = np.where(sums[..., 1] > 0, sums[..., 1], np.nan)
    return np.asarray(sums[..., 0] / whole, dtype=np.float64)


def _validated(
    name: str, own: Sequence[Agreement], request: BatchReportRequest
) -> Validated | None:
    """None where no item has human pairs."""
    if not own:
        return None

    def mean(what: str, values: Sequence[float | None]) -> Interval:
        return mean_interval(f"{name} {what}", values, request)

    columns = {
        column: mean(column, [getattr(one.columns, column) for one in own]) for column in COLUMNS
    }
    return Validated(
        items=len(own),
        precision=mean("precision", [one.precision for one in own]),
        recall=mean("recall", [one.recall for one in own]),
        f1=mean("f1", [one.f1 for one in own]),
        columns={column: found for column, found in columns.items() if found.of},
    )
