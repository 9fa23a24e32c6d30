"""Sends lost queue messages again, and fails jobs that have used all their attempts. Several
schedulers may do this at the same time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial

from sqlalchemy import Connection, Engine

from shared.contracts.errors import Unavailable
from shared.contracts.problems import attempts_exhausted, endless_attempts
from shared.ledger import recovery
from shared.ledger.claim_order import MetricQueue
from shared.ledger.engine import transaction
from shared.ledger.leases import MAX_ATTEMPTS
from shared.process import telemetry
from shared.process.settings import Settings
from shared.queue import broker

logger = telemetry.logger(__name__)

MOST_AT_ONCE = 1_000  # messages re-sent for a metric in one round


def recover(engine: Engine, settings: Settings) -> None:
    """Run one round: resend lost messages, and fail jobs that have used all their attempts. Raises
    Unavailable if the database or the queue cannot be reached."""
    with log_errors("exhausted"):
        end_exhausted(engine, settings)
    with transaction(engine) as connection:
        metric_queues = recovery.open_queues(connection)
    for metric_queue in metric_queues:
        with log_errors(broker.queue_of(metric_queue.metric, batch=metric_queue.batch)):
            resend(engine, metric_queue, settings)


@contextmanager
def log_errors(duty: str) -> Iterator[None]:
    """Log an unexpected error in the block and suppress it. Unavailable is not suppressed."""
    try:
        yield
    except Unavailable:
        raise
    except Exception:
        logger.exception("recovery.crashed", duty=duty)


def end_exhausted(engine: Engine, settings: Settings) -> None:
    """Fail the jobs whose last attempt ended without a result, because the worker died or hung."""
    end = partial(recovery.fail_exhausted, max_attempts=MAX_ATTEMPTS)
    endless = endless_attempts(MAX_ATTEMPTS)
    dead = attempts_exhausted(MAX_ATTEMPTS, "the worker died or lost its lease")
    silent_for = timedelta(seconds=settings.heartbeat_seconds)
    with transaction(engine) as connection:
        ended = end(connection, error=endless, silent_for=silent_for)
        ended += end(connection, error=dead)
    for job_id, metric in ended:
        telemetry.JOBS_FINISHED.labels(metric, "failed").inc()
        logger.warning("job.exhausted", job=job_id)


def resend(engine: Engine, metric_queue: MetricQueue, settings: Settings) -> int:
    """Send the lost messages of a queue again and return their number. The queue holds one message
    per waiting job, so only missing ones are sent. Jobs that may have killed their workers are sent
    one at a time."""
    in_queue = broker.queue_length(metric_queue.metric, batch=metric_queue.batch)
    with transaction(engine) as connection:
        lost = _take_lost(connection, metric_queue, in_queue, settings)
    for job_id in lost:
        broker.send(metric_queue.metric, job_id, batch=metric_queue.batch, again=True)
        telemetry.JOBS_RESENT.labels(metric_queue.metric).inc()
    if lost:
        logger.info(
            "jobs.resent", metric=metric_queue.metric, batch=metric_queue.batch, count=len(lost)
        )
    return len(lost)


def _take_lost(
    connection: Connection, metric_queue: MetricQueue, in_queue: int, settings: Settings
) -> list[str]:
    """Return the ids of jobs whose message is lost, and of jobs that may be tried again."""
    again_after = timedelta(seconds=settings.resend_seconds)
    missing = recovery.queued_count(connection, metric_queue) - in_queue
    orphans = partial(recovery.take_orphans, limit=MOST_AT_ONCE)
    lost = recovery.take_waiting(
        connection, metric_queue, limit=MOST_AT_ONCE, again_after=again_after
    )
    for take in (orphans, recovery.take_suspect):
        lost += take(connection, metric_queue, again_after=again_after, max_attempts=MAX_ATTEMPTS)
    if missing > 0:
        limit = min(missing, MOST_AT_ONCE)
        lost += recovery.take_unclaimed(
            connection, metric_queue, limit=limit, again_after=again_after
        )
    return lost
