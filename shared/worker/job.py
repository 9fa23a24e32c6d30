"""Runs one job in a worker: claim, score and finish, for every kind of end.

Each exception leads to one end. Bad input and a missed deadline fail at once with a problem. If a
model's answer is unusable, the job returns to the queue until its attempts are used up. If a model
is away, the job waits and uses no attempt. A cancelled job has its end already. Any other exception
fails the job with an id that is in the log.

One thread per process renews the leases of all jobs. Between renewals it checks every second
whether the claims are still valid, so that the computation of a cancelled or lost job ends soon.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cache, partial
from typing import Any, Literal

from pydantic import ValidationError
from sqlalchemy import Connection
from tenacity import retry, retry_if_exception_type, stop_after_delay, wait_random_exponential

from shared.contracts.errors import (
    BadInput,
    DeadlineExceeded,
    JobCancelled,
    ModelNotReady,
    ModelState,
    ModelUnusable,
    Unavailable,
)
from shared.contracts.messages import JobRequest, Message, Report
from shared.contracts.problems import (
    attempts_exhausted,
    internal,
    problem,
    timeout_problem,
    validation_problem,
)
from shared.contracts.redaction import strip_request, untold, without_text
from shared.contracts.service import MetricContract, ServiceContract
from shared.ledger import claim_order, leases
from shared.ledger.claim_order import ClaimOrder, MetricQueue
from shared.ledger.engine import ledger, single_statements, transaction
from shared.ledger.leases import MAX_ATTEMPTS, Claim
from shared.ledger.private_requests import check_readable
from shared.models.catalogue.availability import UNUSABLE
from shared.process import telemetry
from shared.process.encryption import text_key
from shared.process.settings import settings
from shared.queue.broker import JobMessage, app, send_all, task_name
from shared.queue.job_context import JobContext, use_context
from shared.queue.priority import standing_back
from shared.queue.thread_scheduling import interpreter
from shared.worker import score_series
from shared.worker.batch_queues import Tenants, TenantShares
from shared.worker.combined_calls import WantedClaim, claim_terms, claims, successes
from shared.worker.watchdog import GRACE_SECONDS, Interrupted, watchdog

HAND_BACK_SECONDS = 2.0  # before a message is sent again whose jobs may not be taken yet
RETRY_SECONDS = 5.0  # before the second attempt; doubled for each further attempt
# between two attempts of a job to get its model: a quarter of the job's age, within these limits
MODEL_WAIT_SECONDS = (10.0, 60.0)
MODEL_WAIT_HOURS = 24.0  # after its acceptance, a job that still waits for its model fails
TENANT_SHARE = 0.75  # of a worker's threads, for the jobs of one tenant
QUEUE_SHARE = 0.5  # for those in one metric's queue, so that the tenant's other metrics go on
LARGE_CHARACTERS = 10_000  # of a request; reading so many takes about 0.1 s of a processor
LARGE_SECONDS = 1.0  # of a request's expected work

Score = Callable[[Any], Message]

logger = telemetry.logger(__name__)

patiently = retry(
    retry=retry_if_exception_type(Unavailable),
    wait=wait_random_exponential(multiplier=0.2, max=5),
    stop=stop_after_delay(90),
    reraise=True,
)


@dataclass(frozen=True)
class MessageDelivery:
    """How a message arrived: `batch` is its kind of queue, `again` is True if the scheduler sent it
    again."""

    batch: bool = False
    again: bool = False


FIRST = MessageDelivery()


def run_job(
    job_id: str, contract: ServiceContract, score: Score, delivery: MessageDelivery = FIRST
) -> None:
    """Claim the next job of the message's queue and process it. Do nothing if no job waits."""
    with acquire_job(
        job_id, MetricQueue(contract.name, delivery.batch), again=delivery.again
    ) as claim:
        if claim is not None:
            with telemetry.of_request(claim.request_id):
                _run(claim, contract, score)


def _run(claim: Claim, contract: ServiceContract, score: Score) -> None:
    telemetry.QUEUE_SECONDS.labels(contract.name).observe(claim.waited_seconds)
    started = time.perf_counter()
    context = context_of(claim, contract)
    with heartbeat.watch(claim, context):
        compute = partial(compute_end, claim, context, contract, score)
        is_large = context.batch and claim.batch_id is None
        end = standing_back(compute) if is_large else compute()
        with run_first(context.batch):
            kept = finish(claim, end, batch=context.batch)
    telemetry.SCORE_SECONDS.labels(contract.name).observe(time.perf_counter() - started)
    record_end(claim, contract.name, end, kept=kept)
    if kept and isinstance(end, Success) and isinstance(contract, MetricContract):
        score_series.observe(contract, end.result, claim.request.get("model"))


def context_of(claim: Claim, contract: ServiceContract) -> JobContext:
    """Return the context in which a claimed job is computed. Its time starts now. A large request
    is treated like a batch line, because several large requests would delay all small ones."""
    return JobContext(
        job_id=claim.job_id,
        tenant=claim.tenant,
        batch=claim.batch_id is not None or is_large(claim.request, contract),
        deadline=time.monotonic() + settings().max_work_seconds,
        attempt=claim.attempt,
        private=claim.request.get("do_not_store_text") is True,
    )


def is_large(stored: Mapping[str, Any], contract: ServiceContract) -> bool:
    """Return True for a long request, or for one with much expected work on this service's
    processors. False if its work cannot be estimated: the score then reports why."""
    if characters(stored) > LARGE_CHARACTERS:
        return True
    try:
        works = contract.work(contract.request.model_validate(stored))
        local = [work for work in works if not work.at_server]
        return settings().work_limit.expected_time(local) > LARGE_SECONDS
    except Exception:  # noqa: BLE001 - a stored request of another version
        return False


def characters(value: Any) -> int:
    """Return the total number of characters of the texts in a request."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, Mapping):
        return sum(map(characters, value.values()))
    return sum(map(characters, value)) if isinstance(value, Sequence) else 0


def compute_end(claim: Claim, context: JobContext, contract: ServiceContract, score: Score) -> End:
    """Compute a claimed job and return how it ended, even if the watchdog stopped the
    computation."""

    def give_up() -> None:
        end = too_late(claim)
        record_end(claim, contract.name, end, kept=write(claim, end))

    try:
        with (
            watchdog.watch(context, give_up),
            use_context(context),
            interpreter.computing(context.party, context.check, context.extend),
        ):
            return ending(contract, score, claim)
    except Interrupted:
        return too_late(claim)


@cache
def shares(batch: bool) -> TenantShares:
    """Return the limits on threads per tenant, for interactive or for batch jobs. With `batch`, all
    threads may wait for jobs of one queue, because the scheduler lets no tenant fill a queue."""
    chosen = settings()
    if batch:
        threads = chosen.threads_for_batches
        return TenantShares(threads, TENANT_SHARE, stand_by=threads)
    several = sum(name.startswith(task_name("")) for name in app.tasks) > 2  # a metric, its report
    in_queue = QUEUE_SHARE if several else TENANT_SHARE
    return TenantShares(chosen.worker_threads, TENANT_SHARE, share_in_queue=in_queue)


@contextmanager
def acquire_job(job_id: str, queue: MetricQueue, *, again: bool) -> Iterator[Claim | None]:
    """Claim a job, and count it against its tenant's share while the block runs. Yield the claim,
    or None if no job may be claimed. If all waiting jobs belong to tenants that have used their
    share, the message is sent again."""
    of_tenants = shares(queue.batch)
    claim = _claim(of_tenants, job_id, ClaimOrder(queue, again))
    try:
        yield claim
    finally:
        if claim is not None:
            of_tenants.release(claim.tenant, queue.metric)


def _claim(of_tenants: TenantShares, job_id: str, turn: ClaimOrder) -> Claim | None:
    claim, waits = _next_claim(of_tenants, job_id, turn)
    if claim is not None or not waits:
        return claim
    with of_tenants.standing_by() as stands_by:
        if not stands_by:
            later = threading.Timer(HAND_BACK_SECONDS, _return_to_queue, (job_id, turn))
            later.daemon = True  # if this process stops first, the scheduler sends it again
            later.start()
            return None
        while claim is None and waits and of_tenants.wait():
            claim, waits = _next_claim(of_tenants, job_id, turn)
        return claim  # None too where this process stops: the scheduler sends the message again


def run_first(batch: bool) -> AbstractContextManager[None]:
    """Return a context manager in which a short step of an interactive job runs before long
    computations. For batch jobs it does nothing."""
    return nullcontext() if batch else interpreter.quick()


def _return_to_queue(job_id: str, turn: ClaimOrder) -> None:
    """Send a message for this job to the end of its queue, because this thread has to process a
    different queue."""
    metric, batch = turn.queue
    message = JobMessage(metric, job_id, batch, telemetry.inject_trace(), turn.again)
    with suppress(Unavailable):  # the scheduler sends it again
        send_all([message])


def _next_claim(
    of_tenants: TenantShares, job_id: str, turn: ClaimOrder
) -> tuple[Claim | None, bool]:
    """Return a claim, or None. The second value is True if jobs wait but their tenants have used
    their full share."""
    waits = False

    @patiently
    def claim(tenants: Tenants) -> Claim | None:
        nonlocal waits
        order = replace(turn, served=tenants.served, full=tenants.full)
        with run_first(turn.queue.batch):
            found = None
            may_join = not (order.again or order.full)
            if may_join:
                found = claims(*turn.queue)(WantedClaim(job_id, order))
            if found is None:
                with single_statements(ledger()) as connection:
                    found = leases.claim_free(connection, job_id, claim_terms(), order)
            if found is None:
                with transaction(ledger()) as connection:
                    found = leases.claim_suspect(connection, job_id, claim_terms())
                    waits = (
                        found is None
                        and bool(tenants.full)
                        and claim_order.waits(connection, turn.queue)
                    )
        return found

    return of_tenants.next_claim(claim, turn.queue.metric), waits


@patiently
def finish(claim: Claim, end: End, *, batch: bool = False) -> bool:
    """Record the job's end in the database; a failed write is repeated. Return False if the claim
    is no longer valid."""
    if isinstance(end, Success) and successes(batch)((claim, end.result)):
        return True
    return write(claim, end)


def write(claim: Claim, end: End) -> bool:
    """Write into the database how the job ended. Return False if the claim is no longer valid."""
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
                waiting_for = {"model": model, "state": end.state, "detail": detail}
                after = timedelta(seconds=seconds)
                return leases.wait(connection, claim, model=waiting_for, resend_after=after)


def record_end(claim: Claim, metric: str, end: End, *, kept: bool) -> None:
    """Record in the log and the counters how the job ended. `kept` is False if the end was not
    stored, because the claim was no longer valid."""
    if not kept:
        telemetry.JOBS_FENCED.labels(metric).inc()
        logger.warning("job.fenced", job=claim.job_id, attempt=claim.attempt)
        return
    if isinstance(end, Success | Failure):
        telemetry.JOBS_FINISHED.labels(metric, end.status).inc()
    logger.info("job.ended", job=claim.job_id, attempt=claim.attempt, status=end.status)


@dataclass(frozen=True)
class Success:
    result: dict[str, Any]
    status: Literal["succeeded"] = "succeeded"


@dataclass(frozen=True)
class Failure:
    """The end of a job that fails. `problem` is its problem document (RFC 9457)."""

    problem: dict[str, Any]
    status: Literal["failed"] = "failed"


@dataclass(frozen=True)
class Abandoned:
    """The result is no longer needed, because the job has already ended or another worker runs
    it."""

    status: Literal["abandoned"] = "abandoned"


@dataclass(frozen=True)
class Retry:
    """The attempt failed, and the job goes back to the queue. It may be retried after
    `seconds`."""

    seconds: float
    status: Literal["retried"] = "retried"


@dataclass(frozen=True)
class Wait:
    """The job returns to the queue until its model is ready; the attempt does not count."""

    model: str
    detail: str
    seconds: float
    state: ModelState
    status: Literal["waiting"] = "waiting"


End = Success | Failure | Retry | Wait | Abandoned


def ending(contract: ServiceContract, score: Callable[[Any], Message], claim: Claim) -> End:
    """Score the claimed job and return its outcome. Any exception is converted to an outcome, such
    as a failure or a retry."""
    try:
        check_readable(claim.request)
        # The request was validated before it was stored. Validating again builds its nested
        # messages and finds requests that another version accepted. It takes 3 to 60 µs for a
        # usual request and 1.5 to 4 ms for 2,000 values. A check of versions would save nothing,
        # because scoring needs the messages.
        request = contract.request.model_validate(claim.request)
    except (Unavailable, ValidationError) as error:
        return _unread(claim, error)
    try:
        settings().work_limit.check(
            contract.work(request)
        )  # of another version, or by another limit
        return Success(_to_record(with_text_key(score(request), contract, request), request))
    except JobCancelled:
        return Abandoned()
    except DeadlineExceeded:
        return too_late(claim)
    except BadInput as error:
        found = problem(error)
        return Failure(strip_request(found, request) if request.do_not_store_text else found)
    except Unavailable as error:
        return _retry_or_wait(claim, error)
    except Exception as error:  # noqa: BLE001 - the boundary: every job must end
        return _internal_error(
            claim, contract.name, untold(error) if request.do_not_store_text else error
        )


def _unread(claim: Claim, error: Unavailable | ValidationError) -> Failure | Retry:
    """Return the outcome of a job whose request this process cannot decrypt (retry or fail), or
    whose request is no longer valid (fail)."""
    if isinstance(error, Unavailable):
        return _retry_or_fail(claim, error)
    return Failure(validation_problem(error, claim.request))


def too_late(claim: Claim) -> Failure:
    """Return the failure for a missed deadline. The job is not retried, because another attempt
    would take as long."""
    logger.warning("job.too_late", job=claim.job_id, attempt=claim.attempt)
    return Failure(timeout_problem(settings().max_work_seconds))


def with_text_key(report: Message, contract: ServiceContract, request: JobRequest) -> Message:
    """Add the hash of the text to the report, because the text may be deleted later."""
    if not isinstance(contract, MetricContract) or not isinstance(report, Report):
        return report
    judged = contract.judged_text(request)
    key = None if judged is None else text_key(judged, settings())
    origin = report.provenance.model_copy(update={"text_key": key})
    return report.model_copy(update={"provenance": origin})


def _to_record(report: Message, request: JobRequest) -> dict[str, Any]:
    if request.do_not_store_text:
        return without_text(report, request)
    return report.model_dump(mode="json")


def _retry_or_wait(claim: Claim, error: Unavailable) -> Failure | Retry | Wait:
    return (
        _wait_or_fail(claim, error)
        if isinstance(error, ModelNotReady)
        else _retry_or_fail(claim, error)
    )


def _wait_or_fail(claim: Claim, error: ModelNotReady) -> Failure | Wait:
    """Wait for the model, or fail after `MODEL_WAIT_HOURS` since the job's acceptance."""
    if claim.waited_seconds > MODEL_WAIT_HOURS * 3_600:
        return Failure(problem(ModelUnusable(error.detail) if error.state in UNUSABLE else error))
    logger.info("job.waits", job=claim.job_id, model=error.model, detail=error.detail)
    shortest, longest = MODEL_WAIT_SECONDS
    seconds = min(max(shortest, claim.waited_seconds / 4), longest)
    return Wait(error.model, error.detail, seconds, error.state)


def _retry_or_fail(claim: Claim, error: Unavailable) -> Failure | Retry:
    logger.warning("job.unavailable", job=claim.job_id, attempt=claim.attempt, detail=error.detail)
    if claim.tried >= MAX_ATTEMPTS:
        return Failure(attempts_exhausted(MAX_ATTEMPTS, error.detail))
    return Retry(RETRY_SECONDS * 2 ** (claim.tried - 1))


def _internal_error(claim: Claim, metric: str, error: Exception) -> Failure:
    error_id = f"err_{secrets.token_hex(8)}"
    logger.error("job.crashed", job=claim.job_id, metric=metric, error_id=error_id, exc_info=error)
    return Failure(internal(error_id))


LOOK_SECONDS = 1.0


class Heartbeat:
    """Renews the leases of this process's jobs, with one statement per heartbeat."""

    def __init__(self) -> None:
        self._held: dict[Claim, JobContext] = {}
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    @contextmanager
    def watch(self, claim: Claim, context: JobContext) -> Iterator[None]:
        """Renew this claim's lease during the block. If the lease is lost, the context is
        cancelled."""
        with self._lock:
            self._held[claim] = context
            self._ensure_running()
        try:
            yield
        finally:
            with self._lock:
                self._held.pop(claim, None)

    def beat(self) -> None:
        """Renew all leases once. Leases that are lost or were held for too long are released. A job
        past its deadline keeps its lease while the watchdog ends it."""
        latest = time.monotonic() - 2 * GRACE_SECONDS
        lease = timedelta(seconds=settings().lease_seconds)
        mine = {claim: one for claim, one in self._copy().items() if one.deadline >= latest}
        try:
            self._release(mine, lambda connection: leases.renew(connection, mine, lease=lease))
        except Unavailable:
            logger.warning("heartbeat.missed", claims=len(mine))

    def check(self) -> None:
        """Cancel the computations of claims that are lost."""
        mine = self._copy()
        try:
            self._release(mine, lambda connection: leases.still_claimed(connection, mine))
        except Unavailable:
            logger.debug("heartbeat.looked_in_vain", claims=len(mine))

    def _copy(self) -> dict[Claim, JobContext]:
        with self._lock:
            return dict(self._held)

    def _release(
        self, mine: Mapping[Claim, JobContext], kept_of: Callable[[Connection], set[str]]
    ) -> None:
        """Check which of the claims `mine` are still valid, and cancel the computations of the
        others. `kept_of` returns the ids of the jobs whose claim is valid."""
        if not mine:
            return
        with transaction(ledger()) as connection:
            kept = kept_of(connection)
        for claim, context in mine.items():
            if claim.job_id not in kept:
                context.cancelled.set()
                with self._lock:
                    self._held.pop(claim, None)

    def _ensure_running(self) -> None:
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        every = settings().heartbeat_seconds
        beat_at = time.monotonic() + every
        while True:
            time.sleep(min(LOOK_SECONDS, every))
            try:
                if time.monotonic() < beat_at:
                    self.check()
                else:
                    beat_at = time.monotonic() + settings().heartbeat_seconds
                    self.beat()
            except Exception:
                logger.exception("heartbeat.crashed")


heartbeat = Heartbeat()
