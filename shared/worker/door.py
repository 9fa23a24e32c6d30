"""A room's door to the queue: one named Celery task that carries a job id."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from shared import log
from shared.contracts import Metric
from shared.queue import app, task_name
from shared.worker.shell import Score, carry

logger = log.logger(__name__)


@dataclass(frozen=True)
class Room:
    """A room whose door is open in this process."""

    metric: Metric
    score: Score

    def warm_up(self) -> None:
        """Score the contract's examples once, so that no caller waits for what loads lazily."""
        started = time.perf_counter()
        for example in self.metric.examples.values():
            self.score(self.metric.request.model_validate(example))
        seconds = round(time.perf_counter() - started, 2)
        logger.info("room.warm", metric=self.metric.name, seconds=seconds)


rooms: dict[str, Room] = {}


def door(metric: Metric, score: Score) -> Any:
    """Register `score.<metric>`; the body is `shell.carry`, which tests call directly."""

    rooms[metric.name] = Room(metric, score)

    @app.task(name=task_name(metric.name), ignore_result=True)  # type: ignore[untyped-decorator]
    def task(job_id: str) -> None:
        carry(job_id, metric, score)

    return task
