"""The way of one job through a worker: claim → score → finish, whatever happens in between."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cache
from typing import Any

from tenacity import retry, retry_if_exception_type, stop_after_delay, wait_random_exponential

from shared import log, metrics
from shared.contracts import Message, ServiceContract
from shared.errors import Unavailable
from shared.interpreter import interpreter
from shared.job_context import JobContext, computing
from shared.ledger import leases, turns
from shared.ledger.engine import ledger, transaction
from shared.ledger.lanes import Lane
from shared.ledger.leases import Claim
from shared.ledger.turns import Turn
from shared.settings import settings
from shared.worker.endings import Abandoned, End, Failure, Retry, Success, Wait, ending, too_late
from shared.worker.heartbeat import heartbeat
from shared.worker.shares import Shares, Tenants
from shared.worker.watchdog import Interrupted, watchdog

Score = Callable[[Any], Message]

logger = log.logger(__name__)

patiently = retry(
    retry=retry_if_exception_type(Unavailable),
    wait=wait_random_exponential(multiplier=0.2, max=5),
    stop=stop_after_delay(90),
    reraise=True,
)


@dataclass(frozen=True)
class Delivery:
    """How a message came: in which lane, and whether the scheduler sent it again."""

    batch: bool = False
    again: bool = False


FIRST = Delivery()


def carry(job_id: str, room: ServiceContract, score: Score, delivery: Delivery = FIRST) -> None:
    """Carry the job whose turn it is in this message's lane to its end; where none waits, that is
    that."""
    with claimed(job_id, Lane(room.name, delivery.batch), again=delivery.again) as claim:
        if claim is not None:
            _carry(claim, room, score)


def _carry(claim: Claim, room: ServiceContract, score: Score) -> None:
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


def computed(claim: Claim, context: JobContext, room: ServiceContract, score: Score) -> End:
    """The end of this claim, also where the watchdog had to stop the computation."""

    def give_up() -> None:
        end = too_late(claim)
        account(claim, room.name, end, kept=write(claim, end))

    try:
        with (
            watchdog.watching(context, give_up),
            computing(context),
            interpreter.computing(context.party, context.check),
        ):
            return ending(room, score, claim)
    except Interrupted:
        return too_late(claim)


@cache
def shares(batch: bool) -> Shares:
    """Of the threads for interactive jobs, or of those for jobs of batches."""
    chosen = settings()
    threads = chosen.threads_for_batches if batch else chosen.worker_threads
    return Shares(threads, chosen.tenant_share)


@contextmanager
def claimed(job_id: str, lane: Lane, *, again: bool) -> Iterator[Claim | None]:
    """A claim while the block lasts, or None where nothing waits in this lane."""
    of_tenants = shares(lane.batch)
    claim, waits = None, True
    while claim is None and waits:
        claim, waits = _next_claim(of_tenants, job_id, Turn(lane, again))
        if claim is None and waits and not of_tenants.wait():
            break  # this process stops: the scheduler sends the message again
    try:
        yield claim
    finally:
        if claim is not None:
            of_tenants.release(claim.tenant)


def _next_claim(of_tenants: Shares, job_id: str, turn: Turn) -> tuple[Claim | None, bool]:
    """A claim, and whether jobs wait though there is none: of tenants that hold their part."""
    waits = False

    @patiently
    def claim(tenants: Tenants) -> Claim | None:
        nonlocal waits
        chosen = settings()
        with transaction(ledger()) as connection:
            found = leases.claim(
                connection,
                job_id,
                lease=timedelta(seconds=chosen.lease_seconds),
                max_attempts=chosen.max_attempts,
                turn=replace(turn, served=tenants.served, full=tenants.full),
            )
            waits = found is None and bool(tenants.full) and turns.waits(connection, turn.lane)
        return found

    return of_tenants.next_claim(claim), waits


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
            case Wait(model, detail, seconds):
                told = {"model": model, "detail": detail}
                after = timedelta(seconds=seconds)
                return leases.wait(connection, claim, model=told, resend_after=after)


def account(claim: Claim, metric: str, end: End, *, kept: bool) -> None:
    """Tell the log and the counters how it ended."""
    if not kept:
        metrics.JOBS_FENCED.labels(metric).inc()
        logger.warning("job.fenced", job=claim.job_id, attempt=claim.attempt)
        return
    if isinstance(end, Success | Failure):
        metrics.JOBS_FINISHED.labels(metric, end.status).inc()
    logger.info("job.ended", job=claim.job_id, attempt=claim.attempt, status=end.status)
