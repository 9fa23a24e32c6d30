"""Saves steps of a job before the job ends, so that the next attempt does not repeat them.

A step is found by the hash of its job's request and of this service's version. An answer to another
request, or of another version, is therefore never used. Texts are stored like the request, which
means encrypted with `do_not_store_text`. They are deleted at the job's end.
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
    """Return the answer of an earlier attempt, or call `ask` and save its answer first. `name`
    identifies the step and is unique in a job. Outside a job nothing is saved. Raises the
    exceptions of `ask`, and Unavailable while the jobs database is unreachable."""
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
    """Return the SHA-256 of the step, of the request without fields that change no score, and of
    the service's version."""
    asked = request.model_dump(mode="json", exclude=set(TRANSPORT))
    return hashlib.sha256(
        json.dumps([name, SERVICE_VERSION, asked], sort_keys=True).encode()
    ).hexdigest()


@patiently
def _keep(step: JobStep, attempt: int, content: str) -> None:
    """Save the step. If the claim is lost nothing is saved, and the heartbeat ends the job."""
    with transaction(ledger()) as connection:
        job_steps.keep(connection, step, attempt, content)


@patiently
def _stored(step: JobStep) -> str | None:
    with transaction(ledger()) as connection:
        return job_steps.find(connection, step)


def _find(step: JobStep, request: JobRequest, message: type[M]) -> M | None:
    """Return the saved result of the step. Return None if nothing was saved, no key decrypts the
    content, or another version wrote it in another format."""
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
    """Return the text in the form to be stored. Raises Unavailable if there is no key to encrypt
    it."""
    if not request.do_not_store_text:
        return content
    sealer = secret_sealer(settings())
    if sealer is None:
        raise Unavailable(
            "a text that must not be stored needs TOUCHSTONE_SECRET_KEYS; set it for this worker"
        )
    return sealer.seal(content)
