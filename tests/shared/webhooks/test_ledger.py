"""Deliveries in the ledger: owed with the end itself, taken fairly, tried on schedule."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, text

from shared.contracts.errors import QuotaExceeded, UnknownJob
from shared.ledger import (
    batch_validation,
    batches,
    jobs,
    leases,
    recovery,
    retention,
    webhook_deliveries,
    webhooks,
)
from shared.ledger.batch_validation import ValidationStep
from shared.ledger.batches import Batch, Fault, NewBatch
from shared.ledger.jobs import Owner, check_limit
from shared.ledger.webhook_deliveries import (
    Delivery,
    DeliveryRefusal,
    NotReplayable,
    TenantShare,
    UnknownDelivery,
)
from shared.ledger.webhooks import MOST_ENDPOINTS, TooManyEndpoints, UnknownEndpoint, enqueue_event
from shared.process.settings import Settings
from tests.ledger import must_claim

MINUTE = timedelta(minutes=1)
SCHEDULE = Settings().webhook_schedule
PLENTY = TenantShare(each=1_000, tenant=1_000, most=1_000)


def endpoint(connection: Connection, tenant: str = "a", **more: Any) -> str:
    values = {"url": "https://x", "events": [], "description": "", "secret": "sealed"} | more
    return webhooks.make_endpoint(connection, tenant, values).id


def take(connection: Connection, share: TenantShare = PLENTY) -> list[Delivery]:
    return webhook_deliveries.take(connection, share, lease=MINUTE)


def owed(connection: Connection) -> list[tuple[str, str, str]]:
    """(endpoint, event, id of what it is about) of each delivery."""
    rows = connection.execute(text("SELECT endpoint_id, event, body FROM webhook_deliveries"))
    return [(row.endpoint_id, row.event, json.loads(row.body)["data"]["id"]) for row in rows]


def accept(connection: Connection, tenant: str = "a", **request: Any) -> str:
    owner = Owner(tenant)
    return jobs.accept(
        connection, "echo", request, key=None, resend_after=MINUTE, owner=owner
    ).job.id


def succeed(connection: Connection, job_id: str) -> None:
    assert leases.succeed(
        connection, must_claim(connection, job_id), {"score": 0.5, "more": "text"}
    )


def fail(connection: Connection, job_id: str) -> None:
    error = {"type": "/guide/errors#x", "detail": "a private detail"}
    assert leases.fail(connection, must_claim(connection, job_id), error)


def cancel(connection: Connection, job_id: str) -> None:
    jobs.cancel(connection, job_id)


def exhaust(connection: Connection, job_id: str) -> None:
    must_claim(connection, job_id, lease=timedelta(seconds=-1))
    recovery.fail_exhausted(connection, max_attempts=1, error={"type": "x"})


@pytest.mark.parametrize(
    ("end", "event", "score"),
    [
        (succeed, "job.succeeded", 0.5),
        (fail, "job.failed", None),
        (cancel, "job.cancelled", None),
        (exhaust, "job.failed", None),
    ],
)
def test_every_end_of_a_job_is_owed_once_and_thin(
    engine: Engine, end: Callable[[Connection, str], None], event: str, score: float | None
) -> None:
    with engine.begin() as connection:
        mine = endpoint(connection)
        endpoint(connection, "b")  # another tenant hears nothing
        job_id = accept(connection, text="something private")
    with engine.begin() as connection:
        end(connection, job_id)
    with engine.begin() as connection:
        jobs.cancel(connection, job_id)  # changes nothing
        assert owed(connection) == [(mine, event, job_id)]
        (body,) = connection.execute(text("SELECT body FROM webhook_deliveries")).scalars()
    assert json.loads(body)["data"]["score"] == score
    assert "private" not in body
    assert len(body) < 1_000


def test_no_end_without_its_delivery_and_no_delivery_without_its_end(engine: Engine) -> None:
    with engine.begin() as connection:
        endpoint(connection)
        job_id = accept(connection)
    connection = engine.connect()
    succeed(connection, job_id)
    connection.rollback()  # as if the worker died before its commit
    connection.close()
    with engine.begin() as connection:
        assert owed(connection) == []
        assert jobs.find(connection, job_id).status == "queued"


def test_a_fenced_end_is_not_told(engine: Engine) -> None:
    with engine.begin() as connection:
        endpoint(connection)
        claim = must_claim(connection, accept(connection))
        jobs.cancel(connection, claim.job_id)
        assert not leases.succeed(connection, claim, {"score": 1})
        assert [event for _, event, _ in owed(connection)] == ["job.cancelled"]


def test_events_go_to_those_who_listen(engine: Engine) -> None:
    with engine.begin() as connection:
        everything = endpoint(connection)
        failed = endpoint(connection, events=["job.failed", "batch.failed"])
        batches = endpoint(connection, events=["batch.completed"])
        off = endpoint(connection)
        webhooks.disable_endpoint(connection, off, "by request")
        succeed(connection, accept(connection))
        fail(connection, accept(connection))
        enqueue_event(connection, "batch.completed", "a", {"id": "batch_1"})
        told = Counter(endpoint_id for endpoint_id, _, _ in owed(connection))
    assert told == {everything: 3, failed: 1, batches: 1}


def test_a_named_endpoint_is_told_and_no_other(engine: Engine) -> None:
    with engine.begin() as connection:
        named, _ = endpoint(connection), endpoint(connection)
        picky = endpoint(connection, events=["job.failed"])
        succeed(connection, accept(connection, webhook=named))
        succeed(connection, accept(connection, webhook=picky))
        succeed(connection, accept(connection, "b", webhook=named))  # not its own
        assert [endpoint_id for endpoint_id, _, _ in owed(connection)] == [named]


def test_a_body_of_20_kb_is_refused(engine: Engine) -> None:
    with engine.begin() as connection, pytest.raises(ValueError, match="20000"):
        enqueue_event(connection, "batch.failed", "a", {"id": "x" * 20_000})


def test_the_schedule_is_that_of_standard_webhooks() -> None:
    hours = [round(seconds / 3_600, 2) for seconds in SCHEDULE]
    assert SCHEDULE[:4] == (0, 5, 300, 1_800)
    assert hours[4:] == [2, 5, 10, 14, 20, 24]
    assert len(SCHEDULE) == 10
    assert 75 <= sum(SCHEDULE) / 3_600 < 76


def waits(engine: Engine, attempt: int, refusal: DeliveryRefusal, number: int = 200) -> list[float]:
    """The seconds that so many deliveries wait after this attempt."""
    with engine.begin() as connection:
        endpoint(connection)
        for _ in range(number):
            enqueue_event(connection, "job.failed", "a", {"id": "x"})
        for delivery in take(connection):
            connection.execute(
                text("UPDATE webhook_deliveries SET attempts = :n WHERE id = :id"),
                {"n": attempt, "id": delivery.id},
            )
            tried = Delivery(**vars(delivery) | {"attempt": attempt})
            assert webhook_deliveries.record_error(connection, tried, refusal, SCHEDULE) == "again"
        rows = connection.execute(
            text("SELECT extract(epoch FROM due_at - now()) FROM webhook_deliveries")
        )
        return [float(seconds) for seconds in rows.scalars()]


@pytest.mark.parametrize("attempt", range(1, 10))
def test_each_wait_is_the_schedules_shaken_by_a_tenth(engine: Engine, attempt: int) -> None:
    found, planned = waits(engine, attempt, DeliveryRefusal("no")), SCHEDULE[attempt]
    assert 0.9 * planned <= min(found) < 0.95 * planned
    assert 1.05 * planned < max(found) <= 1.1 * planned
    assert sum(found) / len(found) == pytest.approx(planned, rel=0.02)


@pytest.mark.parametrize(
    ("asked", "least", "most"),
    [
        (timedelta(seconds=1), 270, 330),  # no sooner than the schedule
        (timedelta(hours=1), 3_600, 3_600),
        (timedelta(days=400), 86_400, 86_400),  # no later than a day
    ],
)
def test_retry_after_is_obeyed_within_bounds(
    engine: Engine, asked: timedelta, least: float, most: float
) -> None:
    found = waits(engine, 2, DeliveryRefusal("busy", 503, asked), number=20)
    assert least <= min(found) <= max(found) <= most


def test_after_the_last_attempt_it_has_failed_and_a_dead_endpoint_is_disabled(
    engine: Engine,
) -> None:
    with engine.begin() as connection:
        endpoint_id = endpoint(connection)
        enqueue_event(connection, "job.failed", "a", {"id": "x"})
        (first,) = take(connection)
        last = Delivery(**vars(first) | {"attempt": 10})
        connection.execute(text("UPDATE webhook_deliveries SET attempts = 10"))
        assert (
            webhook_deliveries.record_error(connection, last, DeliveryRefusal("no"), SCHEDULE)
            == "disabled"
        )
        assert webhooks.find_endpoint(connection, endpoint_id, "a").disabled_at is not None


def test_an_endpoint_that_others_reached_meanwhile_stays(engine: Engine) -> None:
    with engine.begin() as connection:
        endpoint_id = endpoint(connection)
        enqueue_event(connection, "job.failed", "a", {"id": "x"})
        (first,) = take(connection)
        last = Delivery(**vars(first) | {"attempt": 10})
        connection.execute(text("UPDATE webhook_deliveries SET attempts = 10"))
    with engine.begin() as connection:
        connection.execute(text("UPDATE webhook_endpoints SET succeeded_at = now()"))
        assert (
            webhook_deliveries.record_error(connection, last, DeliveryRefusal("no"), SCHEDULE)
            == "failed"
        )
        assert webhooks.find_endpoint(connection, endpoint_id, "a").disabled_at is None


def test_what_is_taken_is_not_taken_twice_and_a_late_word_changes_nothing(engine: Engine) -> None:
    with engine.begin() as connection:
        endpoint(connection)
        enqueue_event(connection, "job.failed", "a", {"id": "x"})
        (first,) = take(connection)
    with engine.begin() as connection:
        assert take(connection) == []
        connection.execute(text("UPDATE webhook_deliveries SET claimed_until = now()"))
    with engine.begin() as connection:
        (second,) = take(connection)
        assert (second.id, second.attempt, second.body) == (first.id, 2, first.body)
        assert (
            webhook_deliveries.record_error(connection, first, DeliveryRefusal("late"), SCHEDULE)
            is None
        )
        assert not webhook_deliveries.record_success(connection, [first], 200)
        assert webhook_deliveries.record_success(connection, [second], 200)


def test_two_schedulers_share_what_is_due(engine: Engine) -> None:
    with engine.begin() as connection:
        endpoint(connection)
        for _ in range(20):
            enqueue_event(connection, "job.failed", "a", {"id": "x"})
    with engine.begin() as one, engine.begin() as other:
        first = {delivery.id for delivery in take(one, TenantShare(10, 10, 10))}
        second = {delivery.id for delivery in take(other, TenantShare(20, 20, 20))}
    assert len(first) == 10
    assert len(second) == 10
    assert not first & second


def test_an_endpoint_gets_its_few_a_tenant_its_share_and_the_rest_is_others(
    engine: Engine,
) -> None:
    with engine.begin() as connection:
        loud = [endpoint(connection, "loud") for _ in range(10)]
        quiet = endpoint(connection, "quiet")
        for _ in range(50):
            enqueue_event(connection, "job.failed", "loud", {"id": "x"})
        enqueue_event(connection, "job.failed", "quiet", {"id": "x"})
    share = TenantShare(each=2, tenant=8, most=64)
    with engine.begin() as connection:
        taken = Counter(delivery.endpoint_id for delivery in take(connection, share))
        assert taken.pop(quiet) == 1
        assert sum(taken.values()) == 8
        assert max(taken.values()) == 1  # eight of its ten endpoints, before any has a second
        assert set(taken) <= set(loud)
    with engine.begin() as connection:
        assert take(connection, share) == []  # the first eight are still under way


def test_an_old_backlog_does_not_come_before_a_fresh_event_elsewhere(engine: Engine) -> None:
    with engine.begin() as connection:
        endpoint(connection, "old")
        fresh = endpoint(connection, "new")
        for _ in range(100):
            enqueue_event(connection, "job.failed", "old", {"id": "x"})
        connection.execute(text("UPDATE webhook_deliveries SET due_at = now() - interval '1 h'"))
        enqueue_event(connection, "job.failed", "new", {"id": "x"})
    with engine.begin() as connection:
        taken = take(connection, TenantShare(each=4, tenant=16, most=2))
    assert fresh in {delivery.endpoint_id for delivery in taken}


def test_rotation_keeps_two_secrets_and_never_three(engine: Engine) -> None:
    with engine.begin() as connection:
        endpoint_id = endpoint(connection, secret="one")
        webhooks.rotate_secret(connection, endpoint_id, "a", "two", MINUTE)
        enqueue_event(connection, "job.failed", "a", {"id": "x"})
        (delivery,) = take(connection)
        assert (delivery.secret, delivery.earlier_secret) == ("two", "one")
        webhooks.rotate_secret(connection, endpoint_id, "a", "three", MINUTE)
        kept = connection.execute(
            text("SELECT secret, earlier_secret FROM webhook_endpoints")
        ).one()
        assert tuple(kept) == ("three", "two")
        webhooks.rotate_secret(connection, endpoint_id, "a", "four", timedelta(0))
        kept = connection.execute(
            text("SELECT secret, earlier_secret FROM webhook_endpoints")
        ).one()
        assert tuple(kept) == ("four", None)


def test_after_the_overlap_the_earlier_secret_signs_no_more(engine: Engine) -> None:
    with engine.begin() as connection:
        endpoint_id = endpoint(connection, secret="one")
        webhooks.rotate_secret(connection, endpoint_id, "a", "two", MINUTE)
        connection.execute(text("UPDATE webhook_endpoints SET earlier_until = now()"))
    with engine.begin() as connection:
        enqueue_event(connection, "job.failed", "a", {"id": "x"})
        (delivery,) = take(connection)
    assert (delivery.secret, delivery.earlier_secret) == ("two", None)
    assert "two" not in repr(delivery)


def test_what_failed_is_listed_and_replayed(engine: Engine) -> None:
    with engine.begin() as connection:
        endpoint_id = endpoint(connection)
        for _ in range(5):
            enqueue_event(connection, "job.failed", "a", {"id": "x"})
        for delivery in take(connection, TenantShare(3, 3, 3)):
            webhook_deliveries.record_error(
                connection, delivery, DeliveryRefusal("no", 500), SCHEDULE[:1]
            )
    with engine.begin() as connection:
        webhooks.enable_endpoint(connection, endpoint_id, "a")
        page = webhook_deliveries.DeliveryPage(limit=2, status="failed")
        found, more = webhook_deliveries.page_of(connection, endpoint_id, "a", page)
        after = webhook_deliveries.DeliveryPage(limit=9, after=found[-1].id, status="failed")
        rest, done = webhook_deliveries.page_of(connection, endpoint_id, "a", after)
        ids = [record.id for record in (*found, *rest)]
        assert (len(set(ids)), more, done) == (5, True, False)  # two failed with the endpoint
        again = webhook_deliveries.replay(connection, endpoint_id, "a", ids[0])
        assert (again.id, again.status, again.attempts) == (ids[0], "pending", 0)
        assert webhook_deliveries.replay_failed(connection, endpoint_id, "a") == 4
        with pytest.raises(NotReplayable):
            webhook_deliveries.replay(connection, endpoint_id, "a", ids[0])
        with pytest.raises(UnknownDelivery):
            webhook_deliveries.replay(connection, endpoint_id, "a", "msg_0")
        with pytest.raises(UnknownEndpoint):
            webhook_deliveries.replay(connection, endpoint_id, "b", ids[0])


def test_a_tenant_has_so_many_endpoints_and_sees_its_own(engine: Engine) -> None:
    with engine.begin() as connection:
        mine = [endpoint(connection) for _ in range(MOST_ENDPOINTS)]
        with pytest.raises(TooManyEndpoints):
            endpoint(connection)
        endpoint(connection, "b")
        assert [found.id for found in webhooks.endpoints_of(connection, "a")] == sorted(mine)
        for act in (webhooks.find_endpoint, webhooks.delete_endpoint, webhooks.enable_endpoint):
            with pytest.raises(UnknownEndpoint):
                act(connection, mine[0], "b")


def test_old_deliveries_are_forgotten_open_ones_never(engine: Engine) -> None:
    with engine.begin() as connection:
        endpoint(connection)
        for _ in range(2):
            enqueue_event(connection, "job.failed", "a", {"id": "x"})
        (first,) = take(connection, TenantShare(1, 1, 1))
        webhook_deliveries.record_success(connection, [first], 200)
        connection.execute(
            text("UPDATE webhook_deliveries SET created_at = now() - interval '99 d'")
        )
        assert retention.purge_deliveries(connection, MINUTE) == 0
        assert retention.purge_deliveries(connection, timedelta(days=-1)) == 1
        assert len(owed(connection)) == 1


def test_another_tenants_job_cannot_be_cancelled(engine: Engine) -> None:
    with engine.begin() as connection:
        job_id = accept(connection)
        with pytest.raises(UnknownJob):
            jobs.cancel(connection, job_id, tenant="b")
        assert jobs.find(connection, job_id).status == "queued"


def batch(connection: Connection, tenant: str = "a") -> Batch:
    new = NewBatch("echo", "/v1/scores/echo", "file_0", {}, None, MINUTE, tenant)
    return batches.make(connection, new, key=None)[0]


def test_a_batchs_end_is_told_once_with_its_counts(engine: Engine) -> None:
    with engine.begin() as connection:
        mine = endpoint(connection)
        endpoint(connection, "b")
        made = batch(connection)
        connection.execute(
            text("UPDATE batches SET status = 'finalizing', ending = 'completed', total = 2")
        )
        taken = batches.take_to_write(connection, made.id)
        assert taken is not None
        assert batches.close(connection, taken, None, None)
        assert not batches.close(connection, taken, None, None)
        assert owed(connection) == [(mine, "batch.completed", made.id)]
        (body,) = connection.execute(text("SELECT body FROM webhook_deliveries")).scalars()
    assert json.loads(body)["data"]["request_counts"] == {"total": 2, "completed": 0, "failed": 0}


def test_a_batch_whose_file_is_not_valid_is_told_as_failed(engine: Engine) -> None:
    with engine.begin() as connection:
        mine, made = endpoint(connection), batch(connection)
        step = ValidationStep([], [Fault("invalid_json", "no", 1)], 1, 1, at_end=True)
        batch_validation.save_step(connection, made, step)
        assert owed(connection) == [(mine, "batch.failed", made.id)]


def test_a_job_of_a_batch_is_told_only_where_its_line_names_an_endpoint(engine: Engine) -> None:
    with engine.begin() as connection:
        named, _ = endpoint(connection), endpoint(connection)
        ids = [accept(connection), accept(connection, webhook=named)]
        connection.execute(text("UPDATE jobs SET batch_id = 'batch_0'"))
        for job_id in ids:
            succeed(connection, job_id)
        assert owed(connection) == [(named, "job.succeeded", ids[1])]


def test_jobs_of_batches_do_not_fill_the_quota(engine: Engine) -> None:
    with engine.begin() as connection:
        for _ in range(3):
            accept(connection)
        connection.execute(text("UPDATE jobs SET batch_id = 'batch_0'"))
        check_limit(connection, Owner("a", most_open=1))
        accept(connection)
        with pytest.raises(QuotaExceeded):
            check_limit(connection, Owner("a", most_open=1))
