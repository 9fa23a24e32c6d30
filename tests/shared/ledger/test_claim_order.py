"""Turns in a queue: by tenant, then by age; nobody is taken twice and nobody is left behind."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from sqlalchemy import Connection, Engine, event, insert, text

from shared.ledger import claim_order, jobs, leases
from shared.ledger.claim_order import ClaimOrder, MetricQueue
from shared.ledger.leases import Claim, ClaimTerms
from shared.ledger.tables import jobs as table
from shared.ledger.webhooks import make_endpoint

HOUR = timedelta(hours=1)  # no lease ends because the machine is busy
NOW = timedelta(0)
LONG_AGO = timedelta(seconds=-1)
ECHO = MetricQueue("echo", batch=False)
BATCH = MetricQueue("echo", batch=True)
TERMS = ClaimTerms(HOUR, max_attempts=3)
ANY_TURN = ClaimOrder(ECHO)


def made(engine: Engine, tenants: str, **more: Any) -> list[str]:
    """Queued jobs, one for each letter: its tenant."""
    row = {"metric": "echo", "request": {"text": "a"}} | more
    with engine.begin() as connection:
        ids = [jobs.new_id() for _ in tenants]
        due = {"resend_at": connection.execute(text("SELECT now()")).scalar()}
        rows = [{"id": i, "tenant": t} | row | due for i, t in zip(ids, tenants, strict=True)]
        connection.execute(insert(table), rows)
    return ids


def taken(engine: Engine, named: str, turn: ClaimOrder, lease: timedelta = HOUR) -> Claim | None:
    with engine.begin() as connection:
        return leases.claim(connection, named, lease=lease, max_attempts=3, turn=turn)


def all_taken(engine: Engine, messages: list[str]) -> list[Claim]:
    """What one worker takes on these messages, in order, each tenant going to the end."""
    served: list[str] = []
    claims = []
    for named in messages:
        claim = taken(engine, named, ClaimOrder(ECHO, served=served))
        if claim is not None:
            claims.append(claim)
            served = [tenant for tenant in served if tenant != claim.tenant] + [claim.tenant]
    return claims


@hypothesis_settings(
    deadline=None, max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.text("abc", min_size=1, max_size=12))
def test_as_many_messages_take_all_jobs_each_tenants_oldest_first(
    engine: Engine, tenants: str
) -> None:
    with engine.begin() as connection:
        connection.execute(text("DELETE FROM jobs"))
    ids = made(engine, tenants)
    claims = all_taken(engine, ids)
    assert sorted(claim.job_id for claim in claims) == sorted(ids)
    for tenant in set(tenants):
        mine = [claim.job_id for claim in claims if claim.tenant == tenant]
        assert mine == sorted(mine)
    assert taken(engine, ids[0], ClaimOrder(ECHO)) is None  # a second delivery


def test_one_job_behind_thousands_of_another_tenants_is_second(engine: Engine) -> None:
    flood = made(engine, "a" * 2_000)
    (single,) = made(engine, "b")
    claims = all_taken(engine, flood[:2])
    assert single in [claim.job_id for claim in claims]


def test_a_tenant_that_holds_its_part_is_passed_over(engine: Engine) -> None:
    flood, (single,) = made(engine, "aaa"), made(engine, "b")
    claim = taken(engine, flood[0], ClaimOrder(ECHO, full=["a"]))
    assert claim is not None
    assert claim.job_id == single
    assert taken(engine, flood[0], ClaimOrder(ECHO, full=["a", "b"])) is None
    with engine.begin() as connection:
        assert claim_order.waits(connection, ECHO)
        assert not claim_order.waits(connection, BATCH)


def test_lanes_and_metrics_are_apart(engine: Engine) -> None:
    (other,) = made(engine, "a", metric="other")
    (line,) = made(engine, "a", batch_id="batch_1")
    assert taken(engine, other, ClaimOrder(ECHO)) is None
    claim = taken(engine, line, ClaimOrder(BATCH))
    assert claim is not None
    assert (claim.job_id, claim.batch_id) == (line, "batch_1")


def test_what_was_tried_is_taken_by_the_message_that_was_sent_again(engine: Engine) -> None:
    tried, fresh = made(engine, "ab")
    claim = taken(engine, tried, ClaimOrder(ECHO, full=["b"]))
    assert claim is not None
    with engine.begin() as connection:
        leases.release(connection, claim, resend_after=HOUR)
    another = taken(engine, tried, ClaimOrder(ECHO, served=["b", "a"]))
    assert another is not None
    assert another.job_id == fresh  # its first message stands for whoever waits
    (later,) = made(engine, "b")
    again = taken(engine, tried, ClaimOrder(ECHO, again=True))
    assert again is not None
    assert (again.job_id, again.attempt) == (tried, 2)
    last = taken(
        engine, tried, ClaimOrder(ECHO, again=True)
    )  # and a second delivery does not waste
    assert last is not None
    assert last.job_id == later


def test_a_suspect_is_taken_by_its_own_message_alone(engine: Engine) -> None:
    suspect, fresh = made(engine, "ab")
    assert taken(engine, suspect, ClaimOrder(ECHO), lease=LONG_AGO)
    assert taken(engine, suspect, ClaimOrder(ECHO), lease=LONG_AGO)
    claim = taken(engine, fresh, ClaimOrder(ECHO, served=["b"]))
    assert claim is not None
    assert claim.job_id == fresh
    assert taken(engine, fresh, ClaimOrder(ECHO)) is None
    trial = taken(engine, suspect, ClaimOrder(ECHO, again=True))
    assert trial is not None
    assert (trial.job_id, trial.attempt) == (suspect, 3)


def test_workers_that_ask_at_once_take_every_job_once(engine: Engine) -> None:
    ids = made(engine, "aab" * 30)
    with ThreadPoolExecutor(20) as pool:
        claims = list(pool.map(lambda named: taken(engine, named, ClaimOrder(ECHO)), ids))
    counts = Counter(claim.job_id for claim in claims if claim)
    assert counts == Counter(ids)


def test_the_choice_reads_the_index_of_fresh_jobs(engine: Engine) -> None:
    """And so costs the same however many jobs wait or have ended."""
    made(engine, "ab" * 500)
    made(engine, "ab" * 1_000, metric="other")
    plans: list[str] = []

    def explained(connection: Connection, _: Any, statement: str, values: Any, *__: Any) -> None:
        if "UPDATE jobs" in statement and not statement.startswith("EXPLAIN"):
            found = connection.exec_driver_sql(f"EXPLAIN {statement}", values)
            plans.append("\n".join(str(row[0]) for row in found))

    with engine.begin() as connection:
        connection.execute(text("ANALYZE jobs"))
    event.listen(engine, "before_cursor_execute", explained)
    assert taken(engine, "job_x", ClaimOrder(ECHO, served=["a"], full=["b"]))
    assert plans[0].count("using ix_jobs_turn on") == 2  # for the tenants, and for the job
    assert "Seq Scan on jobs" not in plans[0]


def several(engine: Engine, named: list[str], turn: ClaimOrder = ANY_TURN) -> list[Claim]:
    with engine.begin() as connection:
        return leases.claim_several(connection, named, TERMS, turn)


@hypothesis_settings(
    deadline=None, max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.text("abc", min_size=1, max_size=12), st.integers(1, 6))
def test_claims_of_several_take_each_tenants_oldest_in_equal_shares(
    engine: Engine, tenants: str, count: int
) -> None:
    with engine.begin() as connection:
        connection.execute(text("DELETE FROM jobs"))
    ids = made(engine, tenants)
    count = min(count, len(ids))
    claims = several(engine, ids[:count])
    assert len(claims) <= count
    share = max(1, count // len(set(tenants)))
    for tenant in set(tenants):
        mine = sorted(claim.job_id for claim in claims if claim.tenant == tenant)
        own = sorted(job for job, whose in zip(ids, tenants, strict=True) if whose == tenant)
        assert mine == own[: len(mine)]
        assert len(mine) <= share
        if count >= len(set(tenants)):
            assert len(mine) == min(share, len(own))


def test_claims_of_several_are_those_of_one_each(engine: Engine) -> None:
    """Lanes, tenants in turn, tenants that hold their part, what was lost, and what is on trial."""
    made(engine, "aab")
    made(engine, "a", batch_id="b")
    claims = several(engine, ["job_x"] * 2, ClaimOrder(ECHO, served=["a"], full=[]))
    assert Counter(claim.tenant for claim in claims) == Counter("ab")
    assert several(engine, ["job_x"] * 2, ClaimOrder(ECHO, full=["a"])) == []
    lost = several(engine, ["job_x"])[0]
    with engine.begin() as connection:
        leases.renew(connection, [lost], lease=LONG_AGO)
    (again,) = several(engine, [lost.job_id, "job_x"])
    assert (again.job_id, again.attempt) == (lost.job_id, 2)
    with engine.begin() as connection:
        leases.renew(connection, [again], lease=LONG_AGO)
    assert several(engine, [lost.job_id]) == []  # a suspect is claimed alone


def test_workers_that_claim_several_at_once_take_every_job_once(engine: Engine) -> None:
    ids = made(engine, "aab" * 30)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: several(engine, ids[:5]), range(18)))
    counts = Counter(claim.job_id for claims in found for claim in claims)
    assert set(counts.values()) == {1}
    assert set(counts) <= set(ids)


def test_successes_of_several_end_their_own_jobs_and_no_others(engine: Engine) -> None:
    first, stale, foreign = made(engine, "abc")
    claims = {claim.job_id: claim for claim in several(engine, ["job_x"] * 3)}
    results: list[tuple[leases.Claim, dict[str, Any]]] = [
        (claims[first], {"done": 1}),
        (claims[stale], {"done": "\u0000"}),
    ]
    with engine.begin() as connection:
        connection.execute(text("UPDATE jobs SET attempts = 2 WHERE id = :id"), {"id": stale})
    with engine.begin() as connection:
        assert leases.succeed_several(connection, results) == {first}
    with engine.begin() as connection:
        assert leases.succeed_several(connection, results) == set()
        ended = {one: jobs.find(connection, one) for one in (first, stale, foreign)}
    assert (ended[first].status, ended[first].result) == ("succeeded", {"done": 1})
    assert {ended[stale].status, ended[foreign].status} == {"running"}


def test_a_success_that_owes_an_event_and_one_that_is_locked_are_left_over(engine: Engine) -> None:
    listened, locked, free = made(engine, "abc")
    with engine.begin() as connection:
        values = {"url": "https://x.example", "description": "", "events": [], "secret": "s"}
        make_endpoint(connection, "a", values)
    claims = {claim.job_id: claim for claim in several(engine, ["job_x"] * 3)}
    with engine.begin() as other, engine.begin() as connection:
        other.execute(text("SELECT 1 FROM jobs WHERE id = :id FOR UPDATE"), {"id": locked})
        ended = [(claim, {"done": 1}) for claim in claims.values()]
        assert leases.succeed_several(connection, ended) == {free}
    with engine.begin() as connection:
        assert leases.succeed(connection, claims[listened], {"done": 1})
