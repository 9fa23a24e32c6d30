"""A batch that cannot go on fails alone, with its reason, and everybody else's goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import Connection, text
from sqlalchemy.exc import ProgrammingError

from services.scheduler import batch_files
from services.scheduler.batch_feed import Feeder
from services.scheduler.batch_files import BatchFileWorker
from services.scheduler.failure_isolation import FailureIsolation
from services.scheduler.retention import Retention
from shared.contracts.errors import FileStoreAway, Unavailable
from shared.ledger import batch_feed as feed
from shared.ledger import batch_validation, batches, retention
from shared.ledger.file_store import FileStore
from tests.batches import FINAL, Json, Scene, line

CRASH = "poison, on purpose"
ROUNDS = 30


def trouble(*_: object, **__: object) -> Any:
    raise RuntimeError(CRASH)


def crashing_for(batch_id: str, real: Callable[..., Any], place: int) -> Callable[..., Any]:
    """The same function, but not for this batch. place: of the batch among its arguments."""

    def crash_or_do(*arguments: Any, **named: Any) -> Any:
        batch = arguments[place]
        if getattr(batch, "id", batch) == batch_id:
            raise RuntimeError(CRASH)
        return real(*arguments, **named)

    return crash_or_do


def rounds(scene: Scene, *made: Json, most: int = ROUNDS) -> list[Json]:
    """What a scheduler and the workers do until these are final: no round raises anything."""
    feeder, files = scene.feeder(batch_window=4), scene.filing()
    for _ in range(most):
        files.round()
        feeder.round()
        scene.work()
        now = [scene.batch(batch) for batch in made]
        if all(batch["status"] in FINAL for batch in now):
            return now
    raise AssertionError(now)


def two(scene: Scene) -> tuple[Json, Json]:
    lines = [line(str(number), f"text {number}") for number in range(6)]
    return scene.make(lines), scene.make(lines)


def reason(batch: Json) -> str:
    (fault,) = batch["errors"]["data"]
    assert fault["code"] == "internal"
    assert "err_" in fault["message"]
    assert CRASH not in fault["message"]  # what an error says may be a caller's text
    return str(fault["message"])


@contextmanager
def poisoned(scene: Scene, batch: Json, statement: str) -> Iterator[None]:
    """A statement on this batch's rows that the ledger's own constraints do not expect."""
    with scene.engine.begin() as connection:
        connection.execute(text(statement), {"id": batch["id"]})
    yield


STEPS: list[tuple[str, Any, str, int]] = [
    ("validating", batch_validation, "save_step", 1),
    ("feeding", feed, "feed", 1),
    ("writing", batches, "take_to_write", 1),
    ("writing", batches, "iter_lines", 1),
    ("writing", batches, "close", 1),
]


@pytest.mark.parametrize(("step", "module", "name", "place"), STEPS)
def test_a_step_that_crashes_for_one_batch_ends_that_batch_alone(
    scene: Scene,
    monkeypatch: pytest.MonkeyPatch,
    step: str,
    module: Any,
    name: str,
    place: int,
) -> None:
    bad, good = two(scene)
    crash = crashing_for(bad["id"], getattr(module, name), place)
    monkeypatch.setattr(module, name, crash)
    bad, good = rounds(scene, bad, good)
    assert (good["status"], good["request_counts"]["completed"]) == ("completed", 6)
    assert bad["status"] == "failed"
    assert bad["failed_at"] is not None
    assert reason(bad).startswith(f"{step} failed 3 times: RuntimeError; quote")


def test_a_batch_that_fails_under_way_keeps_the_results_that_it_has(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = scene.read(scene.make([line(str(number), f"text {number}") for number in range(6)]))
    scene.feeder(batch_window=4).round()
    assert scene.work(most=3) == 3
    monkeypatch.setattr(feed, "feed", trouble)
    (bad,) = rounds(scene, bad)
    output, errors = scene.file(bad["output_file_id"]), scene.file(bad["error_file_id"])
    assert bad["status"] == "failed"
    assert reason(bad).startswith("feeding failed")
    answered = {one["custom_id"] for one in output}
    assert answered >= {"0", "1", "2"}
    assert answered | {one["custom_id"] for one in errors} == {str(number) for number in range(6)}
    assert {one["error"]["code"] for one in errors} == {"batch_failed"}
    assert set(scene.job_count()) <= {"succeeded", "cancelled"}


def test_counts_that_cannot_be_are_one_batchs_trouble(scene: Scene) -> None:
    bad, good = two(scene)
    bad, good = scene.read(bad), scene.read(good)
    scene.feeder().round()
    with poisoned(scene, bad, "UPDATE batches SET total = 1 WHERE id = :id"):
        bad, good = rounds(scene, bad, good)
    assert good["status"] == "completed"
    assert bad["status"] == "failed"
    assert reason(bad).startswith("settling failed 3 times: IntegrityError")
    assert len(scene.file(bad["output_file_id"])) == 6  # all that was answered


@pytest.mark.parametrize(
    ("step", "name", "status"),
    [("finishing", "finish_answered", "in_progress"), ("expiring", "expire", "in_progress")],
)
def test_a_statement_over_all_batches_fails_for_one_alone(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, step: str, name: str, status: str
) -> None:
    bad, good = (scene.read(batch) for batch in two(scene))
    real = getattr(batches, name)

    def crash_or_do(connection: Connection, only: list[str] | None = None) -> Any:
        if only is None or bad["id"] in only:
            raise RuntimeError(CRASH)
        return real(connection, only)

    assert (bad["status"], good["status"]) == (status, status)
    monkeypatch.setattr(batches, name, crash_or_do)
    bad, good = rounds(scene, bad, good)
    assert (bad["status"], good["status"]) == ("failed", "completed")
    assert reason(bad).startswith(f"{step} failed")


def test_an_answer_that_cannot_be_shown_is_that_lines_trouble(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = batch_files.output_line

    def crash_or_do(batch: Any, answer: Any) -> Any:
        return trouble() if answer.number == 2 else real(batch, answer)

    monkeypatch.setattr(batch_files, "output_line", crash_or_do)
    (batch,) = rounds(scene, scene.make([line(str(number), "a") for number in range(3)]))
    assert batch["status"] == "completed"
    assert [one["custom_id"] for one in scene.file(batch["output_file_id"])] == ["0", "2"]
    (lost,) = scene.file(batch["error_file_id"])
    assert (lost["custom_id"], lost["error"]["code"]) == ("1", "internal")


def test_a_file_that_cannot_be_reached_fails_nothing_and_holds_up_nobody(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad, good = two(scene)
    away = True
    real = FileStore.open_read

    def read(store: FileStore, file_id: str, start: int = 0, **size: int) -> Any:
        if away and file_id == bad["input_file_id"]:
            raise FileStoreAway("the file store cannot be reached")
        return real(store, file_id, start, **size)

    monkeypatch.setattr(FileStore, "open_read", read)
    (good,) = rounds(scene, good)
    assert good["status"] == "completed"
    assert scene.batch(bad)["status"] == "validating"
    away = False
    assert rounds(scene, bad)[0]["status"] == "completed"


def test_a_ledger_that_is_away_fails_no_batch(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object) -> Any:
        raise Unavailable("the database cannot be reached")

    batch = scene.make([line("a", "a")])
    files = scene.filing()
    with monkeypatch.context() as patch:
        patch.setattr(batch_validation, "save_step", away)
        for _ in range(5):
            with pytest.raises(Unavailable):
                files.round()
    assert rounds(scene, batch)[0]["status"] == "completed"


def test_a_table_of_another_version_fails_no_batch(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = scene.make([line("a", "a")])
    files = scene.filing()

    def older(connection: Connection, *_: object) -> None:
        connection.execute(text("SELECT nothing FROM batches"))

    with monkeypatch.context() as patch:
        patch.setattr(batch_validation, "save_step", older)
        for _ in range(5):
            with pytest.raises(ProgrammingError):
                files.round()
    assert rounds(scene, batch)[0]["status"] == "completed"


def test_a_batch_in_trouble_rests_before_it_is_tried_again(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = 0

    def crash(*_: object) -> None:
        nonlocal tried
        tried += 1
        raise RuntimeError(CRASH)

    batch = scene.make([line("a", "a")])
    monkeypatch.setattr(batch_validation, "save_step", crash)
    isolation = FailureIsolation(scene.engine, rest_seconds=3_600)
    settings, catalogue = scene.chosen, scene.filing()._catalogue
    files = BatchFileWorker(scene.engine, settings, catalogue, isolation=isolation, patience=60)
    feeder = Feeder(scene.engine, settings, isolation=isolation)
    for _ in range(5):
        files.round()
        feeder.round()
    assert tried == 1
    assert scene.batch(batch)["status"] == "validating"


def test_what_cannot_be_purged_keeps_nothing_else(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad, good = rounds(scene, *two(scene))
    with scene.engine.begin() as connection:
        connection.execute(text("UPDATE batches SET completed_at = now() - interval '1 year'"))
    crash = crashing_for(bad["id"], retention.purge_batch, 1)
    monkeypatch.setattr(retention, "purge_batch", crash)
    Retention(scene.engine, scene.chosen).round()
    assert scene.client.get(f"/v1/batches/{good['id']}").status_code == 404
    assert scene.batch(bad)["status"] == "completed"
