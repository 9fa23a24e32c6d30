"""Convert results between their stored form and the form that the API shows. A metric's additional
fields are in `details`. Callers must request them, except in batch reports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, Field, JsonValue, create_model

from shared.contracts.batches import BatchReport
from shared.contracts.elicitation import ExplainableReport
from shared.contracts.messages import Report

Json = dict[str, Any]
OF_RESULTS = frozenset({*Report.model_fields, *ExplainableReport.model_fields})
OF_REPORTS = frozenset(BatchReport.model_fields)
Details = dict[str, JsonValue]


def shown_result(result: Json | None, *, details: bool) -> Json | None:
    """Return a stored result as the API's JSON, or None without a result. Fields that only one
    metric has are in `details`. For a score, also one inside another result, `details` is null
    unless requested."""
    if result is None:
        return None
    if "resamples" in result:
        return _parted(result, OF_REPORTS, True)
    if "components" in result:
        return _parted(result, OF_RESULTS, details)
    if "unscored" in result:
        scores = [shown_result(score, details=details) for score in result["scores"]]
        return result | {"scores": scores}
    return result


def _parted(result: Mapping[str, Any], shared: frozenset[str], details: bool) -> Json:
    shown = {name: value for name, value in result.items() if name in shared}
    rest = {name: value for name, value in result.items() if name not in shared}
    return shown | {"details": rest if details else None}


def result_type(report: type[Report], metric: str) -> type[BaseModel]:
    """Return the message type of a metric's result as the API shows it."""
    base = ExplainableReport if issubclass(report, ExplainableReport) else Report
    shared = {name: report.model_fields[name] for name in base.model_fields}
    fields: Any = {name: (field.annotation, field) for name, field in shared.items()}
    about = "the metric's additional fields, described on its page; null without `expand=details`"
    fields["metric"] = (Literal[metric], ...)
    fields["details"] = (Details | None, Field(description=about))
    return create_model(report.__name__, __base__=base, __doc__=report.__doc__, **fields)


def report_type(metrics: tuple[str, ...]) -> type[BaseModel]:
    """Return the type of a batch report of these metrics as the API shows it."""
    fields: Any = {
        "metric": (Literal[metrics], ...),
        "details": (Details, Field(description="the metric's own tables, described on its page")),
    }
    return create_model("BatchReport", __base__=BatchReport, __doc__=BatchReport.__doc__, **fields)


def stored_result(shown: Json) -> Json:
    """Convert a result in the API's form, with `details`, to its stored form."""
    result = {name: value for name, value in shown.items() if name != "details"}
    if "unscored" in result:
        result["scores"] = [stored_result(score) for score in result["scores"]]
    return result | (shown.get("details") or {})
