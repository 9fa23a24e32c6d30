"""Which exception means which end. Two words decide: the caller's fault, or worth a retry.

Bad input fails at once with a problem; a model that is away gives the job back, until its
attempts are used up; anything else fails with an id that the log repeats in full.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import ValidationError

from shared import log
from shared.contracts import JobRequest, Message, Room
from shared.errors import BadInput, ModelNotReady, Unavailable
from shared.ledger.leases import Claim
from shared.ledger.private_requests import demand_readable
from shared.problems import attempts_exhausted, internal, problem, validation_problem
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


End = Success | Failure | Retry | Wait


def ending(room: Room, score: Callable[[Any], Message], claim: Claim) -> End:
    """Score the claimed job and name its end. Raises nothing but what ends the process."""
    try:
        demand_readable(claim.request)
        request = room.request.model_validate(claim.request)
    except Unavailable as error:
        return _again(claim, error)
    except ValidationError as error:  # accepted by another version of the contract
        return Failure(validation_problem(error, claim.request))
    try:
        return Success(_kept(score(request), request))
    except BadInput as error:
        found = problem(error)
        return Failure(screened(found, request) if request.do_not_store_text else found)
    except ModelNotReady as error:
        return _waiting(claim, error)
    except Unavailable as error:
        return _again(claim, error)
    except Exception as error:  # noqa: BLE001 - the boundary: every job must end
        return _unexpected(claim, room.name, error)


def _kept(report: Message, request: JobRequest) -> dict[str, Any]:
    """The report as it goes into the ledger."""
    if request.do_not_store_text:
        return without_text(report, request)
    return report.model_dump(mode="json")


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
