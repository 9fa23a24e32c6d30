"""Both sides of `bench.gateway`: ours and the minimal one, on the same Redis and PostgreSQL."""

from __future__ import annotations

import secrets
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import psutil
from redis import Redis
from sqlalchemy import Engine, create_engine, text

from services.stack.servers import HOST, Child, Postgres, free_port, redis_child, redis_url
from shared.ledger.engine import sqlalchemy_url
from shared.ledger.migrate import migrate

START_SECONDS, END_SECONDS = 60, 180
ENDED = "SELECT count(*) FROM jobs WHERE metric = 'noop' AND status = 'succeeded'"


@dataclass
class Side:
    """A way from HTTP to a task. `ended` counts the tasks that have."""

    url: str
    children: dict[str, Child]
    servers: dict[str, int]  # name → process id, shared by both sides
    redis: Redis
    ledger: Engine | None = None  # ours says what has ended; the minimal one's queue runs empty
    sent: int = field(default=0)

    def ended(self) -> int:
        """How many jobs have ended so far."""
        if self.ledger is None:
            return self.sent - int(self.redis.llen("celery"))
        with self.ledger.connect() as connection:
            return int(connection.execute(text(ENDED)).scalar_one())

    def await_ended(self, number: int) -> None:
        """Look twice a second until so many have."""
        if self.ledger is None:
            self.sent = number
        deadline = time.monotonic() + END_SECONDS
        while self.ended() < number:
            if time.monotonic() > deadline:
                raise RuntimeError("not all jobs ended")
            time.sleep(0.5)

    def cpu_seconds(self) -> dict[str, float]:
        """User and system time so far, by process; with its children."""
        ids = {name: child.process.pid for name, child in self.children.items() if child.process}
        return {name: _cpu(pid) for name, pid in (ids | self.servers).items()}


@dataclass
class Sides:
    """The pair."""

    ours: Side
    minimal: Side

    def named(self) -> list[tuple[str, Side]]:
        """In turn."""
        return [("ours", self.ours), ("minimal", self.minimal)]

    def stop_workers(self) -> None:
        """From here on jobs are only accepted."""
        for _, side in self.named():
            for name in set(side.children) - {"gateway"}:
                side.children.pop(name).stop()


def _cpu(pid: int) -> float:
    process = psutil.Process(pid)
    family = [process, *process.children(recursive=True)]
    return sum(sum(member.cpu_times()[:2]) for member in family)


@contextmanager
def both(folder: Path) -> Iterator[Sides]:
    """Both sides, ready."""
    with ExitStack() as held:
        postgres = Postgres(folder / "postgres")
        held.callback(postgres.stop)
        redis_port, password = free_port(), secrets.token_urlsafe(8)
        redis = redis_child(folder / "redis", redis_port, password)
        started = [redis]
        held.callback(_stop, started)
        redis.start(folder)
        urls = {"REDIS_URL": redis_url(redis_port, password), "DATABASE_URL": postgres.url}
        engine = create_engine(sqlalchemy_url(postgres.url))
        held.callback(engine.dispose)
        migrate(engine)
        postmaster = int((folder / "postgres" / "postmaster.pid").read_text().split()[0])
        assert redis.process is not None
        servers = {"redis": redis.process.pid, "postgres": postmaster}
        client = Redis.from_url(urls["REDIS_URL"])
        ours = _side(
            {
                "gateway": ("bench.extended", "services.gateway"),
                "worker": ("bench.extended", "services.worker", "noop"),
                "scheduler": ("bench.extended", "services.scheduler"),
            },
            urls | {"TOUCHSTONE_LOG_LEVEL": "warning"},
        )
        least = _side(
            {"gateway": ("bench.minimal", "gateway"), "worker": ("bench.minimal", "worker")}, urls
        )
        sides = Sides(
            Side(ours[0], ours[1], servers, client, engine), Side(*least, servers, client)
        )
        for _, side in sides.named():
            started += side.children.values()
            for child in side.children.values():
                child.start(folder)
            _await(side.url)
        _await_worker(sides.ours)
        yield sides


def _stop(started: list[Child]) -> None:
    for child in reversed(started):
        child.stop()


def _side(
    modules: dict[str, tuple[str, ...]], urls: dict[str, str]
) -> tuple[str, dict[str, Child]]:
    port = str(free_port())
    environment = urls | {"TOUCHSTONE_PORT": port, "PORT": port}
    children = {
        name: Child(f"{command[0]}-{name}", (sys.executable, "-m", *command), environment)
        for name, command in modules.items()
    }
    return f"http://{HOST}:{port}", children


def _await(url: str) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        try:
            httpx.get(f"{url}/openapi.json").raise_for_status()
        except httpx.HTTPError:
            time.sleep(0.2)
        else:
            return
    raise RuntimeError(f"{url} did not start")


def _await_worker(side: Side) -> None:
    """One job through the whole way: the worker has loaded what it loads, and listens."""
    answer = httpx.post(f"{side.url}/v1/noop", json={"text": "first"})
    answer.raise_for_status()
    side.await_ended(1)
