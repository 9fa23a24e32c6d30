"""Scores requests with `explain`: one job asks a model for an explanation and scores it. Without an
answer the report has no score and gives the reason."""

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
    """Allow the metrics of this process to score requests that have `explain`."""
    Metric.explainer = score_explained


def score_explained(metric: Metric[Any, Any, Any, Any], request: ExplainableRequest) -> Report:
    """Return the metric's report on the model's answer. The report includes the answer."""
    with pointing_to_own(metric.contract, request):
        result = SERVICE.score(explanations_request(metric.contract, request))
    report = result.scores[0] if result.scores else _unscored(metric, request, result)
    elicitation = {**dict(result.elicitation), "provenance": result.provenance}
    return report.model_copy(
        update={
            "elicitation": Elicitation(**elicitation),
            "warnings": tuple(dict.fromkeys((*result.warnings, *report.warnings))),
        }
    )


def _unscored(
    metric: Metric[Any, Any, Any, Any], request: ExplainableRequest, result: ExplanationsResult
) -> Report:
    [unscored] = result.unscored
    code, detail = CODES[unscored.code], unscored.detail
    obstacles = (row for row in result.elicitation.obstacles if row.component == "decision")
    if (obstacle := next(obstacles, None)) is not None:
        code, detail = CODES.get(obstacle.code, code), f"{detail}: {obstacle.detail}"
        if obstacle.code == "answer-cut-by-reasoning":
            code = obstacle.code
    report: Report = metric.unscored(request, Obstacle(code, detail))
    return report
