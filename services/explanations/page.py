"""Explain and score as the page of any result shows it: how the answer ended, and its scores."""

from __future__ import annotations

from collections.abc import Iterator

from services.explanations.contract import ExplanationsRequest
from services.explanations.report import ExplanationsResult
from shared.reports.pages.page_text import ResponseTable, counted
from shared.reports.pages.report_design import Block, Record, count_bars, forest, record

SAYS = {
    "refused": "The model refused; nothing is scored.",
    "unparsable": "No decision can be read from the answer; nothing is scored.",
}


ENDS = {
    "answered": "decide and explain",
    "refused": "refuse",
    "unparsable": "cannot be read",
}


def design(report: Record) -> Iterator[Block]:
    """How the answers end, what they decide, and each metric's mean."""
    ended = record(report, "outcomes")
    counts = {said: record(ended, name).get("results") for name, said in ENDS.items()}
    yield count_bars("How the answers end", counts)
    yield count_bars("What they decide", record(report, "decisions"))
    means = {
        str(one.get("metric")): one.get("score")
        for one in report.get("scores") or ()
        if isinstance(one, dict)
    }
    yield forest("Mean score by metric, of the answers that it could score", means)


def answer(request: ExplanationsRequest | None, report: ExplanationsResult) -> ResponseTable:
    """The decision, and how many metrics scored."""
    found = report.elicitation
    decided = f"The decision is {found.decision}"
    if found.decided_by == "request":
        decided = f"The model was told to explain {found.decision}"
    scored = f"{counted(len(report.scores), 'metric')} scored the explanation"
    return ResponseTable(SAYS.get(found.outcome, f"{decided}; {scored}."))
