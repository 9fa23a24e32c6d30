"""A report over many CoT2EL results: faithfulness, statuses, agreement with annotators. Pure."""

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
    """Means over items with intervals."""
    parts = [row.report.components for row in rows]
    common = over.envelope()
    controls = [row.report.control for row in rows]
    others = [one.other_items if one else None for one in controls]
    validated = [row for row in rows if row.report.validation]
    found = [row.report.validation for row in validated if row.report.validation]
    gains = [one.group_mean.f1 - one.parsed.f1 for one in found]
    keys = over.keys(validated)
    return Cot2elBatchReport(
        **common,
        statuses=dict(sorted(Counter(row.report.status for row in rows).items())),
        explanations=explanation_counts(parts),
        options=option_counts(rows),
        faithfulness=common["score"],
        faithfulness_pooled=_ratio("pooled", [(p.kept, p.parsed) for p in parts], over),
        faithfulness_by_chance=over.mean(
            "chance", [one.faithfulness if one else None for one in controls], over.keys(), UNIT
        ),
        faithfulness_of_others=over.mean(
            "others", [one.faithfulness if one else None for one in others], over.keys(), UNIT
        ),
        contradicted=_ratio("contradicted", [(p.contradicted, p.parsed) for p in parts], over),
        mean_similarity=over.mean(
            "similarity", [p.mean_similarity for p in parts], over.keys(), UNIT
        ),
        kept_per_item=over.mean("kept", [p.distinct for p in parts], over.keys()),
        filtered=_validated("filtered", [one.group_mean for one in found], keys, over),
        parsed=_validated("parsed", [one.parsed for one in found], keys, over),
        refinement=over.mean("refinement", gains, keys, (-1.0, 1.0)) if found else None,
    )


def explanation_counts(parts: Sequence[Cot2elComponents]) -> Cot2elExplanationCounts:
    kept, contradicted = sum(p.kept for p in parts), sum(p.contradicted for p in parts)
    whole = sum(p.parsed for p in parts)
    return Cot2elExplanationCounts(
        kept=kept, contradicted=contradicted, unlike=whole - kept - contradicted
    )


def option_counts(rows: Rows) -> Cot2elOptionCounts:
    """Of results with a parse: where there is none, nothing could have been said."""
    found: Counter[str] = Counter()
    for row in rows:
        options = getattr(row.request, "options", None)  # gone where no text is kept
        if row.report.status != "ok":
            continue
        if not options:
            found["unknown"] += 1
            continue
        sets = row.report.sets
        supported = {pair.label for pair in sets.filtered_sup}
        opposed = {pair.label for pair in sets.filtered_opp} - supported
        found["supported"] += len(supported)
        found["opposed"] += len(opposed)
        found["unexplained"] += len(options) - len(supported) - len(opposed)
    return Cot2elOptionCounts(**{name: found[name] for name in Cot2elOptionCounts.model_fields})


def _ratio(name: str, counts: Sequence[tuple[int, int]], over: Statistics) -> Interval:
    """A share of all explanations; items are drawn."""
    table = np.array(counts, dtype=np.float64).reshape(-1, 2)
    return over.ratio(name, table, _share, over.keys())


def _share(sums: Floats) -> Floats:
    """NaN where there is nothing to share."""
    whole = np.where(sums[..., 1] > 0, sums[..., 1], np.nan)
    return np.asarray(sums[..., 0] / whole, dtype=np.float64)


def _validated(
    name: str,
    own: Sequence[Cot2elAgreement],
    keys: Sequence[str],
    over: Statistics,
) -> Cot2elValidated | None:
    """None where no item has human pairs."""
    if not own:
        return None

    def mean(what: str, values: Sequence[float | None]) -> Interval:
        return over.mean(f"{name} {what}", values, keys, UNIT)

    columns = {
        column: mean(column, [getattr(one.columns, column) for one in own]) for column in COLUMNS
    }
    return Cot2elValidated(
        items=len(own),
        precision=mean("precision", [one.precision for one in own]),
        recall=mean("recall", [one.recall for one in own]),
        f1=mean("f1", [one.f1 for one in own]),
        columns={column: found for column, found in columns.items() if found.of},
    )
