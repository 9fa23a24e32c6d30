"""A report over many answers: outcomes, decisions, and each metric's mean score. Pure functions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
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
    """Return the passages of the first metric that can find passages, or None if no metric can."""
    for report in row.report.scores:
        contract = metrics().get(report.metric)
        if contract is not None and contract.facts.passages:
            return spans_of(report, contract.facts.passages)
    return None


SOURCE = GoldSource(
    decision=lambda row: row.report.elicitation.decision,
    refused=lambda row: row.report.elicitation.outcome == "refused",
    spans=_passages,
    text=lambda row: row.request.text,
    score=lambda _: None,
)


def batch_report(rows: Sequence[Row], over: BatchStatistics[Any]) -> ExplanationsBatchReport:
    elicitations = [row.report.elicitation for row in rows]
    outcomes = Counter(elicitation.outcome for elicitation in elicitations)
    decisions = Counter(row.decision for row in elicitations if row.decision)
    names = {report.metric for row in rows for report in row.report.scores}
    names |= {unscored.metric for row in rows for unscored in row.report.unscored}
    return ExplanationsBatchReport(
        metric=over.contract.name,
        scored=len(rows),
        undefined=len(rows) - outcomes["answered"],
        finding=f"Of {counted(len(rows), 'answer')} {outcomes['answered']:,} give a decision and "
        f"an explanation, {outcomes['refused']:,} refuse and {outcomes['unparsable']:,} cannot be "
        "read.",
        outcomes={
            outcome: ExplanationsOutcomeShare(
                results=outcomes[outcome],
                share=over.share(
                    [float(row.outcome == outcome) for row in elicitations], over.keys(rows)
                ),
            )
            for outcome in get_args(Outcome)
        },
        decisions=dict(sorted(decisions.items())),
        scores=tuple(_score_mean(name, rows, over) for name in sorted(names)),
        warnings=() if rows else ("no job has a result",),
        seed=over.request.seed,
        resamples=over.request.resamples,
        confidence=over.request.confidence,
        statistics_version=STATISTICS_VERSION,
        service_version=SERVICE_VERSION,
    )


def _score_mean(
    metric: str, rows: Sequence[Row], over: BatchStatistics[Any]
) -> ExplanationsScoreMean:
    scored = [
        (row, report.score)
        for row in rows
        for report in row.report.scores
        if report.metric == metric
    ]
    keys = over.keys([row for row, _ in scored])
    return ExplanationsScoreMean(
        metric=metric,
        results=len(scored),
        undefined=sum(score is None for _, score in scored),
        unscored=sum(item.metric == metric for row in rows for item in row.report.unscored),
        score=over.mean(f"score of {metric}", [score for _, score in scored], keys),
    )
