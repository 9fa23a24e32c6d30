"""Compares the throughput of HateXScore through the whole service with scoring in one batch in this
process.

`python -m bench.hatexscore`: the last line is JSON. Paired: in every round each number of clients
and the in-process batch take their turn on the same posts; medians over rounds. Target: 64 clients
reach 60 % of the in-process throughput.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import httpx
import torch

from bench.environment import environment
from cli.stack.stack import running
from services.hatexscore.contract import HatexscoreRequest
from services.hatexscore.metric import SERVICE
from services.inference.local_models import LocalModels
from shared.models import ports
from shared.models.catalogue.catalogue import load_catalogue
from shared.process import telemetry
from shared.process.settings import settings

score_batch = SERVICE.score_batch

EXAMPLES = Path("examples/posts.jsonl")
CLIENTS = (1, 8, 64)
WAIT = {"Prefer": "wait=30"}

Json = dict[str, Any]


@dataclass
class Turn:
    rates: list[float] = field(default_factory=list)  # jobs per second
    seconds: list[float] = field(default_factory=list)  # latency of every job

    @property
    def rate(self) -> float:
        return statistics.median(self.rates)

    def figures(self) -> dict[str, float]:
        """Return the throughput, and the latency if jobs were sent one by one."""
        found = {"jobs_per_second": round(self.rate, 2)}
        if len(self.seconds) > 1:
            cuts = statistics.quantiles(self.seconds, n=20, method="inclusive")
            found |= {"p50_seconds": round(cuts[9], 3), "p95_seconds": round(cuts[18], 3)}
        return found


def bodies(number: int) -> list[Json]:
    rows = [json.loads(line) for line in EXAMPLES.read_text("utf-8").splitlines()]
    made = []
    for place, row in enumerate(islice(cycle(rows), number)):
        body = {name: value for name, value in row.items() if name != "id"}
        made.append(body | {"text": f"{place} {row['text']}", "seed": place})
    return made


def through_service(url: str, work: Sequence[Json], clients: int, turn: Turn) -> None:
    def post(body: Json) -> float:
        started = time.perf_counter()
        answer = client.post("/v1/scores/hatexscore", json=body, headers=WAIT)
        while (job := answer.json())["status"] not in ("succeeded", "failed"):
            answer = client.get(f"/v1/jobs/{job['id']}")
            time.sleep(0.05)
        assert job["status"] == "succeeded", job["error"]
        return time.perf_counter() - started

    limits = httpx.Limits(max_connections=clients, max_keepalive_connections=clients)
    with (
        httpx.Client(base_url=url, timeout=120, limits=limits) as client,
        ThreadPoolExecutor(clients) as pool,
    ):
        started = time.perf_counter()
        turn.seconds += list(pool.map(post, work))
        turn.rates.append(len(work) / (time.perf_counter() - started))


def in_process(work: Sequence[Json], turn: Turn) -> None:
    requests = [HatexscoreRequest.model_validate(body) for body in work]
    started = time.perf_counter()
    score_batch(requests)
    turn.rates.append(len(work) / (time.perf_counter() - started))


def measured(url: str, jobs: int, rounds: int) -> dict[str, Turn]:
    turns = {name: Turn() for name in _names()}
    for number in range(rounds + 1):
        kept = turns if number else {name: Turn() for name in _names()}
        in_process(bodies(jobs), kept["batch"])
        for clients in CLIENTS:
            work = bodies(jobs if clients > 1 else max(12, jobs // 4))
            through_service(url, work, clients, kept[f"clients{clients}"])
    return turns


def _names() -> Iterator[str]:
    yield "batch"
    yield from (f"clients{clients}" for clients in CLIENTS)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.hatexscore", description=__doc__)
    parser.add_argument("--jobs", type=int, default=192, help="in a turn (default 192)")
    parser.add_argument("--rounds", type=int, default=3, help="after a warm-up (default 3)")
    asked = parser.parse_args()
    telemetry.configure_logging("warning", "console")
    ports.bind(LocalModels(load_catalogue(settings().models_file)))
    free = settings().model_copy(update={"port": 0})
    with tempfile.TemporaryDirectory() as folder, running(Path(folder), free) as stack:
        turns = measured(stack.url, asked.jobs, asked.rounds)
    batch = turns["batch"].rate
    ratios = {
        f"clients{clients}_vs_batch": round(turns[f"clients{clients}"].rate / batch, 3)
        for clients in CLIENTS
    }
    figures = {name: turn.figures() for name, turn in turns.items()}
    about = environment(torch=torch.__version__, dtype="float32", jobs=asked.jobs)
    print(
        json.dumps(
            {"bench": "hatexscore", "ratios": ratios, "figures": figures, "environment": about}
        )
    )


if __name__ == "__main__":
    main()
