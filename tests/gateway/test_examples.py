"""The examples of the description are what the metrics say today."""

from __future__ import annotations

import pytest

from services.registry import metrics, service
from shared.contracts.answers import stored_result
from shared.reports.metric import Metric
from tests.gateway.results import recorded

pytestmark = pytest.mark.usefixtures("_embedded_models")


@pytest.mark.parametrize("name", sorted(metrics()))
def test_a_score_is_what_its_example_says(name: str) -> None:
    """And its parts. Run `make openapi` where a metric has changed."""
    metric = service(name)
    assert isinstance(metric, Metric)
    example = next(iter(metric.contract.examples.values()))
    request = metric.contract.request.model_validate(example)
    report = metric.score(request).model_dump(mode="json")
    stored = stored_result(recorded(f"score_{name}")["result"])
    assert report.keys() == stored.keys()
    assert report["verdict"] == stored["verdict"]
    assert report["score"] == pytest.approx(stored["score"], abs=1e-6)
    assert _numbers(report["components"]) == pytest.approx(_numbers(stored["components"]), abs=1e-6)


def _numbers(parts: dict[str, object]) -> dict[str, float]:
    return {name: value for name, value in parts.items() if isinstance(value, int | float)}
