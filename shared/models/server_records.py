"""What each model server was last found to do: one record for everybody, kept in Redis.

A worker takes it when a server is first seen, after a change of its entry, daily, and after a
refusal that contradicts it; one worker at a time, by a lock. What a process learned of a server
holds as long: `ServerState`. A Redis that is flushed loses records, which are then taken anew.
Deviates: the specs name a table of the database; like the states they rest on nothing, and no job
needs them. Source: specs "models" §2.4, §5.2.
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
PROBING = "touchstone:model-server-probe:"  # + model: some worker asks it now
DAY = 86_400.0  # seconds that a record, and what a process learned, holds
UNUSABLE_SECONDS = 60.0  # that one holds of a server of no use: it may have been mended
FORGOTTEN_SECONDS = 2 * 86_400
CLAIM_SECONDS = 600  # the longest that a probe takes; one that died is claimed again after it
SETTLED_SECONDS = 600.0  # a refusal sooner contradicts nothing: what is known is as good as new
REPEATS = 3

Found = TypeVar("Found")
Answer = TypeVar("Answer")

logger = telemetry.logger(__name__)


class ServerAbilities(Message):
    """What a server was found to do. Null: it was not asked, since it made no sense."""

    name: str
    source: str = Field(description="the scheme; addresses are not repeated")
    served: str
    owner: str | None = Field(default=None, description="as the server says")
    milliseconds: float | None = Field(default=None, description="of one short answer")
    error: str | None = Field(default=None, description="why it cannot be used")
    is_away: bool = Field(default=False, description="whether that is so only for now")
    lists_models: bool | None = None
    completions: bool | None = None
    chat: bool | None = None
    given_text: str | None = Field(default=None, description="how it scores a given text")
    tells_tokens: bool | None = None
    top_logprobs: int | None = Field(default=None, description="tokens listed; 0: none")
    asked_logprobs: int | None = None
    label_endpoint: str | None = None
    prefill_continues: bool | None = None
    reasoning_field: str | None = None
    limit_field: str | None = None
    left_out: tuple[str, ...] = Field(default=(), description="fields that it refuses")
    seed_repeats: int | None = Field(default=None, description=f"of {REPEATS}")
    length: int | None = Field(default=None, description="tokens, as the server states")
    protocol: str | None = Field(default=None, description="of a classification server")
    activation: str | None = None
    outputs: tuple[str, ...] | None = None
    labels: tuple[str, ...] | None = None
    reading: Reading | None = None
    mass: float | None = None
    unread: str | None = Field(default=None, description="why P could not be read on the probe")
    metrics: dict[str, str] = Field(default_factory=dict)

    @property
    def is_usable(self) -> bool:
        """Whether it answers at all."""
        return self.error is None


class ServerRecord(Message):
    """at: unix seconds, Redis's; entry: of what it was configured as."""

    at: float
    entry: str
    abilities: ServerAbilities

    def is_due(self, entry: ModelEntry, now: float) -> bool:
        """Whether the server is to be asked again: daily, sooner where it may have been mended."""
        good = DAY if self.abilities.is_usable else UNUSABLE_SECONDS
        return now - self.at >= good or self.entry != fingerprint(entry)


def fingerprint(entry: ModelEntry) -> str:
    """16 hex digits that change with the entry."""
    return hashlib.sha256(entry.model_dump_json(exclude_unset=True).encode()).hexdigest()[:16]


def read() -> dict[str, ServerRecord]:
    """model → record; nothing where Redis is away."""
    found: dict[str, ServerRecord] = {}
    with suppress(RedisError):
        for name, value in board_client().hgetall(RECORDS).items():
            with suppress(ValidationError):  # of another version of us
                found[str(name)] = ServerRecord.model_validate_json(value)
    return found


def refresh(entry: ModelEntry, probe: Callable[[ModelEntry], ServerAbilities]) -> bool:
    """Ask the server where its record is due and nobody else is asking; whether that was done.

    A server that is away leaves the record as it was: its state says so. Raises RedisError.
    """
    now = float(board_client().time()[0])
    known = read().get(entry.name)
    if known is not None and not known.is_due(entry, now) and entry.name not in contradicted:
        return False
    if not board_client().set(PROBING + entry.name, "1", nx=True, ex=CLAIM_SECONDS):
        return False
    try:
        contradicted.discard(entry.name)
        abilities = probe(entry)
        if not abilities.is_away:
            made = ServerRecord(at=now, entry=fingerprint(entry), abilities=abilities)
            with board_client().pipeline(transaction=True) as trip:
                trip.hset(RECORDS, entry.name, made.model_dump_json())
                trip.expire(RECORDS, FORGOTTEN_SECONDS)
                trip.execute()
        return True
    finally:
        board_client().delete(PROBING + entry.name)


contradicted: set[str] = set()  # models whose server refused, here, what it had taken before


class ServerState(Generic[Found]):
    """A server's known properties: for a day, or until the server refuses what it took."""

    def __init__(self, name: str, find: Callable[[], Found]) -> None:
        self._name, self._find = name, find
        self._known: Found | None = None
        self._since = 0.0
        self._lock = threading.Lock()

    @property
    def known(self) -> Found | None:
        """Without asking the server."""
        return self._known

    @property
    def value(self) -> Found:
        """Found now if it is not known, or not any more. Raises as `find` does."""
        with self._lock:
            if self._known is None or monotonic() - self._since >= DAY:
                with readable_answers(self._name):
                    self._known, self._since = self._find(), monotonic()
            return self._known

    def run(self, ask: Callable[[], Answer]) -> Answer:
        """The answer; of a server that refuses what it took before, once more after a new look."""
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
