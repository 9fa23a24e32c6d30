"""Measures ICE through the whole service: jobs per second of several clients, and of one batch in
this process."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import httpx

from cli.stack.stack import running
from services.ice.contract import IceRequest
from services.ice.metric import SERVICE
from services.inference.local_models import LocalModels
from shared.models import ports
from shared.models.catalogue.catalogue import load_catalogue
from shared.process import telemetry
from shared.process.settings import settings

score_batch = SERVICE.score_batch

EXAMPLES = Path("examples/posts.jsonl")
CLIENTS = (1, 8)
WAIT = {"Prefer": "wait=30"}
OPTIONS = {"draws": 50, "aspects": ["sufficiency"]}

Json = dict[str, Any]


def measured(jobs: int) -> dict[str, float]:
    """Measure attention on `embedded-hate` with 50 draws, deletion, and different texts."""
    telemetry.configure_logging("warning", "console")
    ports.bind(LocalModels(load_catalogue(settings().models_file)))
    work = bodies(jobs)
    requests = [IceRequest.model_validate(body) for body in work]
    score_batch(requests[:2])
    started = time.perf_counter()
    score_batch(requests)
    found = {"batch_jobs_per_second": round(jobs / (time.perf_counter() - started), 2)}
    free = settings().model_copy(update={"port": 0})
    with tempfile.TemporaryDirectory() as folder, running(Path(folder), free) as stack:
        for clients in CLIENTS:
            through_service(stack.url, work[:8], clients)
            name = f"clients{clients}_jobs_per_second"
            found[name] = round(through_service(stack.url, work, clients), 2)
    return found


def bodies(number: int) -> list[Json]:
    rows = [json.loads(line) for line in EXAMPLES.read_text("utf-8").splitlines()]
    return [
        {
            "text": f"{place} {row['text']}",
            "attribution": "attention",
            "seed": place,
            "options": OPTIONS,
        }
        for place, row in enumerate(islice(cycle(rows), number))
    ]


def through_service(url: str, work: Sequence[Json], clients: int) -> float:
    """Return jobs per second if every client posts, waits for its result, and posts the next
    request."""

    def post(body: Json) -> None:
        answer = client.post("/v1/scores/ice", json=body, headers=WAIT)
        while (job := answer.json())["status"] not in ("succeeded", "failed"):
            time.sleep(0.05)
            answer = client.get(f"/v1/jobs/{job['id']}")
        assert job["status"] == "succeeded", job["error"]

    limits = httpx.Limits(max_connections=clients, max_keepalive_connections=clients)
    with (
        httpx.Client(base_url=url, timeout=120, limits=limits) as client,
        ThreadPoolExecutor(clients) as pool,
    ):
        started = time.perf_counter()
        list(pool.map(post, work))
        return len(work) / (time.perf_counter() - started)
