"""Compares the gateway, and the whole way of a job, with a minimal system that does the same work.

`python -m bench.gateway`: the last line is JSON. `accept`: accepted jobs per second of `POST
/v1/scores/hatexscore`, as a share of a FastAPI app that validates the same body, inserts one row
into the same database and pushes one Redis message (target 0.6). `dispatch_cpu`: CPU of gateway,
ledger, queue and worker for a job of a service that does nothing, over that of the same app with a
bare Celery task (target at most 3; less is better). `bulk_cpu`: CPU of our gateway for a post of
`:batchCreate` at 1,000 a call, over that for one sent alone (target at most 1/6, and 0.25 ms; less
is better). Paired: in every round both take their turn; medians over rounds.
"""

from __future__ import annotations

import argparse
import json
import secrets
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import psutil
from redis import Redis
from sqlalchemy import Engine, create_engine, text

from bench.environment import environment
from bench.http_load import Loaded, closed, paced
from cli.stack.servers import HOST, Child, Postgres, free_port, redis_child, redis_url
from shared.ledger.engine import sqlalchemy_url
from shared.ledger.migrate import migrate
from shared.queue.broker import task_name

SCORES, NOOP = "/v1/scores/hatexscore", "/v1/noop"
BULK, A_CALL = "/v1/scores:batchCreate", 1_000
ACCEPT_CLIENTS, DISPATCH_CLIENTS = 32, 8

Json = dict[str, Any]


def score_bodies(number: int) -> list[Json]:
    """Return requests whose posts have about 80 characters and whose explanations have about
    120."""
    text = "We lost the match again and the referee of the other town was to blame for it"
    reason = f'It says "{text[:30]}", which is a complaint. The text is not hateful, in short.'
    return [{"text": f"{text} {place}", "explanation": reason} for place in range(number)]


def noop_bodies(number: int) -> list[Json]:
    return [{"text": f"{body['text']}"} for body in score_bodies(number)]


def accepted(sides: Sides, requests: int, rounds: int) -> tuple[float, Json]:
    """Return the accepted rate as a share of the minimal app's rate, and figures that include the
    latency at half the rate."""
    turns: dict[str, list[Loaded]] = {"ours": [], "minimal": []}
    for number in range(rounds + 1):
        for name, side in sides.named():
            loaded = closed(side.url, SCORES, score_bodies(requests), ACCEPT_CLIENTS)
            if number:
                turns[name].append(loaded)
    rates = {name: statistics.median(one.rate for one in some) for name, some in turns.items()}
    share = statistics.median(
        ours.rate / least.rate for ours, least in zip(*turns.values(), strict=True)
    )
    half = paced(sides.ours.url, SCORES, score_bodies(requests), rates["ours"] / 2, ACCEPT_CLIENTS)
    figures: Json = {f"{name}_per_second": round(rate, 1) for name, rate in rates.items()}
    figures["at_half_that_load"] = {
        f"p{percent}_ms": round(1_000 * half.quantile(percent / 100), 1) for percent in (50, 95, 99)
    }
    return round(share, 3), figures


def dispatched(sides: Sides, jobs: int, rounds: int) -> tuple[float, Json]:
    """Return the CPU per job divided by that of the minimal system, and the milliseconds per job by
    process."""
    spent: dict[str, list[dict[str, float]]] = {"ours": [], "minimal": []}
    for number in range(rounds + 1):
        for name, side in sides.named():
            turn = cpu_of(side, partial(run_through, side, jobs), jobs)
            if number:
                spent[name].append(turn)
    ratio = statistics.median(
        sum(ours.values()) / sum(least.values())
        for ours, least in zip(*spent.values(), strict=True)
    )
    figures: Json = {}
    for name, turns in spent.items():
        table = {who: statistics.median(turn[who] for turn in turns) for who in turns[0]}
        table["all"] = sum(table.values())
        figures[name] = {f"{who}_ms": round(ms, 3) for who, ms in table.items()}
    return round(ratio, 2), figures


def bulked(ours: Side, posts: int, rounds: int) -> tuple[float, Json]:
    """Return the gateway's CPU per post in calls of 1,000 divided by that of single calls, and the
    milliseconds per post."""
    many = max(A_CALL, posts // A_CALL * A_CALL)
    calls = [
        {"metric": "hatexscore", "requests": score_bodies(A_CALL)} for _ in range(many // A_CALL)
    ]
    ways: dict[str, tuple[Callable[[], object], int]] = {
        "alone": (partial(closed, ours.url, SCORES, score_bodies(posts), DISPATCH_CLIENTS), posts),
        "in_calls": (partial(closed, ours.url, BULK, calls, 1), many),
    }
    spent: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(rounds + 1):
        for name, (way, jobs) in ways.items():
            turn = cpu_of(ours, partial(sent_on, ours, way), jobs)["gateway"]
            if number:
                spent[name].append(turn)
    alone, in_calls = spent.values()
    ratio = statistics.median(few / one for few, one in zip(in_calls, alone, strict=True))
    figures = {f"{name}_ms": round(statistics.median(one), 4) for name, one in spent.items()}
    return round(ratio, 3), figures


def sent_on(side: Side, way: Callable[[], object]) -> None:
    way()
    before = None
    while before != (now := int(side.redis.llen(task_name("hatexscore")))):
        before = now
        time.sleep(0.5)


def run_through(side: Side, jobs: int) -> None:
    before = side.ended()
    closed(side.url, NOOP, noop_bodies(jobs), DISPATCH_CLIENTS)
    side.await_ended(before + jobs)


def cpu_of(side: Side, work: Callable[[], None], jobs: int) -> dict[str, float]:
    """Return CPU milliseconds per job by process of this side, and by server."""
    before = side.cpu_seconds()
    work()
    after = side.cpu_seconds()
    return {who: 1_000 * (after[who] - before[who]) / jobs for who in after}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.gateway", description=__doc__)
    parser.add_argument("--requests", type=int, default=1_500, help="in a turn (default 1500)")
    parser.add_argument("--rounds", type=int, default=3, help="after a warm-up (default 3)")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, both(Path(folder)) as sides:
        dispatch, processes = dispatched(sides, asked.requests, asked.rounds)
        sides.stop_workers()
        bulk, posts = bulked(sides.ours, asked.requests, asked.rounds)
        accept, rates = accepted(sides, asked.requests, asked.rounds)
    found = {
        "bench": "gateway",
        "ratios": {"accept": accept, "dispatch_cpu": dispatch, "bulk_cpu": bulk},
        "figures": {"accept": rates, "dispatch_cpu_per_job": processes, "bulk_cpu_per_post": posts},
        "environment": environment(requests=asked.requests, rounds=asked.rounds),
    }
    print(json.dumps(found))


START_SECONDS, END_SECONDS = 60, 180
ENDED = "SELECT count(*) FROM jobs WHERE metric = 'noop' AND status = 'succeeded'"


@dataclass
class Side:
    """One of the compared systems, from HTTP to a task. `ended` is the number of finished tasks."""

    url: str
    children: dict[str, Child]
    servers: dict[str, int]  # name → process id, shared by both sides
    redis: Redis
    ledger: Engine | None = None  # ours says what has ended; the minimal one's queue runs empty
    sent: int = field(default=0)

    def ended(self) -> int:
        if self.ledger is None:
            return self.sent - int(self.redis.llen("celery"))
        with self.ledger.connect() as connection:
            return int(connection.execute(text(ENDED)).scalar_one())

    def await_ended(self, number: int) -> None:
        """Wait until `number` jobs have ended, with two checks a second."""
        if self.ledger is None:
            self.sent = number
        deadline = time.monotonic() + END_SECONDS
        while self.ended() < number:
            if time.monotonic() > deadline:
                raise RuntimeError("not all jobs ended")
            time.sleep(0.5)

    def cpu_seconds(self) -> dict[str, float]:
        """Return user and system time by process, including its children."""
        ids = {name: child.process.pid for name, child in self.children.items() if child.process}
        return {name: _cpu(pid) for name, pid in (ids | self.servers).items()}


@dataclass
class Sides:
    ours: Side
    minimal: Side

    def named(self) -> list[tuple[str, Side]]:
        return [("ours", self.ours), ("minimal", self.minimal)]

    def stop_workers(self) -> None:
        """Stop the workers, so that jobs are only accepted."""
        for _, side in self.named():
            for name in set(side.children) - {"gateway"}:
                side.children.pop(name).stop()


def _cpu(pid: int) -> float:
    process = psutil.Process(pid)
    family = [process, *process.children(recursive=True)]
    return sum(sum(member.cpu_times()[:2]) for member in family)


@contextmanager
def both(folder: Path) -> Iterator[Sides]:
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
    """Run one job, so that the worker has loaded its models and listens."""
    answer = httpx.post(f"{side.url}/v1/noop", json={"text": "first"})
    answer.raise_for_status()
    side.await_ended(1)


if __name__ == "__main__":
    main()
