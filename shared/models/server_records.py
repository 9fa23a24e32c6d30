"""The last known abilities of each model server: one record for all processes, in Redis.

A worker tests a server when it is first seen, after a change of its entry, daily, and after an
error that contradicts the record. A lock allows one worker at a time. `ServerState` keeps other
knowledge of a process about a server for the same time. If Redis is flushed, servers are tested
again.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from typing import Generic, TypeVar

from pydantic import Field, ValidationError
from redis.exceptions import RedisError

from shared.contracts.judgement import Reading
from shared.contracts.messages import Message
from shared.models.catalogue.entry import ModelEntry
from shared.models.server_connection import FieldRefused, readable_answers
from shared.process import telemetry
from shared.process.redis_client import board_client

RECORDS = "touchstone:model-servers"  # model → ServerRecord
PROBING = "touchstone:model-server-probe:"  # + model: set while a worker tests it
DAY = 86_400.0  # seconds for which a record, and a process's knowledge, is valid
UNUSABLE_SECONDS = 60.0  # validity for an unusable server, which may be repaired
FORGOTTEN_SECONDS = 2 * 86_400
CLAIM_SECONDS = 600  # longest test; after it another worker may take over
SETTLED_SECONDS = 600.0  # knowledge younger than this is not contradicted by an error
REPEATS = 3

Found = TypeVar("Found")
Answer = TypeVar("Answer")

logger = telemetry.logger(__name__)


class ServerAbilities(Message):
    """The abilities of a server. Null means not tested, because the ability does not apply."""

    name: str
    source: str = Field(description="the scheme of the source; addresses are not shown")
    served: str
    owner: str | None = Field(
        default=None, description="owner of the model, as reported by the server"
    )
    milliseconds: float | None = Field(default=None, description="time that one short answer took")
    error: str | None = Field(default=None, description="why it cannot be used")
    is_away: bool = Field(default=False, description="true if the error is temporary")
    lists_models: bool | None = None
    completions: bool | None = None
    chat: bool | None = None
    given_text: str | None = Field(
        default=None, description="method by which the server scores a given text"
    )
    tells_tokens: bool | None = None
    top_logprobs: int | None = Field(
        default=None,
        description="number of tokens whose log-probabilities the server lists; 0: none",
    )
    asked_logprobs: int | None = None
    label_endpoint: str | None = None
    prefill_continues: bool | None = None
    reasoning_field: str | None = None
    limit_field: str | None = None
    left_out: tuple[str, ...] = Field(
        default=(), description="request fields that the server rejects"
    )
    seed_repeats: int | None = Field(
        default=None, description=f"number of equal answers among {REPEATS} draws"
    )
    length: int | None = Field(
        default=None, description="context length in tokens, as reported by the server"
    )
    protocol: str | None = Field(default=None, description="protocol of a classification server")
    activation: str | None = None
    outputs: tuple[str, ...] | None = None
    labels: tuple[str, ...] | None = None
    reading: Reading | None = None
    mass: float | None = None
    unread: str | None = Field(
        default=None, description="why the probabilities of the test text could not be read"
    )
    metrics: dict[str, str] = Field(default_factory=dict)

    @property
    def is_usable(self) -> bool:
        """Return True if the server answers."""
        return self.error is None


class ServerRecord(Message):
    """A server's abilities, with the time of the test and the fingerprint of its entry."""

    at: float
    entry: str
    abilities: ServerAbilities

    def is_due(self, entry: ModelEntry, now: float) -> bool:
        """Return True if the server must be tested again: after a day, sooner if it was unusable,
        or if its entry was changed."""
        validity = DAY if self.abilities.is_usable else UNUSABLE_SECONDS
        return now - self.at >= validity or self.entry != fingerprint(entry)


def fingerprint(entry: ModelEntry) -> str:
    """Return 16 hex digits that change with the entry."""
    return hashlib.sha256(entry.model_dump_json(exclude_unset=True).encode()).hexdigest()[:16]


def read() -> dict[str, ServerRecord]:
    """Return the record of each model, or {} if Redis is unreachable."""
    records: dict[str, ServerRecord] = {}
    with suppress(RedisError):
        for name, value in board_client().hgetall(RECORDS).items():
            with suppress(ValidationError):  # of another version
                records[str(name)] = ServerRecord.model_validate_json(value)
    return records


def refresh(entry: ModelEntry, probe: Callable[[ModelEntry], ServerAbilities]) -> bool:
    """Probe the model server if its record is out of date and no other worker is probing it. Return
    True if it was probed. The record of an unreachable server stays unchanged. Raises RedisError.
    """
    now = float(board_client().time()[0])
    record = read().get(entry.name)
    if record is not None and not record.is_due(entry, now) and entry.name not in contradicted:
        return False
    if not board_client().set(PROBING + entry.name, "1", nx=True, ex=CLAIM_SECONDS):
        return False
    try:
        contradicted.discard(entry.name)
        abilities = probe(entry)
        if not abilities.is_away:
            new_record = ServerRecord(at=now, entry=fingerprint(entry), abilities=abilities)
            with board_client().pipeline(transaction=True) as pipe:
                pipe.hset(RECORDS, entry.name, new_record.model_dump_json())
                pipe.expire(RECORDS, FORGOTTEN_SECONDS)
                pipe.execute()
        return True
    finally:
        board_client().delete(PROBING + entry.name)


contradicted: set[str] = set()  # models whose server rejected what it accepted before


class ServerState(Generic[Found]):
    """A server's known properties. They are kept for a day, or until the server rejects something
    that it accepted before."""

    def __init__(self, name: str, find: Callable[[], Found]) -> None:
        self._name, self._find = name, find
        self._known: Found | None = None
        self._since = 0.0
        self._lock = threading.Lock()

    @property
    def known(self) -> Found | None:
        """The known value, or None. No request is sent."""
        return self._known

    @property
    def value(self) -> Found:
        """The value. It is computed if it is unknown or expired. Raises the errors of `find`."""
        with self._lock:
            if self._known is None or monotonic() - self._since >= DAY:
                with readable_answers(self._name):
                    self._known, self._since = self._find(), monotonic()
            return self._known

    def run(self, ask: Callable[[], Answer]) -> Answer:
        """Return the result of `ask`. If the server rejects something that it accepted before,
        forget its known properties and call `ask` once more."""
        known, since = self._known, self._since
        try:
            with readable_answers(self._name):
                return ask()
        except FieldRefused:
            if known is None or monotonic() - since < SETTLED_SECONDS:
                raise
        logger.warning("server.contradicted", model=self._name)
        contradicted.add(self._name)
        with self._lock:
            if self._known is known:
                self._known = None
        with readable_answers(self._name):
            return ask()
