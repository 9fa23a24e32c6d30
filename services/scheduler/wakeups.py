"""Makes sure that the queue holds one message for each waiting job. A worker takes the next job,
whichever job its message names. A lost message therefore only delays later jobs slightly. This
module compares the number of messages with the number of waiting jobs, and sends missing messages
again."""

from __future__ import annotations

from collections import deque

from sqlalchemy import Engine

from shared.ledger import claim_order
from shared.ledger.claim_order import MetricQueue
from shared.ledger.engine import transaction
from shared.ledger.recovery import open_queues
from shared.process import telemetry
from shared.queue import broker
from shared.queue.broker import JobMessage

ROUNDS = 3  # messages travel faster than this; a surplus message is harmless
MOST_AT_ONCE = 1_000

logger = telemetry.logger(__name__)


class Wakeups:
    """Counts missing queue messages, in one scheduler."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._short: dict[MetricQueue, deque[int]] = {}

    def round(self) -> None:
        """Count the messages in each queue once. If messages are missing in several consecutive
        counts, send them again. Raises Unavailable."""
        with transaction(self._engine) as connection:
            metric_queues = open_queues(connection)
        self._short = {
            metric_queue: self._short.get(metric_queue, deque(maxlen=ROUNDS))
            for metric_queue in metric_queues
        }
        for metric_queue, short in self._short.items():
            self._count(metric_queue, short)

    def _count(self, metric_queue: MetricQueue, short: deque[int]) -> None:
        in_queue = broker.queue_length(metric_queue.metric, batch=metric_queue.batch)
        with transaction(self._engine) as connection:
            short.append(claim_order.fresh_count(connection, metric_queue) - in_queue)
            lacking = min(short) if len(short) == ROUNDS else 0
            oldest = claim_order.oldest(connection, metric_queue, min(lacking, MOST_AT_ONCE))
        if oldest:
            broker.send_all(
                [JobMessage(metric_queue.metric, job_id, metric_queue.batch) for job_id in oldest]
            )
            short.clear()
            logger.info(
                "messages.made_up",
                metric=metric_queue.metric,
                batch=metric_queue.batch,
                count=len(oldest),
            )
