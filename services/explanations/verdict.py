"""The verdict on a model's answer, and its columns in tables. The verdict does not quote the text.
An answer takes the verdict of the first metric that scored it. Without a score the verdict is "not
tested", with the reason."""

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
    """Return the conclusion of a result: the model's decision, with the verdict and reason of the
    first metric that scored the explanation."""
    elicited = result.elicitation
    if elicited.outcome == "refused":
        message = "The model refuses: it neither decides nor explains."
        return conclude([not_tested(DECIDES, "refused", message)], ())
    if elicited.outcome == "unparsable":
        details = [row.detail for row in elicited.obstacles if row.component == "decision"]
        message = _sentence(details[0] if details else "no decision can be read")
        return conclude([not_tested(DECIDES, "answer-unread", message)], ())
    decision = f"The model decides {elicited.decision}"
    if elicited.decided_by == "request":
        decision = f"The model was asked to explain {elicited.decision}"
    if not result.scores:
        unscored = result.unscored[:1]
        reason = "no metric was asked to score the explanation"
        if unscored:
            reason = f"{unscored[0].metric} cannot score the explanation"
        check = not_tested(DECIDES, "unscored", _sentence(f"{decision}, but {reason}"))
        return conclude([check], ())
    first = result.scores[0]
    reason = _sentence(f"{decision}. {first.metric}: {first.reason or first.verdict}")
    return Finding(first.verdict, reason, first.checks, first.problems, first.untested)


def _sentence(text: str) -> str:
    return fitted(f"{text[:1].upper()}{text[1:].rstrip('.')}.")


@dataclass(frozen=True, kw_only=True)
class ExplanationsContract(ReportedContract):
    """Declares the requests and results of this service. Results list the metrics' scores in the
    order of the request."""

    @cached_property
    def parts(self) -> dict[str, str]:
        """Return the JSON path of each metric's score in a result, by the name of the metric."""
        return {
            name: f'$.scores[*] ? (@.metric == "{name}").score'
            for name, metric in metrics().items()
            if metric.elicited is not None
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
        says="a metric could not score the explanation",
    ),
    SurprisingRule(
        name="decides-against-itself",
        path="$ ? (@.elicitation.probability < 0.5)",
        says="the decision contradicts the model's own probability",
    ),
)

FACTS = FactPaths(
    score="scores.0.score",
    model="provenance.model.name",
    decision_stated="elicitation.decision",
    language="elicitation.language",
    more_texts=INPUTS,
    decision_sent="target_label",
    score_range=(0.0, 1.0),
)
