"""Which exception means which end. Two words decide: the caller's fault, or worth a retry.

Bad input fails at once with a problem, and so does what is not done by its deadline; a model that
is away gives the job back, until its attempts are used up; what was cancelled meanwhile has its end
already; anything else fails with an id that the log repeats in full.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import ValidationError

from shared import log
from shared.contracts import JobRequest, Message, ServiceContract
from shared.errors import BadInput, DeadlineExceeded, JobCancelled, ModelNotReady, Unavailable
from shared.ledger.leases import Claim
from shared.ledger.private_requests import demand_readable
from shared.problems import attempts_exhausted, internal, problem, ran_too_long, validation_problem
from shared.settings import settings
from shared.worker.forgetting import screened, without_text

logger = log.logger(__name__)


@dataclass(frozen=True)
class Success:
    """The job has a result."""

    result: dict[str, Any]
    status: Literal["succeeded"] = "succeeded"


@dataclass(frozen=True)
class Failure:
    """The job ends with a problem."""

    problem: dict[str, Any]
    status: Literal["failed"] = "failed"


@dataclass(frozen=True)
class Abandoned:
    """Nobody wants a result any more: the ledger has another end already, or another worker."""

    status: Literal["abandoned"] = "abandoned"


@dataclass(frozen=True)
class Retry:
    """The job goes back to the queue for this many seconds."""

    seconds: float
    status: Literal["retried"] = "retried"


@dataclass(frozen=True)
class Wait:
    """The job goes back to the queue until its model is ready; the attempt does not count."""

    model: str
    detail: str
    seconds: float
    status: Literal["waiting"] = "waiting"


End = Success | Failure | Retry | Wait | Abandoned


def ending(room: ServiceContract, score: Callable[[Any], Message], claim: Claim) -> End:
    """Score the claimed job and name its end. Raises nothing but what ends the process."""
    try:
        demand_readable(claim.request)
        request = room.request.model_validate(claim.request)
    except (Unavailable, ValidationError) as error:
        return _unread(claim, error)
    try:
        settings().work_limit.check(room.work(request))  # of another version, or by another limit
        return Success(_kept(score(request), request))
    except JobCancelled:
        return Abandoned()
    except DeadlineExceeded:
        return too_late(claim)
    except BadInput as error:
        found = problem(error)
        return Failure(screened(found, request) if request.do_not_store_text else found)
    except Unavailable as error:
        return _later(claim, error)
    except Exception as error:  # noqa: BLE001 - the boundary: every job must end
        return _unexpected(claim, room.name, error)


def _unread(claim: Claim, error: Unavailable | ValidationError) -> Failure | Retry:
    """A request that this process has no key to, or that another version of us accepted."""
    if isinstance(error, Unavailable):
        return _again(claim, error)
    return Failure(validation_problem(error, claim.request))


def too_late(claim: Claim) -> Failure:
    """It ran past its deadline; another attempt would take as long."""
    logger.warning("job.too_late", job=claim.job_id, attempt=claim.attempt)
    return Failure(ran_too_long(settings().max_run_seconds))


def _kept(report: Message, request: JobRequest) -> dict[str, Any]:
    """The report as it goes into the ledger."""
    if request.do_not_store_text:
        return without_text(report, request)
    return report.model_dump(mode="json")


def _later(claim: Claim, error: Unavailable) -> Failure | Retry | Wait:
    return _waiting(claim, error) if isinstance(error, ModelNotReady) else _again(claim, error)


def _waiting(claim: Claim, error: ModelNotReady) -> Failure | Wait:
    """The job waits for its model, for so many hours after its acceptance."""
    chosen = settings()
    if claim.waited_seconds > chosen.model_wait_hours * 3_600:
        return Failure(problem(error))
    logger.info("job.waits", job=claim.job_id, model=error.model, detail=error.detail)
    return Wait(error.model, error.detail, chosen.model_wait_seconds)


def _again(claim: Claim, error: Unavailable) -> Failure | Retry:
    logger.warning("job.unavailable", job=claim.job_id, attempt=claim.attempt, detail=error.detail)
    chosen = settings()
    if claim.tried >= chosen.max_attempts:
        return Failure(attempts_exhausted(chosen.max_attempts, error.detail))
    return Retry(chosen.retry_seconds * 2 ** (claim.tried - 1))


def _unexpected(claim: Claim, metric: str, error: Exception) -> Failure:
    error_id = f"err_{secrets.token_hex(8)}"
    logger.error("job.crashed", job=claim.job_id, metric=metric, error_id=error_id, exc_info=error)
    return Failure(internal(error_id))
