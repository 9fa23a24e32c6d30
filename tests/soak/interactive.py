"""One user who asks at a fixed pace and waits for each answer: how long is that?"""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field

import httpx

from tests.batches import URL, Json

EVERY_SECONDS = 0.25  # an answer that is late delays no question: nothing is hidden
AT_ONCE = 64
WAIT = {"Prefer": "wait=30"}


@dataclass
class Interactive:
    """The jobs of one spell."""

    seconds: list[float] = field(default_factory=list)  # from the question's time to its answer
    ids: list[str] = field(default_factory=list)

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

    @contextmanager
    def asking(self, client: httpx.Client, body: Json) -> Iterator[None]:
        """Ask until the block is left, then wait for what is not answered yet."""
        stop = threading.Event()
        with ThreadPoolExecutor(AT_ONCE) as pool:
            pace = threading.Thread(target=self._pace, args=(stop, pool, client, body))
            pace.start()
            try:
                yield
            finally:
                stop.set()
                pace.join()

    def _pace(
        self, stop: threading.Event, pool: ThreadPoolExecutor, client: httpx.Client, body: Json
    ) -> None:
        due = time.monotonic()
        asked: list[Future[None]] = []
        while not stop.wait(max(0.0, due - time.monotonic())):
            asked.append(pool.submit(self._ask, client, body | {"seed": len(asked)}, due))
            due += EVERY_SECONDS
        for one in asked:
            one.result()

    def _ask(self, client: httpx.Client, body: Json, due: float) -> None:
        answer = client.post(URL, json=body, headers=WAIT, timeout=60)
        answer.raise_for_status()
        job = answer.json()
        while job["status"] not in ("succeeded", "failed", "cancelled"):
            time.sleep(0.1)
            job = client.get(f"/v1/jobs/{job['id']}").raise_for_status().json()
        self.seconds.append(time.monotonic() - due)
        self.ids.append(job["id"])
