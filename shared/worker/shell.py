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
from shared.worker.endings import Abandoned, End, Failure, Retry, Success, ending, too_late
from shared.worker.heartbeat import heartbeat
from shared.worker.watchdog import Interrupted, watchdog

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
    context = context_of(claim)
    with heartbeat.held(claim, context):
        end = computed(claim, context, room, score)
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


def computed(claim: Claim, context: JobContext, room: Room, score: Score) -> End:
    """The end of this claim, also where the watchdog had to stop the computation."""

    def give_up() -> None:
        end = too_late(claim)
        account(claim, room.name, end, kept=write(claim, end))

    try:
        with watchdog.watching(context, give_up), computing(context):
            return ending(room, score, claim)
    except Interrupted:
        return too_late(claim)


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
def finish(claim: Claim, end: End) -> bool:
    """Write the end, as often as it takes; False where the claim is no longer ours."""
    return write(claim, end)


def write(claim: Claim, end: End) -> bool:
    """Write the end into the ledger; False where the claim is no longer ours."""
    if isinstance(end, Abandoned):
        return True
    with transaction(ledger()) as connection:
        match end:
            case Success(result):
                return leases.succeed(connection, claim, result)
            case Failure(problem):
                return leases.fail(connection, claim, problem)
            case Retry(seconds):
                return leases.release(connection, claim, resend_after=timedelta(seconds=seconds))


def account(claim: Claim, metric: str, end: End, *, kept: bool) -> None:
    """Tell the log and the counters how it ended."""
    if not kept:
        metrics.JOBS_FENCED.labels(metric).inc()
        logger.warning("job.fenced", job=claim.job_id, attempt=claim.attempt)
        return
    if isinstance(end, Success | Failure):
        metrics.JOBS_FINISHED.labels(metric, end.status).inc()
    logger.info("job.ended", job=claim.job_id, attempt=claim.attempt, status=end.status)
