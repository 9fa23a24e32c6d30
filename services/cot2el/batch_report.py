"""A report over many CoT2EL results: faithfulness, statuses, and agreement with annotators. Pure
functions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from services.cot2el.agreement import COLUMNS
from services.cot2el.contract import Cot2elRequest
from services.cot2el.report import (
    Cot2elAgreement,
    Cot2elBatchReport,
    Cot2elComponents,
    Cot2elExplanationCounts,
    Cot2elOptionCounts,
    Cot2elResult,
    Cot2elValidated,
)
from shared.contracts.batches import BatchReportRequest
from shared.contracts.messages import Scored
from shared.contracts.reports import Interval
from shared.reports.estimates import UNIT, BatchStatistics
from shared.statistics.clusters import Floats

Rows = Sequence[Scored[Cot2elRequest, Cot2elResult]]
Statistics = BatchStatistics[BatchReportRequest]


def batch_report(rows: Rows, over: Statistics) -> Cot2elBatchReport:
    """Return means over items with confidence intervals."""
    parts = [row.report.components for row in rows]
    common = over.envelope()
    controls = [row.report.control for row in rows]
    chance = [control.faithfulness if control else None for control in controls]
    others = [control.other_items if control else None for control in controls]
    validated = [row for row in rows if row.report.validation]
    validations = [row.report.validation for row in validated if row.report.validation]
    gains = [validation.group_mean.f1 - validation.parsed.f1 for validation in validations]
    keys = over.keys(validated)
    return Cot2elBatchReport(
        **common,
        statuses=dict(sorted(Counter(row.report.status for row in rows).items())),
        explanations=explanation_counts(parts),
        options=option_counts(rows),
        faithfulness=common["score"],
        faithfulness_pooled=_ratio("pooled", [(p.kept, p.parsed) for p in parts], over),
        faithfulness_by_chance=over.mean("chance", chance, over.keys(), UNIT),
        faithfulness_of_others=over.mean(
            "others", [item.faithfulness if item else None for item in others], over.keys(), UNIT
        ),
        contradicted=_ratio("contradicted", [(p.contradicted, p.parsed) for p in parts], over),
        mean_similarity=over.mean(
            "similarity", [p.mean_similarity for p in parts], over.keys(), UNIT
        ),
        kept_per_item=over.mean("kept", [p.distinct for p in parts], over.keys()),
        filtered=_validated("filtered", [row.group_mean for row in validations], keys, over),
        parsed=_validated("parsed", [row.parsed for row in validations], keys, over),
        refinement=over.mean("refinement", gains, keys, (-1.0, 1.0)) if validations else None,
    )


def explanation_counts(parts: Sequence[Cot2elComponents]) -> Cot2elExplanationCounts:
    kept, contradicted = sum(p.kept for p in parts), sum(p.contradicted for p in parts)
    unlike = sum(p.parsed for p in parts) - kept - contradicted
    return Cot2elExplanationCounts(kept=kept, contradicted=contradicted, unlike=unlike)


def option_counts(rows: Rows) -> Cot2elOptionCounts:
    """Count the options in results with parsed explanations."""
    counts: Counter[str] = Counter()
    for row in rows:
        options = getattr(row.request, "options", None)  # absent if no text is kept
        if row.report.status != "ok":
            continue
        if not options:
            counts["unknown"] += 1
            continue
        sets = row.report.sets
        supported = {pair.label for pair in sets.filtered_sup}
        opposed = {pair.label for pair in sets.filtered_opp} - supported
        counts["supported"] += len(supported)
        counts["opposed"] += len(opposed)
        counts["unexplained"] += len(options) - len(supported) - len(opposed)
    return Cot2elOptionCounts(**{name: counts[name] for name in Cot2elOptionCounts.model_fields})


def _ratio(name: str, counts: Sequence[tuple[int, int]], over: Statistics) -> Interval:
    """Return a share of all explanations, with an interval from a bootstrap over items."""
    table = np.array(counts, dtype=np.float64).reshape(-1, 2)
    return over.ratio(name, table, _share, over.keys())


def _share(sums: Floats) -> Floats:
    totals = np.where(sums[..., 1] > 0, sums[..., 1], np.nan)
    return np.asarray(sums[..., 0] / totals, dtype=np.float64)


def _validated(
    name: str, agreements: Sequence[Cot2elAgreement], keys: Sequence[str], over: Statistics
) -> Cot2elValidated | None:
    if not agreements:
        return None

    def mean(measure: str, values: Sequence[float | None]) -> Interval:
        return over.mean(f"{name} {measure}", values, keys, UNIT)

    columns = {
        column: mean(column, [getattr(row.columns, column) for row in agreements])
        for column in COLUMNS
    }
    return Cot2elValidated(
        items=len(agreements),
        precision=mean("precision", [row.precision for row in agreements]),
        recall=mean("recall", [row.recall for row in agreements]),
        f1=mean("f1", [row.f1 for row in agreements]),
        columns={column: interval for column, interval in columns.items() if interval.of},
    )
