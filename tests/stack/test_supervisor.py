"""A process that dies is started again; a stopped one stays stopped."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import redis

from services.stack.child import Child
from services.stack.redis_server import free_port, redis_child, redis_url
from services.stack.supervisor import Supervisor

SLEEP = (sys.executable, "-c", "import time; time.sleep(600)")


def eventually(holds: Callable[[], bool], seconds: float = 15) -> bool:
    deadline = time.monotonic() + seconds
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.05)
    return holds()


def test_a_killed_child_is_started_again(tmp_path: Path) -> None:
    child = Child("sleeper", SLEEP)
    supervisor = Supervisor(None, tmp_path)
    supervisor.start(child)
    try:
        first = child.process
        assert first is not None
        os.kill(first.pid, signal.SIGKILL)
        assert eventually(lambda: child.is_running and child.process is not first)
    finally:
        supervisor.stop()
    assert not child.is_running


def test_redis_keeps_what_it_holds_over_a_kill(tmp_path: Path) -> None:
    port = free_port()
    supervisor = Supervisor(None, tmp_path)
    supervisor.start(redis_child(tmp_path / "redis", port, "word"))

    def answers() -> bool:
        try:
            return bool(client.ping())
        except redis.exceptions.RedisError:
            return False

    with redis.Redis.from_url(redis_url(port, "word")) as client:
        try:
            assert eventually(answers)
            client.lpush("score.echo", "job")
            time.sleep(1.2)  # appendfsync everysec
            process = supervisor.children[0].process
            assert process is not None
            process.kill()
            process.wait()
            assert eventually(answers)
            assert client.llen("score.echo") == 1
        finally:
            supervisor.stop()
