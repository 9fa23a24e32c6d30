"""Requests from one Kafka topic, results to another: none is lost, none is scored twice.

A block of messages of one partition is one call, under a key made of its offsets. The metadata of
the committed offset records where the block ended. After a crash the next process sends the very
same call, and the service answers with the same jobs:

    before the call    offset = first     metadata = "last"         the block is about to be sent
    after the 202      offset = last + 1  metadata = "first-last"   its results are owed
    results produced   offset = last + 1  metadata = ""

A message is the JSON of a request. Its result is written under the message's key, at least once,
with the headers `topic`, `partition` and `offset`. An invalid request gets `{"error": …}`.

    python bridge.py --metric hatexscore --in posts --out scores --servers localhost:9092
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from touchstone_client import BadRequest, Touchstone

BLOCK = 500  # messages of one call, 1,000 at most
POLL_SECONDS = 1.0
WAIT_SECONDS = 30.0
FAULTY = re.compile(r"#?/requests/(\d+)")


@dataclass(frozen=True)
class Record:
    """A message. value: its bytes as sent."""

    offset: int
    key: bytes | None
    value: bytes


@dataclass(frozen=True)
class Position:
    """The committed state of a partition.

    start: where to read from.
    last: the end of the running block; None: there was none.
    """

    start: int
    last: int | None = None

    @classmethod
    def read(cls, offset: int, metadata: str) -> Position:
        first, _, last = metadata.rpartition("-")
        if not last:
            return cls(offset)
        return cls(int(first) if first else offset, int(last))


class Log(Protocol):
    """One partition and the topic of results, of Kafka or of a test."""

    name: str  # topic-partition

    def position(self) -> Position: ...
    def read(self, start: int, most: int) -> list[Record]: ...
    def commit(self, offset: int, metadata: str) -> None: ...
    def produce(self, record: Record, value: bytes) -> None: ...
    def flush(self) -> None: ...


class Bridge:
    """Moves blocks of one partition until nothing is left to read."""

    def __init__(self, ts: Touchstone, metric: str, log: Log) -> None:
        self._ts, self._metric, self._log = ts, metric, log

    def run(self) -> int:
        """Return the number of answered messages."""
        where, answered = self._log.position(), 0
        while block := self._block(where):
            answered += len(block)
            where = Position(self._answer(block))
        return answered

    def _block(self, where: Position) -> list[Record]:
        """Return the next messages; after a crash exactly those of the interrupted block."""
        most = BLOCK if where.last is None else where.last - where.start + 1
        found = self._log.read(where.start, most)
        return [one for one in found if where.last is None or one.offset <= where.last]

    def _answer(self, block: list[Record]) -> int:
        """Answer a block and return the next offset."""
        first, last = block[0].offset, block[-1].offset
        self._log.commit(first, str(last))
        good, faulty = self._parsed(block)
        ids = self._accepted(good, faulty, f"{self._log.name}-{first}-{last}")
        self._log.commit(last + 1, f"{first}-{last}")
        for record, problem in faulty:
            self._log.produce(record, json.dumps({"error": problem}).encode())
        for (record, _), result in zip(good, self._ended(ids), strict=True):
            self._log.produce(record, result)
        self._log.flush()
        self._log.commit(last + 1, "")
        return last + 1

    @staticmethod
    def _parsed(block: list[Record]) -> tuple[list[tuple[Record, Any]], list[tuple[Record, str]]]:
        good, faulty = [], []
        for record in block:
            try:
                good.append((record, dict(json.loads(record.value))))
            except (ValueError, TypeError):
                faulty.append((record, "no JSON object"))
        return good, faulty

    def _accepted(
        self, good: list[tuple[Record, Any]], faulty: list[tuple[Record, str]], key: str
    ) -> list[str]:
        """Return the jobs of valid requests; refused ones move to `faulty`."""
        while good:
            try:
                requests = [fields for _, fields in good]
                return list(self._ts.jobs.create_many(self._metric, requests, key=key))
            except BadRequest as error:
                wrong = {
                    int(found[1]): one.detail
                    for one in reversed(error.errors)
                    if (found := FAULTY.match(one.pointer or ""))
                }
                if not wrong:
                    raise
                faulty += [(good[place][0], detail) for place, detail in wrong.items()]
                good[:] = [one for place, one in enumerate(good) if place not in wrong]
        return []

    def _ended(self, ids: list[str]) -> Iterator[bytes]:
        """Yield each job's JSON, once all have ended."""
        while ids:
            jobs = self._ts.jobs.get_many(ids, wait=WAIT_SECONDS)
            if all(job.data.status in ("succeeded", "failed", "cancelled") for job in jobs):
                yield from (job.data.model_dump_json().encode() for job in jobs)
                return


def main() -> None:
    """Process all partitions of the topic in turn, forever."""
    from kafka_log import partitions  # it alone needs confluent-kafka

    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--metric", required=True)
    parser.add_argument("--in", dest="source", required=True, help="topic of requests")
    parser.add_argument("--out", required=True, help="topic of results")
    parser.add_argument("--servers", default="localhost:9092")
    parser.add_argument("--group", default="touchstone")
    asked = parser.parse_args()
    with Touchstone() as ts:
        while True:
            for log in partitions(asked.servers, asked.group, asked.source, asked.out):
                Bridge(ts, asked.metric, log).run()


if __name__ == "__main__":
    main()
