"""Jobs and calls of batches run on threads of their own, so that interactive ones find theirs free.

Celery consumes the interactive queues only. One thread here takes a message of a batch queue when a
batch thread is free, never sooner: what waits stays in Redis, where other workers find it. Model
calls go before jobs, since a job waits for them; queues of one kind take turns.
"""

from __future__ import annotations

import base64
import json
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Self

from shared import log
from shared.errors import Unavailable
from shared.queue import app, calls_first, pop
from shared.worker.shares import stopping

BLOCK_SECONDS = 1.0
AWAY_SECONDS = 1.0  # before a broker that is away is asked again

logger = log.logger(__name__)


@dataclass(frozen=True)
class Task:
    """A message of Celery's protocol, version 2: what is to be done."""

    name: str
    arguments: Sequence[Any]
    headers: dict[str, Any]
    queue: str

    @classmethod
    def of(cls, queue: str, raw: bytes) -> Self:
        """Raises ValueError or KeyError where it is none."""
        message = json.loads(raw)
        body = json.loads(base64.b64decode(message["body"]))
        headers = message["headers"]
        return cls(headers["task"], body[0], headers, queue)

    def run(self) -> None:
        """Do it in this thread; the task sees headers and queue as if Celery had delivered it."""
        task = app.tasks[self.name]
        task.apply(args=self.arguments, headers=self.headers, routing_key=self.queue, throw=True)


class BatchQueues:
    """The consumer of these queues, with so many threads."""

    def __init__(self, queues: Sequence[str], threads: int) -> None:
        self._queues = list(queues)
        self._free = threading.Semaphore(threads)
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="batch")
        self._consumer = threading.Thread(target=self._consume, name="batch-queues", daemon=True)

    def start(self) -> None:
        """Take messages from now on."""
        self._consumer.start()

    def stop(self) -> None:
        """Take no more, and wait for what runs."""
        stopping.set()
        if self._consumer.is_alive():
            self._consumer.join()
        self._pool.shutdown()

    def _consume(self) -> None:
        while not stopping.is_set():
            if not self._free.acquire(timeout=BLOCK_SECONDS):
                continue
            task = self._next()
            if task is None:
                self._free.release()
            else:
                self._pool.submit(self._run, task)

    def _next(self) -> Task | None:
        try:
            found = pop(calls_first(self._queues), BLOCK_SECONDS)
        except Unavailable:
            logger.warning("batch_queues.away")
            time.sleep(AWAY_SECONDS)
            return None
        if found is None:
            return None
        queue, raw = found
        self._queues.remove(queue)
        self._queues.append(queue)  # the others first, next time
        try:
            return Task.of(queue, raw)
        except (ValueError, KeyError, IndexError, TypeError):
            logger.exception("batch_queues.unreadable", queue=queue)
            return None

    def _run(self, task: Task) -> None:
        try:
            task.run()
        except Exception:
            logger.exception("batch_queues.crashed", task=task.name)
        finally:
            self._free.release()
