"""A report over many HLV results: means with paired intervals, undefined ones counted.

Source: Chen et al., EMNLP 2025, Appendix F. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from services.hlv.contract import METHODS, HlvRequest
from services.hlv.report import (
    Estimate,
    Gain,
    HlvBatchReport,
    HlvMeasured,
    HlvReport,
    HlvTable,
    Judged,
    Method,
    MethodResult,
)
from services.hlv.scoring import CORRELATIONS, DIVERGENCES, ERRORS
from shared.contracts import BatchReportRequest, Interval, Scored
from shared.estimates import BatchStatistics
from shared.statistics.clusters import Floats

Rows = Sequence[Scored[HlvRequest, HlvReport]]

MIXED = "some scores are gains and some are agreements: they have no common mean"
NOTHING = Interval(value=None, low=None, high=None, of=0)


def batch_report(rows: Rows, over: BatchStatistics[BatchReportRequest]) -> HlvBatchReport:
    """Per method: with explanations, without, the gain; and the judges that read nothing."""
    reports = [row.report for row in rows]
    common = over.envelope()
    kinds = sorted({report.score_of for report in reports})
    if len(kinds) > 1:
        common |= {"score": NOTHING, "warnings": (*common["warnings"], MIXED)}
    return HlvBatchReport(
        **common,
        score_of=None if not kinds else kinds[0] if len(kinds) == 1 else "mixed",
        tables=tuple(_tables(reports, over)),
    )


def _tables(
    reports: Sequence[HlvReport], over: BatchStatistics[BatchReportRequest]
) -> Iterator[HlvTable]:
    for method in METHODS:
        found = [_result(report, method) for report in reports]
        for side in ("explained", "baseline"):
            sides = [getattr(result, side, None) for result in found]
            yield from _table(method, side, reports, sides, over)
        gains = [result.gain for result in found if result and result.gain]
        if gains:
            estimates = _estimates(f"{method} gain", gains, over)
            yield HlvTable(method=method, judged="gain", items=len(gains), metrics=estimates)
    for judge in ("uniform", "majority"):
        sides = [getattr(report.control, judge) for report in reports]
        yield from _table(None, judge, reports, sides, over)


def _result(report: HlvReport, method: Method) -> MethodResult | None:
    return next((one for one in report.components.methods if one.method == method), None)


def _table(
    method: Method | None,
    judged: Judged,
    reports: Sequence[HlvReport],
    sides: Sequence[HlvMeasured | None],
    over: BatchStatistics[BatchReportRequest],
) -> Iterator[HlvTable]:
    """None where nobody was judged so."""
    pairs = [(r, m) for r, m in zip(reports, sides, strict=True) if m is not None]
    if not pairs:
        return
    own = [one for _, one in pairs]
    name = f"{method} {judged}"
    yield HlvTable(
        method=method,
        judged=judged,
        items=len(own),
        invalid_runs=sum(one.invalid_runs for one in own),
        metrics=_estimates(name, own, over) | _pooled(name, pairs, over),
    )


def _estimates(
    name: str, own: Sequence[HlvMeasured | Gain], over: BatchStatistics[BatchReportRequest]
) -> dict[str, Estimate]:
    """Means over items; a block that no item has is left out."""
    found = {metric: _estimate(name, metric, own, over) for metric in CORRELATIONS}
    for metric in (*DIVERGENCES, *ERRORS):
        block = [one for one in own if _block(one, metric) is not None]
        if block:
            estimate = _estimate(name, metric, [_block(one, metric) for one in block], over)
            if estimate.mean.of or not isinstance(own[0], Gain):
                found[metric] = estimate
    return found


def _block(one: HlvMeasured | Gain, metric: str) -> Any:
    """Where this metric stands."""
    if isinstance(one, Gain):
        return one
    return one.distribution if metric in DIVERGENCES else one.scalar


def _estimate(
    name: str, metric: str, own: Sequence[Any], over: BatchStatistics[BatchReportRequest]
) -> Estimate:
    values = [getattr(one, metric) for one in own]
    defined = [value for value in values if value is not None]
    zeros = float(sum(defined) / len(values)) if metric in CORRELATIONS and values else None
    return Estimate(
        mean=over.mean(f"{name} {metric}", values),
        undefined=len(values) - len(defined),
        undefined_as_zero=zeros,
    )


def _pooled(
    name: str,
    pairs: Sequence[tuple[HlvReport, HlvMeasured]],
    over: BatchStatistics[BatchReportRequest],
) -> dict[str, Estimate]:
    """RMSE, MAE and R^2 over all pairs of item and option (R^2 is meant so); items are drawn."""
    parts = [_sums(report, one) for report, one in pairs if one.scalar is not None]
    if not parts:
        return {}
    table = np.array(parts)  # (N, 5)
    statistics = {"rmse_pooled": _rmse, "mae_pooled": _mae, "r2_pooled": _r2}
    return {
        metric: Estimate(mean=over.ratio(f"{name} {metric}", table, statistic), undefined=0)
        for metric, statistic in statistics.items()
    }


def _sums(report: HlvReport, one: HlvMeasured) -> list[float]:
    """What an item adds: pairs, squared errors, absolute errors, gold, squared gold."""
    gold, given = report.gold.values or {}, one.values or {}
    errors = np.array([gold[key] - given[key] for key in gold])
    values = np.array(list(gold.values()))
    return [
        float(errors.size),
        float(errors @ errors),
        float(np.abs(errors).sum()),
        float(values.sum()),
        float(values @ values),
    ]


def _rmse(sums: Floats) -> Floats:
    return np.asarray(np.sqrt(sums[..., 1] / sums[..., 0]), dtype=np.float64)


def _mae(sums: Floats) -> Floats:
    return np.asarray(sums[..., 2] / sums[..., 0], dtype=np.float64)


def _r2(sums: Floats) -> Floats:
    """NaN where the gold scores are all equal."""
    spread = sums[..., 4] - sums[..., 3] ** 2 / sums[..., 0]
    constant = spread <= 1e-12 * np.maximum(1.0, sums[..., 4])
    with np.errstate(divide="ignore", invalid="ignore"):
        found = 1 - sums[..., 1] / spread
    return np.where(constant, np.nan, found)
