"""One record of a server for all workers: taken once, kept a day, and not believed against it."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from services.inference import server_watch
from shared.contracts.errors import BadInput
from shared.models import server_records
from shared.models.catalogue.availability import ModelStates
from shared.models.catalogue.catalogue import Catalogue
from shared.models.catalogue.entry import ModelEntry
from shared.models.server_connection import FieldRefused
from shared.models.server_records import (
    DAY,
    PROBING,
    RECORDS,
    UNUSABLE_SECONDS,
    ServerAbilities,
    ServerRecord,
    ServerState,
    contradicted,
    fingerprint,
    read,
    refresh,
)
from shared.process import redis_client
from shared.process.settings import Settings
from tests.patience import SECONDS

ENTRY = ModelEntry(name="m", kind="causal", source="openai:http://127.0.0.1:1/v1")


@pytest.fixture
def broker(chosen: Settings) -> redis.Redis:
    redis_client.board_client.cache_clear()
    contradicted.clear()
    made: redis.Redis = redis.Redis.from_url(chosen.redis_url.get_secret_value())
    made.delete(RECORDS, PROBING + ENTRY.name)
    return made


class Probe:
    """Answers as it is told, and counts."""

    def __init__(self, **known: object) -> None:
        self.known, self.asked = known, 0

    def __call__(self, entry: ModelEntry) -> ServerAbilities:
        self.asked += 1
        return ServerAbilities.model_validate(
            {"name": entry.name, "source": "openai:", "served": entry.name, **self.known}
        )


def test_a_server_is_asked_once_for_everybody(broker: redis.Redis) -> None:
    probe = Probe(chat=True, top_logprobs=20)
    assert [refresh(ENTRY, probe) for _ in range(3)] == [True, False, False]
    assert probe.asked == 1
    assert read()["m"].abilities.top_logprobs == 20
    assert 0 < int(broker.ttl(RECORDS)) <= 2 * DAY


def test_it_is_asked_again_after_a_day_a_change_and_a_contradiction(broker: redis.Redis) -> None:
    probe = Probe()
    refresh(ENTRY, probe)
    known = read()["m"]
    old = known.model_copy(update={"at": known.at - DAY})
    broker.hset(RECORDS, "m", old.model_dump_json())
    assert refresh(ENTRY, probe)
    assert read()["m"].at >= known.at
    other = ENTRY.model_copy(update={"votes": 5})
    assert fingerprint(other) != fingerprint(ENTRY)
    assert refresh(other, probe)
    assert not refresh(other, probe)
    contradicted.add("m")
    assert refresh(other, probe)
    assert not refresh(other, probe)


def test_a_classification_server_of_no_use_is_failed_until_it_is_mended(
    broker: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In every process, whoever asked; one of a language model is left to its jobs."""
    head = ModelEntry(name="m", kind="classifier", source="classify:http://127.0.0.1:1")
    monkeypatch.setattr(server_watch, "connection_error", lambda _: None)
    probe = Probe(error="the server does not say of which kind it is: set `protocol`")
    monkeypatch.setattr(server_watch, "_abilities", probe)
    for entry, state in ((head, "failed"), (ENTRY, "ready")):
        broker.delete(RECORDS)
        held = [ModelStates(), ModelStates()]
        for states in held:
            watch = server_watch.ServerWatch(Catalogue((entry,), Path()), states)
            watch.check()
            watch.record()
            watch._due.clear()
            watch.check()  # that it answers does not make it ready again
        assert [getattr(one.get("m"), "state", None) for one in held] == [state] * 2
        assert [getattr(one.get("m"), "reason", None) for one in held] == [
            probe.known["error"] if state == "failed" else ""
        ] * 2
    assert probe.asked == 2
    seen = ServerRecord(at=0, entry=fingerprint(head), abilities=probe(head))
    assert seen.is_due(head, UNUSABLE_SECONDS)  # it may have been mended


def test_a_mended_classification_server_is_ready(
    broker: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    head = ModelEntry(name="m", kind="classifier", source="classify:http://127.0.0.1:1")
    monkeypatch.setattr(server_watch, "connection_error", lambda _: None)
    states = ModelStates()
    watch = server_watch.ServerWatch(Catalogue((head,), Path()), states)
    for error, state in (("it says nothing", "failed"), (None, "ready")):
        monkeypatch.setattr(server_watch, "_abilities", Probe(error=error))
        broker.delete(RECORDS)  # as after its time
        watch._record_due.clear()
        watch.check()
        watch.record()
        assert getattr(states.get("m"), "state", None) == state


def test_one_worker_asks_at_a_time_and_one_that_died_blocks_nobody(broker: redis.Redis) -> None:
    begun, go = threading.Event(), threading.Event()

    def slow(entry: ModelEntry) -> ServerAbilities:
        begun.set()
        assert go.wait(SECONDS)
        return Probe()(entry)

    first = threading.Thread(target=refresh, args=(ENTRY, slow))
    first.start()
    assert begun.wait(SECONDS)
    assert int(broker.ttl(PROBING + "m")) > 0
    probe = Probe()
    assert not refresh(ENTRY, probe)
    go.set()
    first.join()
    assert probe.asked == 0
    assert "m" in read()


def test_a_server_that_is_away_or_breaks_leaves_the_record(broker: redis.Redis) -> None:
    refresh(ENTRY, Probe(chat=True))
    contradicted.add("m")
    assert refresh(ENTRY, Probe(error="no connection", is_away=True))
    assert read()["m"].abilities.chat is True

    def broken(_: ModelEntry) -> ServerAbilities:
        raise OSError("the line is cut")

    contradicted.add("m")
    with pytest.raises(OSError, match="cut"):
        refresh(ENTRY, broken)
    assert not broker.exists(PROBING + "m")


def test_what_is_no_record_and_no_redis_is_nothing(
    broker: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    broker.hset(RECORDS, "m", "of another version")
    assert read() == {}
    away = redis.Redis(port=1, retry=Retry(NoBackoff(), 0))
    monkeypatch.setattr(server_records, "board_client", lambda: away)
    assert read() == {}


def test_a_record_survives_the_wire() -> None:
    made = ServerRecord(at=1.5, entry="0" * 16, abilities=Probe(left_out=["seed"])(ENTRY))
    assert ServerRecord.model_validate_json(made.model_dump_json()) == made


class Server:
    """Refuses a field from some version on. Each `ServerState` learns its version."""

    def __init__(self) -> None:
        self.version, self.looked = 1, 0

    def look(self) -> int:
        self.looked += 1
        return self.version

    def ask(self, findings: ServerState[int]) -> str:
        if findings.value != self.version:
            raise FieldRefused("it takes no prompt_logprobs", pointer=None, words="prompt_logprobs")
        return f"by {findings.value}"


def test_a_refusal_of_what_was_taken_before_is_looked_into_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    contradicted.clear()
    server = Server()
    findings = ServerState("m", server.look)
    assert findings.run(lambda: server.ask(findings)) == "by 1"
    server.version = 2
    with pytest.raises(FieldRefused):  # it was looked at just now
        findings.run(lambda: server.ask(findings))
    monkeypatch.setattr(server_records, "SETTLED_SECONDS", 0.0)
    assert findings.run(lambda: server.ask(findings)) == "by 2"
    assert (server.looked, contradicted) == (2, {"m"})
    contradicted.clear()


def test_a_refusal_that_stays_is_the_callers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_records, "SETTLED_SECONDS", 0.0)
    findings = ServerState("m", lambda: 1)
    _ = findings.value
    tries = 0

    def refused() -> None:
        nonlocal tries
        tries += 1
        raise FieldRefused("no", pointer="/text", words="no")

    with pytest.raises(FieldRefused):
        findings.run(refused)
    assert tries == 2

    def other() -> None:
        raise BadInput("no")

    with pytest.raises(BadInput):
        findings.run(other)
    contradicted.clear()


def test_what_was_learned_holds_for_a_day(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server()
    findings = ServerState("m", server.look)
    assert (findings.known, findings.value, findings.value, server.looked) == (None, 1, 1, 1)
    monkeypatch.setattr(server_records, "DAY", 0.0)
    assert (findings.value, server.looked) == (1, 2)
