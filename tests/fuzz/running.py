"""Schemathesis against a service with keys, beside a user who cancels what nobody takes.

Only HateXScore has a worker here: what is tried is the gateway, not the models.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.end_to_end.keys import opened
from tests.end_to_end.service import serving

CONFIGURED = Path(__file__).with_name("schemathesis.toml")
ALL_PHASES = "examples,coverage,fuzzing,stateful"
SERVED = "hatexscore"
GENERATED = re.compile(r"([\d,]+) generated")
SETTINGS = {"TOUCHSTONE_OPEN_JOBS": "1000000"}
CANCEL_EVERY_SECONDS = 0.5


@dataclass(frozen=True)
class Fuzzed:
    """What a run said. said: its last words, with every failure."""

    cases: int
    failed: bool
    seconds: float
    said: str


@contextmanager
def prepared(folder: Path) -> Iterator[httpx.Client]:
    """A client of a running service, with a key that may do everything."""
    with (
        serving(folder, "--services", SERVED, **SETTINGS) as service,
        opened(service, "fuzz", "admin") as client,
        _cancelling(client),
    ):
        yield client


def fuzz(client: httpx.Client, *, examples: int, seed: int, phases: str = ALL_PHASES) -> Fuzzed:
    """examples: the most cases of one operation in the fuzzing phase, and sequences of calls."""
    command = [
        *(sys.executable, "-m", "schemathesis.cli", "--no-color", "--config-file", str(CONFIGURED)),
        # every check is on unless the file says otherwise; `--checks all` would not hear the file
        *("run", f"{client.base_url}/openapi.json", "--phases", phases),
        *("--max-examples", str(examples), "--seed", str(seed)),
        *("--suppress-health-check", "all"),  # large contracts are slow to draw from
        *("--header", f"Authorization: {client.headers['Authorization']}"),
    ]
    started = time.monotonic()
    ran = subprocess.run(command, env=os.environ, capture_output=True, text=True, check=False)
    seconds = time.monotonic() - started
    found = GENERATED.search(ran.stdout)
    cases = int(found[1].replace(",", "")) if found else 0
    return Fuzzed(cases, ran.returncode != 0, seconds, ran.stdout[-200_000:] + ran.stderr[-2_000:])


@contextmanager
def _cancelling(client: httpx.Client) -> Iterator[None]:
    stop = threading.Event()
    thread = threading.Thread(target=_cancel, args=(client, stop), name="canceller")
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _cancel(client: httpx.Client, stop: threading.Event) -> None:
    while not stop.wait(CANCEL_EVERY_SECONDS):
        with suppress(httpx.TransportError):
            page = client.get("/v1/jobs", params={"status": "queued", "limit": 100}).json()
            for job in page["data"]:
                if not job["metric"].startswith(SERVED):
                    client.post(f"/v1/jobs/{job['id']}/cancel")
