"""A step of the database's clock ends no lease and no batch, and holds nothing up for long."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Engine, text

from services.scheduler import recovery
from services.scheduler.clock import ClockWatch
from shared.ledger import leases
from shared.ledger.engine import transaction
from tests.batches import Scene, line

LEASE = timedelta(seconds=60)
STEPS = [timedelta(hours=1), timedelta(hours=26), timedelta(hours=-1)]
TIMES = {
    "jobs": ("lease_expires_at", "resend_at"),
    "batches": ("expires_at", "attempted_at"),
    "clock": ("seen_at",),
}


class Hand:
    """A monotonic clock that is set by hand."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def hand() -> Hand:
    return Hand()


def pass_time(engine: Engine, time: timedelta) -> None:
    """Both clocks go on: every time in the ledger is as much older."""
    with engine.begin() as connection:
        for table, columns in TIMES.items():
            moved = ", ".join(f"{name} = {name} - :time" for name in columns)
            connection.execute(text(f"UPDATE {table} SET {moved}"), {"time": time})  # noqa: S608


def step_clock(engine: Engine, hand: Hand, step: timedelta) -> None:
    """The database's clock alone goes on."""
    pass_time(engine, step)
    hand.seconds -= step.total_seconds()


def value(engine: Engine, query: str) -> Any:
    with engine.connect() as connection:
        return connection.execute(text(query)).scalar()


def running_job(scene: Scene) -> None:
    """A batch with a job that a worker computes."""
    scene.read(scene.make([line("a", "text")]))
    scene.feeder().round()
    with transaction(scene.engine) as connection:
        job_id = connection.execute(text("SELECT id FROM jobs")).scalar_one()
        assert leases.claim(connection, job_id, lease=LEASE, max_attempts=3)


def duties(scene: Scene) -> None:
    """What schedulers do that a wrong clock could mislead."""
    recovery.recover(scene.engine, scene.chosen)
    scene.feeder().round()


def attempts_and_status(scene: Scene) -> tuple[int, str]:
    with transaction(scene.engine) as connection:
        job_id = connection.execute(text("SELECT id FROM jobs")).scalar_one()
        assert leases.claim(connection, job_id, lease=LEASE, max_attempts=3) is None
    attempts = value(scene.engine, "SELECT attempts FROM jobs")
    return attempts, value(scene.engine, "SELECT status FROM batches")


@pytest.mark.parametrize("step", STEPS)
def test_a_step_costs_no_attempt_and_expires_no_batch(
    scene: Scene, hand: Hand, step: timedelta
) -> None:
    running_job(scene)
    watch = ClockWatch(scene.engine, scene.chosen, hand)
    watch.round()
    step_clock(scene.engine, hand, step)
    duties(scene)  # before any scheduler has seen the step
    watch.round()
    duties(scene)
    assert attempts_and_status(scene) == (1, "in_progress")
    left = value(scene.engine, "SELECT expires_at - now() FROM batches")
    assert timedelta(hours=23) < left <= timedelta(hours=24)
    lease = value(scene.engine, "SELECT lease_expires_at - now() FROM jobs")
    assert timedelta(0) < lease <= LEASE


@pytest.mark.parametrize("step", STEPS)
def test_the_first_scheduler_to_see_a_step_moves_the_deadlines_and_no_other(
    scene: Scene, hand: Hand, step: timedelta
) -> None:
    running_job(scene)
    watches = [ClockWatch(scene.engine, scene.chosen, hand) for _ in range(3)]
    for watch in watches:
        watch.round()
    step_clock(scene.engine, hand, step)
    for watch in [ClockWatch(scene.engine, scene.chosen, hand), *watches]:  # one is new
        watch.round()
    left = value(scene.engine, "SELECT expires_at - now() FROM batches")
    assert timedelta(hours=23) < left <= timedelta(hours=24)


def test_a_scheduler_that_was_paused_sees_no_step(scene: Scene, hand: Hand) -> None:
    running_job(scene)
    paused, other = (ClockWatch(scene.engine, scene.chosen, hand) for _ in range(2))
    paused.round()
    for _ in range(12):
        pass_time(scene.engine, timedelta(seconds=5))
        other.round()
    paused.round()
    left = value(scene.engine, "SELECT expires_at - now() FROM batches")
    assert left < timedelta(hours=24) - timedelta(seconds=59)


def test_a_job_loses_no_attempt_while_the_database_is_away(scene: Scene, hand: Hand) -> None:
    running_job(scene)
    watch = ClockWatch(scene.engine, scene.chosen, hand)
    watch.round()
    pass_time(scene.engine, 2 * LEASE)
    assert watch._last is not None
    seen, monotonic = watch._last  # as old as everything in the ledger
    watch._last = seen - 2 * LEASE, monotonic - 2 * LEASE.total_seconds()
    duties(scene)  # before the watch's next look
    watch.round()
    duties(scene)
    assert attempts_and_status(scene) == (1, "in_progress")
    assert value(scene.engine, "SELECT lease_expires_at - now() FROM jobs") > timedelta(0)


def test_a_lease_expires_after_all_schedulers_were_away(scene: Scene, hand: Hand) -> None:
    running_job(scene)
    ClockWatch(scene.engine, scene.chosen, hand).round()
    pass_time(scene.engine, timedelta(hours=1))
    watch = ClockWatch(scene.engine, scene.chosen, hand)
    for _ in range(3):
        watch.round()
        hand.seconds += 5
    with transaction(scene.engine) as connection:
        job_id = connection.execute(text("SELECT id FROM jobs")).scalar_one()
        assert leases.claim(connection, job_id, lease=LEASE, max_attempts=3)


def test_a_lost_message_is_sent_soon_after_a_step_back(scene: Scene, hand: Hand) -> None:
    running_job(scene)
    with scene.engine.begin() as connection:
        connection.execute(text("UPDATE jobs SET status = 'queued', lease_expires_at = NULL"))
    watch = ClockWatch(scene.engine, scene.chosen, hand)
    watch.round()
    step_clock(scene.engine, hand, timedelta(hours=-1))
    watch.round()
    soon = timedelta(seconds=scene.chosen.resend_seconds)
    assert value(scene.engine, "SELECT resend_at - now() FROM jobs") <= soon
