"""A running service as a user starts it, and the faults that we do to it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import psutil
import redis

from tests.patience import SECONDS, busy

ROOT = Path(__file__).parents[2]
COLD = {"TOUCHSTONE_WARM_UP": "off"}  # half the processor time of a start
WARM = {"TOUCHSTONE_WARM_UP": "on"}  # as in production


@dataclass(frozen=True)
class Service:
    """Addresses of a running stack."""

    url: str
    redis_url: str
    database_url: str
    folder: Path

    def is_ready(self) -> bool:
        """What `/readyz` says; no while nobody answers."""
        try:
            return httpx.get(f"{self.url}/readyz", timeout=SECONDS).is_success
        except httpx.TransportError:
            return False

    def kill(self, *modules: str) -> None:
        """`kill -9` these processes of ours."""
        killed = []
        for process in psutil.process_iter(["cmdline", "environ"]):
            line = process.info["cmdline"] or []
            environment = process.info["environ"] or {}
            if environment.get("REDIS_URL") == self.redis_url and set(modules) & set(line):
                process.kill()
                killed.append(process.pid)
        if len(killed) < len(modules):
            raise RuntimeError(f"not all of {modules} were running")

    def flush_redis(self) -> None:
        """`FLUSHALL`: every message is gone."""
        with redis.Redis.from_url(self.redis_url) as client:
            client.flushall()

    def crash_postgres(self) -> None:
        """An immediate shutdown of the postmaster: every connection breaks at once."""
        pid_file = self.folder / "postgres" / "postmaster.pid"
        os.kill(int(pid_file.read_text().split()[0]), signal.SIGQUIT)


def environment() -> dict[str, str]:
    """Ours, but for the servers that other tests use."""
    servers = ("REDIS_URL", "DATABASE_URL")
    return {
        name: value
        for name, value in os.environ.items()
        if name not in servers and not name.startswith("TOUCHSTONE_")
    } | {"TOUCHSTONE_DTYPE": "float32"}


@contextmanager
def serving(folder: Path, *options: str, **settings: str) -> Iterator[Service]:
    """`python -m cli.stack serve`, ready. What it says goes into `said_by(folder)`.

    Its workers score no examples first, which most tests need not wait for: WARM where time counts.
    """
    command = [sys.executable, "-m", "cli.stack", "serve", "--var", str(folder), "--port", "0"]
    with said_by(folder).open("wb") as said:
        process = subprocess.Popen(
            [*command, *options],
            cwd=ROOT,
            env=environment() | COLD | settings,
            stdout=said,
        )
    try:
        yield _ready(process, folder)
    finally:
        process.terminate()
        process.wait(SECONDS * busy())


def said_by(folder: Path) -> Path:
    """Beside the folder, so that nothing but the service's own is in it."""
    return folder.with_name(f"{folder.name}.said")


def _ready(process: subprocess.Popen[bytes], folder: Path) -> Service:
    note = folder / "stack.json"
    while process.poll() is None:  # it ends by itself where nothing moves
        if note.exists() and note.stat().st_size:
            service = Service(**json.loads(note.read_text()), folder=folder)
            httpx.get(f"{service.url}/readyz", timeout=SECONDS).raise_for_status()
            return service
        time.sleep(0.2)
    raise RuntimeError("the service did not start")
