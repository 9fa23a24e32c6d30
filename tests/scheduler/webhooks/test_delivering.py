"""Over real HTTP: a job's end becomes a signed request, once, whatever the receivers do."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial

import pytest
from sqlalchemy import Engine, text
from standardwebhooks import Webhook

from services.scheduler.webhooks import delivering
from shared.ledger import webhook_deliveries, webhooks
from shared.ledger.webhook_deliveries import DeliveryRecord
from shared.ledger.webhooks import enqueue_event
from shared.process.encryption import new_secret, sealer_of
from shared.process.settings import Settings
from tests.patience import SECONDS, eventually
from tests.receivers import Receiver, receiving, until

TENANT = "default"


@pytest.fixture
def hasty(chosen: Settings) -> Settings:
    """Rounds of 50 ms; attempts that a busy machine cannot cut short."""
    return chosen.model_copy(update={"tick_seconds": 0.05, "webhook_seconds": SECONDS})


@contextmanager
def scheduler(engine: Engine, chosen: Settings) -> Iterator[None]:
    with delivering(engine, chosen, threading.Event()):
        yield


def endpoint(engine: Engine, chosen: Settings, url: str, tenant: str = TENANT) -> tuple[str, str]:
    """A new endpoint: its id and its secret."""
    sealer, secret = sealer_of(chosen), new_secret()
    assert sealer is not None
    values = {"url": url, "events": [], "description": "", "secret": sealer.seal(secret)}
    with engine.begin() as connection:
        return webhooks.make_endpoint(connection, tenant, values).id, secret


def owe_one(engine: Engine, number: int = 1, tenant: str = TENANT) -> None:
    with engine.begin() as connection:
        for count in range(number):
            enqueue_event(connection, "job.succeeded", tenant, {"id": f"job_{count}"})


def records(engine: Engine, endpoint_id: str, tenant: str = TENANT) -> list[DeliveryRecord]:
    with engine.begin() as connection:
        page = webhook_deliveries.DeliveryPage(limit=1_000)
        return webhook_deliveries.page_of(connection, endpoint_id, tenant, page)[0]


def hurry(engine: Engine) -> None:
    """Let the time pass that the schedule waits."""
    with engine.begin() as connection:
        connection.execute(text("UPDATE webhook_deliveries SET due_at = now()"))
        connection.execute(text("UPDATE webhook_endpoints SET held_until = NULL"))


def statuses(engine: Engine, endpoint_id: str) -> set[str]:
    return {record.status for record in records(engine, endpoint_id)}


def _refused(engine: Engine, endpoint_id: str, attempts: int) -> bool:
    (record,) = records(engine, endpoint_id)
    return record.attempts >= attempts and record.last_error is not None


def test_what_is_due_arrives_signed(engine: Engine, hasty: Settings) -> None:
    with receiving(Receiver()) as receiver, scheduler(engine, hasty):
        endpoint_id, secret = endpoint(engine, hasty, receiver.url)
        owe_one(engine, 20)
        eventually(lambda: statuses(engine, endpoint_id) == {"succeeded"})
    assert len(set(receiver.ids)) == 20 == len(receiver.received)
    for got in receiver.received:
        payload = Webhook(secret).verify(got.body, got.headers)
        assert set(payload) == {"type", "timestamp", "data"}
        assert (payload["type"], payload["timestamp"][-1]) == ("job.succeeded", "Z")
        assert len(got.body) < 20_000


def test_every_attempt_has_the_same_id_and_body_and_a_time_of_its_own(
    engine: Engine, hasty: Settings
) -> None:
    with receiving(Receiver(status=500)) as receiver, scheduler(engine, hasty):
        endpoint_id, secret = endpoint(engine, hasty, receiver.url)
        owe_one(engine)
        for attempts in range(1, 4):
            eventually(partial(_refused, engine, endpoint_id, attempts))
            time.sleep(0.4)  # the next signature's second is another
            hurry(engine)
        receiver.status = 200
        hurry(engine)
        eventually(lambda: statuses(engine, endpoint_id) == {"succeeded"})
    assert len(set(receiver.ids)) == 1
    assert len({got.body for got in receiver.received}) == 1
    assert len({got.headers["webhook-signature"] for got in receiver.received}) > 1
    Webhook(secret).verify(receiver.received[-1].body, receiver.received[-1].headers)


def test_ten_attempts_and_no_more_then_a_replay(engine: Engine, hasty: Settings) -> None:
    instant = hasty.model_copy(update={"webhook_schedule": (0.0,) * 10})
    with receiving(Receiver(status=500)) as receiver, scheduler(engine, instant):
        endpoint_id, _ = endpoint(engine, hasty, receiver.url)
        owe_one(engine)
        eventually(lambda: statuses(engine, endpoint_id) == {"failed"})
        time.sleep(0.3)
        assert len(receiver.received) == 10
        (record,) = records(engine, endpoint_id)
        assert (record.attempts, record.last_status) == (10, 500)
        with engine.begin() as connection:
            assert webhooks.find_endpoint(connection, endpoint_id, TENANT).disabled_at is not None
            webhooks.enable_endpoint(connection, endpoint_id, TENANT)
            webhook_deliveries.replay(connection, endpoint_id, TENANT, record.id)
        receiver.status = 200
        eventually(lambda: statuses(engine, endpoint_id) == {"succeeded"})
    assert set(receiver.ids) == {record.id}


def test_410_disables_and_fails_what_is_owed(engine: Engine, hasty: Settings) -> None:
    with receiving(Receiver(status=410)) as receiver:
        endpoint_id, _ = endpoint(engine, hasty, receiver.url)
        owe_one(engine, 30)
        with scheduler(engine, hasty):
            eventually(lambda: statuses(engine, endpoint_id) == {"failed"})
        owe_one(engine)  # nothing more is owed to it
    assert len(records(engine, endpoint_id)) == 30
    assert len(receiver.received) <= 8  # those that were under way already
    with engine.begin() as connection:
        found = webhooks.find_endpoint(connection, endpoint_id, TENANT)
    assert found.disabled_reason == "the endpoint answered with status 410 Gone"


def test_a_receiver_that_hangs_does_not_hold_up_others(engine: Engine, hasty: Settings) -> None:
    """Two endpoints that never answer, of the same tenant and of another, and one that does."""
    ended = threading.Event()
    hang = Receiver(before=until(ended))
    endless = hasty.model_copy(update={"webhook_seconds": 3_600})
    with receiving(hang), receiving(Receiver()) as civil:
        mine, _ = endpoint(engine, hasty, hang.url)
        theirs, _ = endpoint(engine, hasty, hang.url, "other")
        owe_one(engine, 200)
        owe_one(engine, 200, "other")
        good, _ = endpoint(engine, hasty, civil.url)
        with scheduler(engine, endless), ExitStack() as held:
            held.callback(ended.set)
            eventually(lambda: len(hang.received) >= 2)
            time.sleep(0.3)  # the hanging ones have all the attempts that they can get
            owe_one(engine, 40)
            eventually(lambda: statuses(engine, good) == {"succeeded"})
            assert len(civil.received) == 40
            assert not {record.status for record in records(engine, mine)} & {"succeeded"}
            assert records(engine, theirs, "other")


def test_retry_after_holds_the_whole_endpoint(engine: Engine, hasty: Settings) -> None:
    busy = Receiver(status=429, headers={"Retry-After": "600"})
    with receiving(busy):
        endpoint_id, _ = endpoint(engine, hasty, busy.url)
        owe_one(engine, 30)
        with scheduler(engine, hasty):
            eventually(lambda: len(busy.received) >= 1)
            time.sleep(0.3)
    assert len(busy.received) <= 8
    tried = [record for record in records(engine, endpoint_id) if record.attempts]
    waits = [(record.due_at - record.created_at).total_seconds() for record in tried]
    assert all(600 <= wait < 900 for wait in waits)


def test_a_scheduler_that_died_in_an_attempt_is_followed_by_the_next(
    engine: Engine, hasty: Settings
) -> None:
    with receiving(Receiver()) as receiver:
        endpoint_id, _ = endpoint(engine, hasty, receiver.url)
        owe_one(engine)
        with engine.begin() as connection:  # it took the delivery, and was never heard of again
            connection.execute(
                text(
                    "UPDATE webhook_deliveries "
                    "SET attempts = 1, claimed_until = now() - interval '1 s'"
                )
            )
        with scheduler(engine, hasty):
            eventually(lambda: statuses(engine, endpoint_id) == {"succeeded"})
    assert records(engine, endpoint_id)[0].attempts == 2


def test_a_ledger_that_goes_away_costs_nothing(engine: Engine, hasty: Settings) -> None:
    with receiving(Receiver()) as receiver, scheduler(engine, hasty):
        endpoint_id, _ = endpoint(engine, hasty, receiver.url)
        owe_one(engine, 50)
        eventually(lambda: len(receiver.received) >= 1)
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(
                text(
                    "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity "
                    "WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
                )
            )
        eventually(lambda: statuses(engine, endpoint_id) == {"succeeded"})
    bodies: dict[str, set[bytes]] = {}
    for got in receiver.received:
        bodies.setdefault(got.headers["webhook-id"], set()).add(got.body)
    assert len(bodies) == 50
    assert all(len(same) == 1 for same in bodies.values())


def test_without_a_key_nothing_is_delivered_and_that_is_said(
    engine: Engine, hasty: Settings
) -> None:
    keyless = hasty.model_copy(update={"webhook_keys": None})
    with receiving(Receiver()) as receiver, scheduler(engine, keyless):
        endpoint(engine, hasty, receiver.url)
        owe_one(engine)
        time.sleep(0.3)
    assert receiver.received == []
