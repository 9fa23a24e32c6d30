"""What was lost is sent again, what merely waits is not."""

from __future__ import annotations

import json
from base64 import b64decode
from datetime import timedelta
from typing import Any

import pytest
import redis
from sqlalchemy import Engine

from services.scheduler import recovery
from shared.contracts.errors import Unavailable
from shared.ledger import jobs, leases
from shared.process.settings import Settings
from shared.queue import broker
from tests.ledger import find_job, must_claim, succeed

NOW = timedelta(0)


def accept(engine: Engine, resend_after: timedelta = NOW) -> str:
    with engine.begin() as connection:
        return jobs.accept(
            connection, "echo", {"text": "a"}, key=None, resend_after=resend_after
        ).job.id


def claim(engine: Engine, job_id: str, lease: timedelta) -> None:
    with engine.begin() as connection:
        assert leases.claim(connection, job_id, lease=lease, max_attempts=3)


def test_a_lost_message_is_sent_again_once(engine: Engine, chosen: Settings) -> None:
    accept(engine)
    recovery.recover(engine, chosen)
    assert broker.queue_length("echo") == 1
    recovery.recover(engine, chosen)  # its time has not come again
    assert broker.queue_length("echo") == 1


def test_a_long_queue_does_not_breed_duplicates(engine: Engine, chosen: Settings) -> None:
    impatient = chosen.model_copy(update={"lease_seconds": 0})
    for _ in range(10):
        broker.send("echo", accept(engine))
    for _ in range(5):
        recovery.recover(engine, impatient)
    assert broker.queue_length("echo") == 10


def test_only_as_many_are_sent_as_the_lane_is_short_of(engine: Engine, chosen: Settings) -> None:
    made = [accept(engine) for _ in range(10)]
    for job_id in made[:7]:
        broker.send("echo", job_id)
    recovery.recover(engine, chosen)
    assert broker.queue_length("echo") == 10


def test_a_job_that_waits_for_a_model_is_sent_when_its_time_has_come(
    engine: Engine, chosen: Settings
) -> None:
    minute, model = timedelta(minutes=1), {"model": "m", "detail": "is being loaded"}
    for resend_after, sent in ((minute, 0), (NOW, 1)):
        with engine.begin() as connection:
            waiting = must_claim(connection, accept(engine))
            leases.wait(connection, waiting, model=model, resend_after=resend_after)
        recovery.recover(engine, chosen)
        recovery.recover(engine, chosen)  # its time has not come again
        assert broker.queue_length("echo") == sent


def test_an_orphan_without_attempts_left_fails(engine: Engine, chosen: Settings) -> None:
    job_id = accept(engine)
    for _ in range(leases.MAX_ATTEMPTS):
        claim(engine, job_id, lease=timedelta(seconds=-1))
    recovery.recover(engine, chosen)
    job = find_job(engine, job_id)
    assert job.status == "failed"
    assert job.error is not None
    assert job.error["type"].endswith("attempts-exhausted")
    assert broker.queue_length("echo") == 0


def test_without_a_broker_the_promise_stands(
    engine: Engine, chosen: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object, **__: object) -> None:
        raise Unavailable("away")

    again = chosen.model_copy(update={"lease_seconds": 0})
    accept(engine)
    with monkeypatch.context() as patch:
        patch.setattr(broker, "send", away)
        with pytest.raises(Unavailable):
            recovery.recover(engine, again)
    recovery.recover(engine, again)
    assert broker.queue_length("echo") == 1


def claimed(engine: Engine, job_id: str) -> bool:
    """A worker takes it, on a lease that has run out at once: it will have died."""
    dead = timedelta(seconds=-1)
    with engine.begin() as connection:
        return leases.claim(connection, job_id, lease=dead, max_attempts=3) is not None


def sent(engine: Engine, chosen: Settings, redis_client: redis.Redis) -> list[str]:
    """What a round of recovery sends, taken out of the queue: the jobs' ids."""
    recovery.recover(engine, chosen)
    messages: Any = redis_client.lrange("score.echo", 0, -1)
    redis_client.delete("score.echo")
    return [json.loads(b64decode(json.loads(raw)["body"]))[0][0] for raw in messages]


def test_one_poisonous_job_takes_nobody_with_it(engine: Engine, chosen: Settings) -> None:
    """It kills every worker that runs it, with all that runs beside it, whatever is sent at once
    runs at once: it fails alone."""
    impatient = chosen.model_copy(update={"lease_seconds": 0})
    made = [accept(engine) for _ in range(32)]
    poison = made[17]
    with redis.Redis.from_url(chosen.redis_url.get_secret_value()) as redis_client:
        for _ in range(100):
            together = sent(engine, impatient, redis_client)
            if not together:
                break
            for job_id in together:
                if poison in together:
                    claimed(engine, job_id)
                else:
                    succeed(engine, job_id, {"score": 1})
    with engine.begin() as connection:
        ended = {job_id: jobs.find(connection, job_id).status for job_id in made}
    assert ended == dict.fromkeys(made, "succeeded") | {poison: "failed"}


def test_while_a_suspect_is_on_trial_the_others_wait(engine: Engine, chosen: Settings) -> None:
    impatient = chosen.model_copy(update={"lease_seconds": 0})
    made = [accept(engine) for _ in range(3)]
    for job_id in made * 2:
        claim(engine, job_id, lease=timedelta(seconds=-1))
    with redis.Redis.from_url(chosen.redis_url.get_secret_value()) as redis_client:
        assert sent(engine, impatient, redis_client) == [min(made)]
        assert sent(engine, impatient, redis_client) == [min(made)]  # its message may be lost too
        claim(engine, min(made), lease=timedelta(minutes=1))
        assert sent(engine, impatient, redis_client) == []
