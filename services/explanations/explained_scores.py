"""Explain, then score, in the metric's own job: what `explain` in its request asks for.

The answer is elicited, committed and read as in `service`, by the worker of the metric; what is no
answer has a report without a score, which says why.
"""

from __future__ import annotations

from typing import Any

from services.explanations.explained_requests import explanations_request, pointing_to_own
from services.explanations.report import ExplanationsResult
from services.explanations.service import SERVICE
from shared.contracts.elicitation import Elicitation, ExplainableRequest
from shared.contracts.messages import ReasonCode, Report
from shared.reports.metric import Metric
from shared.text.language import Obstacle

CODES: dict[str, ReasonCode] = {
    "refused": "refused",
    "unparsable": "conclusion-unread",
    "unfit": "explanation-unfit",
}


def bind_explainer() -> None:
    """From now on metrics of this process score requests that say `explain`, too."""
    Metric.explainer = score_explained


def score_explained(metric: Metric[Any, Any, Any, Any], request: ExplainableRequest) -> Report:
    """The metric's report on what its model answered, with that answer."""
    with pointing_to_own(metric.contract, request):
        found = SERVICE.score(explanations_request(metric.contract, request))
    report = found.scores[0] if found.scores else _unscored(metric, request, found)
    told = {**dict(found.elicitation), "provenance": found.provenance}
    return report.model_copy(
        update={
            "elicitation": Elicitation(**told),
            "warnings": tuple(dict.fromkeys((*found.warnings, *report.warnings))),
        }
    )


def _unscored(
    metric: Metric[Any, Any, Any, Any], request: ExplainableRequest, found: ExplanationsResult
) -> Report:
    """Why, by the first reason that there is."""
    [unscored] = found.unscored
    read = next((one for one in found.elicitation.obstacles if one.component == "decision"), None)
    code, detail = CODES[unscored.code], unscored.detail
    if read is not None:
        code, detail = CODES.get(read.code, code), f"{detail}: {read.detail}"
    if read is not None and read.code == "answer-cut-by-reasoning":
        code = read.code
    report: Report = metric.unscored(request, Obstacle(code, detail))
    return report
