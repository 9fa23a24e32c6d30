"""Messages that were lost are made up by their number, and no more than that."""

from __future__ import annotations

from sqlalchemy import Engine

from services.scheduler.wakeups import ROUNDS, Wakeups
from shared.ledger.claim_order import ClaimOrder
from shared.process.settings import Settings
from shared.queue import broker
from tests.shared.ledger.test_claim_order import ECHO, made, taken


def rounds(engine: Engine, number: int = ROUNDS) -> None:
    wakeups = Wakeups(engine)
    for _ in range(number):
        wakeups.round()


def test_what_is_short_all_the_time_is_sent_once(engine: Engine, chosen: Settings) -> None:
    ids = made(engine, "aabbb")
    broker.send("echo", ids[0])
    rounds(engine, ROUNDS - 1)
    assert broker.queue_length("echo") == 1
    rounds(engine, 3 * ROUNDS)
    assert broker.queue_length("echo") == 5


def test_a_message_for_each_job_is_enough(engine: Engine, chosen: Settings) -> None:
    for job_id in made(engine, "aab"):
        broker.send("echo", job_id)
    rounds(engine)
    assert broker.queue_length("echo") == 3


def test_jobs_that_run_or_wait_for_another_try_want_no_message(
    engine: Engine, chosen: Settings
) -> None:
    (running,) = made(engine, "a")
    assert taken(engine, running, ClaimOrder(ECHO))
    rounds(engine)
    assert broker.queue_length("echo") == 0


def test_jobs_of_batches_wait_in_their_own_queue(engine: Engine, chosen: Settings) -> None:
    made(engine, "ab", batch_id="batch_1")
    rounds(engine)
    assert (broker.queue_length("echo"), broker.queue_length("echo", batch=True)) == (0, 2)
