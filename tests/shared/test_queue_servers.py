"""Queues of different services on different Redis servers: each message lies where it is taken."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest
import redis
from pydantic import SecretStr, ValidationError

from services.registry import process_settings
from shared.contracts.calls import Example
from shared.contracts.errors import Unavailable
from shared.models import remote
from shared.models.remote import QueueModels, handle_call
from shared.process.settings import Settings
from shared.queue import broker
from shared.queue.broker import JobMessage, queue_of
from tests.fakes import FakeModel, FakeModels, bound_models
from tests.patience import SECONDS
from tests.servers import redis_server
from tests.shared.models.test_remote import CATALOGUE


@pytest.fixture(scope="module")
def second(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with redis_server(tmp_path_factory.mktemp("second")) as url:
        yield url


@pytest.fixture
def parted(chosen: Settings, second: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Settings]:
    """`ice` and `inference` have the second Redis, whoever asks."""
    named = SecretStr(f"ice={second} inference={second}")
    found = chosen.model_copy(update={"queue_redis": named})
    for module in (broker, remote):
        monkeypatch.setattr(module, "settings", lambda: found)
    with redis.Redis.from_url(second) as client:
        client.flushall()
    yield found
    broker._taken.clear()
    broker.app.conf.broker_url = chosen.redis_url.get_secret_value()


def first_of(chosen: Settings) -> redis.Redis:
    return redis.Redis.from_url(chosen.redis_url.get_secret_value())


def test_messages_lie_in_the_redis_of_their_service(parted: Settings, second: str) -> None:
    sent = [JobMessage("ice", "a"), JobMessage("echo", "b", batch=True), JobMessage("ice", "c")]
    broker.send_all(sent)
    assert broker.queue_length("ice") == 2
    assert broker.queue_lengths(["ice", "echo"]) == {
        ("ice", False): 2,
        ("ice", True): 0,
        ("echo", False): 0,
        ("echo", True): 1,
    }
    with redis.Redis.from_url(second) as other, first_of(parted) as first:
        assert other.llen(queue_of("ice", batch=False)) == 2
        assert other.llen(queue_of("echo", batch=True)) == 0
        assert first.llen(queue_of("echo", batch=True)) == 1
        assert first.llen(queue_of("ice", batch=False)) == 0


def test_a_worker_takes_from_the_redis_of_its_services(parted: Settings) -> None:
    broker.send_all([JobMessage("ice", "a", batch=True), JobMessage("echo", "b", batch=True)])
    queues = [queue_of("ice", batch=True), queue_of("echo", batch=True)]
    broker.take_from(["ice", "inference"])
    assert broker.app.conf.broker_url == parted.redis_of("ice") == broker.own_address()
    first = broker.pop(queues, 0.2)
    assert first is not None
    assert first[0] == queue_of("ice", batch=True)
    assert broker.pop(queues, 0.2) is None


@pytest.mark.usefixtures("parted")
def test_a_worker_of_two_servers_is_refused_with_what_to_do() -> None:
    with pytest.raises(ValueError, match=r"ice \| echo, ftc") as error:
        broker.take_from(["ice", "echo", "ftc"])
    assert "start a separate worker for each" in str(error.value)
    assert "redis://" not in str(error.value)


def test_a_redis_that_is_away_is_named_and_stops_no_other(
    chosen: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = SecretStr("ice=redis://127.0.0.1:1 haf=redis://127.0.0.1:1")
    found = chosen.model_copy(update={"queue_redis": named})
    monkeypatch.setattr(broker, "settings", lambda: found)
    assert broker.brokers_away() == ["broker of ice, haf"]
    with pytest.raises(Unavailable):
        broker.send_all([JobMessage("ice", "a"), JobMessage("echo", "b")])
    assert broker.queue_length("echo") == 1


def test_calls_and_replies_of_models_go_by_the_redis_of_the_models(
    parted: Settings, second: str
) -> None:
    """The worker takes from the second Redis, in a process of its own in truth: here a thread that
    pops the message as kombu wrote it there."""

    def work() -> None:
        with redis.Redis.from_url(second) as client:
            found: Any = client.brpop(["model.inference"], timeout=SECONDS)
        broker._taken[:] = [second]  # only replies are sent from here on
        message = json.loads(found[1])
        body = json.loads(base64.b64decode(message["body"]))
        handle_call(*body[0])

    examples = [Example(text="a"), Example(text="bb")]
    with bound_models(FakeModels()):
        worker = threading.Thread(target=work)
        worker.start()
        found = QueueModels(CATALOGUE).classifier("fake").judge(examples)
        worker.join()
    expected = FakeModel().judge(examples)
    assert [list(one) for one in found] == [list(one) for one in expected]
    with first_of(parted) as first:
        assert first.llen("model.inference") == 0
        assert not [key for key in first.keys("*") if key.startswith(b"reply:")]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("ice", "must be SERVICE=URL pairs"),
        ("ice=redis://a:1 ice=redis://b:1", "must contain ice only once"),
        ("ice=http://secret-host", "ice: the address must begin with redis://"),
        ("ice=redis://a:99999", "a port of at most 65535"),
    ],
)
def test_what_is_no_list_of_services_is_refused_without_its_addresses(
    value: str, said: str
) -> None:
    with pytest.raises(ValidationError) as error:
        Settings(queue_redis=SecretStr(value))
    [one] = error.value.errors()
    assert said in one["msg"]
    assert "secret-host" not in one["msg"]


def test_servers_outside_need_tls_each() -> None:
    with pytest.raises(ValidationError, match="TOUCHSTONE_QUEUE_REDIS must have rediss://"):
        Settings.model_validate(
            {
                "REDIS_URL": "rediss://:secret@one:6379",
                "DATABASE_URL": "postgresql://two/t?sslmode=verify-full",
                "stores_tls": "required",
                "queue_redis": "ice=redis://three:6379",
            }
        )


@pytest.mark.parametrize(
    "found",
    [Settings(queue_redis=SecretStr("icee=redis://one:6379")), Settings(serve="metrics icee")],
)
def test_a_service_that_there_is_not_ends_the_start(
    found: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("services.registry.settings_or_exit", lambda: found)
    with pytest.raises(SystemExit) as ended:
        process_settings()
    assert ended.value.code == 2
    assert "no such service: icee; there are:" in capsys.readouterr().err
