"""The queue: Celery over Redis. Messages contain only job ids.

The jobs database is authoritative: a message may be lost or arrive twice. A metric has an
interactive queue and a batch queue. `TOUCHSTONE_QUEUE_REDIS` assigns services to another Redis
server, which then holds their queues, and the calls to their models with the replies. A process
receives messages from one server (set by `take_from`) and sends to all."""

from __future__ import annotations

import base64
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any
from uuid import uuid4

import redis
from celery import Celery
from kombu import pools
from kombu.utils.scheduling import round_robin_cycle
from redis.exceptions import RedisError

from shared.contracts.errors import Unavailable
from shared.process.redis_client import client
from shared.process.settings import settings

PROMPT_SECONDS = 0.5
SOCKET_SECONDS = 5  # a broker that takes longer counts as away; kombu's blocking read takes 1
VISIBILITY_SECONDS = 3_600
MOST_SERVERS = 64  # Redis servers whose connections are kept
CALLS = "model."  # begins the names of queues of model calls
BATCH = ".batch"  # ends the names of queues that may wait
AGAIN = "touchstone-again"  # a header: the scheduler sent this message, for this very job


def options() -> dict[str, Any]:
    """Return Celery's options: early acknowledgement, no results, JSON only, and one prefetched
    message per thread."""
    return {
        "broker_url": own_address(),
        "accept_content": ["json"],
        "task_serializer": "json",
        "task_ignore_result": True,
        "task_acks_late": False,
        "worker_prefetch_multiplier": 1,
        "worker_hijack_root_logger": False,
        "worker_send_task_events": False,
        "broker_connection_retry_on_startup": True,
        "broker_connection_max_retries": None,
        # a broker that refuses (read-only, out of memory) counts as away: retry
        "broker_channel_error_retry": True,
        "broker_transport_options": {
            "visibility_timeout": VISIBILITY_SECONDS,
            "queue_order_strategy": "shared.queue.broker:CallsFirst",
            "socket_timeout": SOCKET_SECONDS,
            "socket_connect_timeout": SOCKET_SECONDS,
            "socket_keepalive": True,
            "health_check_interval": 25,
            "unacked_restore_throttle": 1,
        },
    }


def sort_queues(queues: Sequence[str]) -> list[str]:
    """Return the queues with those for model calls first, because jobs wait for calls. The order is
    otherwise unchanged."""
    return sorted(queues, key=lambda queue: not is_call(queue))


def is_call(queue: str) -> bool:
    """Return True if the queue's messages are calls to models, False for jobs."""
    return queue.startswith(CALLS)


class CallsFirst(round_robin_cycle):  # type: ignore[misc]  # kombu is not typed
    """The order in which Celery reads the queues: calls to models before jobs. Queues of the same
    kind take turns."""

    def consume(self, n: int) -> list[str]:
        return sort_queues(self.items)[:n]


@dataclass(frozen=True, slots=True)
class JobMessage:
    """A message that notifies workers of a waiting job. `trace` links the worker's spans to the
    caller's trace. `again` is True if the scheduler sent the message because the job seemed lost.
    """

    metric: str
    job_id: str
    batch: bool = False
    trace: Mapping[str, str] = field(default_factory=dict)
    again: bool = False

    @property
    def headers(self) -> dict[str, str]:
        return {**self.trace, AGAIN: "1"} if self.again else dict(self.trace)


app = Celery("touchstone")
app.add_defaults(options)  # read when first needed, not when imported
_taken: list[str] = []  # a worker's address for its messages


def take_from(services: Sequence[str]) -> None:
    """Receive the messages of these services in this process. Call this before the first message is
    read. Raises ValueError if their queues are not all in one Redis, because a consumer has one
    connection."""
    by_address: defaultdict[str, list[str]] = defaultdict(list)
    for service in services:
        by_address[settings().redis_of(service)].append(service)
    if len(by_address) > 1:
        several = " | ".join(", ".join(names) for names in by_address.values())
        raise ValueError(
            f"TOUCHSTONE_QUEUE_REDIS: the queues of {several} are in different Redis "
            "servers; start a separate worker for each"
        )
    _taken[:] = by_address
    app.conf.broker_url = own_address()


def own_address() -> str:
    """Return the address of the Redis from which this process receives messages, by default
    REDIS_URL."""
    return _taken[0] if _taken else settings().redis_url.get_secret_value()


@contextmanager
def producer(service: str) -> Iterator[Any]:
    """Yield a Celery producer for messages to this service, or None if the service uses the Redis
    of the default producer."""
    address = settings().redis_of(service)
    if address == own_address():
        yield None
        return
    with pools.producers[app.connection_for_write(address)].acquire(block=True) as pooled:
        yield pooled


def task_name(metric: str) -> str:
    """Return the Celery task of a service, which is also the name of its interactive queue."""
    return f"score.{metric}"


def batch_queue_of(metric: str) -> str:
    """Return a metric's batch queue. Its messages wait while the interactive queue has messages."""
    return batch_queue(task_name(metric))


def batch_queue(queue: str) -> str:
    return f"{queue}{BATCH}"


def is_batch(queue: str) -> bool:
    """Return True if this queue is for batches. Its messages may wait while interactive messages
    are processed."""
    return queue.endswith(BATCH)


def queue_of(metric: str, *, batch: bool) -> str:
    return batch_queue_of(metric) if batch else task_name(metric)


def send(metric: str, job_id: str, *, batch: bool = False, again: bool = False) -> None:
    """Notify the workers that a job is queued. Raises Unavailable if the queue fails. The job is
    then still in the jobs database."""
    send_all([JobMessage(metric, job_id, batch, again=again)])


def send_all(messages: Sequence[JobMessage]) -> None:
    """Send these messages in order, with one command per queue. Raises Unavailable if Redis is
    unreachable; some messages may have been sent by then."""
    by_queue: defaultdict[tuple[str, bool], list[str]] = defaultdict(list)
    for message in messages:
        by_queue[message.metric, message.batch].append(_encode_message(message))
    failed: RedisError | None = None
    for (metric, batch), payloads in by_queue.items():
        try:
            broker = _sending_redis(settings().redis_of(metric))
            broker.lpush(queue_of(metric, batch=batch), *payloads)
        except RedisError as error:  # another Redis may respond
            failed = error
    if failed is not None:
        raise Unavailable("Redis cannot be reached") from failed


def _encode_message(message: JobMessage) -> str:
    """Return the message in the format of kombu's Redis transport, ten times as fast as kombu."""
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
    """Return the headers and the third part of the body, which are the same for all messages of
    this task. The format is Celery's message protocol, version 2. They are computed once, because
    Celery's `send_task` looks up 40 settings for each job."""
    message = app.amqp.as_task_v2("", task, args=(), argsrepr="()", ignore_result=True)
    return message.headers, message.body[2]


@lru_cache(maxsize=MOST_SERVERS)
def _redis(address: str) -> redis.Redis:
    return client(SOCKET_SECONDS, patient=True, url=address)


@lru_cache(maxsize=MOST_SERVERS)
def _sending_redis(address: str) -> redis.Redis:
    """Return a Redis client for sending messages, with one retry. Losing a message does no harm,
    because the job is in the database."""
    return client(SOCKET_SECONDS, patient=False, url=address)


@lru_cache(maxsize=MOST_SERVERS)
def _prompt_redis(address: str) -> redis.Redis:
    """Return a client for callers that prefer an error to a long wait."""
    return client(PROMPT_SECONDS, patient=False, url=address)


def pop(queues: Sequence[str], seconds: float) -> tuple[str, bytes] | None:
    """Return the next message of the first of these queues that has one. Raises Unavailable. The
    queues must be on this process's server (`take_from`). `seconds` is the longest wait, less than
    SOCKET_SECONDS."""
    try:
        popped: Any = _redis(own_address()).brpop(list(queues), timeout=seconds)
    except RedisError as error:
        raise Unavailable("Redis cannot be reached") from error
    return None if popped is None else (popped[0].decode(), popped[1])


def queue_length(metric: str, *, batch: bool = False) -> int:
    """Return the number of messages in this queue of the metric. Raises Unavailable."""
    try:
        return int(_redis(settings().redis_of(metric)).llen(queue_of(metric, batch=batch)))
    except RedisError as error:
        raise Unavailable("Redis cannot be reached") from error


def queue_lengths(metrics: Sequence[str]) -> dict[tuple[str, bool], int]:
    """Return the number of messages by (metric, is batch queue). Raises Unavailable quickly."""
    by_address: defaultdict[str, list[tuple[str, bool]]] = defaultdict(list)
    for metric in metrics:
        by_address[settings().redis_of(metric)] += [(metric, False), (metric, True)]
    lengths: dict[tuple[str, bool], int] = {}
    try:
        for address, queues in by_address.items():
            with _prompt_redis(address).pipeline(transaction=False) as trip:
                for metric, batch in queues:
                    trip.llen(queue_of(metric, batch=batch))
                lengths |= dict(zip(queues, map(int, trip.execute()), strict=True))
    except RedisError as error:
        raise Unavailable("Redis cannot be reached") from error
    return lengths


def brokers_away() -> list[str]:
    """Return the Redis servers that do not respond. Each is described by its services."""
    away = []
    for address, services in settings().queue_servers.items():
        try:
            _redis(address).ping()
        except RedisError:
            away.append(f"broker of {', '.join(services)}" if services else "broker")
    return away
