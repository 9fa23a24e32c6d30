"""The queue: Celery over Redis, carrying job ids and nothing else.

The ledger is the truth. A message may be lost or come twice, and neither matters. A metric has an
interactive queue and a batch queue beside it. `TOUCHSTONE_QUEUE_REDIS` puts a service's queues, and
the calls of its models with their replies, on a Redis of its own: a process takes messages from one
(`take_from`) and sends to each. Sources: specs "conventions" C1 for every option.
"""

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
    """Early acknowledgement, no results, JSON only, one message ahead a thread."""
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
        # a broker that refuses (read-only, over its memory) is one that is away: try again
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
    """One message: this job waits. trace: what `shared.process.telemetry.inject_trace` gave, so
    that the worker's spans join the caller's. again: sent by the scheduler, the job seems to be
    lost."""

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
_taken: list[str] = []  # the address that this process takes messages from, where it is a worker


def take_from(services: Sequence[str]) -> None:
    """This process takes the messages of these services, before it asks for any.

    Raises ValueError where their queues are not all in one Redis: a consumer has one connection.
    """
    by_address: defaultdict[str, list[str]] = defaultdict(list)
    for service in services:
        by_address[settings().redis_of(service)].append(service)
    if len(by_address) > 1:
        several = " | ".join(", ".join(names) for names in by_address.values())
        raise ValueError(
            f"TOUCHSTONE_QUEUE_REDIS: the queues of {several} are in different Redis servers: "
            "start a worker for each"
        )
    _taken[:] = by_address
    app.conf.broker_url = own_address()


def own_address() -> str:
    """Of the Redis that this process takes messages from; of who takes none, REDIS_URL."""
    return _taken[0] if _taken else settings().redis_url.get_secret_value()


@contextmanager
def producer(service: str) -> Iterator[Any]:
    """For messages of Celery to this service; None: the process's own will do."""
    address = settings().redis_of(service)
    if address == own_address():
        yield None
        return
    with pools.producers[app.connection_for_write(address)].acquire(block=True) as found:
        yield found


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
    by_queue: defaultdict[tuple[str, bool], list[str]] = defaultdict(list)
    for message in messages:
        by_queue[message.metric, message.batch].append(_encode_message(message))
    failed: RedisError | None = None
    for (metric, batch), written in by_queue.items():
        try:
            broker = _sending_redis(settings().redis_of(metric))
            broker.lpush(queue_of(metric, batch=batch), *written)
        except RedisError as error:  # another Redis may be there
            failed = error
    if failed is not None:
        raise Unavailable("the broker cannot be reached") from failed


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


@lru_cache(maxsize=MOST_SERVERS)
def _redis(address: str) -> redis.Redis:
    return client(SOCKET_SECONDS, patient=True, url=address)


@lru_cache(maxsize=MOST_SERVERS)
def _sending_redis(address: str) -> redis.Redis:
    """For messages, which may be lost: the job is safe, and a second try is enough."""
    return client(SOCKET_SECONDS, patient=False, url=address)


@lru_cache(maxsize=MOST_SERVERS)
def _prompt_redis(address: str) -> redis.Redis:
    """For who would rather know nothing than wait."""
    return client(PROMPT_SECONDS, patient=False, url=address)


def pop(queues: Sequence[str], seconds: float) -> tuple[str, bytes] | None:
    """The next message of the first of these queues of this process (`take_from`) that has one.
    Raises Unavailable.

    seconds: how long it waits for one, less than SOCKET_SECONDS.
    """
    try:
        found: Any = _redis(own_address()).brpop(list(queues), timeout=seconds)
    except RedisError as error:
        raise Unavailable("the broker cannot be reached") from error
    return None if found is None else (found[0].decode(), found[1])


def queue_length(metric: str, *, batch: bool = False) -> int:
    """How many messages wait in this queue of the metric. Raises Unavailable."""
    try:
        return int(_redis(settings().redis_of(metric)).llen(queue_of(metric, batch=batch)))
    except RedisError as error:
        raise Unavailable("the broker cannot be reached") from error


def queue_lengths(metrics: Sequence[str]) -> dict[tuple[str, bool], int]:
    """(metric, whether its batch queue) → messages that wait. Raises Unavailable, soon."""
    by_address: defaultdict[str, list[tuple[str, bool]]] = defaultdict(list)
    for metric in metrics:
        by_address[settings().redis_of(metric)] += [(metric, False), (metric, True)]
    found: dict[tuple[str, bool], int] = {}
    try:
        for address, asked in by_address.items():
            with _prompt_redis(address).pipeline(transaction=False) as trip:
                for metric, batch in asked:
                    trip.llen(queue_of(metric, batch=batch))
                found |= dict(zip(asked, map(int, trip.execute()), strict=True))
    except RedisError as error:
        raise Unavailable("the broker cannot be reached") from error
    return found


def brokers_away() -> list[str]:
    """The Redis servers that give no sign of life, by the services that they are named for."""
    away = []
    for address, services in settings().queue_servers.items():
        try:
            _redis(address).ping()
        except RedisError:
            away.append(f"broker of {', '.join(services)}" if services else "broker")
    return away
