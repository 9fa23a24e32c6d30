"""20,000 lines (50,000 where TOUCHSTONE_LARGE is set) in and out: memory and Redis stay flat."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import psutil
import pytest
import redis
from sqlalchemy import Engine, text

from cli.stack.servers import HOST, free_port
from shared.process.settings import Settings
from shared.queue import broker
from tests.answers import CheckedClient
from tests.batches import URL, line, packed
from tests.end_to_end.service import ROOT
from tests.patience import SECONDS, busy, looks

pytestmark = pytest.mark.end_to_end

LINES = 50_000 if "TOUCHSTONE_LARGE" in os.environ else 20_000  # the most, or as many as tell
WARM = 4_000  # several windows: what an allocator keeps for good, it has by then
DISTINCT = LINES // 10
WINDOW = 1_000
MOST_GROWTH = 500 * LINES  # bytes; the input has more than 1,000 a line
PADDING = "x" * 900

# What a worker does to the jobs that wait, all at once.
WORK = text(
    "UPDATE jobs SET status = 'succeeded', result = '{\"score\": 1}', attempts = 1, "
    "started_at = now(), finished_at = now() WHERE status = 'queued'"
)


@dataclass
class Watch:
    """The highest resident memory of each process, and the longest queue, from a thread."""

    processes: dict[str, psutil.Process]
    highest: dict[str, int] = field(default_factory=dict)
    longest_queue: int = 0

    @contextmanager
    def watching(self) -> Iterator[None]:
        stop = threading.Event()
        thread = threading.Thread(target=self._look, args=(stop,))
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()

    def _look(self, stop: threading.Event) -> None:
        while not stop.wait(0.05):
            self.longest_queue = max(
                self.longest_queue, broker.queue_length("hatexscore", batch=True)
            )
            for name, process in self.processes.items():
                self.highest[name] = max(self.highest.get(name, 0), process.memory_info().rss)


@contextmanager
def process(module: str, **settings: str) -> Iterator[psutil.Process]:
    """One of ours, as it is run in production."""
    started = subprocess.Popen(
        [sys.executable, "-m", f"services.{module}"],
        cwd=ROOT,
        env=os.environ | settings,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield psutil.Process(started.pid)
    finally:
        started.terminate()
        started.wait(SECONDS * busy())


def ready(client: httpx.Client) -> None:
    for _ in looks(every=0.1):
        try:
            if client.get("/readyz").is_success:
                return
        except httpx.TransportError:
            continue
    raise AssertionError("the gateway did not start")


def whole(
    client: httpx.Client, engine: Engine, redis_client: redis.Redis, content: Path
) -> dict[str, int]:
    """One batch from upload to download; the counts."""
    with content.open("rb") as stream:
        file = client.post("/v1/files", data={"purpose": "batch"}, files={"file": stream}).json()
    asked = {"input_file_id": file["id"], "endpoint": URL}
    batch = client.post("/v1/batches", json=asked).json()
    while batch["status"] not in ("completed", "failed"):
        with engine.begin() as connection:
            assert connection.execute(WORK).rowcount <= WINDOW
        redis_client.delete(
            broker.queue_of("hatexscore", batch=True)
        )  # workers take their messages
        batch = client.get(f"/v1/batches/{batch['id']}").json()
        time.sleep(0.02)
    assert batch["status"] == "completed", batch
    seen = set()
    with client.stream("GET", f"/v1/files/{batch['output_file_id']}/content") as answer:
        for raw in answer.iter_lines():
            seen.add(json.loads(raw)["custom_id"])
    assert len(seen) == batch["request_counts"]["total"]
    counts: dict[str, int] = batch["request_counts"]
    return counts


def test_fifty_thousand_lines_leave_memory_flat(
    engine: Engine, chosen: Settings, tmp_path: Path
) -> None:
    port = free_port()
    common = {"TOUCHSTONE_LOG_LEVEL": "warning", "TOUCHSTONE_TICK_SECONDS": "0.1"}
    warm, large = tmp_path / "warm.jsonl", tmp_path / "large.jsonl"
    warm.write_bytes(packed(line(str(n), f"warm {n}{PADDING}") for n in range(WARM)))
    large.write_bytes(packed(line(str(n), f"text {n % DISTINCT}{PADDING}") for n in range(LINES)))
    assert large.stat().st_size > 1_000 * LINES
    with (
        process("gateway", TOUCHSTONE_PORT=str(port), **common) as gateway,
        process("scheduler", TOUCHSTONE_BATCH_WINDOW=str(WINDOW), **common) as scheduler,
        CheckedClient(base_url=f"http://{HOST}:{port}", timeout=SECONDS) as client,
        redis.Redis.from_url(chosen.redis_url.get_secret_value()) as redis_client,
    ):
        ready(client)
        watch = Watch({"gateway": gateway, "scheduler": scheduler})
        with watch.watching():
            whole(client, engine, redis_client, warm)
        before = dict(watch.highest)
        started = time.monotonic()
        with watch.watching():
            counts = whole(client, engine, redis_client, large)
        seconds = time.monotonic() - started
        cpu = {name: sum(one.cpu_times()[:2]) for name, one in watch.processes.items()}
    growth = {name: watch.highest[name] - before[name] for name in before}
    print({"growth": growth, "seconds": seconds, "cpu": cpu, "queue": watch.longest_queue})  # noqa: T201
    assert counts == {"total": LINES, "completed": LINES, "failed": 0}
    assert watch.longest_queue <= WINDOW
    assert max(growth.values()) < MOST_GROWTH, growth
