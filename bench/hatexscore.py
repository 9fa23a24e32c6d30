"""Measures HateXScore through the whole service, on explanations in the styles of real ones.

`python -m bench.hatexscore`: the last line is JSON. 1, 8, 16 and 64 clients send the requests of
`bench/corpus.jsonl`, each one at a time: jobs per second, latencies, and the processor time of a
job in each process. Then one client sends requests alone, and beside a batch of 1,000 lines.
Targets: at 16 clients 20 jobs per second and 100 ms of processor time where the processor
multiplies bfloat16, else 10 and 200 ms; p95 beside the batch at most three times that alone.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx
import psutil

from bench.corpus import Json, bodies
from bench.environment import environment
from cli.stack.stack import Stack, running
from shared.process import telemetry
from shared.process.numerics import computes_bfloat16
from shared.process.settings import settings

CLIENTS = (1, 8, 16, 64)
BATCH = 1_000
PATH = "/v1/scores/hatexscore"
WAIT = {"Prefer": "wait=30"}  # polling would take processor time from the service
BEGIN_SECONDS = 5.0  # until the batch fills the worker


def processor_seconds(stack: Stack) -> Counter[str]:
    """Return the processor seconds so far of every process of the service, by the module it
    runs."""
    postmaster = int((stack.folder / "postgres" / "postmaster.pid").read_text().split()[0])
    database = psutil.Process(postmaster)
    seconds: Counter[str] = Counter()
    for process in [database, *database.children(recursive=True)]:
        seconds["postgres"] += sum(process.cpu_times()[:2])
    for process in psutil.Process().children(recursive=True):
        line = process.cmdline()
        if "postgres" not in line[0]:
            name = line[line.index("-m") + 1] if "-m" in line else Path(line[0]).name
            seconds[name] += sum(process.cpu_times()[:2])
    return seconds


def score(client: httpx.Client, body: Json) -> float:
    """Send a request and wait for its result. Return the seconds that this took."""
    started = time.perf_counter()
    job = client.post(PATH, json=body, headers=WAIT).json()
    while job["status"] in ("queued", "running", "waiting"):
        [job] = client.get("/v1/jobs", params={"id": job["id"]}, headers=WAIT).json()["data"]
    assert job["status"] == "succeeded", job
    return time.perf_counter() - started


def measured(stack: Stack, work: Sequence[Json], clients: int) -> Json:
    """Send the requests from a number of clients at a time. Return the figures of a job."""
    limits = httpx.Limits(max_connections=clients, max_keepalive_connections=clients)
    with (
        httpx.Client(base_url=stack.url, timeout=120, limits=limits) as client,
        ThreadPoolExecutor(clients) as pool,
    ):
        before, started = processor_seconds(stack), time.perf_counter()
        seconds = list(pool.map(lambda body: score(client, body), work))
        elapsed = time.perf_counter() - started
        used = processor_seconds(stack) - before
    cuts = statistics.quantiles(seconds, n=20, method="inclusive")
    return {
        "jobs_per_second": round(len(work) / elapsed, 2),
        "p50_seconds": round(cuts[9], 3),
        "p95_seconds": round(cuts[18], 3),
        "processor_ms": round(1_000 * used.total() / len(work), 1),
        "by_process_ms": {
            name: round(1_000 * spent / len(work), 1) for name, spent in used.most_common()
        },
    }


@contextmanager
def batch(stack: Stack, work: Sequence[Json]) -> Iterator[None]:
    """Keep a batch of these lines running in the service during the block."""
    lines = [
        json.dumps({"custom_id": str(number), "method": "POST", "url": PATH, "body": body})
        for number, body in enumerate(work)
    ]
    with httpx.Client(base_url=stack.url, timeout=120) as client:
        files = {"file": ("in.jsonl", "\n".join(lines))}
        sent = client.post("/v1/files", data={"purpose": "batch"}, files=files)
        asked = {"input_file_id": sent.raise_for_status().json()["id"], "endpoint": PATH}
        asked["completion_window"] = "24h"
        made = client.post("/v1/batches", json=asked).raise_for_status().json()
        time.sleep(BEGIN_SECONDS)
        yield
        state = client.get(f"/v1/batches/{made['id']}").json()
        assert state["status"] == "in_progress", state["status"]  # else nothing ran beside


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.hatexscore", description=__doc__)
    parser.add_argument("--jobs", type=int, default=300, help="for a number of clients")
    jobs = parser.parse_args().jobs
    telemetry.configure_logging("warning", "console")
    free = settings().model_copy(update={"port": 0})
    texts = iter(bodies(2_000 + (len(CLIENTS) + 3) * jobs))  # no text is sent twice

    def take(number: int) -> list[Json]:
        return [next(texts) for _ in range(number)]

    with tempfile.TemporaryDirectory() as folder, running(Path(folder), free) as stack:
        measured(stack, take(32), 8)  # loads the models
        figures = {
            f"clients{clients}": measured(stack, take(jobs if clients > 1 else jobs // 4), clients)
            for clients in CLIENTS
        }
        with batch(stack, take(BATCH)):
            figures["beside_batch"] = measured(stack, take(jobs // 4), 1)
    ratios = {
        "jobs_per_second_at_16": figures["clients16"]["jobs_per_second"],
        "processor_ms_at_16": figures["clients16"]["processor_ms"],
        "p95_beside_batch": round(
            figures["beside_batch"]["p95_seconds"] / figures["clients1"]["p95_seconds"], 2
        ),
    }
    about = environment(jobs=jobs, dtype=settings().dtype, bfloat16=computes_bfloat16())
    print(
        json.dumps(
            {"bench": "hatexscore", "ratios": ratios, "figures": figures, "environment": about}
        )
    )


if __name__ == "__main__":
    main()
