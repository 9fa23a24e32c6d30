"""A report over many HLV results: means with paired intervals, undefined ones counted.

Source: Chen et al., EMNLP 2025, Appendix F. Pure.
"""

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
from shared.statistics.intervals import UNBOUNDED, Bounds

Rows = Sequence[Scored[HlvRequest, HlvResult]]
Statistics = BatchStatistics[BatchReportRequest]

MIXED = "some scores are gains and some are agreements: they have no common mean"
EQUAL = 1e-12  # gains: equal in theory, unequal in floats
GAINS = (-2.0, 2.0)  # between two correlations
ODD_BINS = 21  # so that no change lies in the middle of a bin, and not at its border
NOTHING = Interval(value=None, low=None, high=None, of=0)


def batch_report(rows: Rows, over: Statistics) -> HlvBatchReport:
    """Per method: with explanations, without, the gain; and the judges that read nothing."""
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
    """Of every method that was asked both ways."""
    for method in METHODS:
        found = [(row, _both(row, method)) for row in rows]
        pairs = [(row, both) for row, both in found if both is not None]
        if pairs:
            sides = np.array([both for _, both in pairs], dtype=np.float64)
            yield _pair(method, sides, over.keys([row for row, _ in pairs]), over)


def _both(row: Scored[HlvRequest, HlvResult], method: Method) -> tuple[float, float] | None:
    """(with explanations, without) of the variant's own coefficient."""
    result, name = _result(row.report, method), VARIANTS[row.report.provenance.variant].kendall
    if result is None or result.explained is None or result.baseline is None:
        return None
    explained, baseline = getattr(result.explained, name), getattr(result.baseline, name)
    return None if explained is None or baseline is None else (explained, baseline)


def _pair(method: Method, sides: Floats, keys: Sequence[str], over: Statistics) -> HlvPaired:
    """sides: (n, 2), with explanations and without."""
    gains = sides[:, 0] - sides[:, 1]
    gains[np.abs(gains) < EQUAL] = 0.0
    return HlvPaired(
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


def _tied(
    name: str,
    ranks: Sequence[Mapping[str, float]],
    keys: Sequence[str],
    over: Statistics,
) -> Interval:
    """Of rankings; one that could not be read has no pairs."""
    return over.mean(f"{name} tied", [tied_share(one) for one in ranks], keys, UNIT)


def tied_share(ranks: Mapping[str, float]) -> float | None:
    """Of all pairs of options; None for fewer than two."""
    pairs = math.comb(len(ranks), 2)
    alike = sum(math.comb(count, 2) for count in Counter(ranks.values()).values())
    return alike / pairs if pairs else None


def _ceilings(
    reports: Sequence[HlvResult], keys: Sequence[str], over: Statistics
) -> dict[str, HlvCeilings]:
    """Of every metric that an item has a ceiling of."""
    found = {}
    for metric in (*CORRELATIONS, *DIVERGENCES, *ERRORS):
        own = [
            (report.ceiling.metrics[metric], key)
            for report, key in zip(reports, keys, strict=True)
            if report.ceiling is not None and metric in report.ceiling.metrics
        ]
        if own:
            clusters = [key for _, key in own]
            found[metric] = HlvCeilings(
                **{
                    part: over.mean(
                        f"ceiling {metric} {part}",
                        [getattr(one, part) for one, _ in own],
                        clusters,
                        _range(metric),
                    )
                    for part in HlvCeilings.model_fields
                }
            )
    return found


def _range(metric: str) -> Bounds:
    if metric in CORRELATIONS:
        return (-1.0, 1.0)
    return (0.0, 1.0) if metric == "tvd" else (0.0, None)


def _tables(
    reports: Sequence[HlvResult], keys: Sequence[str], over: Statistics
) -> Iterator[HlvTable]:
    """keys: the cluster of each report."""
    items = list(zip(reports, keys, strict=True))
    for method in METHODS:
        found = [_result(report, method) for report in reports]
        for side in ("explained", "baseline"):
            sides = [getattr(result, side, None) for result in found]
            yield from _table((method, side), items, sides, over)
        gains = [(one.gain, key) for one, key in zip(found, keys, strict=True) if one and one.gain]
        if gains:
            estimates = _estimate_all(f"{method} gain", gains, over)
            yield HlvTable(method=method, judged="gain", items=len(gains), metrics=estimates)
    for judge in ("uniform", "majority"):
        sides = [getattr(report.control, judge) for report in reports]
        yield from _table((None, judge), items, sides, over)


def _result(report: HlvResult, method: Method) -> HlvMethodResult | None:
    return next((one for one in report.components.methods if one.method == method), None)


def _table(
    judged: tuple[Method | None, Judged],
    items: Sequence[tuple[HlvResult, str]],
    sides: Sequence[HlvMeasured | None],
    over: Statistics,
) -> Iterator[HlvTable]:
    """None where nobody was judged so. items: reports and their clusters."""
    known = [(*item, side) for item, side in zip(items, sides, strict=True) if side is not None]
    if not known:
        return
    name = f"{judged[0]} {judged[1]}"
    own = [(side, key) for _, key, side in known]
    yield HlvTable(
        method=judged[0],
        judged=judged[1],
        items=len(own),
        invalid_runs=sum(one.invalid_runs for one, _ in own),
        metrics=_estimate_all(name, own, over) | _micro_average(name, known, over),
        tied=_tied(name, [one.ranks for one, _ in own], [key for _, key in own], over),
        normalised=_normalize_means(name, known, over),
    )


def _normalize_means(
    name: str,
    known: Sequence[tuple[HlvResult, str, HlvMeasured]],
    over: Statistics,
) -> dict[str, Interval]:
    """A judge between chance, 0, and people, 1, over all items together."""
    found = {}
    for metric in (*CORRELATIONS, *DIVERGENCES, *ERRORS):
        rows = [(_relative_position(report, side, metric), key) for report, key, side in known]
        own = [(row, key) for row, key in rows if row is not None]
        if own:
            table = np.array([row for row, _ in own], dtype=np.float64)
            keys = [key for _, key in own]
            found[metric] = over.ratio(
                f"{name} normalised {metric}", table, _normalized_ratio, keys
            )
    return found


def _relative_position(
    report: HlvResult, side: HlvMeasured, metric: str
) -> tuple[float, ...] | None:
    """(value - chance, ceiling - chance, least room that tells, turned so that higher is better);
    None where one is unknown."""
    one = None if report.ceiling is None else report.ceiling.metrics.get(metric)
    value = getattr(_block(side, metric) if metric not in CORRELATIONS else side, metric, None)
    if one is None or value is None:
        return None
    sign = 1.0 if one.higher_is_better else -1.0
    return sign * (value - one.chance), sign * (one.high - one.chance), one.least_room


def _normalized_ratio(sums: Floats) -> Floats:
    """NaN where people are hardly better than chance."""
    room = np.where(sums[..., 1] > sums[..., 2], sums[..., 1], np.nan)
    return np.asarray(sums[..., 0] / room, dtype=np.float64)


def _estimate_all(
    name: str,
    own: Sequence[tuple[HlvMeasured | HlvGain, str]],
    over: Statistics,
) -> dict[str, HlvEstimate]:
    """Means over items; a block that no item has is left out. own: items and their clusters."""
    found = {metric: _estimate(name, metric, own, over) for metric in CORRELATIONS}
    for metric in (*DIVERGENCES, *ERRORS):
        blocks = [(_block(one, metric), key) for one, key in own]
        block = [(one, key) for one, key in blocks if one is not None]
        if block:
            estimate = _estimate(name, metric, block, over)
            if estimate.mean.of or not isinstance(own[0][0], HlvGain):
                found[metric] = estimate
    return found


def _block(one: HlvMeasured | HlvGain, metric: str) -> Any:
    """The part of the report that has this metric."""
    if isinstance(one, HlvGain):
        return one
    return one.distribution if metric in DIVERGENCES else one.scalar


def _estimate(
    name: str,
    metric: str,
    own: Sequence[tuple[Any, str]],
    over: Statistics,
) -> HlvEstimate:
    values = [getattr(one, metric) for one, _ in own]
    defined = [value for value in values if value is not None]
    zeros = float(sum(defined) / len(values)) if metric in CORRELATIONS and values else None
    keys, bounds = [key for _, key in own], _bounds(metric, [one for one, _ in own])
    return HlvEstimate(
        mean=over.mean(f"{name} {metric}", values, keys, bounds),
        undefined=len(values) - len(defined),
        undefined_as_zero=zeros,
    )


def _bounds(metric: str, own: Sequence[Any]) -> Bounds:
    """Of a metric, or of a difference of two."""
    least, most = _range(metric)
    if not own or not isinstance(own[0], HlvGain):
        return least, most
    return UNBOUNDED if least is None or most is None else (least - most, most - least)


def _micro_average(
    name: str,
    known: Sequence[tuple[HlvResult, str, HlvMeasured]],
    over: Statistics,
) -> dict[str, HlvEstimate]:
    """RMSE, MAE and R^2 over all pairs of item and option (R^2 is meant so); items are drawn."""
    scalar = [
        (_partial_sum(report, one), key) for report, key, one in known if one.scalar is not None
    ]
    if not scalar:
        return {}
    table, keys = np.array([sums for sums, _ in scalar]), [key for _, key in scalar]  # (N, 5)
    statistics = {"rmse_pooled": _rmse, "mae_pooled": _mae, "r2_pooled": _r2}
    return {
        metric: HlvEstimate(
            mean=over.ratio(f"{name} {metric}", table, statistic, keys), undefined=0
        )
        for metric, statistic in statistics.items()
    }


def _partial_sum(report: HlvResult, one: HlvMeasured) -> list[float]:
    """(5,) of one item: pairs, squared errors, absolute errors, gold, squared gold."""
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
