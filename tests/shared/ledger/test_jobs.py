"""The ledger's guarantees: one claim, one end, one job a key; a constraint for each."""

from __future__ import annotations

import sys
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from sqlalchemy import Engine, text
from sqlalchemy.exc import IntegrityError

from services.gateway.results import review_queues
from shared.contracts.errors import UnknownJob
from shared.ledger import bulk_jobs, jobs, judgements, keys, leases, recovery, retention, tables
from shared.ledger.bulk_jobs import NewJobs
from shared.ledger.claim_order import MetricQueue
from shared.ledger.jobs import Job, JobPage
from shared.ledger.leases import Claim
from shared.ledger.request_keys import KeyReused
from shared.ledger.tables import metadata

MINUTE = timedelta(minutes=1)
NOW = timedelta(0)
LONG_AGO = timedelta(seconds=-1)
RESULT = {"score": 0.5}
ECHO = MetricQueue("echo", batch=False)


def accept(engine: Engine, request: dict[str, Any] | None = None, key: str | None = None) -> Job:
    with engine.begin() as connection:
        return jobs.accept(
            connection, "echo", request or {"text": "a"}, key=key, resend_after=NOW
        ).job


def claim(engine: Engine, job: Job, lease: timedelta = MINUTE) -> Claim | None:
    with engine.begin() as connection:
        return leases.claim(connection, job.id, lease=lease, max_attempts=3)


def must_claim(engine: Engine, job: Job, lease: timedelta = MINUTE) -> Claim:
    taken = claim(engine, job, lease)
    assert taken is not None
    return taken


def find(engine: Engine, job: Job) -> Job:
    with engine.begin() as connection:
        return jobs.find(connection, job.id)


def test_a_job_is_cancelled_without_reading_the_backlog(engine: Engine) -> None:
    requests = [{"text": str(number)} for number in range(2_000)]
    with engine.begin() as connection:
        backlog = bulk_jobs.accept_all(connection, NewJobs("echo", requests, MINUTE), key=None)
    fetched = text("SELECT idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relname = 'jobs'")
    with engine.begin() as connection:
        assert jobs.cancel(connection, backlog.ids[7], tenant="default").status == "cancelled"
        assert connection.execute(fetched).scalar_one() < 10


def test_the_migrations_make_the_tables_that_the_code_uses(engine: Engine) -> None:
    named = {module.__name__ for module in (tables, keys, judgements, review_queues)}
    assert named <= sys.modules.keys()  # else tables are missing
    assert set(tables.batches.metadata.tables) == set(metadata.tables)
    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []


def test_ids_sort_by_time() -> None:
    ids = [jobs.new_id() for _ in range(100)]
    assert len(set(ids)) == 100
    assert [i[:16] for i in ids] == sorted(i[:16] for i in ids)


def test_of_many_claims_one_wins(engine: Engine) -> None:
    job = accept(engine)
    with ThreadPoolExecutor(32) as pool:
        taken = list(pool.map(lambda _: claim(engine, job), range(64)))
    assert sum(one is not None for one in taken) == 1
    assert find(engine, job).attempts == 1


def test_an_expired_lease_is_claimed_again_and_the_first_worker_is_fenced(engine: Engine) -> None:
    job = accept(engine)
    first = must_claim(engine, job, lease=LONG_AGO)
    second = must_claim(engine, job)
    assert (first.attempt, second.attempt) == (1, 2)
    with engine.begin() as connection:
        assert not leases.succeed(connection, first, {"score": 0.0})
        assert not leases.fail(connection, first, {"title": "late"})
        assert not leases.release(connection, first, resend_after=NOW)
        assert leases.renew(connection, [first], lease=MINUTE) == set()
        assert leases.succeed(connection, second, RESULT)
    assert find(engine, job).result == RESULT


def test_a_job_ends_once(engine: Engine) -> None:
    job = accept(engine)
    taken = must_claim(engine, job)
    with engine.begin() as connection:
        assert leases.succeed(connection, taken, RESULT)
        assert not leases.succeed(connection, taken, {"score": 1.0})
        assert not leases.fail(connection, taken, {"title": "no"})
        assert jobs.cancel(connection, job.id).status == "succeeded"
    assert claim(engine, job) is None
    assert find(engine, job).result == RESULT


def test_cancelling_races_finishing_and_one_of_them_wins(engine: Engine) -> None:
    ends: Counter[str] = Counter()
    for _ in range(20):
        job = accept(engine)
        taken = must_claim(engine, job)
        gate = threading.Barrier(2)

        def cancel(gate: threading.Barrier = gate, job: Job = job) -> None:
            gate.wait()
            with engine.begin() as connection:
                jobs.cancel(connection, job.id)

        def finish(gate: threading.Barrier = gate, taken: Claim = taken) -> bool:
            gate.wait()
            with engine.begin() as connection:
                return leases.succeed(connection, taken, RESULT)

        with ThreadPoolExecutor(2) as pool:
            kept = pool.submit(finish)
            pool.submit(cancel).result()
        final = find(engine, job)
        assert final.status == ("succeeded" if kept.result() else "cancelled")
        ends[final.status] += 1
    assert sum(ends.values()) == 20


def test_attempts_are_bounded(engine: Engine) -> None:
    job = accept(engine)
    for attempt in (1, 2, 3):
        assert must_claim(engine, job, lease=LONG_AGO).attempt == attempt
    assert claim(engine, job) is None
    with engine.begin() as connection:
        ended = recovery.fail_exhausted(connection, max_attempts=3, error={"title": "worn out"})
    assert ended == [(job.id, "echo")]
    assert find(engine, job).error == {"title": "worn out"}


def test_suspects_have_their_last_attempts_one_after_the_other(engine: Engine) -> None:
    """However many messages of them come at once."""
    suspects = [accept(engine) for _ in range(4)]
    for suspect in suspects:
        for _ in range(2):
            must_claim(engine, suspect, lease=LONG_AGO)
    with ThreadPoolExecutor(8) as pool:
        claims = list(pool.map(lambda job: claim(engine, job), suspects * 2))
    [on_trial] = [taken for taken in claims if taken is not None]
    with engine.begin() as connection:
        assert leases.fail(connection, on_trial, {"title": "guilty"})
    innocent = next(job for job in suspects if job.id != on_trial.job_id)
    assert must_claim(engine, innocent).attempt == 3


def test_renewing_keeps_a_job_from_others(engine: Engine) -> None:
    job = accept(engine)
    taken = must_claim(engine, job, lease=LONG_AGO)
    with engine.begin() as connection:
        assert leases.renew(connection, [taken], lease=MINUTE) == {job.id}
    assert claim(engine, job) is None


def test_recovery_takes_what_is_due_and_nothing_else(engine: Engine) -> None:
    due, orphan, working = (accept(engine) for _ in range(3))
    must_claim(engine, orphan, lease=LONG_AGO)
    must_claim(engine, working)
    with engine.begin() as connection:
        assert recovery.open_queues(connection) == [ECHO]
        assert recovery.queued_count(connection, ECHO) == 1
        unclaimed = recovery.take_unclaimed(connection, ECHO, limit=9, again_after=MINUTE)
        orphans = recovery.take_orphans(
            connection, ECHO, limit=9, again_after=MINUTE, max_attempts=3
        )
        again = recovery.take_unclaimed(connection, ECHO, limit=9, again_after=MINUTE)
    assert (unclaimed, orphans, again) == ([due.id], [orphan.id], [])


def test_two_schedulers_never_take_the_same_job(engine: Engine) -> None:
    made = {accept(engine).id for _ in range(40)}
    with engine.begin() as one, engine.begin() as other:
        mine = recovery.take_unclaimed(one, ECHO, limit=25, again_after=MINUTE)
        theirs = recovery.take_unclaimed(other, ECHO, limit=25, again_after=MINUTE)
    assert set(mine) | set(theirs) == made
    assert not set(mine) & set(theirs)


def test_one_key_is_one_job_however_many_ask_at_once(engine: Engine) -> None:
    with ThreadPoolExecutor(50) as pool:
        found = list(pool.map(lambda _: accept(engine, key="k"), range(50)))
    assert len({job.id for job in found}) == 1
    with engine.begin() as connection:
        assert connection.execute(text("SELECT count(*) FROM jobs")).scalar() == 1


def test_a_key_is_bound_to_its_request(engine: Engine) -> None:
    accept(engine, {"text": "a", "seed": 1}, key="k")
    assert accept(engine, {"seed": 1, "text": "a"}, key="k")  # order does not matter
    with pytest.raises(KeyReused):
        accept(engine, {"text": "b", "seed": 1}, key="k")


def test_a_key_outlives_its_job_and_is_the_next_ones_however_many_ask(engine: Engine) -> None:
    """The job's term is over, and no scheduler has looked yet."""
    job = accept(engine, key="k")
    ended = text("UPDATE jobs SET status = 'cancelled', finished_at = now() - interval '10 years'")
    with engine.begin() as connection:
        connection.execute(ended)
    with ThreadPoolExecutor(20) as pool:
        found = {one.id for one in pool.map(lambda _: accept(engine, key="k"), range(20))}
    assert len(found) == 1
    assert job.id not in found
    with pytest.raises(KeyReused):
        accept(engine, {"text": "another"}, key="k")


def test_old_keys_are_forgotten_and_their_jobs_are_not(engine: Engine) -> None:
    job = accept(engine, key="k")
    with engine.begin() as connection:
        assert retention.purge_idempotency_keys(connection, timedelta(hours=1)) == 0
        assert retention.purge_idempotency_keys(connection, LONG_AGO) == 1
    assert find(engine, job)
    assert accept(engine, key="k").id != job.id


def test_pages_are_complete_and_newest_first(engine: Engine) -> None:
    made = [accept(engine).id for _ in range(7)]
    seen: list[str] = []
    after = None
    has_more = True
    while has_more:
        with engine.begin() as connection:
            found, has_more = jobs.page_of(connection, JobPage(limit=3, after=after))
        seen += [job.id for job in found]
        after = seen[-1]
    assert seen == sorted(made, reverse=True)


def test_an_unknown_job_is_said_to_be_unknown(engine: Engine) -> None:
    with engine.begin() as connection, pytest.raises(UnknownJob):
        jobs.find(connection, "job_0")


@pytest.mark.parametrize(
    "values",
    [
        "status = 'succeeded'",
        "status = 'running'",
        "status = 'failed', finished_at = now()",
        "result = '{}'",
        "status = 'lost'",
    ],
)
def test_the_ledger_refuses_a_job_in_between_states(engine: Engine, values: str) -> None:
    job = accept(engine)
    with engine.begin() as connection, pytest.raises(IntegrityError):
        connection.execute(text(f"UPDATE jobs SET {values} WHERE id = '{job.id}'"))  # noqa: S608


@given(st.text(st.characters(exclude_categories=["Cs"])))
@hypothesis_settings(
    max_examples=50,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_any_text_survives_the_ledger(engine: Engine, content: str) -> None:
    request = {"text": content, "metadata": {"k": content}}
    kept = content.replace("\x00", "\ufffd")  # see shared.ledger.engine
    assert find(engine, accept(engine, request)).request == {"text": kept, "metadata": {"k": kept}}
