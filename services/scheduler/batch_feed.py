"""Moves all batches forward: finishes lines whose jobs have ended, expires late batches, and
creates jobs for waiting lines.

Every step is one transaction, so the scheduler may be killed at any time. The number of jobs that
wait in a metric's queue is limited to a few seconds of work. A new batch therefore starts soon.
"""

from __future__ import annotations

import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta

from sqlalchemy import Engine

from services.scheduler.failure_isolation import FailureIsolation
from services.scheduler.fair_allocation import BatchUsage, allocate_by_tenant
from shared.contracts.errors import Unavailable
from shared.ledger import batch_feed, batches
from shared.ledger.batch_feed import Load, OpenBatch
from shared.ledger.engine import transaction
from shared.process import telemetry
from shared.process.settings import Settings
from shared.queue import broker

CANCEL_PATIENCE = timedelta(minutes=10)  # for jobs that run when their batch is cancelled
LINES_AT_ONCE = 250  # made into jobs in one transaction
LEAST_WAITING = 16  # in a metric's batch queue
SECONDS_AHEAD = 3.0  # a few rounds of feeding, so that no worker is idle

logger = telemetry.logger(__name__)


class Feeder:
    """Creates jobs for the waiting lines of batches."""

    def __init__(
        self, engine: Engine, settings: Settings, *, isolation: FailureIsolation | None = None
    ) -> None:
        self._engine = engine
        self._settings = settings
        self._isolation = isolation or FailureIsolation(engine)
        self._pace = MetricRate(LEAST_WAITING, settings.batch_window)

    def round(self) -> int:
        """Process all batches once and return the number of new jobs. Raises Unavailable if the
        jobs database cannot be reached."""
        self._isolation.for_each_batch("settling", batch_feed.finish_lines)
        self._isolation.for_each_batch("finishing", batches.finish_answered)
        self._isolation.for_each_batch("expiring", batches.expire)
        self._isolation.for_each_batch(
            "cancelling",
            lambda connection, only: batches.wind_up(connection, CANCEL_PATIENCE, only),
        )
        with transaction(self._engine) as connection:
            open_ones = batch_feed.open_batches(connection)
            loads = batch_feed.open_jobs(connection) if open_ones else []
        able = [
            batch for batch in open_ones if not self._isolation.should_wait("feeding", batch.id)
        ]
        return sum(
            self._feed_metric(
                [batch for batch in able if batch.metric == metric],
                [load for load in loads if load.metric == metric],
            )
            for metric in {batch.metric: None for batch in able}
        )

    def _feed_metric(self, open_ones: list[OpenBatch], loads: list[Load]) -> int:
        """Divide the metric's free queue places among its batches, create their jobs, and return
        the number of new jobs."""
        metric = open_ones[0].metric
        able = [replace(batch, left=self._available(batch)) for batch in open_ones]
        allocation = allocate_by_tenant(_batch_usage(able, loads), self._window(metric, loads))
        sent = 0
        for batch in [batch for batch in open_ones if allocation[batch.id]]:
            with self._isolation.guard("feeding", batch.id):
                remaining = allocation[batch.id]
                while remaining and (fed := self._feed(batch, min(remaining, LINES_AT_ONCE))):
                    self._pace.add(metric, fed)
                    sent += fed
                    remaining -= fed
        return sent

    def _window(self, metric: str, loads: list[Load]) -> int:
        """Return the maximum number of jobs in the queue: the configured number, or less if the
        metric's workers are slow."""
        open_now, waiting = sum(load.jobs for load in loads), sum(load.queued for load in loads)
        with suppress(Unavailable):  # the recovery sends lost messages
            waiting = min(waiting, broker.queue_length(metric, batch=True))
        bound = self._pace.bound(metric, open_now, waiting)
        return min(self._settings.batch_window, open_now + bound - waiting)

    def _available(self, batch: OpenBatch) -> int:
        """Return how many new jobs the batch may have. At most `batch_window` of its jobs may wait
        for models."""
        return min(batch.left, max(0, self._settings.batch_window - batch.waiting_for_models))

    def _feed(self, batch: OpenBatch, count: int) -> int:
        """Create and send jobs for the batch's next lines, at most `count`. Return the number of
        new jobs. If the broker is unavailable, the jobs stay committed, and `recovery` sends their
        messages later."""
        again = timedelta(seconds=self._settings.resend_seconds)
        with transaction(self._engine) as connection:
            job_ids = batch_feed.feed(connection, batch.id, count, again)
        telemetry.JOBS_ACCEPTED.labels(batch.metric).inc(len(job_ids))
        try:
            for job_id in job_ids:
                broker.send(batch.metric, job_id, batch=True)
        except Unavailable as error:
            logger.warning("batch.not_sent", batch=batch.id, detail=error.detail)
        return len(job_ids)


def _batch_usage(open_ones: list[OpenBatch], loads: list[Load]) -> list[BatchUsage]:
    """Return how many remaining lines and open jobs each batch has. Open batches come first, in the
    given order, which later decides ties between them."""
    held = {load.batch_id: load.jobs for load in loads}
    can_use = [
        BatchUsage(batch.id, batch.tenant, batch.left, held.pop(batch.id, 0)) for batch in open_ones
    ]
    without_lines = [load for load in loads if load.batch_id in held]
    return [
        *can_use,
        *(BatchUsage(load.batch_id, load.tenant, 0, load.jobs) for load in without_lines),
    ]


@dataclass(frozen=True)
class QueueSample:
    """The last measurement of a metric's queue of batch jobs. `ended` is the number of jobs that
    end per second. `bound` is how many may wait."""

    at: float
    open_jobs: int
    ended: float
    bound: int


class MetricRate:
    """Measures how fast each metric finishes jobs. From this it derives how many jobs may wait,
    between `least` and `most`. Not thread-safe."""

    def __init__(self, least: int, most: int) -> None:
        self._least = min(least, most)
        self._most = most
        self._fed: Counter[str] = Counter()  # since the queue was last looked at
        self._seen: dict[str, QueueSample] = {}

    def add(self, metric: str, count: int) -> None:
        """Record that `count` jobs were added to the queue."""
        self._fed[metric] += count

    def bound(self, metric: str, open_jobs: int, waiting: int, at: float | None = None) -> int:
        """Return how many jobs may wait in the metric's queue now: as many as are likely to end
        within three seconds, within limits."""
        at = time.monotonic() if at is None else at
        fed, before = self._fed.pop(metric, 0), self._seen.get(metric)
        ended, bound = 0.0, self._least
        if before is not None and at > before.at:
            latest = max(0, before.open_jobs + fed - open_jobs) / (at - before.at)
            ended = max(latest, (before.ended + latest) / 2)  # rises quickly, falls slowly
            bound = round(ended * SECONDS_AHEAD)
            if waiting == 0 and fed:
                bound = max(bound, 2 * before.bound)
        bound = min(self._most, max(self._least, bound))
        self._seen[metric] = QueueSample(at, open_jobs, ended, bound)
        return bound
