"""The way of one job through a worker: claim → score → finish, whatever happens in between."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from tenacity import retry, retry_if_exception_type, stop_after_delay, wait_random_exponential

from shared import log, metrics
from shared.contracts import Message, Room
from shared.errors import Unavailable
from shared.job_context import JobContext, computing
from shared.ledger import leases
from shared.ledger.engine import ledger, transaction
from shared.ledger.leases import Claim
from shared.settings import settings
from shared.worker.endings import Failure, Retry, Success, ending
from shared.worker.heartbeat import heartbeat

Score = Callable[[Any], Message]

logger = log.logger(__name__)

patiently = retry(
    retry=retry_if_exception_type(Unavailable),
    wait=wait_random_exponential(multiplier=0.2, max=5),
    stop=stop_after_delay(90),
    reraise=True,
)


def carry(job_id: str, room: Room, score: Score) -> None:
    """Carry one job to its end; a job that is not ours to take is left alone, quietly."""
    claim = claimed(job_id)
    if claim is None:
        return
    metrics.QUEUE_SECONDS.labels(room.name).observe(claim.waited_seconds)
    started = time.perf_counter()
    with heartbeat.held(claim):
        with computing(context_of(claim)):
            end = ending(room, score, claim)
        kept = finish(claim, end)
    metrics.SCORE_SECONDS.labels(room.name).observe(time.perf_counter() - started)
    account(claim, room.name, end, kept=kept)


def context_of(claim: Claim) -> JobContext:
    """What the computation must know of this job; its time starts now."""
    return JobContext(
        job_id=claim.job_id,
        tenant=claim.tenant,
        batch=claim.batch_id is not None,
        deadline=time.monotonic() + settings().max_run_seconds,
    )


@patiently
def claimed(job_id: str) -> Claim | None:
    """The claim on this job, or None where another has it or it is final."""
    chosen = settings()
    with transaction(ledger()) as connection:
        return leases.claim(
            connection,
            job_id,
            lease=timedelta(seconds=chosen.lease_seconds),
            max_attempts=chosen.max_attempts,
        )


@patiently
def finish(claim: Claim, end: Success | Failure | Retry) -> bool:
    """Write the end into the ledger; False where the claim is no longer ours."""
    with transaction(ledger()) as connection:
        match end:
            case Success(result):
                return leases.succeed(connection, claim, result)
            case Failure(problem):
                return leases.fail(connection, claim, problem)
            case Retry(seconds):
                return leases.release(connection, claim, resend_after=timedelta(seconds=seconds))


def account(claim: Claim, metric: str, end: Success | Failure | Retry, *, kept: bool) -> None:
    """Tell the log and the counters how it ended."""
    if not kept:
        metrics.JOBS_FENCED.labels(metric).inc()
        logger.warning("job.fenced", job=claim.job_id, attempt=claim.attempt)
        return
    if not isinstance(end, Retry):
        metrics.JOBS_FINISHED.labels(metric, end.status).inc()
    logger.info("job.ended", job=claim.job_id, attempt=claim.attempt, status=end.status)
