"""Steps of a job that are committed before its end: the next attempt does not ask again.

A step is bound to what was asked: it is found again by the hash of its job's request and of the
version of this service, so that what another version or another question was told is never taken.
Texts rest as the request does: encrypted where `do_not_store_text` is asked for; and they are gone
with the job's end.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import TypeVar

from shared.contracts.errors import Unavailable
from shared.contracts.messages import TRANSPORT, JobRequest, Message
from shared.ledger import job_steps
from shared.ledger.engine import ledger, transaction
from shared.ledger.job_steps import JobStep
from shared.process import telemetry
from shared.process.encryption import secret_sealer
from shared.process.settings import SERVICE_VERSION, settings
from shared.queue.job_context import current
from shared.worker.job import patiently

M = TypeVar("M", bound=Message)

logger = telemetry.logger(__name__)


def run_step(name: str, request: JobRequest, message: type[M], ask: Callable[[], M]) -> M:
    """What an earlier attempt at this job was told, else what `ask` says, once it is committed.

    name: of the step, one a job. Outside a job nothing is kept. Raises what `ask` raises, and
    Unavailable where the ledger stays away.
    """
    context = current()
    if context is None or context.attempt is None:
        return ask()
    step = JobStep(context.job_id, name, fingerprint(name, request))
    kept = _find(step, request, message) if context.attempt > 1 else None
    if kept is not None:
        logger.info("step.found", job=step.job_id, step=name, attempt=context.attempt)
        return kept
    told = ask()
    _keep(step, context.attempt, _as_stored(told.model_dump_json(), request))
    return told


def fingerprint(name: str, request: JobRequest) -> str:
    """SHA-256 of the step, the request without what changes no score, and our version."""
    asked = request.model_dump(mode="json", exclude=set(TRANSPORT))
    return hashlib.sha256(
        json.dumps([name, SERVICE_VERSION, asked], sort_keys=True).encode()
    ).hexdigest()


@patiently
def _keep(step: JobStep, attempt: int, content: str) -> None:
    """A claim that is lost keeps nothing, and hears of it by its heartbeat."""
    with transaction(ledger()) as connection:
        job_steps.keep(connection, step, attempt, content)


@patiently
def _stored(step: JobStep) -> str | None:
    with transaction(ledger()) as connection:
        return job_steps.find(connection, step)


def _find(step: JobStep, request: JobRequest, message: type[M]) -> M | None:
    """None too where no key of ours opens it, or another version wrote it."""
    content = _stored(step)
    if content is None:
        return None
    try:
        sealer = secret_sealer(settings()) if request.do_not_store_text else None
        return message.model_validate(
            json.loads(content if sealer is None else sealer.open(content))
        )
    except ValueError:  # Unreadable and ValidationError are such
        logger.warning("step.unreadable", job=step.job_id, step=step.name)
        return None


def _as_stored(content: str, request: JobRequest) -> str:
    """Raises Unavailable where there is no key to encrypt it."""
    if not request.do_not_store_text:
        return content
    sealer = secret_sealer(settings())
    if sealer is None:
        raise Unavailable("a text that must not be stored needs TOUCHSTONE_SECRET_KEYS")
    return sealer.seal(content)
