"""What one job of each metric costs, measured in this process on the examples of its contract.

CPU of the whole process, split into what the models took (seconds inside their forward passes,
times the threads that they use) and the rest, which is the metric's own.
"""

from __future__ import annotations

import importlib
import time
from dataclasses import dataclass
from itertools import cycle, islice

import torch
from prometheus_client import REGISTRY

from services.gateway.rooms import metrics
from shared.contracts import Metric
from shared.errors import ScoringError

JOBS = 48
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


def _cost(metric: Metric) -> Cost:
    """Of jobs whose texts differ, in one batch, once what loads lazily is loaded."""
    room = importlib.import_module(f"services.{metric.name}.score")
    asked = [metric.request.model_validate(body) for body in metric.examples.values()]
    room.score_batch(asked)
    work = [
        one.model_copy(update={"seed": place})
        for place, one in enumerate(islice(cycle(asked), JOBS))
    ]
    cpu, device, rows = time.process_time(), _total(STAGES), _total(ROWS)
    room.score_batch(work)
    cpu, device = time.process_time() - cpu, _total(STAGES) - device
    model = min(cpu, device * torch.get_num_threads())
    return Cost(
        metric=metric.name,
        own=(cpu - model) / JOBS,
        model=model / JOBS,
        rows=(_total(ROWS) - rows) / JOBS,
    )


def _total(names: tuple[str, ...]) -> float:
    samples = (sample for family in REGISTRY.collect() for sample in family.samples)
    return sum(
        sample.value
        for sample in samples
        if sample.name in names and sample.labels.get("stage", "run") == "run"
    )
