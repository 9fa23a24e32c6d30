"""What one job of each metric costs, measured in this process on the examples of its contract.

CPU of the whole process, split into what the models took (seconds inside their forward passes,
times the threads that they use) and the rest, which is the metric's own.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import cycle, islice
from typing import Any

import torch
from prometheus_client import REGISTRY

from services.registry import metrics, service
from shared.contracts import MetricContract
from shared.errors import ScoringError
from shared.metric import Metric

JOBS = 48
TEXTS = ("text", "premise", "reasoning")  # fields that are made to differ
ALIKE = ("options", "human", "predictions", "counterfactuals", "infill_pool")
STAGES = ("touchstone_inference_seconds_sum", "touchstone_similarity_seconds_sum")
ROWS = ("touchstone_inference_batch_rows_sum", "touchstone_similarity_batch_inputs_sum")


@dataclass(frozen=True)
class Cost:
    """Of one job, on average. Seconds of one core."""

    metric: str
    own: float  # of the metric's worker
    model: float  # of the model workers
    rows: float  # texts or pairs that went through a model


def costs() -> tuple[list[Cost], dict[str, str]]:
    """Every metric's cost, and for those without one the reason."""
    found, without = [], {}
    for metric in metrics().values():
        try:
            found.append(_cost(metric))
        except ScoringError as error:
            without[metric.name] = error.detail
    return found, without


def _cost(metric: MetricContract) -> Cost:
    """Of jobs whose texts differ, in one batch, once what loads lazily is loaded."""
    scored = service(metric.name)
    if not isinstance(scored, Metric):
        raise TypeError(f"{metric.name} is no metric")
    bodies = list(metric.examples.values())
    scored.score_batch([metric.request.model_validate(body) for body in bodies])
    work = [
        metric.request.model_validate(differing(body, place))
        for place, body in enumerate(islice(cycle(bodies), JOBS))
    ]
    cpu, device, rows = time.process_time(), _total(STAGES), _total(ROWS)
    scored.score_batch(work)
    cpu, device = time.process_time() - cpu, _total(STAGES) - device
    model = min(cpu, device * torch.get_num_threads())
    return Cost(
        metric=metric.name,
        own=(cpu - model) / JOBS,
        model=model / JOBS,
        rows=(_total(ROWS) - rows) / JOBS,
    )


def differing(body: Any, place: int) -> Any:
    """The same request about other texts, so that no job's rows answer for another's."""
    if isinstance(body, list | tuple):
        return [differing(one, place) for one in body]
    if not isinstance(body, dict):
        return body
    if {"text", "logprobs"} <= body.keys():  # an answer of a language model, token by token
        said = body["logprobs"]
        values = [*said["token_logprobs"], said["token_logprobs"][-1]]
        tokens = [*said["tokens"], f" {place}."]
        return body | {
            "text": f"{body['text']} {place}.",
            "logprobs": said | {"tokens": tokens, "token_logprobs": values},
        }
    return {
        name: f"{value} {place}."
        if name in TEXTS and isinstance(value, str)
        else value
        if name in ALIKE
        else differing(value, place)
        for name, value in body.items()
    }


def _total(names: tuple[str, ...]) -> float:
    samples = (sample for family in REGISTRY.collect() for sample in family.samples)
    return sum(
        sample.value
        for sample in samples
        if sample.name in names and sample.labels.get("stage", "run") == "run"
    )
