"""Laws of turns: interactive first, tenants in turn, nobody starves, what is long is kept short."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.queue import thread_scheduling
from shared.queue.job_context import JobContext, party, use_context
from shared.queue.priority import BATCH_EVERY, NICENESS, DeviceRate, FairQueue, Party, standing_back
from shared.queue.priority_lock import PriorityLock
from shared.queue.thread_scheduling import COURTESY_SECONDS, TURN_SECONDS, Interpreter
from tests.patience import SECONDS

parties = st.builds(Party, st.booleans(), st.sampled_from("abc"))


def job(tenant: str, *, batch: bool = False) -> JobContext:
    return JobContext("job_x", tenant, batch, time.monotonic() + 60)


@settings(deadline=None)
@given(st.lists(parties, max_size=60))
def test_everything_is_served_once_and_a_partys_own_in_order(added: list[Party]) -> None:
    queue: FairQueue[tuple[Party, int]] = FairQueue()
    for number, whom in enumerate(added):
        queue.add(whom, (whom, number))
    served = [queue.pop() for _ in added]
    assert not queue
    for whom in set(added):
        assert [n for one, n in served if one == whom] == [
            n for n, one in enumerate(added) if one == whom
        ]


@pytest.fixture
def many_switches() -> Iterator[None]:
    """Threads take turns after a microsecond."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


@pytest.mark.usefixtures("many_switches")
def test_a_thread_may_ask_whether_items_wait_while_another_adds_and_removes_them() -> None:
    queue: FairQueue[int] = FairQueue()
    asked = threading.Event()

    def change() -> None:
        while not asked.is_set():
            for number in range(5):
                queue.add(Party(batch=False, tenant=f"{number}"), number)
            for _ in range(5):
                queue.pop()

    changes = threading.Thread(target=change)
    changes.start()
    try:
        for _ in range(100_000):
            bool(queue)
    finally:
        asked.set()
        changes.join(SECONDS)


@settings(deadline=None)
@given(st.lists(parties, min_size=1, max_size=60))
def test_a_newcomer_waits_for_one_turn_of_each_other_tenant(added: list[Party]) -> None:
    queue: FairQueue[str] = FairQueue()
    for whom in added:
        queue.add(whom, "other")
    queue.pop()
    queue.add(Party(batch=False, tenant="new"), "new")
    tenants = len({one for one in added if not one.batch})
    waited = next(number for number in range(100) if queue.pop() == "new")
    assert waited <= tenants + 1  # and a batch's turn, if that is due


def test_batches_have_every_eighth_turn_while_interactive_jobs_never_end() -> None:
    queue: FairQueue[str] = FairQueue()
    for _ in range(200):
        queue.add(Party(batch=False, tenant="a"), "interactive")
    for _ in range(5):
        queue.add(Party(batch=True, tenant="b"), "batch")
    served = [queue.pop() for _ in range(5 * BATCH_EVERY)]
    assert served == (["interactive"] * (BATCH_EVERY - 1) + ["batch"]) * 5


COSTS = {"a": 1.0, "b": 0.2, "c": 0.05}  # of a turn of each tenant's, in units


@settings(deadline=None, max_examples=30)
@given(st.sets(parties, min_size=1), st.integers(0, 1_000))
def test_what_is_shared_is_shared_by_what_turns_cost(there: set[Party], seed: int) -> None:
    """Whatever turns cost: an eighth to batches while both lanes wait, in a lane each the same."""
    chance = Random(seed)  # noqa: S311 - no secret
    queue: FairQueue[Party] = FairQueue(units=0.0)
    used: defaultdict[Party, float] = defaultdict(float)
    for whom in sorted(there):
        queue.add(whom, whom)
    while sum(used.values()) < 300:
        whom = queue.pop()
        cost = COSTS[whom.tenant] * chance.uniform(0.5, 1.5)
        used[whom] += cost
        queue.turns.add_cost(whom, cost)
        queue.add(whom, whom)
    lanes = {lane: [used[one] for one in there if one.batch == lane] for lane in (False, True)}
    few = 2 * BATCH_EVERY * max(COSTS.values())  # turns that are under way, expected or real
    for its in filter(None, lanes.values()):
        assert max(its) - min(its) <= few
    if all(lanes.values()):
        assert abs(sum(lanes[True]) - sum(used.values()) / BATCH_EVERY) <= few


def test_short_turns_of_a_batch_do_not_wait_behind_long_ones_of_others() -> None:
    """Fifteen steps between calls of a model, beside requests that compute for seconds."""
    queue: FairQueue[Party] = FairQueue(units=0.0)
    crowd, line = Party(batch=False, tenant="crowd"), Party(batch=True, tenant="other")
    others = Party(batch=True, tenant="crowd")
    for _ in range(200):
        queue.add(crowd, crowd)
        queue.add(others, others)
    spent, own = 0.0, 0
    queue.add(line, line)
    while own < 15:
        whom = queue.pop()
        cost = 1.0 if whom == crowd else 0.1
        queue.turns.add_cost(whom, cost)
        spent += cost
        if whom == line:
            own += 1
            queue.add(line, line)
    assert spent <= 45  # by turns it would be 7 long ones for each of two batches: 210


def test_nobody_saves_up_turns_and_nobody_pays_for_an_idle_time() -> None:
    queue: FairQueue[str] = FairQueue(units=0.0)
    alone, new = Party(batch=False, tenant="alone"), Party(batch=False, tenant="new")
    for _ in range(1_000):  # for long, and nobody waited
        queue.turns.begin(alone)
        queue.turns.add_cost(alone, 1.0)
    served = []
    for _ in range(10):
        queue.add(alone, "alone")
        queue.add(new, "new")
    for _ in range(10):
        served.append(queue.pop())
        queue.turns.add_cost(Party(batch=False, tenant=served[-1]), 1.0)
    assert 4 <= served.count("alone") <= 6


def test_a_go_is_short_only_while_somebody_else_may_come() -> None:
    now = 0.0
    pace = DeviceRate(clock=lambda: now)
    user, other = Party(batch=False, tenant="u"), Party(batch=True, tenant="b")
    assert pace.most(1_000, [other]) == 1_000  # nobody asked yet
    pace.record_request(user)
    assert pace.most(1_000, [user]) == 1_000  # alone
    assert pace.most(1_000, [other]) == 250  # nothing was measured yet
    pace.record(cost=1_000, seconds=1.0)
    assert pace.most(1_000, [other]) == 50
    now += 60
    assert pace.most(1_000, [other]) == 1_000


def test_a_lock_goes_to_the_interactive_job_first() -> None:
    lock, order, began = PriorityLock(), [], threading.Semaphore(0)

    def use(context: JobContext) -> None:
        with use_context(context):
            began.release()
            with lock:
                order.append(party())

    waiting = [job("a", batch=True), job("b", batch=True), job("c"), job("d")]
    with lock:
        threads = [threading.Thread(target=use, args=(one,)) for one in waiting]
        for number, thread in enumerate(threads, 1):
            thread.start()
            assert began.acquire(timeout=SECONDS)
            while len(lock._waiting._waiting) < number:  # one party each
                time.sleep(0.001)
    for thread in threads:
        thread.join(SECONDS)
    assert [one.tenant for one in order] == ["c", "d", "a", "b"]
    assert lock.acquire(timeout=SECONDS)  # it is free again
    lock.release()


def test_a_lock_that_is_held_is_waited_for_no_longer_than_asked() -> None:
    lock = PriorityLock()
    with lock:
        assert not lock.acquire(timeout=0.01)
    assert lock.acquire(timeout=0.01)
    lock.release()


@pytest.fixture
def interpreter(monkeypatch: pytest.MonkeyPatch) -> Interpreter:
    """One place, for which nobody stops waiting, and everybody looks often."""
    monkeypatch.setattr(thread_scheduling, "PATIENCE_SECONDS", 5 * SECONDS)
    monkeypatch.setattr(thread_scheduling, "LOOK_SECONDS", 0.01)
    return Interpreter(slots=1)


class NotWantedError(Exception):
    """The job is stopped."""


@contextmanager
def computing_in_a_thread(interpreter: Interpreter, whom: Party) -> Iterator[threading.Event]:
    """A thread that computes for this party until the block is left, and waits for a place no
    longer; the event: it has begun."""
    begun, end = threading.Event(), threading.Event()

    def check() -> None:
        if end.is_set():
            raise NotWantedError

    def compute() -> None:
        with suppress(NotWantedError), interpreter.computing(whom, check):
            begun.set()
            end.wait(5 * SECONDS)

    thread = threading.Thread(target=compute)
    thread.start()
    try:
        yield begun
    finally:
        end.set()
        thread.join(SECONDS)


def test_jobs_of_batches_compute_one_at_a_time_and_interactive_ones_at_once(
    interpreter: Interpreter,
) -> None:
    batch, user = Party(batch=True, tenant="b"), Party(batch=False, tenant="u")
    with ExitStack() as held:
        with computing_in_a_thread(interpreter, batch) as first:
            assert first.wait(SECONDS)
            second = held.enter_context(computing_in_a_thread(interpreter, batch))
            with computing_in_a_thread(interpreter, user) as third:
                assert third.wait(SECONDS)
            assert not second.is_set()
        assert second.wait(SECONDS)  # its turn came when the first ended


def test_who_waits_for_a_model_leaves_its_place(interpreter: Interpreter) -> None:
    batch = Party(batch=True, tenant="b")
    with interpreter.computing(batch, lambda: None):
        with interpreter.waiting(), computing_in_a_thread(interpreter, batch) as other:
            assert other.wait(SECONDS)
        with computing_in_a_thread(interpreter, batch) as another:
            assert not another.wait(0.05)


def test_an_interactive_job_that_computed_for_long_needs_a_place(
    interpreter: Interpreter,
) -> None:
    batch, user = Party(batch=True, tenant="b"), Party(batch=False, tenant="u")
    with interpreter.computing(user, lambda: None):
        until = time.thread_time() + 0.3
        while time.thread_time() < until:
            interpreter.step()
        with computing_in_a_thread(interpreter, batch) as other:
            assert not other.wait(0.05)


def test_a_job_that_is_stopped_while_it_waits_for_a_place_leaves_it_to_the_next(
    interpreter: Interpreter,
) -> None:
    batch = Party(batch=True, tenant="b")

    def stopped() -> None:
        raise KeyError

    failed = []

    def compute() -> None:
        try:
            with interpreter.computing(batch, stopped):
                failed.append("computed")
        except KeyError:
            failed.append("stopped")

    with interpreter.computing(batch, lambda: None):
        thread = threading.Thread(target=compute)
        thread.start()
        thread.join(SECONDS)
    assert failed == ["stopped"]
    with computing_in_a_thread(interpreter, batch) as other:
        assert other.wait(SECONDS)


@pytest.mark.parametrize("computed", [COURTESY_SECONDS, 1.5 * TURN_SECONDS])
def test_who_has_a_place_lets_quick_jobs_end_but_goes_on_after_a_while(
    interpreter: Interpreter, computed: float
) -> None:
    """Whether or not its turn is over meanwhile."""
    batch, user = Party(batch=True, tenant="b"), Party(batch=False, tenant="u")
    waited: list[float] = []
    with interpreter.computing(batch, lambda: None, waited.append):
        for _ in range(3):  # nobody is there: no step waits
            interpreter.step()
        assert waited == []
        with computing_in_a_thread(interpreter, user) as quick:
            assert quick.wait(SECONDS)
            time.sleep(computed)  # its last courtesy is over
            begun = time.monotonic()
            interpreter.step()
            assert waited[0] >= COURTESY_SECONDS / 2
            for _ in range(1_000):  # not at each step: it goes on, whoever is there
                interpreter.step()
            gone = time.monotonic() - begun
    assert len(waited) <= 1 + gone / (2 * COURTESY_SECONDS) * 1.01  # half of the time at most


def test_what_is_short_for_somebody_who_waits_goes_before_who_has_a_place(
    interpreter: Interpreter,
) -> None:
    with interpreter.computing(Party(batch=True, tenant="b"), lambda: None):
        with interpreter.quick():
            assert not interpreter._quiet.is_set()
            with interpreter.quick():
                pass
            assert not interpreter._quiet.is_set()  # the first one goes on
        assert interpreter._quiet.is_set()


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere threads have no niceness")
def test_who_stands_back_does_so_alone_and_keeps_its_job() -> None:
    def seen() -> tuple[int, Party]:
        return os.getpriority(os.PRIO_PROCESS, 0), party()

    before = os.getpriority(os.PRIO_PROCESS, 0)
    with use_context(job("a", batch=True)):
        niceness, whom = standing_back(seen)
        assert niceness == max(before, NICENESS)
        assert whom == Party(batch=True, tenant="a")
    assert os.getpriority(os.PRIO_PROCESS, 0) == before
    with pytest.raises(ZeroDivisionError):
        standing_back(lambda: 1 / 0)
