"""What one elicited answer comes to, in our words, without a quoted text; and how tables show it.

An answer has no verdict of its own: it has that of the first metric that scored it, and without one
it is not tested, with the reason. The decision is said before the score.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from services.explanations.report import ExplanationsResult
from services.registry import metrics
from shared.contracts.checks import conclude, fitted, not_tested
from shared.contracts.elicitation import INPUTS
from shared.contracts.messages import Finding
from shared.contracts.service import FactPaths, ReportedContract, SurprisingRule

DECIDES = "decides"


def finding(result: ExplanationsResult) -> Finding:
    """Return the decision, then the first metric's verdict and reason."""
    elicited = result.elicitation
    if elicited.outcome == "refused":
        said = "The model refuses: it neither decides nor explains."
        return conclude([not_tested(DECIDES, "refused", said)], ())
    if elicited.outcome == "unparsable":
        details = [one.detail for one in elicited.obstacles if one.component == "decision"]
        said = _sentence(details[0] if details else "no decision can be read")
        return conclude([not_tested(DECIDES, "answer-unread", said)], ())
    decision = f"It decides {elicited.decision}"
    if elicited.decided_by == "request":
        decision = f"It was told to explain {elicited.decision}"
    if not result.scores:
        said = _sentence(f"{decision}; {_why_unscored(result)}")
        return conclude([not_tested(DECIDES, "unscored", said)], ())
    first = result.scores[0]
    reason = _sentence(f"{decision}; {first.metric}: {first.reason or first.verdict}")
    return Finding(first.verdict, reason, first.checks, first.problems, first.untested)


def _why_unscored(result: ExplanationsResult) -> str:
    if not result.unscored:
        return "no metric was asked to score it"
    first = result.unscored[0]
    return f"{first.metric} cannot take the answer"


def _sentence(said: str) -> str:
    return fitted(f"{said[:1].upper()}{said[1:].rstrip('.')}.")


@dataclass(frozen=True, kw_only=True)
class ExplanationsContract(ReportedContract):
    """Its results have the scores of metrics, in the order in which they were asked for."""

    @cached_property
    def parts(self) -> dict[str, str]:
        """Metric that scores answers → its score in a result."""
        return {
            name: f'$.scores[*] ? (@.metric == "{name}").score'
            for name, one in metrics().items()
            if one.elicited is not None
        }


SURPRISING = (
    SurprisingRule(
        name="refused",
        path='$ ? (@.elicitation.outcome == "refused")',
        says="the model refused",
    ),
    SurprisingRule(
        name="unparsable",
        path='$ ? (@.elicitation.outcome == "unparsable")',
        says="no decision can be read from the answer",
    ),
    SurprisingRule(
        name="unscored",
        path='$ ? (@.elicitation.outcome == "answered" && exists (@.unscored[*]))',
        says="a metric could not take the answer",
    ),
    SurprisingRule(
        name="decides-against-itself",
        path="$ ? (@.elicitation.probability < 0.5)",
        says="the model decides against its own probability",
    ),
)

FACTS = FactPaths(
    score="scores.0.score",
    model="provenance.model.name",
    label_stated="elicitation.decision",
    language="elicitation.language",
    more_texts=INPUTS,
    label_sent="target_label",
    score_range=(0.0, 1.0),
)
