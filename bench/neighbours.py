"""Measures small HateXScore requests alone, and while 30 large ICE requests run: `python -m
bench.neighbours`.

The ICE requests are of another tenant, then of the same one. One small request at a time; seconds
from the post to the result. The last line is JSON. Target: p95 at most three times that alone.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from bench.corpus import Json, bodies
from bench.environment import environment
from cli.stack.stack import Stack, running
from shared.process.settings import settings

LARGE = 30
BEGIN_SECONDS = 2.0  # until the large requests have filled their places
WAIT = {"Prefer": "wait=30"}
SMALL: Json = {
    "text": "Honestly, those immigrants are ruining our lovely old town, and nobody does anything.",
    "explanation": 'The post says "those immigrants are ruining" and blames immigrants as a group. '
    "Conclusion: the text is hateful.",
    "decision": "hateful",
}


def tenant(stack: Stack, name: str) -> httpx.Client:
    command = [sys.executable, "-m", "services.gateway.keys", "--var", str(stack.folder)]
    options = ["create", "--tenant", name, "--requests-per-minute", "1000000"]
    made = subprocess.run(  # noqa: S603 - our own command line
        [*command, *options], capture_output=True, text=True, check=True
    )
    bearer = {"Authorization": f"Bearer {made.stdout.strip()}"}
    return httpx.Client(base_url=stack.url, timeout=120, headers=bearer)


def seconds_of(client: httpx.Client, number: int) -> float:
    """Return the seconds of one small request, whose text no other request has."""
    body = SMALL | {"text": f"{number} {SMALL['text']}"}
    started = time.perf_counter()
    job = client.post("/v1/scores/hatexscore", json=body, headers=WAIT).json()
    while job["status"] not in ("succeeded", "failed"):
        time.sleep(0.02)
        job = client.get(f"/v1/jobs/{job['id']}").json()
    assert job["status"] == "succeeded", job["error"]
    return time.perf_counter() - started


@contextmanager
def large_requests(client: httpx.Client) -> Iterator[None]:
    """Keep large ICE requests running in the service during the block."""
    texts = [body["text"] for body in bodies(4 * LARGE)]
    ids = []
    for number in range(LARGE):
        text = " ".join(texts[4 * number : 4 * number + 4])
        body = {"text": text, "attribution": "attention", "seed": number, "language": "en"}
        answer = client.post("/v1/scores/ice", json=body)
        answer.raise_for_status()
        ids.append(answer.json()["id"])
    time.sleep(BEGIN_SECONDS)
    try:
        yield
    finally:
        for job_id in ids:
            client.post(f"/v1/jobs/{job_id}/cancel")  # 409: it has ended


def quantiles(client: httpx.Client, number: int, first: int) -> dict[str, float]:
    cuts = statistics.quantiles(
        [seconds_of(client, first + place) for place in range(number)], n=20, method="inclusive"
    )
    return {"p50_seconds": round(cuts[9], 3), "p95_seconds": round(cuts[18], 3)}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.neighbours", description=__doc__)
    parser.add_argument("--requests", type=int, default=40, help="small ones (default 40)")
    number = parser.parse_args().requests
    os.environ["TOUCHSTONE_AUTHENTICATION"] = "keys"
    free = settings().model_copy(update={"port": 0})
    with tempfile.TemporaryDirectory() as folder, running(Path(folder), free) as stack:
        own, other = tenant(stack, "own"), tenant(stack, "other")
        quantiles(own, number, 0)
        figures = {"alone": quantiles(own, number, number)}
        for place, (name, client) in enumerate({"other_tenant": other, "same_tenant": own}.items()):
            with large_requests(client):
                figures[f"beside_{name}"] = quantiles(own, number, (2 + place) * number)
    alone = figures["alone"]["p95_seconds"]
    found = {
        "bench": "neighbours",
        "ratios": {
            f"{name}_p95": round(figures[name]["p95_seconds"] / alone, 2)
            for name in ("beside_other_tenant", "beside_same_tenant")
        },
        "figures": figures,
        "environment": environment(requests=number, large=LARGE),
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
