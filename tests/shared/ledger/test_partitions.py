"""Jobs in partitions of a day: the ledger's laws hold, the way there loses nothing, and a day is
dropped when none of its jobs is to be kept."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, event, insert, make_url, text, update
from sqlalchemy.exc import IntegrityError

from services.scheduler.retention import Retention
from shared.contracts.errors import Unavailable, UnknownJob
from shared.contracts.facts import FactPlan, SurprisingRules
from shared.ledger import jobs, leases, partitions, recovery, result_facts, tenants
from shared.ledger.engine import SEAL, connect, transaction
from shared.ledger.migrate import migrate
from shared.ledger.partition_jobs import NotPartitioned, partition_jobs
from shared.ledger.partitions import BOUNDARY, DAY, REST, midnight
from shared.ledger.tables import batches, idempotency_keys
from shared.ledger.tables import jobs as table
from shared.process.settings import Settings
from tests.conftest import TABLES
from tests.ledger import succeed
from tests.shared.ledger import test_claim_order, test_jobs
from tests.shared.ledger.test_jobs import accept, claim, find, must_claim

KEPT = 3 * DAY
PAST = 9  # days that have a partition
RESULT = {"score": 0.5}
REFERRING = """
    SELECT conrelid::regclass::text || '.' || attname FROM pg_constraint
    JOIN pg_attribute ON attrelid = conrelid AND attnum = ANY (conkey)
    WHERE contype = 'f' AND confrelid = 'jobs'::regclass
"""
INDEXES = """
    SELECT count(*) FROM pg_index JOIN pg_class ON pg_class.oid = indrelid
    WHERE relname = 'jobs' OR relname LIKE 'jobs\\_%' GROUP BY relname
"""
LAWS: tuple[Callable[..., None], ...] = (
    test_jobs.test_of_many_claims_one_wins,
    test_jobs.test_an_expired_lease_is_claimed_again_and_the_first_worker_is_fenced,
    test_jobs.test_a_job_ends_once,
    test_jobs.test_cancelling_races_finishing_and_one_of_them_wins,
    test_jobs.test_attempts_are_bounded,
    test_jobs.test_recovery_takes_what_is_due_and_nothing_else,
    test_jobs.test_two_schedulers_never_take_the_same_job,
    test_jobs.test_one_key_is_one_job_however_many_ask_at_once,
    test_jobs.test_a_key_is_bound_to_its_request,
    test_jobs.test_old_keys_are_forgotten_and_their_jobs_are_not,
    test_jobs.test_pages_are_complete_and_newest_first,
    test_claim_order.test_lanes_and_metrics_are_apart,
    test_claim_order.test_workers_that_ask_at_once_take_every_job_once,
    test_claim_order.test_claims_of_several_are_those_of_one_each,
)


@pytest.fixture(scope="module")
def _migrated(_settings: Settings) -> Iterator[Callable[[], str]]:
    """Makes a database with the schema, and drops it in the end; its address."""
    url = make_url(_settings.database_url.get_secret_value())
    made: list[str] = []
    server = connect(url.render_as_string(hide_password=False), pool_size=1)

    def create(template: str) -> str:
        made.append(f"days_{secrets.token_hex(4)}")
        with server.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(text(f"CREATE DATABASE {made[-1]} TEMPLATE {template}"))
        return url.set(database=made[-1]).render_as_string(hide_password=False)

    first = connect(create("template1"), pool_size=1)
    migrate(first)
    first.dispose()
    schema = made[0]
    yield lambda: create(schema)
    with server.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        for name in made:
            connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
    server.dispose()


@pytest.fixture(scope="module")
def _by_day(_migrated: Callable[[], str]) -> str:
    """A ledger that was partitioned some days ago."""
    address = _migrated()
    engine = connect(address, pool_size=2)
    now = datetime.now(UTC)
    partition_jobs(engine, KEPT, now - (PAST + 2) * DAY)
    for ago in range(PAST, -1, -1):
        partitions.maintain(engine, now - ago * DAY)
    engine.dispose()
    return address


@pytest.fixture
def engine(_by_day: str) -> Iterator[Engine]:
    """Of the partitioned ledger, empty; every day has its partition, and is open."""
    pool = connect(_by_day, pool_size=60)
    now = datetime.now(UTC)
    for ago in range(PAST, -1, -1):  # those that a test has dropped
        partitions.maintain(pool, midnight(now) - ago * DAY)
    with pool.begin() as connection:
        for name in TABLES:
            connection.execute(text(f"DELETE FROM {name}"))  # noqa: S608
        for one in partitions.partitions(connection):
            drop = f"ALTER TABLE {one.name} DROP CONSTRAINT IF EXISTS {SEAL}"
            connection.execute(text(drop))
    yield pool
    pool.dispose()


@pytest.fixture
def plain(_migrated: Callable[[], str]) -> Iterator[Engine]:
    """Of a ledger of its own, in one table."""
    pool = connect(_migrated(), pool_size=20)
    yield pool
    pool.dispose()


@pytest.fixture
def retention(engine: Engine, _settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Retention:
    """Keeps jobs for three days."""
    chosen = _settings.model_copy(update={"retention_hours": KEPT / timedelta(hours=1)})
    monkeypatch.setattr("shared.ledger.jobs.settings", lambda: chosen)
    return Retention(engine, chosen)


def job_of(engine: Engine, ago: timedelta, **more: Any) -> str:
    """An ended job that was accepted then, with what refers to it."""
    moment = datetime.now(UTC) - ago
    job_id = f"{jobs.first_id(moment)}{secrets.token_hex(10)}"
    row: dict[str, Any] = {"id": job_id, "metric": "echo", "request": {"text": "a"}}
    row |= {"status": "succeeded", "result": RESULT, "created_at": moment, "resend_at": moment}
    row |= {"finished_at": moment} | more
    with engine.begin() as connection:
        connection.execute(insert(table).values(row))
        key = {"key": job_id, "fingerprint": "f", "job_id": job_id}
        connection.execute(insert(idempotency_keys).values(key))
    write_facts(engine)
    return job_id


def write_facts(engine: Engine) -> None:
    plan = FactPlan(SurprisingRules(()))
    with engine.begin() as connection:
        result_facts.write_job_rows(connection, lambda _: plan, 99)


def count(engine: Engine, statement: str) -> int:
    with engine.connect() as connection:
        return int(connection.execute(text(statement)).scalar_one())


def rows(engine: Engine) -> set[str]:
    with engine.connect() as connection:
        return set(connection.execute(text("SELECT id FROM jobs")).scalars())


def days(engine: Engine) -> set[str]:
    with engine.connect() as connection:
        return {one.name for one in partitions.partitions(connection)}


def day(ago: timedelta) -> str:
    return f"jobs_{datetime.now(UTC) - ago:%Y%m%d}"


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_the_laws_of_the_ledger_hold(engine: Engine, law: Callable[..., None]) -> None:
    law(engine=engine)


def test_the_ledger_refuses_a_job_in_between_states(engine: Engine) -> None:
    job = accept(engine)
    with engine.begin() as connection, pytest.raises(IntegrityError):
        connection.execute(update(table).where(table.c.id == job.id).values(status="running"))


def test_what_refers_to_jobs_is_known(chosen: Settings) -> None:
    """And has foreign keys in the one table."""
    pool = connect(chosen.database_url.get_secret_value(), pool_size=1)
    with pool.connect() as connection:
        found = set(connection.execute(text(REFERRING)).scalars())
    pool.dispose()
    assert found == {str(own) for own in partitions.REFERRING}


def test_jobs_lie_in_their_days_and_pages_are_in_order(engine: Engine) -> None:
    made = [job_of(engine, ago * DAY) for ago in range(6)]
    for ago, job_id in enumerate(made):
        held = f"SELECT count(*) FROM {day(ago * DAY)} WHERE id = '{job_id}'"  # noqa: S608
        assert count(engine, held) == 1
    with engine.begin() as connection:
        found, _ = jobs.page_of(connection, jobs.JobPage(limit=9))
    assert [job.id for job in found] == made


def test_the_backlog_counts_open_jobs_of_every_day(engine: Engine) -> None:
    job_of(engine, 4 * DAY)
    accept(engine)
    assert count(engine, "SELECT jobs FROM touchstone_backlog()") == 1


def test_who_looks_for_open_jobs_leaves_out_the_days_that_have_ended(engine: Engine) -> None:
    old = job_of(engine, 4 * DAY)
    job = accept(engine)
    partitions.maintain(engine, datetime.now(UTC))
    plans: list[str] = []

    def explained(connection: Connection, _: Any, statement: str, values: Any, *__: Any) -> None:
        if "jobs" in statement and not statement.startswith("EXPLAIN"):
            found = connection.exec_driver_sql(f"EXPLAIN {statement}", values)
            plans.append("\n".join(str(row[0]) for row in found))

    event.listen(engine, "before_cursor_execute", explained)
    taken = test_claim_order.taken(engine, job.id, test_claim_order.ANY_TURN)
    assert taken is not None
    with engine.begin() as connection:
        assert leases.renew(connection, [taken], lease=DAY)
        recovery.open_queues(connection)
        recovery.fail_exhausted(connection, max_attempts=3, error={})
        assert leases.succeed(connection, taken, RESULT)
        assert jobs.find(connection, old)
    event.remove(engine, "before_cursor_execute", explained)
    *of_open, of_old = plans
    assert len(of_open) == 5
    ended = [day(ago * DAY) for ago in range(2, PAST)]
    assert not [name for name in ended if any(f" on {name}" in plan for plan in of_open)]
    assert [name for name in ended if f" on {name}" in of_old] == [day(4 * DAY)]


def test_a_day_that_ended_with_an_open_job_is_sealed_when_that_has_ended(engine: Engine) -> None:
    late = job_of(engine, 4 * DAY, status="queued", result=None, finished_at=None)

    def is_sealed() -> bool:
        partitions.maintain(engine, datetime.now(UTC))
        with engine.connect() as connection:
            [one] = [p for p in partitions.partitions(connection) if p.name == day(4 * DAY)]
        return one.is_sealed

    assert not is_sealed()
    succeed(engine, late, RESULT)
    assert not is_sealed()  # its row for tables is owed
    write_facts(engine)
    assert is_sealed()
    values = {"id": f"{late[:-1]}x", "metric": "echo", "request": {}, "resend_at": text("now()")}
    with pytest.raises(Unavailable), transaction(engine) as connection:
        connection.execute(insert(table).values(values))  # of a gateway whose clock is days late


def test_a_day_goes_with_all_that_refers_to_it(engine: Engine, retention: Retention) -> None:
    young, old = job_of(engine, DAY), job_of(engine, 6 * DAY)
    assert count(engine, "SELECT count(*) FROM result_facts") == 2
    retention.round()
    assert rows(engine) == {young}
    assert day(6 * DAY) not in days(engine)
    assert day(DAY) in days(engine)
    for name in ("result_facts", "idempotency_keys"):
        assert count(engine, f"SELECT count(*) FROM {name}") == 1  # noqa: S608
    assert old not in rows(engine)


def test_a_job_whose_term_is_over_is_not_read_while_its_day_is_there(
    engine: Engine, retention: Retention
) -> None:
    """It waits for its day, but no longer than two days more."""
    moment = timedelta(hours=1)
    over = job_of(engine, KEPT + moment)
    stays = job_of(engine, KEPT + moment, finished_at=datetime.now(UTC))
    late = job_of(engine, KEPT + partitions.GRACE + moment)
    keeps = job_of(engine, KEPT + partitions.GRACE + moment, finished_at=datetime.now(UTC))
    retention.round()
    assert rows(engine) == {over, stays, keeps}
    assert late not in rows(engine)
    with engine.begin() as connection:
        for gone in (over, late):
            with pytest.raises(UnknownJob):
                jobs.find(connection, gone)
        found, _ = jobs.page_of(connection, jobs.JobPage(limit=9))
    assert {job.id for job in found} == {stays, keeps}
    left = "SELECT count(*) FROM {} WHERE job_id = ANY (ARRAY(SELECT id FROM jobs))"
    for name in ("result_facts", "idempotency_keys"):
        assert count(engine, left.format(name)) == 2


def test_a_tenant_s_own_retention_holds_in_partitions(engine: Engine, retention: Retention) -> None:
    with engine.begin() as connection:
        tenants.set_retention(connection, "brief", DAY)
        tenants.set_retention(connection, "long", 30 * DAY)
    job_of(engine, 2 * DAY, tenant="brief")
    job_of(engine, 8 * DAY)
    stay = {job_of(engine, 2 * DAY), job_of(engine, 8 * DAY, tenant="long")}
    retention.round()
    assert rows(engine) == stay
    with engine.begin() as connection:
        page, _ = jobs.page_of(connection, jobs.JobPage(limit=9))
    assert {job.id for job in page} == stay
    assert count(engine, "SELECT count(*) FROM result_facts") == len(stay)


def test_an_open_job_keeps_its_day_and_a_batch_its_jobs(
    engine: Engine, retention: Retention
) -> None:
    opened = job_of(engine, 7 * DAY, status="queued", result=None, finished_at=None)
    beside = job_of(engine, 7 * DAY)
    batch: dict[str, Any] = {"metric": "echo", "endpoint": "/", "input_file_id": "f"}
    batch |= {"metadata": {}, "status": "in_progress", "id": "batch_1"}
    batch |= {"expires_at": datetime.now(UTC)}
    with engine.begin() as connection:
        connection.execute(insert(batches).values(batch))
    of_batch = job_of(engine, 6 * DAY, batch_id="batch_1")
    for _ in range(2):
        retention.round()
        assert rows(engine) == {opened, of_batch}
    assert beside not in rows(engine)
    with engine.begin() as connection:
        assert jobs.find(connection, of_batch).id == of_batch
        ended = {"status": "completed", "completed_at": text("now() - interval '4 days'")}
        connection.execute(update(batches).values(ended))
    retention.round()
    assert rows(engine) == {opened}
    assert day(6 * DAY) not in days(engine)
    assert count(engine, "SELECT count(*) FROM batches") == 0


def test_what_belongs_to_no_day_is_kept_and_forgotten_as_well(
    engine: Engine, retention: Retention
) -> None:
    ahead = job_of(engine, -20 * DAY, status="queued", result=None, finished_at=None)
    assert count(engine, f"SELECT count(*) FROM {REST}") == 1  # noqa: S608
    partitions.maintain(engine, datetime.now(UTC) + 19 * DAY)
    assert day(-20 * DAY) not in days(engine)  # its jobs stay where they are
    assert day(-19 * DAY) in days(engine)
    succeed(engine, ahead, RESULT)
    before = job_of(engine, 30 * DAY)
    with engine.begin() as connection:
        for name in (day(-19 * DAY), day(-21 * DAY)):
            connection.execute(text(f"DROP TABLE IF EXISTS {name}"))
    retention.round()
    assert rows(engine) == {ahead}
    assert before not in rows(engine)


def test_jobs_go_on_while_they_are_partitioned(plain: Engine) -> None:
    """Nothing is lost, and every job has one end; keys stay bound to theirs."""
    kept = accept(plain, key="k")
    running = must_claim(plain, accept(plain), lease=DAY)
    stop, made, ended = threading.Event(), list[str](), list[str]()

    def work() -> None:
        while not stop.is_set():
            job = accept(plain, key=secrets.token_hex(4))
            made.append(job.id)
            taken = claim(plain, job)
            with plain.begin() as connection:
                if taken is not None and leases.succeed(connection, taken, RESULT):
                    ended.append(job.id)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    partition_jobs(plain, KEPT, datetime.now(UTC))
    stop.set()
    for thread in threads:
        thread.join()
    partition_jobs(plain, KEPT, datetime.now(UTC))  # once more: nothing
    assert made == ended or sorted(made) == sorted(ended)
    assert rows(plain) == {*made, kept.id, running.job_id}
    with plain.begin() as connection:
        assert partitions.is_partitioned(connection)
        assert leases.succeed(connection, running, RESULT)
        built = {row[0] for row in connection.execute(text(INDEXES))}
    assert len(built) == 1  # those that the table had: none was built anew
    assert accept(plain, key="k").id == kept.id
    assert find(plain, kept).status == "queued"


def test_cut_off_anywhere_it_leaves_jobs_that_are_there_and_takes_more(plain: Engine) -> None:
    class Cut(BaseException):
        """As a kill."""

    made = [accept(plain).id]
    statements = 0

    def cut(*_: Any) -> None:
        nonlocal statements
        statements += 1
        if statements == at:
            raise Cut

    at = 3
    while True:
        statements = 0
        killed = connect(plain.url.render_as_string(hide_password=False), pool_size=2)
        event.listen(killed, "before_cursor_execute", cut)
        try:
            partition_jobs(killed, KEPT, datetime.now(UTC))
        except NotPartitioned:  # the session of the killed one has yet to end
            continue
        except Cut:
            at += 7
        else:
            break
        finally:
            killed.dispose()  # its sessions end, and its locks with them
        made.append(accept(plain).id)
    assert at > 40
    assert rows(plain) == set(made)
    with plain.connect() as connection:
        assert partitions.is_partitioned(connection)


def test_the_scheduler_takes_away_what_was_left(plain: Engine, chosen: Settings) -> None:
    with plain.begin() as connection:
        bound = f"ADD CONSTRAINT {BOUNDARY} CHECK (id < 'job_0') NOT VALID"
        connection.execute(text(f"ALTER TABLE jobs {bound}"))
    Retention(plain, chosen).round()
    assert accept(plain)


def test_what_cannot_be_done_soundly_is_refused(plain: Engine) -> None:
    now = datetime.now(UTC)
    with pytest.raises(NotPartitioned, match="max_locks_per_transaction"):
        partition_jobs(plain, 400 * DAY, now)
    job_of(plain, -9 * DAY)
    with pytest.raises(NotPartitioned, match="a clock was ahead"):
        partition_jobs(plain, KEPT, now)
    with plain.begin() as connection:
        connection.execute(text("CREATE VIEW ours AS SELECT id FROM jobs"))
    with pytest.raises(NotPartitioned, match="ours"):
        partition_jobs(plain, KEPT, now)
    with plain.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '0001'"))
    with pytest.raises(NotPartitioned, match=r"first run python -m shared"):
        partition_jobs(plain, KEPT, now)
    assert accept(plain)
