"""Models in other processes: every method of a model interface is one call, through the queue, to a
model worker.

A call is a small message, and its answer is put in a reply list that expires. Both contain users'
texts and are encrypted. A repeated call changes nothing, so a call without an answer by its
deadline is sent again, at most twice. The model worker performs it on the models of its process
(`handle_call`), unless a worker performs it already. Servers are called directly."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any, Literal

import numpy as np
import redis
from kombu.exceptions import OperationalError
from pydantic import ValidationError
from redis.exceptions import RedisError

from shared.contracts import calls as op
from shared.contracts.errors import (
    AnswerCut,
    BadInput,
    DegenerateInput,
    JobStopped,
    ModelNotReady,
    ModelState,
    ScoringError,
    Unavailable,
)
from shared.contracts.judgement import Judgement
from shared.contracts.messages import Message, ModelKind, ModelName, ModelUse
from shared.contracts.redaction import untold
from shared.models.catalogue.entry import Ability, ModelEntry, abilities
from shared.models.classification import get_classifier
from shared.models.openai.model import get_remote_model
from shared.models.ports import (
    CatalogueModels,
    Classifier,
    Floats,
    LanguageModel,
    Similarity,
    models,
    perform,
)
from shared.process import telemetry
from shared.process.cached import cached_property
from shared.process.encryption import Unreadable, secret_sealer
from shared.process.redis_client import LEAST_WAIT_SECONDS, client
from shared.process.settings import settings
from shared.process.telemetry import inject_trace, start_span
from shared.queue import worker_board
from shared.queue.broker import (
    MOST_SERVERS,
    SOCKET_SECONDS,
    app,
    batch_queue,
    own_address,
    producer,
)
from shared.queue.job_context import (
    SLICE_SECONDS,
    JobContext,
    current,
    iter_retries,
    pause,
    use_context,
    waiting,
)
from shared.worker.batch_queues import stopping
from shared.worker.watchdog import watchdog

ModelService = Literal["inference", "similarity"]
SENDINGS = 3
LONGEST_BLOCK_SECONDS = 3_600
NOTICE_SECONDS = 0.5
REPLY_SECONDS = 300  # expiry of an answer that nobody takes
ASK_SECONDS = 1.0
SEND_PAUSE_SECONDS = 1.0  # before another try to send an answer

logger = telemetry.logger(__name__)


class RemoteCall(Message):
    """A call to a model worker, with the job that needs it."""

    id: str
    model: ModelName
    operation: op.Operation
    deadline: float  # unix seconds, after which nobody waits for this sending
    given_up: float | None = None  # unix seconds, after which nobody waits for any sending
    tenant: str = ""
    batch: bool = False
    private: bool = False  # no log may quote it


class RemoteError(Message):
    """An error in the form that is sent over the queue."""

    error: Literal[
        "AnswerCut", "BadInput", "DegenerateInput", "ModelNotReady", "Unavailable", "ScoringError"
    ]
    detail: str
    pointer: str | None = None
    state: ModelState = "loading"  # of a model that is not ready


class CallResponse(Message):
    """The answer to a call as JSON, or an error."""

    answer: Any = None
    refusal: RemoteError | None = None


ERRORS: dict[str, type[ScoringError]] = {
    error.__name__: error
    for error in (AnswerCut, BadInput, DegenerateInput, ModelNotReady, Unavailable, ScoringError)
}


def service_of(kind: ModelKind) -> ModelService:
    """Return the service whose workers hold models of this kind."""
    return "similarity" if kind in ("similarity", "cross-encoder") else "inference"


def task_name(service: ModelService) -> str:
    """Return the name of the Celery task, and queue, for calls to a model service."""
    return f"model.{service}"


def cancel_key(call_id: str) -> str:
    """Return the Redis key that is set when the caller no longer waits for the answer."""
    return f"withdrawn:{call_id}"


def running_key(call_id: str) -> str:
    """Return the Redis key that exists while a worker performs the call."""
    return f"running:{call_id}"


def response_list(call_id: str) -> str:
    """Return the name of the Redis list for the answer."""
    return f"reply:{call_id}"


@lru_cache(maxsize=MOST_SERVERS)
def response_client(address: str) -> redis.Redis:
    """Return a client for blocking reads, with a socket timeout longer than any read. `address` is
    the address of the Redis server that holds the call's queue."""
    return client(
        LONGEST_BLOCK_SECONDS,
        patient=True,
        url=address,
        socket_connect_timeout=SOCKET_SECONDS,
        socket_keepalive=True,
    )


def encode_message(message: Message) -> str:
    """Encrypt a call or reply for transport, because Redis may write it to a file."""
    sealer = secret_sealer(settings())
    is_public = isinstance(message, RemoteCall) and not message.private
    text = message.model_dump_json(
        exclude={"private"} if is_public else None
    )  # older workers do not know `private`
    return text if sealer is None else sealer.seal(text)


def decode_message(message: str | bytes) -> str | bytes:
    """Return the JSON of a call or reply. Raises Unreadable if no key of this process decrypts
    it."""
    if message[:1] in ("{", b"{"):
        return message
    sealer = secret_sealer(settings())
    if sealer is None:
        raise Unreadable("this process has no TOUCHSTONE_SECRET_KEYS")
    return sealer.open(message)


@lru_cache(maxsize=MOST_SERVERS)
def prompt_client(address: str) -> redis.Redis:
    """Return a Redis client that raises an error at once instead of waiting for a connection."""
    return client(NOTICE_SECONDS, patient=True, url=address)


def call_model(service: ModelService, model: str, operation: Any) -> Any:
    """Send an operation to a model worker and return the answer. Raises the model's error, or
    Unavailable."""
    raw = _call(service, model, operation)
    try:
        reply = CallResponse.model_validate_json(decode_message(raw))
    except Unreadable as error:
        raise Unavailable(f"the reply of {model!r} cannot be read: {error}") from None
    if reply.refusal is not None:
        refusal = reply.refusal
        if refusal.error == ModelNotReady.__name__:
            raise ModelNotReady(refusal.detail, model=model, state=refusal.state)
        raise ERRORS[refusal.error](refusal.detail, pointer=refusal.pointer)
    return type(operation).answer.validated(reply.answer)


def _call(service: ModelService, model: str, operation: Any) -> bytes:
    started, call_seconds, call_id = (
        time.monotonic(),
        settings().call_seconds,
        secrets.token_hex(16),
    )
    job, until = current(), started + SENDINGS * call_seconds
    for sending, seconds in enumerate(iter_retries(SENDINGS, call_seconds)):
        call = RemoteCall(
            id=call_id,
            model=model,
            operation=operation,
            deadline=time.time() + seconds,
            given_up=time.time()
            + until
            - time.monotonic(),  # computed again, since the clock may have been set
            tenant=job.tenant if job else "",
            batch=job is not None and job.batch,
            private=job is not None and job.private,
        )
        raw = _send_and_wait(service, call, seconds)
        if raw is not None:
            return raw
        logger.warning("call.unanswered", model=model, call=call_id, sending=sending + 1)
    detail = f"the model {model!r} gave no answer in {time.monotonic() - started:.0f} s"
    if _is_away(service):  # the job waits without losing an attempt
        detail += f": no worker of {service} can be reached"
        raise ModelNotReady(detail, model=model, state="away")
    raise Unavailable(detail)


def _is_away(service: ModelService) -> bool:
    try:
        prompt_client(settings().redis_of(service)).ping()
    except RedisError:
        return True
    workers = worker_board.read([service])
    return workers.get(service, worker_board.NO_WORKER) == worker_board.NO_WORKER


def _send_and_wait(service: ModelService, call: RemoteCall, seconds: float) -> bytes | None:
    queue, address = task_name(service), settings().redis_of(service)
    try:
        with producer(service) as kombu_producer:
            app.send_task(
                queue,
                args=(encode_message(call),),
                queue=batch_queue(queue) if call.batch else queue,
                retry=False,
                headers=inject_trace(),
                producer=kombu_producer,
            )
        return _wait(call, seconds, address)
    except JobStopped:  # the worker checks this key; without it, it stops at `given_up`
        expiry = int(SENDINGS * settings().call_seconds) + 1
        with suppress(RedisError):
            prompt_client(address).set(cancel_key(call.id), 1, ex=expiry)
        raise
    except (RedisError, OperationalError, OSError) as error:
        logger.warning("call.broken", call=call.id, error=type(error).__name__)
        pause(1)  # the broker restarts; the next sending may find it
        return None


def _wait(call: RemoteCall, seconds: float, address: str) -> bytes | None:
    """Return the answer, or None after `seconds`. Raises JobStopped if the job is stopped."""
    until = time.monotonic() + seconds
    with waiting() as check_wanted:
        while (remaining := until - time.monotonic()) > 0:
            check_wanted()
            wait = max(LEAST_WAIT_SECONDS, min(SLICE_SECONDS, remaining))
            reply = response_client(address).blpop([response_list(call.id)], timeout=wait)
            if reply is not None:
                return reply[1]  # type: ignore[return-value]  # not decoded
    return None


def register_model_task(service: ModelService) -> Any:
    """Register the Celery task `model.<service>`, which runs `handle_call`."""

    @app.task(name=task_name(service), ignore_result=True, bind=True)  # type: ignore[untyped-decorator]
    def task(self: Any, message: str) -> None:
        with start_span(task_name(service), self.request.headers or {}):
            handle_call(message)

    return task


def handle_call(message: str) -> None:
    """Perform one model call for another process, unless the caller no longer waits for the
    answer."""
    try:
        call = RemoteCall.model_validate_json(decode_message(message))
    except (
        ValidationError,
        Unreadable,
    ) as error:  # of another version or key; the caller sends it again
        logger.error("call.unreadable", exc_info=untold(error))
        return
    if call.deadline < time.time():
        logger.info("call.too_late", call=call.id)
        return
    if not _begin(call):
        logger.info("call.running", call=call.id)
        return
    until = call.deadline if call.given_up is None else call.given_up
    context = JobContext(
        job_id=f"call {call.id}",
        tenant=call.tenant,
        batch=call.batch,
        deadline=time.monotonic() + until - time.time(),
        cancelled=_CancelEvent(call),
        private=call.private,
    )
    try:
        with watchdog.watch(context), use_context(context):
            reply = _run_call(call)
    except JobStopped as stopped:
        logger.info("call.stopped", call=call.id, detail=stopped.detail)
        return
    _send(call, reply)


def _running_ms() -> int:
    """Return the milliseconds until a call counts as not performed, after its worker's last sign of
    life. The mark of a worker that died must be gone when the call is sent again."""
    return max(1, int(500 * settings().call_seconds))


def _begin(call: RemoteCall) -> bool:
    """Mark the call as being performed. Return False if it has such a mark."""
    try:
        redis_client = prompt_client(own_address())
        return bool(redis_client.set(running_key(call.id), 1, nx=True, px=_running_ms()))
    except RedisError:  # at worst it is performed twice
        return True


class _CancelEvent(threading.Event):
    """An event that is set once the caller has withdrawn its call. At most once a second it asks
    Redis, and renews the mark of a running call."""

    def __init__(self, call: RemoteCall) -> None:
        super().__init__()
        self._call_id = call.id
        self._ask_at = time.monotonic() + ASK_SECONDS

    def is_set(self) -> bool:
        if not super().is_set() and time.monotonic() >= self._ask_at:
            self._ask_at = time.monotonic() + ASK_SECONDS
            with (
                suppress(RedisError),  # then it answers in vain at worst
                prompt_client(own_address()).pipeline(transaction=False) as pipe,
            ):
                pipe.exists(cancel_key(self._call_id))
                pipe.set(running_key(self._call_id), 1, px=_running_ms())
                if pipe.execute()[0]:
                    self.set()
        return super().is_set()


def _run_call(call: RemoteCall) -> CallResponse:
    try:
        return CallResponse(answer=perform(call.operation, models(), call.model))
    except JobStopped:
        raise
    except ScoringError as error:
        return _to_error(error)
    except Exception as error:
        exc_info = untold(error) if call.private else error
        logger.error("call.crashed", call=call.id, model=call.model, exc_info=exc_info)
        return _to_error(ScoringError(f"the model worker failed: {type(error).__name__}"))


def _to_error(error: ScoringError) -> CallResponse:
    name = next(kind.__name__ for kind in type(error).__mro__ if kind.__name__ in ERRORS)
    refusal = {"error": name, "detail": error.detail, "pointer": error.pointer}
    if isinstance(error, ModelNotReady):
        refusal["state"] = error.state
    return CallResponse(refusal=RemoteError.model_validate(refusal))


def _send(call: RemoteCall, reply: CallResponse) -> None:
    """Send the reply, and retry as long as the caller may wait for it. The work is done, and a
    caller without a reply would wait for its whole deadline before it calls again."""
    message, target = encode_message(reply), response_list(call.id)
    while True:
        try:
            with response_client(own_address()).pipeline(transaction=True) as pipe:
                pipe.rpush(target, message)
                pipe.expire(target, REPLY_SECONDS)
                pipe.execute()
            return
        except RedisError as error:
            logger.warning("call.not_replied", call=call.id, error=type(error).__name__)
        if time.time() + SEND_PAUSE_SECONDS > call.deadline or stopping.wait(SEND_PAUSE_SECONDS):
            logger.error("call.reply_lost", call=call.id)
            return


class RemoteModel:
    def __init__(self, entry: ModelEntry) -> None:
        self._entry = entry

    def _call(self, operation: Any) -> Any:
        return call_model(service_of(self._entry.kind), self._entry.name, operation)

    @cached_property
    def _description(self) -> op.Description:
        description: op.Description = self._call(op.Describe())
        return description

    @property
    def use(self) -> ModelUse:
        return self._description.use


class RemoteJudge(RemoteModel):
    """A `Judge` in another process, called over the queue."""

    @property
    def languages(self) -> tuple[str, ...]:
        """BCP 47 tags of the languages that the model was trained on. `*` means all; empty means
        not stated."""
        return self._description.languages

    @property
    def abilities(self) -> frozenset[Ability]:
        return frozenset(abilities(self._entry))

    @property
    def mask_text(self) -> str:
        return self._description.mask_text

    def labels_of(self, example: op.Example) -> tuple[str, ...]:
        """Return the labels in the order of an answer's columns."""
        if example.template is not None:
            return tuple(example.template.verbalizers)
        if example.prompt is not None and example.prompt.verbalizers is not None:
            return tuple(example.prompt.verbalizers)
        return self._description.labels

    def tokens(self, examples: Sequence[op.Example]) -> list[op.Tokens]:
        return list(self._call(op.Tokenize(examples=tuple(examples)))) if examples else []

    def judge(self, examples: Sequence[op.Example]) -> list[Floats]:
        if not examples:
            return []
        return [np.array(row) for row in self._call(op.JudgeExamples(examples=tuple(examples)))]

    def judgements(self, examples: Sequence[op.Example]) -> list[Judgement]:
        return list(self._call(op.ReadLabels(examples=tuple(examples)))) if examples else []

    def judge_rows(self, asked: Sequence[op.ExampleRows]) -> list[Floats]:
        if not asked:
            return []
        answers = self._call(op.JudgeRows(asked=tuple(asked)))
        widths = [len(self.labels_of(rows.example)) for rows in asked]
        return [
            np.array(rows, dtype=np.float64).reshape(len(rows), width)
            for rows, width in zip(answers, widths, strict=True)
        ]

    def judge_words(self, asked: Sequence[op.WordRows]) -> list[op.WordJudgements]:
        return list(self._call(op.JudgeWords(asked=tuple(asked)))) if asked else []

    def attributions(
        self, examples: Sequence[op.Example], targets: Sequence[str], method: op.AttributionMethod
    ) -> list[op.Attributions]:
        if not examples:
            return []
        operation = op.Attribute(examples=tuple(examples), targets=tuple(targets), method=method)
        return list(self._call(operation))


class RemoteClassifier(RemoteJudge):
    """A `Classifier` in another process, called over the queue."""

    @property
    def labels(self) -> tuple[str, ...]:
        return self._description.labels

    def probabilities(self, texts: Sequence[str]) -> Floats:
        rows = self._call(op.Probabilities(texts=tuple(texts))) if texts else ()
        return np.array(rows, dtype=np.float64).reshape(len(texts), len(self.labels))

    def truncated(self, texts: Sequence[str]) -> list[bool]:
        return list(self._call(op.Truncated(texts=tuple(texts)))) if texts else []


class RemoteLanguageModel(RemoteJudge):
    """A `LanguageModel` in another process, called over the queue."""

    def generate(self, prompts: Sequence[op.Prompt], sampling: op.Sampling) -> list[op.Completion]:
        if not prompts:
            return []
        return list(self._call(op.Generate(prompts=tuple(prompts), sampling=sampling)))

    def score(
        self, prompts: Sequence[op.Prompt], completions: Sequence[str]
    ) -> list[op.Completion]:
        if not prompts:
            return []
        return list(
            self._call(op.ScoreCompletions(prompts=tuple(prompts), completions=tuple(completions)))
        )


class RemoteSimilarity(RemoteModel):
    """A `Similarity` model in another process, called over the queue."""

    def similarities(self, pairs: Sequence[op.Pair]) -> Floats:
        values = self._call(op.Compare(pairs=tuple(pairs))) if pairs else ()
        return np.array(values, dtype=np.float64)


class QueueModels(CatalogueModels):
    """Provides the models of other processes, called over Redis."""

    def classifier(self, name: str) -> Classifier:
        entry = self._entry(name, "classifier")
        return get_classifier(entry) if entry.is_served else RemoteClassifier(entry)

    def language_model(self, name: str) -> LanguageModel:
        entry = self._entry(name, "causal")
        return get_remote_model(entry) if entry.is_served else RemoteLanguageModel(entry)

    def similarity(self, name: str) -> Similarity:
        return RemoteSimilarity(self._entry(name, "similarity", "cross-encoder"))
