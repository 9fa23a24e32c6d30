"""What one elicited answer comes to, in our words, without a quoted text.

An answer has no verdict of its own: it has that of the first metric that scored it, and without one
it is undefined, with the reason. The decision is said before the score.
"""

from __future__ import annotations

from services.explanations.report import ExplanationsResult
from shared.contracts import Finding

LONGEST = 160  # characters of a sentence


def finding(result: ExplanationsResult) -> Finding:
    """Decision, then the first metric's verdict and reason."""
    told = result.elicitation
    if told.outcome == "refused":
        return Finding("undefined", "The model refuses: it neither decides nor explains.")
    if told.outcome == "unparsable":
        said = [one.detail for one in told.obstacles if one.component == "decision"]
        return Finding("undefined", _sentence(said[0] if said else "no decision can be read"))
    decision = f"It decides {told.decision}"
    if told.decided_by == "request":
        decision = f"It was told to explain {told.decision}"
    if not result.scores:
        return Finding("undefined", _sentence(f"{decision}; {_why_unscored(result)}"))
    first = result.scores[0]
    verdict = first.verdict or ("undefined" if first.score is None else "undecided")
    return Finding(verdict, _sentence(f"{decision}; {first.metric}: {first.reason or verdict}"))


def _why_unscored(result: ExplanationsResult) -> str:
    if not result.unscored:
        return "no metric was asked to score it"
    first = result.unscored[0]
    return f"{first.metric} cannot take the answer"


def _sentence(said: str) -> str:
    found = f"{said[:1].upper()}{said[1:].rstrip('.')}."
    return found if len(found) <= LONGEST else f"{found[: LONGEST - 1]}…"
