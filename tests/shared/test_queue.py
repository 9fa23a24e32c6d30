"""Messages as Celery's own library writes them: kombu is the oracle."""

from __future__ import annotations

import base64
import json
from typing import Any
from uuid import uuid4

import pytest
import redis

from shared.process.settings import Settings
from shared.queue import broker
from shared.queue.broker import JobMessage, app, queue_of, task_name

FRESH = ("correlation_id", "delivery_tag")  # another one in each message


def taken(client: redis.Redis, name: str) -> dict[str, Any]:
    """The next message, its body read, without what is new in each."""
    raw: Any = client.rpop(name)
    message: dict[str, Any] = json.loads(raw)
    assert message["headers"]["id"] == message["headers"]["root_id"]
    assert message["headers"]["id"] == message["properties"]["correlation_id"]
    for name in FRESH:
        assert message["properties"].pop(name)
    for name in ("id", "root_id"):
        del message["headers"][name]
    message["body"] = json.loads(base64.b64decode(message["body"]))
    return message


def publish(job_id: str, name: str) -> None:
    """What Celery makes of a task, sent by kombu's own producer."""
    message_id = str(uuid4())
    task = app.amqp.as_task_v2(
        message_id, task_name("echo"), args=(job_id,), argsrepr="()", ignore_result=True
    )
    with app.producer_pool.acquire(block=True) as producer:
        producer.publish(
            task.body,
            headers=task.headers,
            correlation_id=message_id,
            exchange="",
            routing_key=name,
            serializer="json",
        )


@pytest.mark.parametrize("batch", [False, True])
def test_a_message_is_what_celery_sends(chosen: Settings, batch: bool) -> None:
    name = queue_of("echo", batch=batch)
    broker.send_all([JobMessage("echo", "job_1", batch)])
    publish("job_1", name)
    with redis.Redis.from_url(chosen.redis_url.get_secret_value()) as client:
        ours, theirs = taken(client, name), taken(client, name)
        assert client.llen(name) == 0
    assert ours == theirs


def test_messages_keep_their_order_and_their_headers(chosen: Settings) -> None:
    sent = [JobMessage("echo", f"job_{n}", again=n == 1, trace={"t": str(n)}) for n in range(3)]
    broker.send_all(sent)
    with redis.Redis.from_url(chosen.redis_url.get_secret_value()) as client:
        found = [taken(client, queue_of("echo", batch=False)) for _ in sent]
    assert [one["body"][0] for one in found] == [["job_0"], ["job_1"], ["job_2"]]
    assert [one["headers"]["t"] for one in found] == ["0", "1", "2"]
    assert [broker.AGAIN in one["headers"] for one in found] == [False, True, False]
