"""A process that dies or falls silent is started again; a stopped one stays stopped."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import psutil
import pytest
import redis

from cli.stack import processes
from cli.stack.liveness import Liveness
from cli.stack.processes import Supervisor
from cli.stack.servers import Child, Probe, free_port, redis_child, redis_url
from tests.patience import eventually
from tests.stack.processes import Clock, answering

SLEEP = (sys.executable, "-c", "import time; time.sleep(600)")
PATIENT = 2.0  # seconds of a clock that a test moves
SILENT = 1.0  # seconds, for those who are silent on purpose
NEVER = 600.0


@contextmanager
def supervising(logs: Path, *children: Child, silent: float = SILENT) -> Iterator[Supervisor]:
    supervisor = Supervisor(None, logs, silent, NEVER)
    supervisor.start(*children)
    try:
        yield supervisor
    finally:
        supervisor.stop()
        assert not any(child.is_running for child in children)


def restarted(child: Child) -> Callable[[], bool]:
    """Whether another process does the work of the one that does it now."""
    first = child.process
    return lambda: child.is_running and child.process is not first


def left_alone(child: Child, watched: Liveness, clock: Clock) -> bool:
    """Whether nobody restarts it for a multiple of the patience."""
    again = restarted(child)
    for _ in range(5):
        clock.move(0.8 * PATIENT, lambda: watched.good)
    return not again()


def number_of(child: Child) -> int:
    assert child.process is not None
    return child.process.pid


def test_a_killed_child_is_started_again(tmp_path: Path) -> None:
    child = Child("sleeper", SLEEP)
    with supervising(tmp_path, child):
        again = restarted(child)
        os.kill(number_of(child), signal.SIGKILL)
        eventually(again)


def test_redis_keeps_what_it_holds_over_a_kill(tmp_path: Path) -> None:
    port = free_port()
    child = redis_child(tmp_path / "redis", port, "word")

    def answers() -> bool:
        try:
            return bool(client.ping())
        except redis.exceptions.RedisError:
            return False

    def is_on_disk() -> bool:
        return any(b"score.echo" in file.read_bytes() for file in tmp_path.rglob("*.aof"))

    with redis.Redis.from_url(redis_url(port, "word")) as client, supervising(tmp_path, child):
        eventually(answers)
        client.lpush("score.echo", "job")
        eventually(is_on_disk)  # appendfsync everysec
        process = child.process
        assert process is not None
        process.kill()
        process.wait()
        eventually(answers)
        assert client.llen("score.echo") == 1


@pytest.mark.parametrize("fault", ["stopped", "refuses", "shut"])
def test_a_process_that_was_ready_and_falls_silent_is_started_again(
    tmp_path: Path, fault: str
) -> None:
    child = answering(tmp_path)
    with supervising(tmp_path, child) as supervisor:
        eventually(lambda: supervisor.watched[0].ready)
        again = restarted(child)
        if fault == "stopped":
            os.kill(number_of(child), signal.SIGSTOP)
        else:
            (tmp_path / fault).touch()
        eventually(again)
        (tmp_path / fault).unlink(missing_ok=True)
        eventually(lambda: supervisor.watched[0].ready)
        assert "did not respond" in child.fate
        assert child.deaths >= 1


def test_what_a_silent_process_started_ends_with_it(tmp_path: Path) -> None:
    child = answering(tmp_path, "offspring")
    with supervising(tmp_path, child) as supervisor:
        eventually(lambda: supervisor.watched[0].ready)
        offspring = psutil.Process(number_of(child)).children()
        assert len(offspring) == 1
        os.kill(number_of(child), signal.SIGSTOP)
        eventually(lambda: not any(one.is_running() for one in offspring))


def test_a_refused_probe_is_a_sign_of_life_where_strangers_may_cause_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, child = Clock(monkeypatch), answering(tmp_path)
    child.probe = Probe(child.probe.url if child.probe else "", obeyed=False)
    with supervising(tmp_path, child, silent=PATIENT) as supervisor:
        watched = supervisor.watched[0]
        eventually(lambda: watched.ready)
        (tmp_path / "refuses").touch()
        assert left_alone(child, watched, clock)


def test_a_process_that_is_not_ready_is_left_alone_while_it_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "loads").touch()
    clock, child = Clock(monkeypatch), answering(tmp_path)
    with supervising(tmp_path, child, silent=PATIENT) as supervisor:
        watched = supervisor.watched[0]
        eventually(lambda: watched.waits_for == ("large-model is not loaded yet",))
        assert left_alone(child, watched, clock)
        assert not watched.ready
        (tmp_path / "loads").unlink()
        eventually(lambda: watched.ready)


def test_time_that_passed_unwatched_is_not_silence(tmp_path: Path) -> None:
    """A machine slept: long ago the process was well, and nobody has asked since."""
    child = answering(tmp_path)
    assert child.probe is not None
    watched = Liveness(child, child.probe, tmp_path, NEVER, NEVER)
    child.start(tmp_path)
    with httpx.Client(trust_env=False) as client:
        eventually(lambda: not watched.check(client) and watched.ready)
        child.stop()
        watched.good -= 2 * NEVER
        assert [watched.check(client) for _ in range(3)] == [False, False, True]


SLOW_TO_END = (
    "import pathlib, signal, sys, time\n"
    "stopped, may = [], pathlib.Path(sys.argv[1])\n"
    "signal.signal(signal.SIGTERM, lambda *_: stopped.append(1))\n"
    "print('listens', flush=True)\n"
    "while not (stopped and may.exists()):\n"
    "    time.sleep(0.01)\n"
)


def test_a_stop_says_who_still_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "SILENT_SECONDS", 0.0)
    may_end, said = tmp_path / "may end", list[tuple[str, ...]]()

    def say(*waited_for: str) -> None:
        said.append(waited_for)
        if waited_for == ("worker to end its work",):
            may_end.touch()

    slow = Child("worker", (sys.executable, "-c", SLOW_TO_END, str(may_end)))
    supervisor = Supervisor(None, tmp_path, NEVER)
    supervisor.start(slow, Child("gateway", SLEEP))
    eventually(lambda: "listens" in (tmp_path / "worker.log").read_text())
    supervisor.stop(say)
    assert said[-1] == ("worker to end its work",)
    assert not slow.is_running


def test_servers_are_stopped_when_nobody_needs_them_any_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker, server = answering(tmp_path), Child("redis", SLEEP)
    supervisor = Supervisor(None, tmp_path, NEVER, NEVER)
    supervisor.start(server, worker)
    running: list[tuple[bool, bool]] = []
    for child in (server, worker):
        process = child.process
        assert process is not None

        def terminate(end: Callable[[], None] = process.terminate) -> None:
            running.append((worker.is_running, server.is_running))
            end()

        monkeypatch.setattr(process, "terminate", terminate)
    supervisor.stop()
    assert running == [(True, True), (False, True)]
