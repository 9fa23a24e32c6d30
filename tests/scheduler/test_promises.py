"""What was lost is sent again, what merely waits is not."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import Engine

from services.scheduler import promises
from shared import queue
from shared.errors import Unavailable
from shared.ledger import idempotency, jobs, leases
from shared.settings import Settings

NOW = timedelta(0)


def accept(engine: Engine, resend_after: timedelta = NOW) -> str:
    with engine.begin() as connection:
        return idempotency.accept(
            connection, "echo", {"text": "a"}, key=None, resend_after=resend_after
        ).job.id


def claim(engine: Engine, job_id: str, lease: timedelta) -> None:
    with engine.begin() as connection:
        assert leases.claim(connection, job_id, lease=lease, max_attempts=3)


def test_a_lost_message_is_sent_again_once(engine: Engine, chosen: Settings) -> None:
    accept(engine)
    promises.keep(engine, chosen)
    assert queue.waiting("echo") == 1
    promises.keep(engine, chosen)  # its time has not come again
    assert queue.waiting("echo") == 1


def test_a_young_job_is_left_alone(engine: Engine, chosen: Settings) -> None:
    accept(engine, resend_after=timedelta(minutes=1))
    promises.keep(engine, chosen)
    assert queue.waiting("echo") == 0


def test_a_long_queue_does_not_breed_duplicates(engine: Engine, chosen: Settings) -> None:
    impatient = chosen.model_copy(update={"resend_seconds": 0})
    for _ in range(10):
        queue.send("echo", accept(engine))
    for _ in range(5):
        promises.keep(engine, impatient)
    assert queue.waiting("echo") == 10


def test_only_as_many_are_sent_as_the_lane_is_short_of(engine: Engine, chosen: Settings) -> None:
    made = [accept(engine) for _ in range(10)]
    for job_id in made[:7]:
        queue.send("echo", job_id)
    promises.keep(engine, chosen)
    assert queue.waiting("echo") == 10


def test_an_orphan_is_sent_again_and_a_working_job_is_not(engine: Engine, chosen: Settings) -> None:
    claim(engine, accept(engine), lease=timedelta(seconds=-1))
    claim(engine, accept(engine), lease=timedelta(minutes=1))
    promises.keep(engine, chosen)
    assert queue.waiting("echo") == 1


def test_an_orphan_without_attempts_left_fails(engine: Engine, chosen: Settings) -> None:
    job_id = accept(engine)
    for _ in range(chosen.max_attempts):
        claim(engine, job_id, lease=timedelta(seconds=-1))
    promises.keep(engine, chosen)
    with engine.begin() as connection:
        job = jobs.find(connection, job_id)
    assert job.status == "failed"
    assert job.error is not None
    assert job.error["type"].endswith("attempts-exhausted")
    assert queue.waiting("echo") == 0


def test_without_a_broker_the_promise_stands(
    engine: Engine, chosen: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object, **__: object) -> None:
        raise Unavailable("away")

    again = chosen.model_copy(update={"resend_seconds": 0})
    accept(engine)
    with monkeypatch.context() as patch:
        patch.setattr(queue, "send", away)
        with pytest.raises(Unavailable):
            promises.keep(engine, again)
    promises.keep(engine, again)
    assert queue.waiting("echo") == 1
