"""A partition of Kafka as `bridge.Log`. One process reads all partitions of the topic."""

from __future__ import annotations

from collections.abc import Iterator

from bridge import POLL_SECONDS, Position, Record
from confluent_kafka import Consumer, Producer, TopicPartition


class KafkaLog:
    """One partition with its own consumer of the group; offsets are committed explicitly."""

    def __init__(
        self, consumer: Consumer, producer: Producer, place: TopicPartition, out: str
    ) -> None:
        self._consumer, self._producer, self._out = consumer, producer, out
        self._place, self.name = place, f"{place.topic}-{place.partition}"

    def position(self) -> Position:
        [found] = self._consumer.committed([self._place])
        return Position.read(max(found.offset, 0), found.metadata or "")

    def read(self, start: int, most: int) -> list[Record]:
        place = TopicPartition(self._place.topic, self._place.partition, start)
        self._consumer.assign([place])
        found = self._consumer.consume(most, timeout=POLL_SECONDS)
        return [
            Record(one.offset(), one.key(), one.value() or b"") for one in found if not one.error()
        ]

    def commit(self, offset: int, metadata: str) -> None:
        place = TopicPartition(self._place.topic, self._place.partition, offset, metadata)
        self._consumer.commit(offsets=[place], asynchronous=False)

    def produce(self, record: Record, value: bytes) -> None:
        came_from = {"partition": str(self._place.partition), "offset": str(record.offset)}
        headers = {"topic": self._place.topic, **came_from}
        self._producer.produce(self._out, value, record.key, headers=headers)

    def flush(self) -> None:
        self._producer.flush()


def partitions(servers: str, group: str, source: str, out: str) -> Iterator[KafkaLog]:
    """Yield every partition of `source`."""
    asked = {"bootstrap.servers": servers, "group.id": group, "enable.auto.commit": False,
             "auto.offset.reset": "earliest"}  # fmt: skip
    consumer, producer = Consumer(asked), Producer({"bootstrap.servers": servers, "acks": "all"})
    for number in sorted(consumer.list_topics(source).topics[source].partitions):
        yield KafkaLog(consumer, producer, TopicPartition(source, number), out)
    consumer.close()
