"""One call over the queue: a small message out, an answer on a reply list that expires.

Calls and replies hold callers' texts and are encrypted on their way.
A repeated call changes nothing, so that a call without an answer by its deadline is sent again,
twice at most. Source: design.md §3.
"""

from __future__ import annotations

import secrets
import time
from contextlib import suppress
from functools import lru_cache
from typing import Any, Literal

import redis
from kombu.exceptions import OperationalError
from pydantic import Field, TypeAdapter
from redis.exceptions import RedisError

from shared import log
from shared.contracts import Message, ModelKind, ModelName
from shared.encryption import Unreadable, secret_sealer
from shared.errors import (
    BadInput,
    DegenerateInput,
    JobStopped,
    ModelNotReady,
    ScoringError,
    Unavailable,
)
from shared.job_context import SLICE_SECONDS, current, pause, waiting
from shared.operations import Operation
from shared.queue import SOCKET_SECONDS, app, batch_queue
from shared.settings import settings
from shared.tracing import carried

ModelRoom = Literal["inference", "similarity"]

SENDINGS = 3
LONGEST_BLOCK_SECONDS = 3_600
NOTICE_SECONDS = 0.5

logger = log.logger(__name__)


class Call(Message):
    """What a model worker is asked, and for whose job. `deadline` in unix seconds: later nobody
    waits any more for this sending; `given_up`: for any."""

    id: str
    model: ModelName
    operation: Operation
    deadline: float
    given_up: float | None = None
    tenant: str = ""
    batch: bool = False


class Refusal(Message):
    """An error that crosses the wire."""

    error: Literal["BadInput", "DegenerateInput", "ModelNotReady", "Unavailable", "ScoringError"]
    detail: str
    pointer: str | None = None


class Reply(Message):
    """An answer, as JSON of the operation's answer type, or a refusal."""

    answer: Any = None
    refusal: Refusal | None = Field(default=None)


ERRORS: dict[str, type[ScoringError]] = {
    error.__name__: error
    for error in (BadInput, DegenerateInput, ModelNotReady, Unavailable, ScoringError)
}


def room_of(kind: ModelKind) -> ModelRoom:
    """Which workers hold models of this kind."""
    return "similarity" if kind in ("similarity", "cross-encoder") else "inference"


def task_name(room: ModelRoom) -> str:
    """The Celery task, and the queue, of a model room's calls."""
    return f"model.{room}"


def withdrawn(call_id: str) -> str:
    """The Redis key that is there once nobody waits for the answer."""
    return f"withdrawn:{call_id}"


def reply_list(call_id: str) -> str:
    """The Redis list on which the answer comes."""
    return f"reply:{call_id}"


@lru_cache(maxsize=1)
def replies() -> redis.Redis:
    """Connections for blocking reads: their socket waits longer than any read blocks."""
    return redis.Redis.from_url(
        settings().redis_url.get_secret_value(),
        socket_timeout=LONGEST_BLOCK_SECONDS,
        socket_connect_timeout=SOCKET_SECONDS,
        socket_keepalive=True,
    )


def sealed(message: Message) -> str:
    """A call or a reply as it travels: Redis may write it to a file, so it is encrypted where
    there are `TOUCHSTONE_SECRET_KEYS`."""
    sealer = secret_sealer(settings())
    text = message.model_dump_json()
    return text if sealer is None else sealer.seal(text)


def opened(message: str | bytes) -> str | bytes:
    """The JSON of a call or a reply. Raises Unreadable where no key of this process opens it."""
    if message[:1] in ("{", b"{"):
        return message
    sealer = secret_sealer(settings())
    if sealer is None:
        raise Unreadable("this process has no TOUCHSTONE_SECRET_KEYS")
    return sealer.open(message)


@lru_cache(maxsize=1)
def notices() -> redis.Redis:
    """Connections for who would rather know nothing than wait."""
    return redis.Redis.from_url(
        settings().redis_url.get_secret_value(),
        socket_timeout=NOTICE_SECONDS,
        socket_connect_timeout=NOTICE_SECONDS,
    )


def ask(room: ModelRoom, model: str, operation: Any) -> Any:
    """The answer to one operation. Raises what the model raised, or Unavailable."""
    raw = _answered(room, model, operation)
    try:
        reply = Reply.model_validate_json(opened(raw))
    except Unreadable as error:
        raise Unavailable(f"the reply of {model!r} cannot be read: {error}") from None
    if reply.refusal is not None:
        raise _error(reply.refusal, model)
    answer: TypeAdapter[Any] = type(operation).answer
    return answer.validate_python(reply.answer)


def _error(refusal: Refusal, model: str) -> ScoringError:
    """What the model's worker raised."""
    if refusal.error == ModelNotReady.__name__:
        return ModelNotReady(refusal.detail, model=model)
    return ERRORS[refusal.error](refusal.detail, pointer=refusal.pointer)


def _answered(room: ModelRoom, model: str, operation: Any) -> bytes:
    seconds = settings().call_seconds
    call_id = secrets.token_hex(16)
    job, given_up = current(), time.time() + SENDINGS * seconds
    for sending in range(SENDINGS):
        call = Call(
            id=call_id,
            model=model,
            operation=operation,
            deadline=time.time() + seconds,
            given_up=given_up,
            tenant=job.tenant if job else "",
            batch=job is not None and job.batch,
        )
        raw = _sent_and_waited(room, call, seconds)
        if raw is not None:
            return raw
        logger.warning("call.unanswered", model=model, call=call_id, sending=sending + 1)
    raise Unavailable(f"the model {model!r} gave no answer in {SENDINGS} x {seconds:g} s")


def _sent_and_waited(room: ModelRoom, call: Call, seconds: float) -> bytes | None:
    queue = task_name(room)
    try:
        app.send_task(
            queue,
            args=(sealed(call),),
            queue=batch_queue(queue) if call.batch else queue,
            retry=False,
            headers=carried(),
        )
        return _waited(call, seconds)
    except JobStopped:
        _withdraw(call)
        raise
    except (RedisError, OperationalError, OSError) as error:
        logger.warning("call.broken", call=call.id, error=type(error).__name__)
        pause(1)  # the broker restarts; the next sending may find it
        return None


def _waited(call: Call, seconds: float) -> bytes | None:
    """The answer, or None after so many seconds; a job that is stopped meanwhile raises."""
    until = time.monotonic() + seconds
    with waiting() as still_wanted:
        while (left := until - time.monotonic()) > 0:
            still_wanted()
            found = replies().blpop([reply_list(call.id)], timeout=min(SLICE_SECONDS, left))
            if found is not None:
                return found[1]  # type: ignore[return-value]  # not decoded
    return None


def _withdraw(call: Call) -> None:
    """Tell who answers that nobody waits; where that is lost, it ends when the call is given up."""
    lasting = int(SENDINGS * settings().call_seconds) + 1
    with suppress(RedisError):
        notices().set(withdrawn(call.id), 1, ex=lasting)
