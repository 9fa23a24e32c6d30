"""From an elicited explanation to the requests of the metrics that score it.

Each metric says by itself what it takes of an explanation (`MetricContract.elicited`); a request's
parameters for it are added, and may not replace what is judged.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from services.registry import metrics
from shared.contracts.messages import TRANSPORT, ScoreRequest
from shared.contracts.service import ElicitedExplanation, MetricContract

REPLACEABLE = frozenset({"model", "policy"})  # of what the explanation brings


def scoring_metric(name: str) -> MetricContract:
    """Raises ValueError for a metric that takes no explanation of a model, or is none."""
    takes = {one.name: one for one in metrics().values() if one.elicited is not None}
    if name not in takes:
        raise ValueError(f"{name!r} scores no elicited explanation; {', '.join(takes)} do")
    return takes[name]


def score_request(
    name: str, found: ElicitedExplanation, parameters: Mapping[str, Any], common: Mapping[str, Any]
) -> ScoreRequest:
    """The request of this metric, as its own route would take it.

    common: seed and language, where the parameters name no others. Raises ValueError, of which
    ValidationError is one.
    """
    metric = scoring_metric(name)
    fields = metric.request.model_fields
    made = metric.elicited(found) if metric.elicited else {}
    known = {key for key, value in made.items() if value is not None}
    if taken := sorted(TRANSPORT & parameters.keys() | (known - REPLACEABLE) & parameters.keys()):
        raise ValueError(f"`{taken[0]}` is not yours to set here: the explanation brings it")
    if missing := sorted(made.keys() - known - parameters.keys()):
        raise ValueError(f"{name} needs `{'`, `'.join(missing)}`, which nobody gave")
    shared_fields = {key: value for key, value in common.items() if key in fields}
    body = {key: made[key] for key in known} | {**shared_fields, **parameters}
    return metric.request.model_validate(body)
