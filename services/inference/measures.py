"""What Prometheus may know of the models. `model` is a configured name: there are few."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Literal

from prometheus_client import Gauge, Histogram

from shared.telemetry import SECONDS

Stage = Literal["tokenize", "run", "finish"]

QUEUED_ROWS = Gauge("touchstone_inference_queued_rows", "Rows that wait for the device", ["model"])
BATCH_ROWS = Histogram(
    "touchstone_inference_batch_rows",
    "Rows of a forward pass",
    ["model"],
    buckets=[2**power for power in range(13)],
)
PADDED_SHARE = Histogram(
    "touchstone_inference_padded_share",
    "Share of a forward pass that is padding",
    ["model"],
    buckets=[0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0],
)
STAGE_SECONDS = Histogram(
    "touchstone_inference_seconds", "Of a stage", ["model", "stage"], buckets=(0.001, *SECONDS)
)


@contextmanager
def timed(model: str, stage: Stage) -> Iterator[None]:
    """Observe how long the stage takes."""
    started = perf_counter()
    try:
        yield
    finally:
        STAGE_SECONDS.labels(model, stage).observe(perf_counter() - started)
