"""A step that kills its process is counted against its batch, and against nobody else's."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from services.scheduler import __main__ as process
from services.scheduler.attempts import MOST, TrialGate
from services.scheduler.batch_files import BatchFileWorker, Reader
from services.scheduler.failure_isolation import FailureIsolation
from services.scheduler.health import TaskMonitor
from shared.contracts.errors import Unavailable
from shared.ledger import batch_attempts
from shared.ledger.engine import transaction
from shared.process.settings import Settings
from tests.batches import FINAL, Json, Scene, line
from tests.patience import SECONDS, busy
from tests.scheduler.killed import DEADLY

ROOT = Path(__file__).parents[2]


class Killed(BaseException):
    """The process is gone: nothing catches this."""


@pytest.fixture
def scene(scene: Scene) -> Scene:
    """Who died is followed at once."""
    scene.pause = timedelta(0)
    return scene


def deadly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading a certain text ends the process."""
    real = Reader.line

    def read(reader: Reader, raw: bytes, *place: Any) -> Any:
        if DEADLY in raw:
            raise Killed
        return real(reader, raw, *place)

    monkeypatch.setattr(Reader, "line", read)


def attempts(scene: Scene, batch: Json) -> int:
    with transaction(scene.engine) as connection:
        return batch_attempts.count_open(connection, batch["id"])


def environment(scene: Scene) -> dict[str, str]:
    chosen = scene.chosen
    return {
        "DATABASE_URL": chosen.database_url.get_secret_value(),
        "REDIS_URL": chosen.redis_url.get_secret_value(),
        "TOUCHSTONE_FILES_URL": chosen.files_url,
        "TOUCHSTONE_MODELS_FILE": str(chosen.models_file),
        "PYTHONPATH": str(ROOT),
    }


def test_a_step_that_hangs_is_cut_off_at_the_end_and_not_counted(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = scene.make([line("a", "a text")])
    stop, hangs, free = threading.Event(), threading.Event(), threading.Event()

    def tasks(_: Settings, isolation: FailureIsolation) -> list[process.PeriodicTask]:
        def work() -> None:
            with isolation.attempt("validating", batch["id"]):
                hangs.set()
                free.wait()

        return [process.PeriodicTask("filing", work, 0.0)]

    monkeypatch.setattr(process, "periodic_tasks", tasks)
    monkeypatch.setattr(process, "ledger", lambda: scene.engine)
    monkeypatch.setattr(process, "STOP_SECONDS", 0.1)
    arguments = stop, scene.chosen, TaskMonitor(SECONDS)
    scheduler = threading.Thread(target=process.run, args=arguments)
    scheduler.start()
    try:
        assert hangs.wait(SECONDS)
        assert attempts(scene, batch) == 1
        stop.set()
        scheduler.join(SECONDS)
        assert not scheduler.is_alive()
        assert attempts(scene, batch) == 0
    finally:
        stop.set()
        free.set()


def test_a_batch_that_kills_schedulers_fails_and_another_completes(scene: Scene) -> None:
    bad = scene.make([line("a", DEADLY.decode())])
    good = scene.make([line("a", "an innocent text")])
    command = [sys.executable, "-m", "tests.scheduler.killed", bad["id"], good["id"]]
    over = threading.Event()

    def work() -> None:
        while not over.wait(0.1):
            scene.work()

    worker = threading.Thread(target=work)
    worker.start()
    ends: list[int] = []
    try:
        while 0 not in ends and len(ends) <= MOST:
            ran = subprocess.run(
                command, cwd=ROOT, env=environment(scene), timeout=SECONDS * busy()
            )
            ends.append(ran.returncode)
    finally:
        over.set()
        worker.join()
    assert ends == [-signal.SIGKILL] * MOST + [0]
    assert scene.batch(good)["status"] == "completed"
    bad = scene.batch(bad)
    assert bad["status"] == "failed"
    (fault,) = bad["errors"]["data"]
    assert fault["code"] == "attempts_exhausted"
    assert fault["message"] == "validating this batch ended the scheduler's process 3 times"


def test_whoever_was_beside_is_tried_alone_and_cleared(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad, good = scene.make([line("a", DEADLY.decode())]), scene.make([line("a", "innocent")])
    with transaction(scene.engine) as connection:  # both were under way when a process died
        for one in (bad, good):
            assert batch_attempts.begin(connection, one["id"], 0, timedelta(0))
    deadly(monkeypatch)

    def lifetime(filing: BatchFileWorker) -> None:
        for _ in range(3):
            filing.round()

    for _ in range(MOST - 1):
        with pytest.raises(Killed):
            lifetime(scene.filing())
    assert attempts(scene, bad) == MOST
    scene.finish(good)
    assert scene.batch(good)["status"] == "completed"
    assert attempts(scene, good) == 0
    assert scene.batch(bad)["status"] == "failed"


def test_a_process_that_ends_as_it_should_counts_against_nobody(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = scene.make([line("a", DEADLY.decode())])
    reading, released = threading.Event(), threading.Event()
    real = Reader.line

    def hang(reader: Reader, raw: bytes, *place: Any) -> Any:
        reading.set()
        released.wait(SECONDS)
        return real(reader, raw, *place)

    monkeypatch.setattr(Reader, "line", hang)
    filing = scene.filing()
    filing._patience = 0.0
    filing.round()
    assert reading.wait(SECONDS)
    assert attempts(scene, batch) == 1
    filing._isolation.close()
    assert attempts(scene, batch) == 0
    released.set()
    assert scene.finish(batch)["status"] == "completed"


def test_a_database_that_is_away_at_the_end_of_a_step_counts_against_nobody(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = scene.make([line("a", "a")])

    def away(*_: object) -> None:
        raise Unavailable("the database cannot be reached")

    filing = scene.filing()
    with monkeypatch.context() as patch:
        patch.setattr(batch_attempts, "clear", away)
        patch.setattr(Reader, "step", away)
        for _ in range(MOST + 2):
            with pytest.raises(Unavailable):
                filing.round()
    assert attempts(scene, batch) == 1
    for _ in range(3):
        filing.round()
    assert scene.batch(batch)["status"] == "in_progress"


def test_who_has_just_begun_is_not_taken_for_dead(scene: Scene) -> None:
    batch = scene.make([line("a", "a")])
    with transaction(scene.engine) as connection:
        assert batch_attempts.begin(connection, batch["id"], 0, timedelta(hours=1))
    with transaction(scene.engine) as connection:
        assert not batch_attempts.begin(connection, batch["id"], 1, timedelta(hours=1))
        assert not batch_attempts.begin(connection, batch["id"], 0, timedelta(0))  # another saw 0
        assert batch_attempts.begin(connection, batch["id"], 1, timedelta(0))


def test_a_suspect_is_alone_and_holds_nobody_up_for_long() -> None:
    gate, order = TrialGate(patience=30), []
    entered, leave = threading.Event(), threading.Event()

    def trial() -> None:
        with gate.enter(suspect=True):
            order.append("suspect")
            entered.set()
            leave.wait(SECONDS)

    def innocent() -> None:
        with gate.enter(suspect=False):
            order.append("innocent")

    with gate.enter(suspect=False):
        suspect = threading.Thread(target=trial)
        suspect.start()
        assert not entered.wait(0.05)  # we are under way
    assert entered.wait(SECONDS)
    other = threading.Thread(target=innocent)
    other.start()
    leave.set()
    suspect.join()
    other.join()
    assert order == ["suspect", "innocent"]
    impatient = TrialGate(patience=0.01)
    with impatient.enter(suspect=True), impatient.enter(suspect=False):
        pass  # a store that hangs under a suspect


def test_every_final_batch_has_no_attempt_left(scene: Scene) -> None:
    batch = scene.finish(scene.make([line("a", "a"), line("b", "bad")]))
    assert batch["status"] in FINAL
    assert attempts(scene, batch) == 0
