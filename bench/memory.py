"""The memory of every process under mixed load: `python -m bench.memory --minutes 30`.

Four clients send requests of the corpus to HateXScore and, as every third request, an example of
another metric. The highest resident memory of each process is printed for each third of the time.
Memory is flat where the last third needs no more than the one before.
"""

from __future__ import annotations

import argparse
import itertools
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import psutil

from bench.corpus import bodies
from cli.stack.stack import running
from services.registry import contracts
from shared.process import telemetry
from shared.process.settings import settings

CLIENTS = 4
CORPUS_REQUESTS = 3_000
LOOK_SECONDS = 1.0
THIRDS = 3
MEBIBYTE = 2**20

Json = dict[str, Any]


def requests() -> Iterator[tuple[str, Json]]:
    """Yield (path, body) of requests without end."""
    examples = itertools.cycle(
        [
            (contract.path, example)
            for name, contract in contracts().items()
            for example in contract.examples.values()
            if name != "hatexscore"
        ]
    )
    path = contracts()["hatexscore"].path
    for number, body in enumerate(itertools.cycle(bodies(CORPUS_REQUESTS))):
        yield path, body | {"seed": number}
        if number % 2:
            yield next(examples)


def send_until(end: float, url: str, work: Iterator[tuple[str, Json]], lock: threading.Lock) -> int:
    """Send requests one after the other until `end`, a monotonic time. Return the number of
    answers."""
    answered = 0
    with httpx.Client(base_url=url, timeout=120, headers={"Prefer": "wait=30"}) as client:
        while time.monotonic() < end:
            with lock:
                path, body = next(work)
            with suppress(httpx.TransportError):  # such as a connection that was idle too long
                answer = client.post(path, json=body)
                while (job := answer.json()).get("status") in ("queued", "running"):
                    time.sleep(0.2)
                    answer = client.get(f"/v1/jobs/{job['id']}")
                assert job.get("status") == "succeeded", (
                    path,
                    answer.status_code,
                    job.get("error"),
                )
                answered += 1
    return answered


def process_name(process: psutil.Process) -> str:
    """Return the module that a process runs, or its program, and its number."""
    line = process.cmdline()
    module = line[line.index("-m") + 1 :][:2] if "-m" in line else line[:1]
    return f"{' '.join(Path(part).name for part in module)} {process.pid}"


def look(highest: dict[str, list[float]], third: int) -> None:
    """Record the highest resident memory so far of every child process, in MiB."""
    for process in psutil.Process().children(recursive=True):
        try:
            values = highest[process_name(process)]
            values[third] = max(values[third], process.memory_info().rss / MEBIBYTE)
        except psutil.Error:  # it has ended meanwhile
            continue


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.memory", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30)
    minutes = parser.parse_args().minutes
    telemetry.configure_logging("warning", "console")
    highest: dict[str, list[float]] = defaultdict(lambda: [0.0] * THIRDS)
    free = settings().model_copy(update={"port": 0})
    work, lock = requests(), threading.Lock()
    with (
        tempfile.TemporaryDirectory() as folder,
        running(Path(folder), free) as stack,
        ThreadPoolExecutor(CLIENTS) as pool,
    ):
        start = time.monotonic()
        end = start + 60 * minutes
        sent = [pool.submit(send_until, end, stack.url, work, lock) for _ in range(CLIENTS)]
        while (now := time.monotonic()) < end and not any(future.done() for future in sent):
            look(highest, int(THIRDS * (now - start) / (end - start)))
            time.sleep(LOOK_SECONDS)
        answered = sum(future.result() for future in sent)
    print(
        f"{answered} requests answered in {minutes:g} minutes; highest resident MiB in each third"
    )
    for name, values in sorted(highest.items(), key=lambda item: -max(item[1])):
        print(f"{name:<40} " + "  ".join(f"{value:7,.0f}" for value in values))


if __name__ == "__main__":
    main()
