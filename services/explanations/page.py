"""The page of an explanation that the service requested from a model: its outcome and its
scores."""

from __future__ import annotations

from collections.abc import Iterator

from services.explanations.contract import ExplanationsRequest
from services.explanations.report import ExplanationsResult
from shared.reports.pages.page_text import ResponseTable, counted
from shared.reports.pages.report_design import Block, Record, count_bars, forest, record

SAYS = {
    "refused": "The model refused, so nothing is scored.",
    "unparsable": "No decision can be read from the answer, so nothing is scored.",
}


ENDS = {
    "answered": "decide and explain",
    "refused": "refuse",
    "unparsable": "cannot be read",
}


def design(report: Record) -> Iterator[Block]:
    """Yield charts of the outcomes, the decisions, and each metric's mean score."""
    outcomes = record(report, "outcomes")
    counts = {words: record(outcomes, name).get("results") for name, words in ENDS.items()}
    yield count_bars("Outcomes of the answers", counts)
    yield count_bars("Decisions in the answers", record(report, "decisions"))
    means = {
        str(row.get("metric")): row.get("score")
        for row in report.get("scores") or ()
        if isinstance(row, dict)
    }
    yield forest("Mean score by metric, over the answers that the metric could score", means)


def answer(request: ExplanationsRequest | None, report: ExplanationsResult) -> ResponseTable:
    """Return a table with the decision and the number of metrics that scored it."""
    elicitation = report.elicitation
    decision = f"The decision is {elicitation.decision}"
    if elicitation.decided_by == "request":
        decision = f"The model was asked to explain {elicitation.decision}"
    scores = f"{counted(len(report.scores), 'metric')} scored the explanation"
    return ResponseTable(SAYS.get(elicitation.outcome, f"{decision}. {scores}."))
