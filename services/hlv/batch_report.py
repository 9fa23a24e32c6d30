"""A report over many HLV results: means with paired intervals, and counts of undefined values.
Source: Chen et al., EMNLP 2025, Appendix F. Pure functions."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from services.hlv.contract import METHODS, HlvRequest
from services.hlv.report import (
    HlvBatchReport,
    HlvCeilings,
    HlvEstimate,
    HlvGain,
    HlvMeasured,
    HlvMethodResult,
    HlvPaired,
    HlvResult,
    HlvTable,
    Judged,
    Method,
)
from services.hlv.scoring import CORRELATIONS, DIVERGENCES, ERRORS
from services.hlv.variants import VARIANTS
from shared.contracts.batches import BatchReportRequest
from shared.contracts.messages import Scored
from shared.contracts.reports import Interval
from shared.reports.estimates import UNIT, BatchStatistics
from shared.statistics.clusters import Floats
from shared.statistics.intervals import UNBOUNDED, Bounds, OfSums

Rows = Sequence[Scored[HlvRequest, HlvResult]]
Statistics = BatchStatistics[BatchReportRequest]

MIXED = "some scores are gains and others are agreements, so they have no common mean"
EQUAL = 1e-12  # gains that differ less are equal up to rounding
GAINS = (-2.0, 2.0)  # range of the difference of two correlations
ODD_BINS = 21  # odd, so that no change is in the middle of a bin
METRICS = (*CORRELATIONS, *DIVERGENCES, *ERRORS)
NOTHING = Interval(value=None, low=None, high=None, of=0)


def batch_report(rows: Rows, over: Statistics) -> HlvBatchReport:
    """Summarise each method with and without explanations, the gain by explanations, and the
    control judges."""
    reports = [row.report for row in rows]
    common = over.envelope()
    kinds = sorted({report.score_of for report in reports})
    if len(kinds) > 1:
        common |= {"score": NOTHING, "warnings": (*common["warnings"], MIXED)}
    return HlvBatchReport(
        **common,
        score_of=None if not kinds else kinds[0] if len(kinds) == 1 else "mixed",
        ceilings=_ceilings(reports, over.keys(), over),
        tables=tuple(_tables(reports, over.keys(), over)),
        paired=tuple(_paired(rows, over)),
        gold_tied=_tied("gold", [report.gold.ranks for report in reports], over.keys(), over),
    )


def _paired(rows: Rows, over: Statistics) -> Iterator[HlvPaired]:
    for method in METHODS:
        pairs = []
        for row in rows:
            coefficients = _coefficients(row.report, method)
            if coefficients is not None:
                pairs.append((row, coefficients))
        if not pairs:
            continue
        sides = np.array([coefficients for _, coefficients in pairs], dtype=np.float64)  # (n, 2)
        keys = over.keys([row for row, _ in pairs])
        gains = sides[:, 0] - sides[:, 1]
        gains[np.abs(gains) < EQUAL] = 0.0
        yield HlvPaired(
            method=method,
            items=len(gains),
            explained=over.mean(f"{method} paired explained", sides[:, 0], keys, (-1.0, 1.0)),
            baseline=over.mean(f"{method} paired baseline", sides[:, 1], keys, (-1.0, 1.0)),
            gain=over.mean(f"{method} paired gain", gains, keys, GAINS),
            closer=int(np.sum(gains > 0)),
            equal=int(np.sum(gains == 0)),
            farther=int(np.sum(gains < 0)),
            gains=over.histogram(gains, GAINS, ODD_BINS),
        )


def _coefficients(report: HlvResult, method: Method) -> tuple[float, float] | None:
    """Return Kendall's coefficients with and without explanations, of the type that the variant
    uses. Return None if one is undefined."""
    result, name = _result(report, method), VARIANTS[report.provenance.variant].kendall
    explained = getattr(result and result.explained, name, None)
    baseline = getattr(result and result.baseline, name, None)
    return None if explained is None or baseline is None else (explained, baseline)


def _tied(
    name: str, rankings: Sequence[Mapping[str, float]], keys: Sequence[str], over: Statistics
) -> Interval:
    return over.mean(f"{name} tied", [tied_share(ranks) for ranks in rankings], keys, UNIT)


def tied_share(ranks: Mapping[str, float]) -> float | None:
    """Return the share of pairs of options that have equal ranks, or None for fewer than two
    options."""
    pairs = math.comb(len(ranks), 2)
    tied = sum(math.comb(count, 2) for count in Counter(ranks.values()).values())
    return tied / pairs if pairs else None


def _ceilings(
    reports: Sequence[HlvResult], keys: Sequence[str], over: Statistics
) -> dict[str, HlvCeilings]:
    ceilings = {}
    for metric in METRICS:
        items = [
            (report.ceiling.metrics[metric], key)
            for report, key in zip(reports, keys, strict=True)
            if report.ceiling is not None and metric in report.ceiling.metrics
        ]
        if items:
            clusters = [key for _, key in items]
            means = {}
            for field in HlvCeilings.model_fields:
                values = [getattr(ceiling, field) for ceiling, _ in items]
                name = f"ceiling {metric} {field}"
                means[field] = over.mean(name, values, clusters, _range(metric))
            ceilings[metric] = HlvCeilings(**means)
    return ceilings


def _range(metric: str) -> Bounds:
    if metric in CORRELATIONS:
        return (-1.0, 1.0)
    return (0.0, 1.0) if metric == "tvd" else (0.0, None)


def _tables(
    reports: Sequence[HlvResult], keys: Sequence[str], over: Statistics
) -> Iterator[HlvTable]:
    """Yield the means per method and condition, of the gains, and of the reference judges. `keys`
    has the cluster of each report."""
    items = list(zip(reports, keys, strict=True))
    for method in METHODS:
        results = [_result(report, method) for report in reports]
        for condition in ("explained", "baseline"):
            measured = [getattr(result, condition, None) for result in results]
            yield from _table((method, condition), items, measured, over)
        gains = [
            (result.gain, key)
            for result, key in zip(results, keys, strict=True)
            if result and result.gain
        ]
        if gains:
            estimates = _estimate_all(f"{method} gain", gains, over)
            yield HlvTable(method=method, judged="gain", items=len(gains), metrics=estimates)
    for judge in ("uniform", "majority"):
        measured = [getattr(report.control, judge) for report in reports]
        yield from _table((None, judge), items, measured, over)


def _result(report: HlvResult, method: Method) -> HlvMethodResult | None:
    return next((row for row in report.components.methods if row.method == method), None)


def _table(
    judged: tuple[Method | None, Judged],
    items: Sequence[tuple[HlvResult, str]],
    measured: Sequence[HlvMeasured | None],
    over: Statistics,
) -> Iterator[HlvTable]:
    """Yield the table for one method and condition, or nothing if no item was measured. `items` has
    each report with its cluster."""
    pairs = zip(items, measured, strict=True)
    rows = [(report, key, values) for (report, key), values in pairs if values is not None]
    if not rows:
        return
    name = f"{judged[0]} {judged[1]}"
    clustered = [(values, key) for _, key, values in rows]
    rankings, keys = [values.ranks for values, _ in clustered], [key for _, key in clustered]
    yield HlvTable(
        method=judged[0],
        judged=judged[1],
        items=len(rows),
        invalid_runs=sum(values.invalid_runs for values, _ in clustered),
        metrics=_estimate_all(name, clustered, over) | _micro_average(name, rows, over),
        tied=_tied(name, rankings, keys, over),
        normalised=_normalize_means(name, rows, over),
    )


def _normalize_means(
    name: str,
    rows: Sequence[tuple[HlvResult, str, HlvMeasured]],
    over: Statistics,
) -> dict[str, Interval]:
    normalised = {}
    for metric in METRICS:
        relative = [(_relative_value(report, values, metric), key) for report, key, values in rows]
        items = [(row, key) for row, key in relative if row is not None]
        if items:
            table = np.array([row for row, _ in items], dtype=np.float64)
            keys = [key for _, key in items]
            interval = over.ratio(f"{name} normalised {metric}", table, _normalized_ratio, keys)
            normalised[metric] = interval
    return normalised


def _relative_value(
    report: HlvResult, measured: HlvMeasured, metric: str
) -> tuple[float, ...] | None:
    """Return (value - chance, ceiling - chance, smallest usable difference). The signs are such
    that higher is better."""
    ceiling = None if report.ceiling is None else report.ceiling.metrics.get(metric)
    block = measured if metric in CORRELATIONS else _block(measured, metric)
    value = getattr(block, metric, None)
    if ceiling is None or value is None:
        return None
    sign = 1.0 if ceiling.higher_is_better else -1.0
    room = sign * (ceiling.high - ceiling.chance)
    return sign * (value - ceiling.chance), room, ceiling.least_room


def _normalized_ratio(sums: Floats) -> Floats:
    room = np.where(sums[..., 1] > sums[..., 2], sums[..., 1], np.nan)
    return np.asarray(sums[..., 0] / room, dtype=np.float64)


def _estimate_all(
    name: str,
    items: Sequence[tuple[HlvMeasured | HlvGain, str]],
    over: Statistics,
) -> dict[str, HlvEstimate]:
    """Return the means over items. Metrics that no item has are left out. Each item comes with its
    cluster."""
    estimates = {metric: _estimate(name, metric, items, over) for metric in CORRELATIONS}
    for metric in (*DIVERGENCES, *ERRORS):
        blocks = [(_block(measured, metric), key) for measured, key in items]
        present = [(block, key) for block, key in blocks if block is not None]
        if present:
            estimate = _estimate(name, metric, present, over)
            if estimate.mean.of or not isinstance(items[0][0], HlvGain):
                estimates[metric] = estimate
    return estimates


def _block(measured: HlvMeasured | HlvGain, metric: str) -> Any:
    """Return the part of the result that contains `metric`, which must not be a correlation."""
    if isinstance(measured, HlvGain):
        return measured
    return measured.distribution if metric in DIVERGENCES else measured.scalar


def _estimate(
    name: str, metric: str, items: Sequence[tuple[Any, str]], over: Statistics
) -> HlvEstimate:
    values = [getattr(block, metric) for block, _ in items]
    defined = [value for value in values if value is not None]
    zeros = float(sum(defined) / len(values)) if metric in CORRELATIONS and values else None
    bounds = _range(metric)
    if items and isinstance(items[0][0], HlvGain):
        low, high = bounds
        bounds = UNBOUNDED if low is None or high is None else (low - high, high - low)
    return HlvEstimate(
        mean=over.mean(f"{name} {metric}", values, [key for _, key in items], bounds),
        undefined=len(values) - len(defined),
        undefined_as_zero=zeros,
    )


def _micro_average(
    name: str,
    rows: Sequence[tuple[HlvResult, str, HlvMeasured]],
    over: Statistics,
) -> dict[str, HlvEstimate]:
    """Return RMSE, MAE and R^2 over all pairs of item and option. The bootstrap resamples items."""
    scalar = [
        (_partial_sum(report, values), key)
        for report, key, values in rows
        if values.scalar is not None
    ]
    if not scalar:
        return {}
    table, keys = np.array([sums for sums, _ in scalar]), [key for _, key in scalar]  # (N, 5)
    statistics: dict[str, OfSums] = {
        "rmse_pooled": lambda sums: np.sqrt(sums[..., 1] / sums[..., 0]),
        "mae_pooled": lambda sums: sums[..., 2] / sums[..., 0],
        "r2_pooled": _r2,
    }
    return {
        metric: HlvEstimate(
            mean=over.ratio(f"{name} {metric}", table, statistic, keys), undefined=0
        )
        for metric, statistic in statistics.items()
    }


def _partial_sum(report: HlvResult, measured: HlvMeasured) -> list[float]:
    """Return five sums for one item: pairs, squared errors, absolute errors, gold scores, and
    squared gold scores."""
    gold, judged = report.gold.values or {}, measured.values or {}
    errors = np.array([gold[key] - judged[key] for key in gold])
    values = np.array(list(gold.values()))
    squares, absolute = float(errors @ errors), float(np.abs(errors).sum())
    return [float(errors.size), squares, absolute, float(values.sum()), float(values @ values)]


def _r2(sums: Floats) -> Floats:
    """Return R^2, or NaN if the gold scores are all equal."""
    spread = sums[..., 4] - sums[..., 3] ** 2 / sums[..., 0]
    constant = spread <= 1e-12 * np.maximum(1.0, sums[..., 4])
    with np.errstate(divide="ignore", invalid="ignore"):
        r2 = 1 - sums[..., 1] / spread
    return np.where(constant, np.nan, r2)
