"""The model worker's side of a call: perform it on the models of this process, and reply."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from typing import Any

from pydantic import ValidationError
from redis.exceptions import RedisError

from shared import log
from shared.encryption import Unreadable
from shared.errors import JobStopped, ScoringError
from shared.job_context import JobContext, computing
from shared.models import models
from shared.performing import perform
from shared.queue import app
from shared.remote.call import (
    ERRORS,
    Call,
    ModelRoom,
    Refusal,
    Reply,
    notices,
    opened,
    replies,
    reply_list,
    sealed,
    task_name,
    withdrawn,
)
from shared.tracing import continued
from shared.worker.shares import stopping
from shared.worker.watchdog import watchdog

REPLY_SECONDS = 300  # an answer that nobody takes is forgotten
ASK_SECONDS = 1.0
SEND_PAUSE_SECONDS = 1.0  # before a broker that took no answer is tried again

logger = log.logger(__name__)


def answers_calls(room: ModelRoom) -> Any:
    """Register `model.<room>`; the body is `answer`, which tests call directly."""

    @app.task(name=task_name(room), ignore_result=True, bind=True)  # type: ignore[untyped-decorator]
    def task(self: Any, message: str) -> None:
        with continued(task_name(room), self.request.headers or {}):
            answer(message)

    return task


def answer(message: str) -> None:
    """Perform one call, unless nobody waits for it any more."""
    try:
        call = Call.model_validate_json(opened(message))
    except (ValidationError, Unreadable):  # of another version, or sealed under another key: its
        # sender runs into its deadline
        logger.exception("call.unreadable")
        return
    if call.deadline < time.time():
        logger.info("call.too_late", call=call.id)
        return
    context = _context_of(call)
    try:
        with watchdog.watching(context), computing(context):
            reply = _reply(call)
    except JobStopped as stopped:
        logger.info("call.stopped", call=call.id, detail=stopped.detail)
        return
    _send(call, reply)


class _Withdrawal(threading.Event):
    """Set once the caller has withdrawn its call; asks Redis, at most once a second."""

    def __init__(self, call: Call) -> None:
        super().__init__()
        self._key = withdrawn(call.id)
        self._ask_at = time.monotonic() + ASK_SECONDS

    def is_set(self) -> bool:
        """Whether nobody waits any more."""
        if not super().is_set() and time.monotonic() >= self._ask_at:
            self._ask_at = time.monotonic() + ASK_SECONDS
            with suppress(RedisError):  # it answers in vain, if at all
                if notices().exists(self._key):
                    self.set()
        return super().is_set()


def _context_of(call: Call) -> JobContext:
    """The caller's job, as far as a model worker must know it."""
    until = call.deadline if call.given_up is None else call.given_up
    return JobContext(
        job_id=f"call {call.id}",
        tenant=call.tenant,
        batch=call.batch,
        deadline=time.monotonic() + until - time.time(),
        cancelled=_Withdrawal(call),
    )


def _reply(call: Call) -> Reply:
    try:
        return Reply(answer=perform(call.operation, models(), call.model))
    except JobStopped:
        raise
    except ScoringError as error:
        return _refused(error)
    except Exception as error:
        logger.exception("call.crashed", call=call.id, model=call.model)
        return _refused(ScoringError(f"the model room failed: {type(error).__name__}"))


def _refused(error: ScoringError) -> Reply:
    """The error under the nearest name that the wire knows."""
    name = next(kind.__name__ for kind in type(error).__mro__ if kind.__name__ in ERRORS)
    refusal = {"error": name, "detail": error.detail, "pointer": error.pointer}
    return Reply(refusal=Refusal.model_validate(refusal))


def _send(call: Call, reply: Reply) -> None:
    """As often as it takes while this sending is waited for: the work is done, and a caller that
    hears nothing waits for all of its deadline before it asks again."""
    message = sealed(reply)
    while not _sent(call, message):
        if time.time() + SEND_PAUSE_SECONDS > call.deadline or stopping.wait(SEND_PAUSE_SECONDS):
            logger.error("call.reply_lost", call=call.id)
            return


def _sent(call: Call, message: str) -> bool:
    target = reply_list(call.id)
    try:
        with replies().pipeline(transaction=True) as pipe:
            pipe.rpush(target, message)
            pipe.expire(target, REPLY_SECONDS)
            pipe.execute()
    except RedisError as error:
        logger.warning("call.not_replied", call=call.id, error=type(error).__name__)
        return False
    return True
