"""Scores as Prometheus counts them: what is counted, and that the series are few."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from prometheus_client import REGISTRY

from services.registry import metrics
from shared.worker import score_series
from shared.worker.score_series import MOST_SOURCES, OTHER, PARTS, SCORES, UNDEFINED, VERDICTS
from tests.gateway.results import a_result

MOST_SERIES = 2_000
OURS = (SCORES, PARTS, UNDEFINED, VERDICTS)


@pytest.fixture(autouse=True)
def _empty() -> Iterator[None]:
    for one in OURS:
        one.clear()
    score_series._met.clear()
    yield
    for one in OURS:
        one.clear()


def result(metric: str, model: str, score: float | None) -> dict[str, Any]:
    found = a_result(0.5, metric) | {"score": score}
    origin = found["provenance"] | {"models": [{"name": model}], "variant": "robust"}
    return found | {"provenance": origin, "verdict": "holds_up" if score else "not_tested"}


def value(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(name, labels) or 0.0


def test_scores_parts_and_verdicts_are_counted() -> None:
    contract = metrics()["hatexscore"]
    for score in (0.25, 0.75, None):
        score_series.observe(contract, result("hatexscore", "m", score))
    labels = {"metric": "hatexscore", "model": "m"}
    assert value("touchstone_score_count", **labels, variant="robust") == 2
    assert value("touchstone_score_bucket", **labels, variant="robust", le="0.8") == 2
    assert value("touchstone_score_bucket", **labels, variant="robust", le="0.3") == 1
    assert value("touchstone_verdicts_total", **labels, verdict="holds_up") == 2
    assert value("touchstone_undefined_total", **labels, reason="unknown") == 1
    assert value("touchstone_part_count", **labels, part="htc", sign="plus") == 3


def test_the_mean_is_to_be_had_of_scores_of_either_sign() -> None:
    for score in (-1.5, 0.25, 0.5):
        score_series.observe(metrics()["haf"], result("haf", "m", score))
    labels = {"metric": "haf", "model": "m"}
    assert value("touchstone_score_points_total", **labels, sign="plus") == 0.75
    assert value("touchstone_score_points_total", **labels, sign="minus") == 1.5
    assert value("touchstone_score_count", **labels, variant="robust") == 3


def test_the_mean_is_to_be_had_of_parts_of_either_sign() -> None:
    contract = metrics()["haf"]
    name, path = next(iter(contract.parts.items()))
    for part in (-0.5, 0.25, 0.5):
        score_series.observe(contract, placed(result("haf", "m", 0.5), path, part))
    labels = {"metric": "haf", "model": "m", "part": name}
    assert value("touchstone_part_sum", **labels, sign="plus") == 0.75
    assert value("touchstone_part_sum", **labels, sign="minus") == 0.5
    assert value("touchstone_part_count", **labels, sign="minus") == 1


def placed(result: dict[str, Any], path: str, value: float) -> dict[str, Any]:
    """The result with this value at the dotted path."""
    first, *rest = path.split(".")
    inner = placed(result.get(first) or {}, ".".join(rest), value) if rest else value
    return result | {first: inner}


def test_a_reason_that_is_no_word_of_ours_is_unknown() -> None:
    found = result("hatexscore", "m", None)
    for code, counted in (("no-rules", "no-rules"), ("What Was Sent", "unknown")):
        found["reasons"] = [{"component": "score", "code": code}]
        score_series.observe(metrics()["hatexscore"], found)
        labels = {"metric": "hatexscore", "model": "m", "reason": counted}
        assert value("touchstone_undefined_total", **labels) == 1


def test_the_series_are_few_however_many_models_there_are() -> None:
    for number in range(2 * MOST_SOURCES):
        for metric in ("hatexscore", "ice"):
            for score in (0.5, None):
                model = f"model {number}"
                score_series.observe(metrics()[metric], result(metric, model, score))
    series = sum(len(family.samples) for one in OURS for family in one.collect())
    assert series < MOST_SERIES
    assert value("touchstone_score_count", metric="ice", model=OTHER, variant="robust") > 0


def test_twenty_models_keep_their_names() -> None:
    contract = metrics()["hatexscore"]
    for number in range(20):
        score_series.observe(contract, result("hatexscore", f"model {number}", 0.5))
    named = {"metric": "hatexscore", "model": "model 19", "variant": "robust"}
    assert value("touchstone_score_count", **named) == 1
