"""The whole service on one machine, from nothing to ready."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from services.stack.child import Child
from services.stack.postgres_server import Postgres
from services.stack.redis_server import HOST, free_port, redis_child
from services.stack.supervisor import Supervisor
from shared.ledger.engine import connect
from shared.ledger.migrate import migrate
from shared.settings import Settings

READY_SECONDS = 60


class NotReady(RuntimeError):
    """The service did not come up in time; its logs say why."""


@dataclass(frozen=True)
class Stack:
    """A running service."""

    url: str
    redis_url: str
    database_url: str
    folder: Path
    supervisor: Supervisor

    def describe(self) -> None:
        """Leave a note for other processes, in `stack.json`: the addresses."""
        note = {"url": self.url, "redis_url": self.redis_url, "database_url": self.database_url}
        target = self.folder / "stack.json"
        target.touch(mode=0o600)
        target.write_text(json.dumps(note))


@contextmanager
def running(folder: Path, chosen: Settings) -> Iterator[Stack]:
    """Start everything, wait until it is ready, and stop everything at the end."""
    folder = folder.resolve()
    logs = folder / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    postgres = None if chosen.names_servers else Postgres(folder / "postgres")
    supervisor = Supervisor(postgres, logs)
    try:
        stack = _assembled(folder, chosen, postgres, supervisor)
        _await_ready(stack)
        stack.describe()
        yield stack
    finally:
        supervisor.stop()


def _assembled(
    folder: Path, chosen: Settings, postgres: Postgres | None, supervisor: Supervisor
) -> Stack:
    redis_url = chosen.redis_url.get_secret_value()
    database_url = chosen.database_url.get_secret_value()
    if postgres is not None:
        redis_port = free_port()
        redis_url, database_url = f"redis://{HOST}:{redis_port}/0", postgres.url
        supervisor.start(redis_child(folder / "redis", redis_port))
    migrate(connect(database_url))
    port = chosen.port or free_port()
    environment = {
        "REDIS_URL": redis_url,
        "DATABASE_URL": database_url,
        "TOUCHSTONE_PORT": str(port),
    }
    supervisor.start(
        _module("gateway", "services.gateway", environment),
        _module("scheduler", "services.scheduler", environment),
        _module("worker", "services.worker", environment),
    )
    return Stack(f"http://{chosen.host}:{port}", redis_url, database_url, folder, supervisor)


def _module(name: str, module: str, environment: dict[str, str]) -> Child:
    return Child(name, (sys.executable, "-m", module), environment)


def _await_ready(stack: Stack) -> None:
    deadline = time.monotonic() + READY_SECONDS
    while time.monotonic() < deadline:
        try:
            if httpx.get(f"{stack.url}/readyz", timeout=5).is_success:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.1)
    raise NotReady(f"not ready after {READY_SECONDS} s; see {stack.folder / 'logs'}")
