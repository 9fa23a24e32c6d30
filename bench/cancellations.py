"""Cancellations of waiting jobs in a backlog: `python -m bench.cancellations`.

The backlog holds as many HateXScore jobs as a tenant may have open. One client cancels 300 jobs,
then eight clients cancel 300 more, while the workers compute. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import httpx
import psutil

from bench.corpus import bodies
from bench.environment import environment
from bench.neighbours import tenant
from cli.stack.processes import ServiceNames
from cli.stack.stack import running
from shared.process.settings import settings

CLIENTS = 8
MOST_IN_A_CALL = 1_000


def backlog(client: httpx.Client, number: int) -> list[str]:
    """Send this many jobs, and return their ids. The first in the list is computed last."""
    requests, ids = bodies(number), []
    for first in range(0, number, MOST_IN_A_CALL):
        body = {"metric": "hatexscore", "requests": requests[first : first + MOST_IN_A_CALL]}
        answer = client.post("/v1/scores:batchCreate", json=body)
        answer.raise_for_status()
        ids += [job["id"] for job in answer.json()["data"]]
    return ids[::-1]


def cancel(client: httpx.Client, job_id: str) -> float:
    """Cancel a job, and return the seconds until the answer."""
    started = time.perf_counter()
    client.post(f"/v1/jobs/{job_id}/cancel").raise_for_status()
    return time.perf_counter() - started


def processor_seconds(folder: Path) -> float:
    """Return the processor time of the gateway and of PostgreSQL, which works for the workers
    too."""
    postmaster = psutil.Process(
        int((folder / "postgres" / "postmaster.pid").read_text().split()[0])
    )
    gateways = [
        process
        for process in psutil.Process().children(recursive=True)
        if "services.gateway" in process.cmdline()
    ]
    processes = [postmaster, *postmaster.children(recursive=True), *gateways]
    return sum(sum(process.cpu_times()[:2]) for process in processes)


def main() -> None:
    """Start a service with keys, fill its queue, cancel, print."""
    parser = argparse.ArgumentParser(prog="python -m bench.cancellations", description=__doc__)
    parser.add_argument("--jobs", type=int, default=10_000, help="in the backlog (default 10000)")
    parser.add_argument("--cancelled", type=int, default=600, help="of them (default 600)")
    chosen = parser.parse_args()
    half = chosen.cancelled // 2
    os.environ["TOUCHSTONE_AUTHENTICATION"] = "keys"
    free = settings().model_copy(update={"port": 0})
    figures = {}
    with (
        tempfile.TemporaryDirectory() as folder,
        running(Path(folder), free, ServiceNames(("hatexscore",))) as stack,
    ):
        client = tenant(stack, "own")
        ids = backlog(client, chosen.jobs)
        for name, clients, some in (
            ("one_client", 1, ids[:half]),
            ("eight_clients", CLIENTS, ids[half : 2 * half]),
        ):
            used, started = processor_seconds(stack.folder), time.perf_counter()
            with ThreadPoolExecutor(clients) as pool:
                seconds = list(pool.map(partial(cancel, client), some))
            figures[name] = {
                "seconds": round(time.perf_counter() - started, 2),
                "p50_seconds": round(statistics.median(seconds), 4),
                "processor_ms_each": round(
                    1_000 * (processor_seconds(stack.folder) - used) / len(some), 2
                ),
            }
    found = {
        "bench": "cancellations",
        "figures": figures,
        "environment": environment(jobs=chosen.jobs, cancelled=2 * half),
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
