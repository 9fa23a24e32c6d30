"""A scheduler that dies anywhere loses nothing and doubles nothing: the next one goes on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from sqlalchemy import Engine, event, text

from services.scheduler.attempts import MOST
from shared.queue import broker
from tests.batches import FINAL, Json, Scene, line, store_folder

SLOW = (HealthCheck.function_scoped_fixture, HealthCheck.too_slow)
TEXTS = ["a", "b", "bad 1", "c", "a", "d", "bad 1", "e"]


class Killed(BaseException):
    """The process is gone: nothing catches this."""


@contextmanager
def killed_at(engine: Engine, fatal: int) -> Iterator[None]:
    """The so-manieth statement of this engine is never executed."""
    executed: list[Any] = []

    def before(_connection: Any, statement: Any, *_: Any) -> None:
        executed.append(statement)
        if len(executed) == fatal:
            raise Killed

    event.listen(engine, "before_execute", before)
    try:
        yield
    finally:
        event.remove(engine, "before_execute", before)


def rounds(scene: Scene, batch: Json) -> None:
    """What schedulers and workers do until the batch is final."""
    feeder, filing = scene.feeder(batch_window=3), scene.filing()
    while scene.batch(batch)["status"] not in FINAL:
        filing.round()
        feeder.round()
        scene.work()


def emptied(scene: Scene) -> None:
    with scene.engine.begin() as connection:
        connection.execute(
            text(
                "TRUNCATE jobs, batches, batch_lines, result_facts, files, idempotency_keys CASCADE"
            )
        )
    for blob in store_folder(scene.chosen).glob("*"):
        if blob.is_file():
            blob.unlink()


def holds(scene: Scene, batch: Json, lines: list[Json]) -> None:
    """Every line exactly once, every content scored once, the counts add up, no stray file."""
    batch = scene.batch(batch)
    output, errors = scene.file(batch["output_file_id"]), scene.file(batch["error_file_id"])
    answered = Counter(one["custom_id"] for one in output + errors)
    assert answered == Counter(one["custom_id"] for one in lines)
    assert {one["custom_id"]: one["body"]["text"] for one in lines} | {
        one["custom_id"]: one["response"]["body"]["result"]["echo"] for one in output
    } == {one["custom_id"]: one["body"]["text"] for one in lines}
    counts = batch["request_counts"]
    assert counts == {"total": len(lines), "completed": len(output), "failed": len(errors)}
    assert scene.job_count() == {"succeeded": 5, "failed": 1}
    blobs = {path.stem for path in store_folder(scene.chosen).iterdir() if path.is_file()}
    known = {batch["input_file_id"], batch["output_file_id"], batch["error_file_id"]}
    assert blobs == known
    with scene.engine.connect() as connection:
        kept = text("SELECT count(*) FROM batch_lines WHERE request IS NOT NULL")
        assert connection.execute(kept).scalar_one() == 0


@hypothesis_settings(max_examples=12, suppress_health_check=SLOW)
@given(statements=st.lists(st.integers(1, 60), min_size=1, max_size=MOST - 1))
def test_a_scheduler_may_die_before_any_statement(scene: Scene, statements: list[int]) -> None:
    emptied(scene)
    scene.pause = timedelta(0)  # who died is followed at once
    lines = [line(str(number), content) for number, content in enumerate(TEXTS)]
    batch = scene.make(lines)
    for statement in statements:
        with killed_at(scene.engine, statement):
            try:
                rounds(scene, batch)
            except Killed:
                continue
    rounds(scene, batch)
    holds(scene, batch, lines)


@pytest.mark.parametrize("message", [1, 2, 4])
def test_a_scheduler_may_die_between_commit_and_message(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, message: int
) -> None:
    sent = 0

    def send(*_: object, **__: object) -> None:
        nonlocal sent
        sent += 1
        if sent == message:
            raise Killed

    emptied(scene)
    scene.pause = timedelta(0)
    lines = [line(str(number), content) for number, content in enumerate(TEXTS)]
    batch = scene.make(lines)
    with monkeypatch.context() as patch:
        patch.setattr(broker, "send", send)
        with pytest.raises(Killed):
            rounds(scene, batch)
    rounds(scene, batch)
    holds(scene, batch, lines)


def test_two_schedulers_at_once_do_everything_once(scene: Scene) -> None:

    emptied(scene)
    lines = [line(str(number), content) for number, content in enumerate(TEXTS)]
    batch = scene.make(lines)
    rounds_of_each = [scene.feeder(batch_window=2).round for _ in range(3)]
    rounds_of_each += [scene.filing().round for _ in range(3)]
    with ThreadPoolExecutor(6) as pool:
        for _ in range(200):
            for done in [pool.submit(one) for one in rounds_of_each]:
                done.result()
            scene.work()
            if scene.batch(batch)["status"] in FINAL:
                break
    holds(scene, batch, lines)
