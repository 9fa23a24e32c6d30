"""Report on many results of the consistency metric: means of both tests, and how often they beat
chance. Pure functions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from services.consistency.contract import ConsistencyRequest
from services.consistency.report import (
    ConsistencyBatchReport,
    ConsistencyNull,
    ConsistencyResult,
)
from services.consistency.verdict import LEVEL, nulls_of
from shared.contracts.batches import BatchReportRequest
from shared.contracts.messages import Scored
from shared.contracts.reports import Interval
from shared.reports.estimates import UNIT, BatchStatistics
from shared.statistics.intervals import Bounds

Row = Scored[ConsistencyRequest, ConsistencyResult]
Statistics = BatchStatistics[BatchReportRequest]
COSINE = (-1.0, 1.0)


def batch_report(rows: Sequence[Row], over: Statistics) -> ConsistencyBatchReport:
    """Summarise the results. Confidence intervals treat the results of one text as one unit."""
    parts = [row.report.components for row in rows]
    keys = over.keys()
    spans = [nulls_of(row.report).get("simulatability") for row in rows]
    words = [nulls_of(row.report).get("attribution") for row in rows]
    by = Counter(row.report.cited_by for row in rows if row.report.cited_by is not None)

    def mean(name: str, bounds: Bounds = UNIT) -> Interval:
        return over.mean(name, [getattr(part, name) for part in parts], keys, bounds)

    return ConsistencyBatchReport(
        **over.envelope(),
        simulatability=mean("simulatability"),
        attribution_agreement=mean("attribution_agreement"),
        cosine=mean("cosine", COSINE),
        precision_changes=mean("precision_changes"),
        precision_stays=mean("precision_stays"),
        beats_random_citations=over.mean("spans", _win_rates(spans), keys, UNIT),
        beats_permuted_words=over.mean("words", _win_rates(words), keys, UNIT),
        simulatability_significant=over.share([_significant(null) for null in spans], keys),
        attribution_significant=over.share([_significant(null) for null in words], keys),
        cites_nothing=over.share([_cites_nothing(row) for row in rows], keys),
        cited_by=dict(sorted(by.items())),
    )


def _cites_nothing(row: Row) -> float | None:
    """Return 1.0 if the explanation cites nothing, else 0.0; None if it was not read."""
    if row.report.score is None and not row.report.components.words:
        return None
    return float(row.report.cited_by is None)


def _win_rates(nulls: Sequence[ConsistencyNull | None]) -> list[float | None]:
    return [None if null is None else null.win_rate for null in nulls]


def _significant(null: ConsistencyNull | None) -> float | None:
    """Return 1.0 if the test is significant, else 0.0; None if the test has too few draws to become
    significant."""
    if null is None or null.p_value is None or (null.attainable_p or 1) > LEVEL:
        return None
    return float(null.p_value <= LEVEL)
