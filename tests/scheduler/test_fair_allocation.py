"""Tenants take turns: whoever has sixty batches, another's three lines do not wait for them."""

from __future__ import annotations

import math
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Engine

from services.scheduler import batch_files
from services.scheduler.batch_feed import LEAST_WAITING, SECONDS_AHEAD, MetricRate
from services.scheduler.fair_allocation import BatchUsage, Rotation, allocate, allocate_by_tenant
from shared.ledger import batch_attempts, batches, files
from shared.ledger.batches import DueBatch, NewBatch
from shared.ledger.engine import transaction
from shared.ledger.file_store import FileStore
from shared.ledger.files import NewFile
from shared.process.settings import Settings
from tests.batches import FINAL, URL, Json, Scene, line, packed
from tests.patience import SECONDS, looks

BATCHES, LINES = 60, 1_500
HOUR = timedelta(hours=1)


@pytest.fixture
def alone(chosen: Settings, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scene]:
    """Ledger and store without a gateway: batches of any tenant are made by hand.

    A step ends by its lines alone, not by the clock of a busy machine.
    """
    monkeypatch.setattr(batch_files, "SECONDS_AT_ONCE", math.inf)
    with httpx.Client() as nobody:
        yield Scene(nobody, engine, chosen)


def made(scene: Scene, tenant: str, content: list[Json], *, of: bytes | None = None) -> str:
    """A batch of this tenant's; its id. of: its lines, where they are packed already."""
    file_id = files.new_id()
    raw = packed(content) if of is None else of
    with FileStore(scene.chosen.files_url, scene.engine).open_write(file_id) as stream:
        stream.write(raw)
    new = NewFile(file_id, "batch", "in.jsonl", len(raw), 1, tenant)
    asked = NewBatch("hatexscore", URL, file_id, {}, None, HOUR, tenant)
    with transaction(scene.engine) as connection:
        files.insert_file(connection, new)
        return batches.make(connection, asked, key=None)[0].id


def status(scene: Scene, batch_id: str) -> str:
    with transaction(scene.engine) as connection:
        return batches.find(connection, batch_id).status


def rounds_until(scene: Scene, batch_id: str, wanted: set[str], steps: list[Any]) -> int:
    """How many rounds it takes."""
    for count in range(1, 200):
        for step in steps:
            step()
        if status(scene, batch_id) in wanted:
            return count
    raise AssertionError(status(scene, batch_id))


def test_sixty_batches_of_one_tenant_cost_another_a_few_rounds(alone: Scene) -> None:
    many = packed(line(str(number), f"text {number}") for number in range(LINES))
    crowd = [made(alone, "crowd", [], of=many) for _ in range(BATCHES)]
    filing, feeder = alone.filing(), alone.feeder()
    for _ in range(3):
        filing.round()
        feeder.round()
    small = [line(str(number), f"other {number}") for number in range(3)]
    mine = made(alone, "other", small)
    assert rounds_until(alone, mine, {"in_progress"}, [filing.round]) == 1

    def work() -> int:
        return alone.work(most=2 * LEAST_WAITING)  # what workers end between two rounds

    assert rounds_until(alone, mine, FINAL, [feeder.round, work, filing.round]) <= 6
    assert status(alone, mine) == "completed"
    assert {status(alone, batch_id) for batch_id in crowd} <= {"validating", "in_progress"}


def test_a_round_validates_one_step_of_each_tenant(alone: Scene) -> None:
    many = packed(line(str(number), f"text {number}") for number in range(LINES))
    of = {
        tenant: [made(alone, tenant, [], of=many) for _ in range(3)] for tenant in ("a", "b", "c")
    }
    filing = alone.filing()
    for _ in range(4):
        filing.round()
    with transaction(alone.engine) as connection:
        read = {
            tenant: [batches.find(connection, batch_id).read_lines for batch_id in its]
            for tenant, its in of.items()
        }
    assert read == {tenant: [1_000, 500, 500] for tenant in "abc"}


def test_a_file_that_hangs_holds_up_nobody(alone: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    hanging = made(alone, "one", [line("a", "a")])
    released = threading.Event()
    real = FileStore.open_read
    with transaction(alone.engine) as connection:
        file_id = batches.find(connection, hanging).input_file_id

    def read(store: FileStore, wanted: str, start: int = 0, **size: int) -> Any:
        if wanted == file_id:
            released.wait(SECONDS)
        return real(store, wanted, start, **size)

    monkeypatch.setattr(FileStore, "open_read", read)
    filing, feeder = alone.filing(), alone.feeder()
    filing._patience = 0.1
    monkeypatch.setattr(batch_files, "HANGING_SECONDS", 0.0)
    for _ in range(2):  # the second one sees that the first one's step has not ended
        filing.round()
    with transaction(alone.engine) as connection:
        assert batches.find(connection, hanging).waits
        assert batch_attempts.count_open(connection, hanging) == 0  # whoever ends the process
    others = [made(alone, tenant, [line("a", "b")]) for tenant in ("one", "two")]
    for mine in others:
        rounds_until(alone, mine, FINAL, [filing.round, feeder.round, alone.work])
        assert status(alone, mine) == "completed"
    with transaction(alone.engine) as connection:  # no row is locked while the store is waited for
        assert batches.cancel(connection, hanging).status == "cancelling"
    released.set()
    assert rounds_until(alone, hanging, FINAL, [filing.round, feeder.round]) < 200
    assert status(alone, hanging) == "cancelled"


def test_a_tenant_alone_has_the_whole_window(alone: Scene) -> None:
    mine = made(alone, "one", [line(str(number), f"text {number}") for number in range(400)])
    filing, feeder = alone.filing(), alone.feeder()
    rounds_until(alone, mine, {"in_progress"}, [filing.round])
    fed = []
    for _ in range(6):
        fed.append(feeder.round())
        alone.work()
    assert fed[0] == LEAST_WAITING
    assert fed[1] >= 2 * fed[0]  # the queue was found empty
    assert sum(fed) == 400


names = st.sampled_from("abcdefgh")
appetites = st.lists(
    st.builds(
        BatchUsage,
        batch_id=st.uuids().map(str),
        tenant=names,
        most=st.integers(0, 20),
        held=st.integers(0, 10),
    ),
    max_size=12,
)


@given(appetites, st.integers(0, 80))
def test_the_window_is_shared_by_tenants_and_then_by_their_batches(
    batches_now: list[BatchUsage], window: int
) -> None:
    given_out = allocate_by_tenant(batches_now, window)
    free = max(0, window - sum(one.held for one in batches_now))
    assert sum(given_out.values()) == min(free, sum(one.most for one in batches_now))
    has: Counter[str] = Counter()
    wants: Counter[str] = Counter()
    for one in batches_now:
        assert given_out[one.batch_id] <= one.most
        has[one.tenant] += one.held + given_out[one.batch_id]
        wants[one.tenant] += one.most - given_out[one.batch_id]
    for tenant in {one.tenant for one in batches_now if given_out[one.batch_id]}:
        assert all(has[other] >= has[tenant] - 1 for other, left in wants.items() if left)


def test_more_batches_are_no_larger_share() -> None:
    crowd = [BatchUsage(f"a{number}", "a", 100) for number in range(60)]
    given_out = allocate_by_tenant([*crowd, BatchUsage("b", "b", 100)], 100)
    assert given_out["b"] == 50
    assert sum(allocate({"x": 5}, {}, 3).values()) == 3


@given(st.lists(st.tuples(names, st.integers(0, 5)), min_size=1, unique=True))
def test_everybody_has_a_turn_before_anybody_has_a_second(pairs: list[tuple[str, int]]) -> None:
    waiting = [DueBatch(f"{tenant}{number}", tenant) for tenant, number in pairs]
    rotation, seen = Rotation(), Counter[str]()
    for _ in waiting:
        for turn in rotation.order(waiting)[:1]:
            rotation.take_turn(turn)
            seen[turn.tenant] += 1
    tenants = {turn.tenant for turn in waiting}
    assert max(seen.values()) - min(seen[tenant] for tenant in tenants) <= 1


def test_the_pace_follows_what_ends() -> None:
    pace = MetricRate(16, 500)
    assert pace.bound("m", 0, 0, at=0.0) == 16
    pace.add("m", 16)
    assert pace.bound("m", 0, 0, at=1.0) == round(16 * SECONDS_AHEAD)  # all ended within a second
    pace.add("m", 48)
    assert pace.bound("m", 40, 40, at=2.0) == round(12 * SECONDS_AHEAD)  # slower than thought
    for second in range(3, 20):
        slow = pace.bound("m", 40, 40, at=float(second))
    assert slow == 16  # nothing ends
    bounds = []
    for second in range(20, 27):  # many workers that take long: the queue is empty, nothing ends
        pace.add("m", 16)
        bounds.append(pace.bound("m", 40 + 16 * (second - 19), 0, at=float(second)))
    assert bounds == [32, 64, 128, 256, 500, 500, 500]


def test_two_tenants_threads_do_not_meet_in_one_batch(alone: Scene) -> None:
    ids = [made(alone, "one", [line(str(n), f"{n}") for n in range(600)]) for _ in range(2)]
    filings = [alone.filing() for _ in range(3)]
    with ThreadPoolExecutor(3) as pool:
        for _ in looks():  # who sees another's attempt in progress pauses first
            for done in [pool.submit(one.round) for one in filings]:
                done.result()
            if {status(alone, batch_id) for batch_id in ids} == {"in_progress"}:
                break
    with transaction(alone.engine) as connection:
        found = [batches.find(connection, batch_id) for batch_id in ids]
    assert {(one.status, one.total, one.read_lines) for one in found} == {("in_progress", 600, 600)}
    assert [one.errors for one in found] == [None, None]
