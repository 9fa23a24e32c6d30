"""Many answers of models: how they end, what they decide, and the mean scores of each metric.

Accuracy, F1 and the confusion with gold labels are in every report's `gold`. Pure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, get_args

from services.explanations.contract import ExplanationsRequest
from services.explanations.report import (
    ExplanationsBatchReport,
    ExplanationsOutcomeShare,
    ExplanationsResult,
    ExplanationsScoreMean,
)
from services.registry import metrics
from shared.contracts.elicitation import Outcome
from shared.contracts.gold_metadata import Span
from shared.contracts.messages import Scored
from shared.process.settings import SERVICE_VERSION
from shared.reports.estimates import STATISTICS_VERSION, BatchStatistics
from shared.reports.gold_agreement import GoldSource, spans_of
from shared.reports.pages.page_text import counted

Row = Scored[ExplanationsRequest, ExplanationsResult]


def _passages(row: Row) -> list[Span] | None:
    """What the explanation points at, as the first metric found it that tells passages; None: no
    such metric scored it."""
    for one in row.report.scores:
        contract = metrics().get(one.metric)
        if contract is not None and contract.facts.passages:
            return spans_of(one, contract.facts.passages)
    return None


SOURCE = GoldSource(
    decision=lambda row: row.report.elicitation.decision,
    refused=lambda row: row.report.elicitation.outcome == "refused",
    spans=_passages,
    text=lambda row: row.request.text,
    score=lambda _: None,
)


def batch_report(rows: Sequence[Row], over: BatchStatistics[Any]) -> ExplanationsBatchReport:
    """over: statistics of these rows."""
    told = [row.report.elicitation for row in rows]
    outcomes = Counter(one.outcome for one in told)
    without = len(rows) - outcomes["answered"]
    return ExplanationsBatchReport(
        metric=over.contract.name,
        scored=len(rows),
        undefined=without,
        finding=_finding(outcomes, len(rows)),
        outcomes={
            outcome: ExplanationsOutcomeShare(
                results=outcomes[outcome],
                share=over.share([float(one.outcome == outcome) for one in told], over.keys(rows)),
            )
            for outcome in get_args(Outcome)
        },
        decisions=dict(sorted(Counter(one.decision for one in told if one.decision).items())),
        scores=tuple(_score_mean(name, rows, over) for name in _asked(rows)),
        warnings=() if rows else ("no job has a result",),
        seed=over.request.seed,
        resamples=over.request.resamples,
        confidence=over.request.confidence,
        statistics_version=STATISTICS_VERSION,
        service_version=SERVICE_VERSION,
    )


def _finding(outcomes: Mapping[Outcome, int], results: int) -> str:
    told = f"Of {counted(results, 'answer')} {outcomes['answered']:,} decide and explain"
    return f"{told}, {outcomes['refused']:,} refuse and {outcomes['unparsable']:,} cannot be read."


def _asked(rows: Sequence[Row]) -> list[str]:
    """Metrics that were asked to score some of them, by name."""
    scored = {one.metric for row in rows for one in row.report.scores}
    return sorted(scored.union(one.metric for row in rows for one in row.report.unscored))


def _score_mean(
    metric: str, rows: Sequence[Row], over: BatchStatistics[Any]
) -> ExplanationsScoreMean:
    scored = [(row, one.score) for row in rows for one in row.report.scores if one.metric == metric]
    keys = over.keys([row for row, _ in scored])
    unscored = sum(one.metric == metric for row in rows for one in row.report.unscored)
    return ExplanationsScoreMean(
        metric=metric,
        results=len(scored),
        undefined=sum(score is None for _, score in scored),
        unscored=unscored,
        score=over.mean(f"score of {metric}", [score for _, score in scored], keys),
    )
