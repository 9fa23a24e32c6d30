"""The Kafka bridge: whenever it dies, every message is answered and none is scored twice."""

from __future__ import annotations

import importlib
import json
import uuid
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from tests.patience import SECONDS
from touchstone_client import BadRequest, Touchstone
from touchstone_client.errors import refusal


class Died(Exception):
    """As kill -9 ends it: nothing else is done."""


class MemoryLog:
    """A partition that lives as long as the test; it dies before its `deadly`th step."""

    name = "posts-0"

    def __init__(self, bridge: ModuleType, values: list[bytes]) -> None:
        self.bridge = bridge
        self.values = values
        self.committed = (0, "")
        self.pending: list[tuple[int, bytes]] = []
        self.written: list[tuple[int, bytes]] = []
        self.deadly = -1

    def step(self) -> None:
        self.deadly -= 1
        if self.deadly == 0:
            self.pending = []
            raise Died

    def position(self) -> Any:
        return self.bridge.Position.read(*self.committed)

    def read(self, start: int, most: int) -> list[Any]:
        chosen = list(enumerate(self.values))[start : start + most]
        return [self.bridge.Record(offset, None, value) for offset, value in chosen]

    def commit(self, offset: int, metadata: str) -> None:
        self.step()
        self.committed = (offset, metadata)

    def produce(self, record: Any, value: bytes) -> None:
        self.step()
        self.pending.append((record.offset, value))

    def flush(self) -> None:
        self.step()
        self.written += self.pending
        self.pending = []


class Jobs:
    """`ts.jobs` of a service that remembers keys; a request without a text is refused."""

    def __init__(self, log: MemoryLog) -> None:
        self.log = log
        self.by_key: dict[str, tuple[str, list[str]]] = {}
        self.made: dict[str, dict[str, Any]] = {}

    def create_many(self, metric: str, requests: list[dict[str, Any]], *, key: str) -> list[str]:
        self.log.step()
        faults = [
            {"detail": "Field required", "pointer": f"#/requests/{place}/text"}
            for place, one in enumerate(requests)
            if "text" not in one
        ]
        if faults:
            body = json.dumps({"title": "no", "status": 422, "errors": faults}).encode()
            raise refusal(422, {}, body)
        body_text = json.dumps(requests)
        if key not in self.by_key:
            ids = [f"job_{uuid.uuid4().hex}" for _ in requests]
            self.by_key[key] = (body_text, ids)
            self.made |= dict(zip(ids, requests, strict=True))
        said, ids = self.by_key[key]
        assert said == body_text, "another body under the same key"
        self.log.step()  # it was accepted, and nobody has heard of it yet
        return ids

    def get_many(self, ids: list[str], *, wait: float) -> list[Any]:
        self.log.step()
        return [
            SimpleNamespace(
                data=SimpleNamespace(
                    status="succeeded",
                    model_dump_json=lambda id=one: json.dumps({"id": id, **self.made[id]}),
                )
            )
            for one in ids
        ]


@pytest.fixture
def bridge(kafka_bridge: None, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    module = importlib.import_module("bridge")
    monkeypatch.setattr(module, "BLOCK", 3)
    return module


MESSAGES = [
    b'{"text": "0"}', b"no JSON", b'{"text": "2"}', b'{"texts": "3"}', b'{"text": "4"}',
    b"[]", b"7", b'{"text": "7"}',
]  # fmt: skip


@pytest.mark.parametrize("deadly", range(1, 45))
def test_wherever_it_dies_every_message_is_answered_and_none_scored_twice(
    bridge: ModuleType, deadly: int
) -> None:
    log = MemoryLog(bridge, MESSAGES)
    ts = SimpleNamespace(jobs=Jobs(log))
    log.deadly = deadly
    try:
        bridge.Bridge(ts, "hatexscore", log).run()
    except Died:
        log.values = [*MESSAGES, b'{"text": "8"}']  # more has come meanwhile
        bridge.Bridge(ts, "hatexscore", log).run()
    asked = [json.loads(value) for value in log.values if value.startswith(b'{"text":')]
    assert sorted(one["text"] for one in ts.jobs.made.values()) == [one["text"] for one in asked]
    answers = dict(log.written)
    assert sorted(answers) == list(range(len(log.values)))
    for offset, value in answers.items():
        said, found = log.values[offset], json.loads(value)
        assert found.get("text", found.get("error")) is not None
        assert ("error" in found) is (said in (b"no JSON", b"[]", b"7", b'{"texts": "3"}'))
    assert log.committed == (len(log.values), "")


def test_what_a_position_says(bridge: ModuleType) -> None:
    read = bridge.Position.read
    assert read(7, "") == bridge.Position(7, None)
    assert read(7, "9") == bridge.Position(7, 9)
    assert read(10, "7-9") == bridge.Position(7, 9)


def test_a_refusal_that_names_nothing_stops_it(bridge: ModuleType) -> None:
    log = MemoryLog(bridge, MESSAGES[:1])

    def create_many(*_: object, **__: object) -> list[str]:
        raise refusal(422, {}, b'{"title": "no such metric", "status": 422}')

    with pytest.raises(BadRequest):
        bridge.Bridge(
            SimpleNamespace(jobs=SimpleNamespace(create_many=create_many)), "x", log
        ).run()
    assert log.committed == (0, "0")


@pytest.mark.end_to_end
def test_from_topic_to_topic(bridge: ModuleType, ts: Touchstone) -> None:
    """librdkafka's own broker, and a real service."""
    kafka = importlib.import_module("confluent_kafka")
    kafka_log = importlib.import_module("kafka_log")
    producer = kafka.Producer({"test.mock.num.brokers": 1, "bootstrap.servers": "unused"})
    [broker] = producer.list_topics(timeout=SECONDS).brokers.values()
    servers = f"{broker.host}:{broker.port}"
    body = {"premise": "A man plays a guitar.", "hypothesis": "A man plays an instrument.",
            "explanation": "It follows.", "decision": "entailment"}  # fmt: skip
    for value in (json.dumps(body), "no JSON", json.dumps({**body, "decision": "perhaps"})):
        producer.produce("posts", value.encode(), b"k")
    producer.flush()

    def once() -> int:
        logs = kafka_log.partitions(servers, "touchstone", "posts", "scores")
        return sum(bridge.Bridge(ts, "ftc", log).run() for log in logs)

    assert once() == 3
    assert once() == 0
    reader = kafka.Consumer(
        {"bootstrap.servers": servers, "group.id": "reader", "auto.offset.reset": "earliest"}
    )
    reader.assign([kafka.TopicPartition("scores", number, 0) for number in range(4)])
    found = {
        int(dict(one.headers())["offset"]): json.loads(one.value()) for one in reader.consume(3, 20)
    }
    reader.close()
    assert sorted(found) == [0, 1, 2]
    assert found[0]["status"] == "succeeded"
    assert "error" in found[1]
    assert found[2].keys() == {"error"}
