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
from shared.errors import BadInput, Unavailable
from shared.ledger.leases import Claim
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


def ending(room: Room, score: Callable[[Any], Message], claim: Claim) -> Success | Failure | Retry:
    """Score the claimed job and name its end. Raises nothing but what ends the process."""
    try:
        request = room.request.model_validate(claim.request)
    except ValidationError as error:  # accepted by another version of the contract
        return Failure(validation_problem(error, claim.request))
    try:
        settings().work_limit.check(room.work(request))  # of another version, or by another limit
        return Success(_kept(score(request), request))
    except BadInput as error:
        found = problem(error)
        return Failure(screened(found, request) if request.do_not_store_text else found)
    except Unavailable as error:
        return _again(claim, error)
    except Exception as error:  # noqa: BLE001 - the boundary: every job must end
        return _unexpected(claim, room.name, error)


def _kept(report: Message, request: JobRequest) -> dict[str, Any]:
    """The report as it goes into the ledger."""
    if request.do_not_store_text:
        return without_text(report, request)
    return report.model_dump(mode="json")


def _again(claim: Claim, error: Unavailable) -> Failure | Retry:
    logger.warning("job.unavailable", job=claim.job_id, attempt=claim.attempt, detail=error.detail)
    chosen = settings()
    if claim.attempt >= chosen.max_attempts:
        return Failure(attempts_exhausted(chosen.max_attempts, error.detail))
    return Retry(chosen.retry_seconds * 2 ** (claim.attempt - 1))


def _unexpected(claim: Claim, metric: str, error: Exception) -> Failure:
    error_id = f"err_{secrets.token_hex(8)}"
    logger.error("job.crashed", job=claim.job_id, metric=metric, error_id=error_id, exc_info=error)
    return Failure(internal(error_id))
