"""The queue: Celery over Redis, carrying job ids and nothing else.

The ledger is the truth. A message may be lost or come twice, and neither matters. A metric has an
interactive queue and a batch queue beside it. Sources: specs "conventions" C1 for every option.
"""

from __future__ import annotations

import base64
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any
from uuid import uuid4

import redis
from celery import Celery
from kombu.utils.scheduling import round_robin_cycle
from redis.exceptions import RedisError

from shared.errors import Unavailable
from shared.redis_client import client
from shared.settings import settings

PROMPT_SECONDS = 0.5
SOCKET_SECONDS = 5  # a broker that takes longer counts as away; kombu's blocking read takes 1
VISIBILITY_SECONDS = 3_600
CALLS = "model."  # begins the names of queues of model calls
BATCH = ".batch"  # ends the names of queues that may wait
AGAIN = "touchstone-again"  # a header: the scheduler sent this message, for this very job


def options() -> dict[str, Any]:
    """Early acknowledgement, no results, JSON only, one message ahead a thread."""
    return {
        "broker_url": settings().redis_url.get_secret_value(),
        "accept_content": ["json"],
        "task_serializer": "json",
        "task_ignore_result": True,
        "task_acks_late": False,
        "worker_prefetch_multiplier": 1,
        "worker_hijack_root_logger": False,
        "worker_send_task_events": False,
        "broker_connection_retry_on_startup": True,
        "broker_connection_max_retries": None,
        # a broker that refuses (read-only, over its memory) is one that is away: try again
        "broker_channel_error_retry": True,
        "broker_transport_options": {
            "visibility_timeout": VISIBILITY_SECONDS,
            "queue_order_strategy": "shared.queue:CallsFirst",
            "socket_timeout": SOCKET_SECONDS,
            "socket_connect_timeout": SOCKET_SECONDS,
            "socket_keepalive": True,
            "health_check_interval": 25,
            "unacked_restore_throttle": 1,
        },
    }


def sort_queues(queues: Sequence[str]) -> list[str]:
    """Calls of models before jobs, which wait for them; else the order stays."""
    return sorted(queues, key=lambda queue: not is_call(queue))


def is_call(queue: str) -> bool:
    """Whether its messages are calls of models, else jobs."""
    return queue.startswith(CALLS)


class CallsFirst(round_robin_cycle):  # type: ignore[misc]  # kombu is not typed
    """The order in which Celery asks the queues: those of one kind take turns."""

    def consume(self, n: int) -> list[str]:
        return sort_queues(self.items)[:n]


@dataclass(frozen=True, slots=True)
class JobMessage:
    """One message: this job waits. trace: what `shared.telemetry.inject_trace` gave, so that the
    worker's spans join the caller's. again: sent by the scheduler, the job seems to be lost."""

    metric: str
    job_id: str
    batch: bool = False
    trace: Mapping[str, str] = field(default_factory=dict)
    again: bool = False

    @property
    def headers(self) -> dict[str, str]:
        """The message's headers."""
        return {**self.trace, AGAIN: "1"} if self.again else dict(self.trace)


app = Celery("touchstone")
app.add_defaults(options)  # read when first needed, not when imported


def task_name(metric: str) -> str:
    """The Celery task, and the interactive queue, of a service."""
    return f"score.{metric}"


def batch_queue_of(metric: str) -> str:
    """The queue that waits while the interactive one has work."""
    return batch_queue(task_name(metric))


def batch_queue(queue: str) -> str:
    """The queue beside this one whose messages wait while it has any."""
    return f"{queue}{BATCH}"


def is_batch(queue: str) -> bool:
    """Whether messages of this queue may wait for interactive ones."""
    return queue.endswith(BATCH)


def queues_of(services: list[str]) -> list[str]:
    """The queues of these services, all interactive ones first."""
    interactive = [task_name(service) for service in services]
    return interactive + [batch_queue(queue) for queue in interactive]


def queue_of(metric: str, *, batch: bool) -> str:
    """The queue for a job of this metric."""
    return batch_queue_of(metric) if batch else task_name(metric)


def send(metric: str, job_id: str, *, batch: bool = False, again: bool = False) -> None:
    """Let a worker know that this job waits. Raises Unavailable; the job is safe then."""
    send_all([JobMessage(metric, job_id, batch, again=again)])


def send_all(messages: Sequence[JobMessage]) -> None:
    """All of these in order: one command to the broker a queue. Raises Unavailable; then some may
    have been sent.
    """
    by_queue: defaultdict[str, list[str]] = defaultdict(list)
    for message in messages:
        by_queue[queue_of(message.metric, batch=message.batch)].append(_encode_message(message))
    try:
        for queue, written in by_queue.items():
            _sending_redis().lpush(queue, *written)
    except RedisError as error:
        raise Unavailable("the broker cannot be reached") from error


def _encode_message(message: JobMessage) -> str:
    """The message as kombu's Redis transport writes it, which takes ten times as long over it."""
    headers, embedded = _envelope(task_name(message.metric))
    message_id = str(uuid4())
    body = json.dumps([[message.job_id], {}, embedded]).encode()
    delivery = {"exchange": "", "routing_key": queue_of(message.metric, batch=message.batch)}
    properties = {
        "correlation_id": message_id,
        "delivery_mode": 2,
        "delivery_info": delivery,
        "priority": 0,
        "body_encoding": "base64",
        "delivery_tag": str(uuid4()),
    }
    whole = {
        "body": base64.b64encode(body).decode(),
        "content-encoding": "utf-8",
        "content-type": "application/json",
        "headers": {**headers, **message.headers, "id": message_id, "root_id": message_id},
        "properties": properties,
    }
    return json.dumps(whole)


@lru_cache
def _envelope(task: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Headers and the third part of the body of every message to this task.

    Celery's message protocol, version 2, made once: `send_task` would look 40 settings up for each
    job.
    """
    message = app.amqp.as_task_v2("", task, args=(), argsrepr="()", ignore_result=True)
    return message.headers, message.body[2]


@lru_cache(maxsize=1)
def _redis() -> redis.Redis:
    return client(SOCKET_SECONDS, patient=True)


@lru_cache(maxsize=1)
def _sending_redis() -> redis.Redis:
    """For messages, which may be lost: the job is safe, and a second try is enough."""
    return client(SOCKET_SECONDS, patient=False)


@lru_cache(maxsize=1)
def _prompt_redis() -> redis.Redis:
    """For who would rather know nothing than wait."""
    return client(PROMPT_SECONDS, patient=False)


def pop(queues: Sequence[str], seconds: float) -> tuple[str, bytes] | None:
    """The next message of the first of these queues that has one. Raises Unavailable.

    seconds: how long it waits for one, less than SOCKET_SECONDS.
    """
    try:
        found: Any = _redis().brpop(list(queues), timeout=seconds)
    except RedisError as error:
        raise Unavailable("the broker cannot be reached") from error
    return None if found is None else (found[0].decode(), found[1])


def queue_length(metric: str, *, batch: bool = False) -> int:
    """How many messages wait in this queue of the metric. Raises Unavailable."""
    try:
        return int(_redis().llen(queue_of(metric, batch=batch)))
    except RedisError as error:
        raise Unavailable("the broker cannot be reached") from error


def queue_lengths(metrics: Sequence[str]) -> dict[tuple[str, bool], int]:
    """(metric, whether its batch queue) → messages that wait. Raises Unavailable, soon."""
    asked = [(metric, batch) for metric in metrics for batch in (False, True)]
    try:
        with _prompt_redis().pipeline(transaction=False) as trip:
            for metric, batch in asked:
                trip.llen(queue_of(metric, batch=batch))
            return dict(zip(asked, map(int, trip.execute()), strict=True))
    except RedisError as error:
        raise Unavailable("the broker cannot be reached") from error


def ping() -> None:
    """Ask the broker for a sign of life. Raises Unavailable."""
    try:
        _redis().ping()
    except RedisError as error:
        raise Unavailable("the broker cannot be reached") from error
