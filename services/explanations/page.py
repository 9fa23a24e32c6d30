"""Explain and score as the page of any result shows it: how the answer ended, and its scores."""

from __future__ import annotations

from services.explanations.contract import ExplanationsRequest
from services.explanations.report import ExplanationsResult
from shared.page_text import ResponseTable, counted

SAYS = {
    "refused": "The model refused; nothing is scored.",
    "unparsable": "No decision can be read from the answer; nothing is scored.",
}


def answer(request: ExplanationsRequest | None, report: ExplanationsResult) -> ResponseTable:
    """The decision, and how many metrics scored."""
    found = report.elicitation
    decided = f"The decision is {found.decision}"
    if found.decided_by == "request":
        decided = f"The model was told to explain {found.decision}"
    scored = f"{counted(len(report.scores), 'metric')} scored the explanation"
    return ResponseTable(SAYS.get(found.outcome, f"{decided}; {scored}."))
