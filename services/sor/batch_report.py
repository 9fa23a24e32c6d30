"""Report on many statements of reasons: their missing items, and near-copies among them. Pure
functions."""

from __future__ import annotations

from collections.abc import Sequence

from services.sor.contract import SorRequest
from services.sor.likeness import compute_similarity
from services.sor.report import ITEMS, SorBatchReport, SorItemName, SorLikeness, SorResult
from shared.contracts.batches import BatchReportRequest
from shared.contracts.messages import Scored
from shared.contracts.reports import Interval
from shared.reports.estimates import UNIT, BatchStatistics

Row = Scored[SorRequest, SorResult]
Statistics = BatchStatistics[BatchReportRequest]

COPY = 0.8  # similarity at which a statement counts as a copy
LISTED = 50


def batch_report(rows: Sequence[Row], over: Statistics) -> SorBatchReport:
    """Summarise a batch of statements: means with confidence intervals, and similarities between
    all statements."""
    parts = [row.report.components for row in rows]
    keys = over.keys()
    rates = [row.report.control.win_rate if row.report.control else None for row in rows]
    similar = compute_similarity(
        [("\n".join(row.request.documents().values()), row.request.text) for row in rows]
    )
    nearest = [
        (item.similarity, index, item.nearest)
        for index, item in enumerate(similar)
        if item.similarity and item.nearest is not None
    ]
    copies = [None if s.similarity is None else float(s.similarity >= COPY) for s in similar]
    return SorBatchReport(
        **over.envelope(),
        completeness=over.mean("completeness", [p.completeness for p in parts], keys, UNIT),
        specificity=over.mean("specificity", [p.specificity for p in parts], keys, UNIT),
        missing={item: _missing(item, rows, over) for item in ITEMS},
        beats_other_posts=over.mean("other posts", rates, keys, UNIT),
        boilerplate=over.mean("boilerplate", [s.shared for s in similar], keys, UNIT),
        nearest_similarity=over.mean("nearest", [s.similarity for s in similar], keys, UNIT),
        faithfulness=over.mean("faithfulness", [p.faithfulness for p in parts], keys, UNIT),
        copies=over.share(copies, keys),
        most_alike=tuple(
            SorLikeness(job=rows[index].job_id, nearest=rows[other].job_id, similarity=similarity)
            for similarity, index, other in sorted(nearest, key=lambda n: (-n[0], n[1]))[:LISTED]
        ),
    )


def _missing(item: SorItemName, rows: Sequence[Row], over: Statistics) -> Interval:
    scored = [
        row for row in rows if any(i.name == item and i.value is not None for i in row.report.items)
    ]
    values = [float(item in row.report.missing) for row in scored]
    return over.share(values, over.keys(scored))
