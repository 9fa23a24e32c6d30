"""Many statements: what they lack, and how far they are copies of each other. Pure."""

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

COPY = 0.8  # similarity from which a statement is a copy of another
LISTED = 50


def batch_report(rows: Sequence[Row], over: Statistics) -> SorBatchReport:
    """Means with intervals; similarities between all statements of the batch."""
    parts = [row.report.components for row in rows]
    keys = over.keys()
    controls = [row.report.control for row in rows]
    alike = compute_similarity(
        [("\n".join(row.request.documents().values()), row.request.text) for row in rows]
    )
    known = [
        (one.similarity, number, one.nearest)
        for number, one in enumerate(alike)
        if one.similarity and one.nearest is not None
    ]
    best = sorted(known, key=lambda each: (-each[0], each[1]))[:LISTED]
    return SorBatchReport(
        **over.envelope(),
        completeness=over.mean("completeness", [p.completeness for p in parts], keys, UNIT),
        specificity=over.mean("specificity", [p.specificity for p in parts], keys, UNIT),
        missing={item: _missing(item, rows, over) for item in ITEMS},
        beats_other_posts=over.mean(
            "other posts", [one.win_rate if one else None for one in controls], keys, UNIT
        ),
        boilerplate=over.mean("boilerplate", [one.shared for one in alike], keys, UNIT),
        nearest_similarity=over.mean("nearest", [one.similarity for one in alike], keys, UNIT),
        faithfulness=over.mean("faithfulness", [p.faithfulness for p in parts], keys, UNIT),
        copies=over.share(
            [(None if one.similarity is None else float(one.similarity >= COPY)) for one in alike],
            keys,
        ),
        most_alike=tuple(
            SorLikeness(job=rows[number].job_id, nearest=rows[other].job_id, similarity=similarity)
            for similarity, number, other in best
        ),
    )


def _missing(item: SorItemName, rows: Sequence[Row], over: Statistics) -> Interval:
    """Over the statements whose form has a place for it."""
    asked = [
        row for row in rows if any(i.name == item and i.value is not None for i in row.report.items)
    ]
    values = [float(item in row.report.missing) for row in asked]
    return over.share(values, over.keys(asked))
