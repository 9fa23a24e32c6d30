"""A room's door to the queue: one named Celery task that carries a job id."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from shared import log
from shared.contracts import Room
from shared.queue import AGAIN, app, is_batch, task_name
from shared.tracing import continued
from shared.worker.shell import Delivery, Score, carry

logger = log.logger(__name__)


@dataclass(frozen=True)
class OpenDoor:
    """A room whose door is open in this process."""

    room: Room
    score: Score

    def warm_up(self) -> None:
        """Score the contract's examples once, so that no caller waits for what loads lazily."""
        started = time.perf_counter()
        for example in self.room.examples.values():
            self.score(self.room.request.model_validate(example))
        seconds = round(time.perf_counter() - started, 2)
        logger.info("room.warm", room=self.room.name, seconds=seconds)


doors: dict[str, OpenDoor] = {}


def door(room: Room, score: Score) -> Any:
    """Register `score.<room>`; the body is `shell.carry`, which tests call directly."""

    doors[room.name] = OpenDoor(room, score)

    @app.task(name=task_name(room.name), ignore_result=True, bind=True)  # type: ignore[untyped-decorator]
    def task(self: Any, job_id: str) -> None:
        headers = self.request.headers or {}
        lane = (self.request.delivery_info or {}).get("routing_key") or ""
        delivery = Delivery(batch=is_batch(lane), again=AGAIN in headers)
        with log.about(job=job_id), continued(f"score {room.name}", headers, job=job_id):
            carry(job_id, room, score, delivery)

    return task
