"""Converts a model's explanation into requests to the metrics that score it. Each metric defines
which of its fields come from the explanation (`MetricContract.elicited`). The caller's parameters
may add fields but not replace these."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from services.registry import metrics
from shared.contracts.fields import merge_fields, options_of
from shared.contracts.messages import TRANSPORT, ScoreRequest
from shared.contracts.service import ElicitedExplanation, MetricContract


def scoring_metric(name: str) -> MetricContract:
    """Return the metric of this name. Raises ValueError if it cannot score a model's
    explanations."""
    scoring = {metric.name: metric for metric in metrics().values() if metric.elicited is not None}
    if name not in scoring:
        raise ValueError(
            f"{name!r} cannot score an elicited explanation; choose one of: {', '.join(scoring)}"
        )
    return scoring[name]


def score_request(
    name: str,
    explanation: ElicitedExplanation,
    parameters: Mapping[str, Any],
    common: Mapping[str, Any],
) -> ScoreRequest:
    """Return a request to the metric. `common` has the seed and language; values in `parameters`
    override them. Raises ValueError for an invalid request."""
    metric = scoring_metric(name)
    fields = metric.elicited(explanation) if metric.elicited else {}
    present = {key: value for key, value in fields.items() if value is not None}
    replaceable = {"model", "options"} if options_of(metric.request) else {"model"}
    fixed = TRANSPORT | (present.keys() - replaceable)
    if refused := sorted(fixed & parameters.keys()):
        raise ValueError(f"the explanation request already sets `{refused[0]}`; leave it out")
    if missing := sorted(fields.keys() - present.keys() - parameters.keys()):
        raise ValueError(
            f"{name} needs `{'`, `'.join(missing)}`; add it to the parameters of the metric"
        )
    shared = {key: value for key, value in common.items() if key in metric.request.model_fields}
    return metric.request.model_validate(merge_fields(present, {**shared, **parameters}))
