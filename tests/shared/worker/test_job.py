"""The shell: every exception has its end, a lost claim changes nothing, a lease is kept alive."""

from __future__ import annotations

import gc
import os
import signal
import threading
import time
import traceback
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Engine, text
from structlog.testing import capture_logs

from shared.contracts.messages import Report
from shared.contracts.request_cost import Size, Work
from shared.ledger import jobs, leases
from shared.ledger.claim_order import MetricQueue
from shared.models.server_connection import AnswerUnread, readable_answers
from shared.process.settings import Settings
from shared.queue import broker, job_context, thread_scheduling
from shared.queue.job_context import JobContext
from shared.queue.priority import Party
from shared.queue.thread_scheduling import Interpreter
from shared.worker import job
from shared.worker import watchdog as watchdog_module
from shared.worker.batch_queues import TenantShares
from shared.worker.job import MODEL_WAIT_HOURS, Heartbeat, Score, context_of, run_job
from shared.worker.watchdog import Watchdog
from tests.echo_metric import ECHO, EchoRequest, echo
from tests.ledger import MINUTE, expire_lease, find_job, must_claim
from tests.patience import SECONDS, eventually


def accept(engine: Engine, content: str, **more: Any) -> str:
    request = EchoRequest(text=content).model_dump(mode="json") | more
    with engine.begin() as connection:
        return jobs.accept(connection, "echo", request, key=None, resend_after=MINUTE).job.id


def test_a_job_is_scored_once(engine: Engine) -> None:
    job_id = accept(engine, "hello")
    run_job(job_id, ECHO, echo)
    run_job(job_id, ECHO, echo)  # the message came twice
    job = find_job(engine, job_id)
    assert (job.status, job.attempts) == ("succeeded", 1)
    assert job.result is not None
    assert job.result["echo"] == "hello"


def test_the_computation_knows_whose_job_it_computes(engine: Engine, chosen: Settings) -> None:
    job_id = accept(engine, "hello")
    seen: list[JobContext | None] = []

    def score(request: Any) -> Report:
        seen.append(job_context.current())
        return echo(request)

    run_job(job_id, ECHO, score)
    [context] = seen
    assert context is not None
    assert (context.job_id, context.tenant, context.batch) == (job_id, "default", False)
    assert 0 < context.deadline - time.monotonic() <= chosen.max_work_seconds
    assert job_context.current() is None


def test_bad_input_fails_at_once_with_a_pointer(engine: Engine) -> None:
    job_id = accept(engine, "bad")
    run_job(job_id, ECHO, echo)
    job = find_job(engine, job_id)
    assert (job.status, job.attempts) == ("failed", 1)
    assert job.error is not None
    assert job.error["status"] == 422
    assert job.error["errors"] == [{"detail": "too bad", "pointer": "#/text"}]


def test_a_request_that_the_contract_refuses_fails_with_a_pointer(engine: Engine) -> None:
    job_id = accept(engine, "hello", nonsense=1)
    run_job(job_id, ECHO, echo)
    error = find_job(engine, job_id).error
    assert error is not None
    assert error["errors"][0]["pointer"] == "#/nonsense"


def test_a_model_that_is_away_is_asked_again_until_the_attempts_are_used_up(
    engine: Engine, chosen: Settings
) -> None:
    job_id = accept(engine, "away")
    for attempt in range(1, leases.MAX_ATTEMPTS):
        run_job(job_id, ECHO, echo)
        job = find_job(engine, job_id)
        assert (job.status, job.attempts) == ("queued", attempt)
    run_job(job_id, ECHO, echo)
    job = find_job(engine, job_id)
    assert job.status == "failed"
    assert job.error is not None
    assert job.error["type"].endswith("attempts-exhausted")
    assert "the model is away" in job.error["detail"]


def test_a_server_that_answers_nothing_readable_uses_up_the_attempts(
    engine: Engine, chosen: Settings
) -> None:
    def unread(_: EchoRequest) -> Report:
        with readable_answers("m"):
            raise AnswerUnread("it is no JSON")

    job_id = accept(engine, "hello")
    for attempt in range(1, leases.MAX_ATTEMPTS + 1):
        run_job(job_id, ECHO, unread)
        assert find_job(engine, job_id).attempts == attempt
    error = find_job(engine, job_id).error
    assert error is not None
    assert error["type"].endswith("attempts-exhausted")
    assert "the answer from the server of 'm' cannot be read: it is no JSON" in error["detail"]


def test_a_job_waits_for_its_model_as_often_as_it_takes(engine: Engine, chosen: Settings) -> None:
    job_id = accept(engine, "loading")
    for _ in range(leases.MAX_ATTEMPTS + 2):
        run_job(job_id, ECHO, echo)
        job = find_job(engine, job_id)
        assert (job.status, job.attempts) == ("queued", 0)
        told = {"model": "m", "state": "loading", "detail": "the model 'm' is being loaded"}
        assert job.waiting_for == told
    run_job(job_id, ECHO, lambda request: echo(request.model_copy(update={"text": "hello"})))
    job = find_job(engine, job_id)
    assert (job.status, job.attempts, job.waiting_for) == ("succeeded", 1, None)


def test_what_waited_keeps_all_its_attempts(engine: Engine, chosen: Settings) -> None:
    job_id = accept(engine, "loading")
    for _ in range(leases.MAX_ATTEMPTS):
        run_job(job_id, ECHO, echo)
    away = EchoRequest(text="away")
    for attempt in range(1, leases.MAX_ATTEMPTS):
        run_job(job_id, ECHO, lambda _request: echo(away))
        assert find_job(engine, job_id).attempts == attempt
    run_job(job_id, ECHO, lambda _request: echo(away))
    assert find_job(engine, job_id).status == "failed"


def test_who_was_thought_dead_cannot_end_a_job_that_waits(engine: Engine) -> None:
    job_id = accept(engine, "loading")
    with engine.begin() as connection:
        stale = must_claim(connection, job_id, lease=timedelta(0))
    expire_lease(engine, job_id)
    run_job(job_id, ECHO, echo)
    with engine.begin() as connection:
        assert not leases.succeed(connection, stale, {"score": 1})
        again = must_claim(connection, job_id)
        assert not leases.succeed(connection, stale, {"score": 1})
        assert not leases.wait(connection, stale, model={}, resend_after=MINUTE)
    assert (again.attempt, again.tried) == (3, 2)


@pytest.mark.parametrize(
    ("content", "slug", "reason"),
    [
        ("loading", "model-not-ready", "is being loaded"),
        ("broken", "model-unusable", "cannot be loaded"),
    ],
)
def test_a_job_whose_model_does_not_come_fails_with_the_models_reason(
    engine: Engine, chosen: Settings, content: str, slug: str, reason: str
) -> None:
    job_id = accept(engine, content)
    with engine.begin() as connection:
        late = text("UPDATE jobs SET created_at = now() - make_interval(secs => :age)")
        connection.execute(late, {"age": MODEL_WAIT_HOURS * 3_600 + 60})
    run_job(job_id, ECHO, echo)
    job = find_job(engine, job_id)
    assert job.status == "failed"
    assert job.error is not None
    assert job.error["type"].endswith(slug)
    assert job.error["detail"] == f"the model 'm' {reason}"


@pytest.mark.parametrize("content", ["crash", "nan"])
def test_a_crash_is_told_in_the_log_and_only_there(engine: Engine, content: str) -> None:
    job_id = accept(engine, content)
    with capture_logs() as events:
        run_job(job_id, ECHO, echo)
    job = find_job(engine, job_id)
    assert job.status == "failed"
    assert job.error is not None
    assert job.error["status"] == 500
    assert "secret" not in str(job.error)
    told = [event for event in events if event.get("error_id") == job.error["error_id"]]
    assert isinstance(told[0]["exc_info"], Exception)


def test_no_words_of_a_crash_are_logged_where_no_text_may_stay() -> None:
    """Nor those of what caused it; the place in our code is."""

    def crash(request: EchoRequest) -> Report:
        try:
            return echo(EchoRequest.model_validate({"text": request.text, "a": request.text}))
        except ValueError as error:
            raise RuntimeError(f"{request.text} is odd") from error

    request = {"text": "slurs", "do_not_store_text": True}
    claim = leases.Claim("job_1", 1, request, 0, 1, tenant="default", batch_id=None)
    with capture_logs() as events:
        job.ending(ECHO, crash, claim)
    [told] = [event for event in events if event["event"] == "job.crashed"]
    written = "".join(traceback.format_exception(told["exc_info"]))
    assert "slurs" not in written
    assert "RuntimeError" in written
    assert "in crash" in written


def test_a_cancelled_job_drops_its_late_result(engine: Engine) -> None:
    job_id = accept(engine, "hello")

    def score(request: Any) -> Report:
        with engine.begin() as connection:
            jobs.cancel(connection, job_id)
        return echo(request)

    run_job(job_id, ECHO, score)
    job = find_job(engine, job_id)
    assert (job.status, job.result) == ("cancelled", None)


def is_leased(engine: Engine, job_id: str) -> bool:
    with engine.begin() as connection:
        return bool(
            connection.execute(
                text("SELECT lease_expires_at > now() FROM jobs WHERE id = :id"), {"id": job_id}
            ).scalar()
        )


def claimed(engine: Engine) -> leases.Claim:
    job_id = accept(engine, "hello")
    with engine.begin() as connection:
        return must_claim(connection, job_id)


def test_a_tenant_that_holds_its_part_leaves_threads_to_other_queues(
    engine: Engine, chosen: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job, "HAND_BACK_SECONDS", 0.01)
    of_tenants = TenantShares(4, 0.5)  # two of a tenant; one more may stand by
    monkeypatch.setattr(job, "shares", lambda batch: of_tenants)
    mine = sorted(accept(engine, f"{number}") for number in range(5))  # as they are claimed
    this_queue, taken = MetricQueue("echo", batch=False), []

    def claims(job_id: str) -> None:
        with job.acquire_job(job_id, this_queue, again=False) as claim:
            taken.append(claim and claim.job_id)

    with ExitStack() as held:
        for one in mine[:2]:
            held.enter_context(job.acquire_job(one, this_queue, again=False))
        stands_by = threading.Thread(target=claims, args=(mine[2],))
        stands_by.start()
        eventually(lambda: of_tenants._stand_by._value == 0)
        claims(mine[3])
        assert taken == [None]
        eventually(lambda: broker.queue_length("echo") == 1)  # its message is there again
        assert stands_by.is_alive()
    stands_by.join(SECONDS)
    assert taken == [None, mine[2]]


def test_standing_in_line_is_no_computing(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thread_scheduling, "LOOK_SECONDS", 0.02)
    context = replace(context_of(claimed(engine), ECHO), batch=True)
    before, begun, one_place = context.deadline, time.monotonic(), Interpreter(1)

    def compute() -> None:
        with one_place.computing(context.party, context.check, context.extend):
            pass

    thread = threading.Thread(target=compute)
    with one_place.computing(Party(batch=True, tenant="a"), lambda: None):
        thread.start()
        eventually(lambda: context.deadline - before >= 0.1)
    thread.join(SECONDS)
    assert context.deadline - before <= time.monotonic() - begun


@pytest.mark.parametrize(("size", "waits"), [(4_999, False), (5_001, True)])
def test_a_large_request_is_served_like_a_line_of_a_batch(size: int, waits: bool) -> None:
    request = {"text": "x" * size, "more": [{"explanation": "y" * 5_000}], "draws": 99}
    claim = leases.Claim("job_1", 1, request, 0.0, 1, "tenant", None)
    assert context_of(claim, ECHO).party == Party(batch=waits, tenant="tenant")


@pytest.mark.parametrize(("tokens", "waits"), [(9_000, False), (11_000, True)])
def test_so_is_a_request_with_much_expected_work(tokens: int, waits: bool) -> None:
    work = Work((Size("tokens", tokens),))
    contract = replace(ECHO, cost=lambda _request, _reads: [work])
    claim = leases.Claim("job_1", 1, {"text": "x"}, 0.0, 1, "tenant", None)
    assert context_of(claim, contract).party == Party(batch=waits, tenant="tenant")


def test_a_held_lease_is_renewed_and_a_released_one_is_not(engine: Engine) -> None:
    claim = claimed(engine)
    heart = Heartbeat()
    with heart.watch(claim, context_of(claim, ECHO)):
        expire_lease(engine, claim.job_id)
        heart.beat()
        assert is_leased(engine, claim.job_id)
    expire_lease(engine, claim.job_id)
    heart.beat()
    assert not is_leased(engine, claim.job_id)


def test_an_attempt_that_never_ends_loses_its_lease(engine: Engine, chosen: Settings) -> None:
    claim = claimed(engine)
    heart = Heartbeat()
    for late, kept in ((0.0, True), (2 * watchdog_module.GRACE_SECONDS, False)):
        context = replace(context_of(claim, ECHO), deadline=time.monotonic() - late)
        with heart.watch(claim, context):
            expire_lease(engine, claim.job_id)
            heart.beat()
            assert is_leased(engine, claim.job_id) is kept
        assert not context.cancelled.is_set()


@pytest.mark.parametrize("notice", [Heartbeat.beat, Heartbeat.check])
def test_a_claim_that_was_lost_is_let_go_and_its_computation_told(
    engine: Engine, notice: Callable[[Heartbeat], None]
) -> None:
    claim = claimed(engine)
    heart, context = Heartbeat(), context_of(claim, ECHO)
    with heart.watch(claim, context):
        notice(heart)
        assert not context.cancelled.is_set()
        with engine.begin() as connection:
            jobs.cancel(connection, claim.job_id)
        notice(heart)
        assert heart._held == {}
        assert context.cancelled.is_set()


def test_a_cancelled_computation_ends_at_its_next_step(engine: Engine) -> None:
    job_id = accept(engine, "hello")
    steps: list[int] = []

    def score(request: Any) -> Report:
        with engine.begin() as connection:
            jobs.cancel(connection, job_id)
        while True:  # the heartbeat hears of it from the ledger
            steps.append(len(steps))
            time.sleep(0.01)
            job_context.check()

    with capture_logs() as events:
        run_job(job_id, ECHO, score)
    assert steps
    assert find_job(engine, job_id).status == "cancelled"
    assert {event["event"] for event in events} == {"job.ended"}


class Held:
    """Something large that a computation has made."""


@pytest.mark.parametrize("how", ["cancelled", "failed", "succeeded"])
def test_a_job_that_has_ended_holds_nothing(engine: Engine, how: str) -> None:
    job_id = accept(engine, "hello")
    held: list[weakref.ref[Held]] = []

    def score(request: Any) -> Report:
        large = Held()
        large.itself = large  # type: ignore[attr-defined]  # what only the collector can let go
        held.append(weakref.ref(large))
        if how == "failed":
            raise RuntimeError(large)
        if how == "succeeded":
            return echo(request)
        with engine.begin() as connection:
            jobs.cancel(connection, job_id)
        while True:
            time.sleep(0.01)
            job_context.check()

    run_job(job_id, ECHO, score)
    gc.collect()
    assert find_job(engine, job_id).status == how
    assert [reference() for reference in held] == [None]


def hasty(chosen: Settings, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """A deadline that is there at once, and graces that pass by the hand of a test alone."""
    soon = {"max_work_seconds": 0.05, "lease_seconds": 4 * SECONDS}
    settings = chosen.model_copy(update=soon)
    for module in (job, watchdog_module):
        monkeypatch.setattr(module, "settings", lambda: settings)
        monkeypatch.setattr(module, "GRACE_SECONDS", SECONDS)
    return settings


def be_late(graces: float) -> None:
    """The deadline of this thread's job was so many graces ago."""
    context = job_context.current()
    assert context is not None
    context.deadline = time.monotonic() - graces * SECONDS


@contextmanager
def watched(monkeypatch: pytest.MonkeyPatch) -> Iterator[Watchdog]:
    """A watchdog that looks until the block is left, and cannot end this process for real."""
    dog, over = Watchdog(), threading.Event()
    monkeypatch.setattr(job, "watchdog", dog)
    monkeypatch.setattr(dog, "_arm", lambda: None)

    def look() -> None:
        while not over.wait(0.05):
            dog.check()

    with ThreadPoolExecutor(1) as pool:
        looking = pool.submit(look)
        try:
            yield dog
        finally:
            over.set()
            looking.result()


def asks(_request: Any) -> Report:
    while True:
        time.sleep(0.01)
        job_context.check()


def never_asks(_request: Any) -> Report:
    be_late(1.1)
    while True:
        pass


@pytest.mark.parametrize("score", [asks, never_asks])
def test_a_computation_that_runs_past_its_deadline_fails_as_too_costly(
    engine: Engine, chosen: Settings, monkeypatch: pytest.MonkeyPatch, score: Score
) -> None:
    hasty(chosen, monkeypatch)
    job_id = accept(engine, "hello")
    with watched(monkeypatch) as dog:
        run_job(job_id, ECHO, score)
        assert dog.health_error() is None
        run_job(again := accept(engine, "hello"), ECHO, echo)  # the thread is free and unharmed
    job = find_job(engine, job_id)
    assert (job.status, job.attempts) == ("failed", 1)
    assert job.error is not None
    assert job.error["type"].endswith("too-costly")
    assert "0.05 s" in job.error["detail"]
    assert find_job(engine, again).status == "succeeded"


def test_a_thread_that_is_lost_ends_its_job_and_then_the_process(
    engine: Engine, chosen: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    hasty(chosen, monkeypatch)
    ends = threading.Event()
    signals: list[int] = []
    exits: list[int] = []
    monkeypatch.setattr(os, "kill", lambda _pid, name: signals.append(name))
    monkeypatch.setattr(os, "_exit", exits.append)
    job_id = accept(engine, "hello")

    def stuck(_request: Any) -> Report:
        be_late(2.1)
        ends.wait()
        raise ZeroDivisionError

    with watched(monkeypatch) as dog, ThreadPoolExecutor(1) as pool:
        carried = pool.submit(run_job, job_id, ECHO, stuck)
        while not exits:
            time.sleep(0.01)
        error = find_job(engine, job_id).error
        assert error is not None
        assert error["type"].endswith("too-costly")
        assert signals == [signal.SIGTERM]
        assert job_id in str(dog.health_error())
        ends.set()
        carried.result()
    assert find_job(engine, job_id).error == error
