"""One user who asks at a fixed pace and waits for each answer: how long is that?"""

from __future__ import annotations

import statistics
import threading
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import httpx

from tests.batches import URL, Json
from tests.patience import looks

EVERY_SECONDS = 0.25  # an answer that is late delays no question: nothing is hidden
AT_ONCE = 64
WAIT = {"Prefer": "wait=30"}
FINAL = {"succeeded", "failed", "cancelled"}
PATIENCE_SECONDS = 300  # of an idle machine, for one answer
REFUSED_PAUSE_SECONDS = 0.5


@dataclass
class Interactive:
    """The jobs of one spell. Where nobody answers, a question is repeated until somebody does."""

    every: float = EVERY_SECONDS
    seconds: list[float] = field(default_factory=list)  # from the question's time to its answer
    ids: list[str] = field(default_factory=list)
    failed: int = 0  # jobs that have ended otherwise than they should
    refused: int = 0  # requests that were answered with an error of the service's, or not at all
    times: list[float] = field(default_factory=list)  # monotonic: the beginning, then each answer

    @property
    def p95(self) -> float:
        """Seconds."""
        return statistics.quantiles(self.seconds, n=20)[-1]

    @property
    def figures(self) -> dict[str, float]:
        """Milliseconds."""
        p50, high = statistics.median(self.seconds), max(self.seconds)
        found = {"p50": p50, "p95": self.p95, "max": high}
        return {name: round(1_000 * value, 1) for name, value in found.items()} | {
            "n": len(self.seconds)
        }

    @property
    def silence(self) -> float:
        """Seconds: the longest time without any answer."""
        return max((after - before for before, after in pairwise(sorted(self.times))), default=0.0)

    @contextmanager
    def asking(self, client: httpx.Client, body: Json) -> Iterator[None]:
        """Ask until the block is left, then wait for what is not answered yet."""
        stop = threading.Event()
        with ThreadPoolExecutor(AT_ONCE) as pool, ThreadPoolExecutor(1) as paced:
            pace = paced.submit(self._pace, stop, pool, client, body)
            try:
                yield
            finally:
                stop.set()
                pace.result()

    def _pace(
        self, stop: threading.Event, pool: ThreadPoolExecutor, client: httpx.Client, body: Json
    ) -> None:
        due = time.monotonic()
        self.times.append(due)
        asked: list[Future[None]] = []
        while not stop.wait(max(0.0, due - time.monotonic())):
            asked.append(pool.submit(self._ask, client, body | {"seed": len(asked)}, due))
            due += self.every
        for one in asked:
            one.result()

    def _ask(self, client: httpx.Client, body: Json, due: float) -> None:
        once = {"Idempotency-Key": f'"{uuid.uuid4()}"'}
        job = self._answer(client, "POST", URL, json=body, headers=WAIT | once)
        self.ids.append(job["id"])
        while job["status"] not in FINAL:
            time.sleep(0.1)
            job = self._answer(client, "GET", f"/v1/jobs/{job['id']}")
        now = time.monotonic()
        self.seconds.append(now - due)
        self.times.append(now)
        self.failed += job["status"] != "succeeded"

    def _answer(self, client: httpx.Client, method: str, path: str, **more: Any) -> Json:
        """Once there is one. Raises TimeoutError, and what else a refusal means."""
        for _ in looks(PATIENCE_SECONDS, REFUSED_PAUSE_SECONDS):
            try:
                answer = client.request(method, path, timeout=60, **more)
            except httpx.TransportError:
                self.refused += 1
                continue
            if answer.status_code < 500:
                found: Json = answer.raise_for_status().json()
                return found
            self.refused += 1
        raise TimeoutError(f"nobody answers {method} {path}")
