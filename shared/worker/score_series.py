"""Prometheus counts of scores by metric, model and variant, never by tenant. Model names come from
the list of models; verdicts and reasons are the service's own words. After MOST_SOURCES
combinations of metric, model and variant the rest is counted as model `other`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from threading import Lock
from typing import Any

from prometheus_client import Counter, Histogram, Summary

from shared.contracts.batches import model_of
from shared.contracts.service import MetricContract

MOST_SOURCES = 30
OTHER = "other"
WORD = re.compile(r"[a-z][a-z0-9-]{0,60}")
TENTHS = tuple(round(place / 10, 1) for place in range(11))
BEYOND = (-2.0, -1.6, -1.2, -0.8, -0.4)  # of scores that lie on -2 to 2
BUCKETS = (*BEYOND, *TENTHS, 1.2, 1.6, 2.0)

SCORES = Histogram(
    "touchstone_score", "Scores of jobs", ["metric", "model", "variant"], buckets=BUCKETS
)
# a sum of scores may fall, a counter may not: one for each sign
POINTS = Counter(
    "touchstone_score_points_total", "Absolute scores, summed", ["metric", "model", "sign"]
)
PARTS = Summary(
    "touchstone_part", "Absolute parts of the scores", ["metric", "part", "model", "sign"]
)
UNDEFINED = Counter(
    "touchstone_undefined_total",
    "Results without a score, by reason",
    ["metric", "model", "reason"],
)
VERDICTS = Counter(
    "touchstone_verdicts_total", "Results by verdict", ["metric", "model", "verdict"]
)

_met: set[tuple[str, str, str]] = set()
_lock = Lock()


def observe(contract: MetricContract, result: Mapping[str, Any], named: str | None = None) -> None:
    """Count a result in Prometheus. `named` is the model that the request names."""
    provenance = result.get("provenance") or {}
    variant = str(provenance.get("variant") or "")
    models = provenance.get("models") or ()
    first = str(models[0]["name"]) if models else None
    found = model_of(first, named, contract.default_model) or "none"
    model = _bounded(contract.name, found, variant)
    score = _number(result.get("score"))
    if score is not None:
        SCORES.labels(contract.name, model, variant).observe(score)
        POINTS.labels(contract.name, model, "plus").inc(max(score, 0.0))
        POINTS.labels(contract.name, model, "minus").inc(max(-score, 0.0))
    for part, value in _parts(contract, result):
        sign = "minus" if value < 0 else "plus"
        PARTS.labels(contract.name, part, model, sign).observe(abs(value))
    if score is None:
        UNDEFINED.labels(contract.name, model, _reason(result)).inc()
    if (verdict := result.get("verdict")) is not None:
        VERDICTS.labels(contract.name, model, str(verdict)).inc()


def _bounded(metric: str, model: str, variant: str) -> str:
    with _lock:
        source = (metric, model, variant)
        if source not in _met and len(_met) >= MOST_SOURCES:
            return OTHER
        _met.add(source)
        return model


def _parts(contract: MetricContract, result: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    for name, path in contract.parts.items():
        found: Any = result
        for step in path.split("."):
            if isinstance(found, list | tuple):
                found = found[int(step)] if int(step) < len(found) else None
            else:
                found = found.get(step) if isinstance(found, Mapping) else None
        if (value := _number(found)) is not None:
            yield name, value


def _reason(result: Mapping[str, Any]) -> str:
    """Return the code of the first reason why the score is null."""
    for one in result.get("reasons") or ():
        code = str(one.get("code", "")) if one.get("component") == "score" else ""
        if WORD.fullmatch(code):
            return code
    return "unknown"


def _number(value: Any) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number else None
