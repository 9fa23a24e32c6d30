"""A start waits for as long as anything moves, says for whom, and ends when a process does."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import httpx
import pytest

from cli.stack.__main__ import parse
from cli.stack.folder import NotReady
from cli.stack.liveness import reasons
from cli.stack.processes import Supervisor, without_progress
from cli.stack.startup import await_ready
from tests.patience import eventually
from tests.stack.processes import Clock, answering

STALLED = 4.0  # seconds; a hundredth of them is what a process must compute to move


@contextmanager
def started(folder: Path, wish: str = "", stalled: float = STALLED) -> Iterator[Supervisor]:
    """A process with this wish, under watch; it obeys the files in `folder`."""
    logs = folder / "logs"
    logs.mkdir()
    supervisor = Supervisor(None, logs, 600, stalled)
    supervisor.start(answering(folder, wish))
    try:
        yield supervisor
    finally:
        supervisor.stop()


def test_a_process_that_dies_ends_the_start_with_its_last_words(tmp_path: Path) -> None:
    with started(tmp_path, "dies", stalled=600) as supervisor, pytest.raises(NotReady) as error:
        await_ready(supervisor, tmp_path / "logs", 600, without_progress)
    assert "answering died while starting" in str(error.value)
    assert "the model file is broken" in str(error.value)


def test_a_process_that_does_nothing_ends_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(monkeypatch)

    def say(*_waited_for: str) -> None:
        clock.now += 0.5

    with started(tmp_path, "sleeps") as supervisor, pytest.raises(NotReady) as error:
        await_ready(supervisor, tmp_path / "logs", STALLED, say)
    assert "answering" in str(error.value)
    assert "while starting" in str(error.value)


def test_the_start_waits_for_a_process_that_computes_and_then_loads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Far beyond the patience for what does not move."""
    clock = Clock(monkeypatch)
    said: list[tuple[str, ...]] = []

    def say(*waited_for: str) -> None:
        said.append(waited_for)

    (tmp_path / "loads").touch()
    with started(tmp_path, "computes") as supervisor:
        [watched] = supervisor.watched
        log = tmp_path / "logs" / "answering.log"
        wait = threading.Thread(
            target=await_ready, args=(supervisor, tmp_path / "logs", STALLED, say)
        )
        wait.start()
        for _ in range(3):
            clock.move(0.7 * STALLED, lambda: watched.moved)
        assert wait.is_alive()
        (tmp_path / "done").touch()
        loading = ("answering: large-model is not loaded yet",)
        eventually(lambda: said[-1] == loading)
        for number in range(3):
            more = f"layer {number}\n" + log.read_text()
            clock.move(0.7 * STALLED, lambda: watched.moved, partial(log.write_text, more))
            assert wait.is_alive()
        (tmp_path / "loads").unlink()
        eventually(lambda: not wait.is_alive())
    assert list(dict.fromkeys(said)) == [("answering: no answer yet",), loading]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"status": "ok"}, ("status 503",)),
        (
            {"status": "not ready", "hate": "is not loaded yet", "worker": "is starting"},
            ("hate is not loaded yet", "is starting"),
        ),
        ({"status": 503, "title": "Away", "detail": "cannot be reached: ledger"},
         ("cannot be reached: ledger",)),
        (
            {
                "status": "not ready",
                "models": {
                    "a": {"state": "loading", "reason": None, "seconds": 14},
                    "b": {"state": "failed", "reason": "its weights are broken", "seconds": 2},
                    "c": {"state": "ready", "seconds": 9},
                },
            },
            ("loading a", "failed b (its weights are broken)"),
        ),
        ({"models": {"a": "loading"}}, ("loading a",)),
        ([], ("status 503",)),
        (None, ("status 503",)),
    ],
)  # fmt: skip
def test_whom_a_process_waits_for_is_read_from_its_answer(
    body: object, said: tuple[str, ...]
) -> None:

    answer = (
        httpx.Response(503, content=b"<html>") if body is None else httpx.Response(503, json=body)
    )
    assert reasons(answer) == said


def test_services_are_named_on_the_command_line() -> None:
    now = parse(["serve", "--services", "hlv", "inference", "--separate"])
    assert (now.services, now.separate) == (["hlv", "inference"], True)
    alone = parse(["serve"])
    assert (alone.services, alone.separate) == ([], False)
