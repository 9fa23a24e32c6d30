"""A room's door to the queue: one named Celery task that carries a job id."""

from __future__ import annotations

from typing import Any

from shared.contracts import Metric
from shared.queue import app, task_name
from shared.worker.shell import Score, carry


def door(metric: Metric, score: Score) -> Any:
    """Register `score.<metric>`; the body is `shell.carry`, which tests call directly."""

    @app.task(name=task_name(metric.name), ignore_result=True)  # type: ignore[untyped-decorator]
    def task(job_id: str) -> None:
        carry(job_id, metric, score)

    return task
