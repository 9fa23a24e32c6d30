"""How the jobs of a scenario get in."""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from tests.chaos.trial import LOAD, Trial
from tests.end_to_end.load import examples, submit

CLIENTS = 16

Json = dict[str, Any]


@dataclass(frozen=True)
class Sent:
    """The jobs that were accepted; what was seen beside them, and what of it must not be."""

    ids: list[str]
    seen: str = ""
    broken: tuple[str, ...] = ()
    tenant: str = LOAD


def bodies(number: int) -> list[Json]:
    """Requests of a few model rows each; the seed makes them differ."""
    some = examples()
    return [
        some[place % len(some)] | {"seed": place, "options": {"control_draws": 1}}
        for place in range(number)
    ]


def send_all(service: Trial, jobs: int) -> Sent:
    """Every client posts until accepted; the Idempotency-Key makes that safe."""
    with service.client() as client, ThreadPoolExecutor(CLIENTS) as pool:
        return Sent(list(pool.map(lambda body: submit(client, body), bodies(jobs))))


def send_fifty_times(service: Trial, jobs: int) -> Sent:
    """Each body fifty times at once under one key: one job."""
    ids: list[str] = []
    with service.client() as client, ThreadPoolExecutor(50) as pool:
        for number, body in enumerate(bodies(max(1, jobs // 50))):
            key = {"Idempotency-Key": f'"chaos-{os.getpid()}-{number}"'}

            def post(_: int, body: Json = body, key: dict[str, str] = key) -> str:
                answer = client.post("/v1/scores/hatexscore", json=body, headers=key)
                answer.raise_for_status()
                return str(answer.json()["id"])

            same = set(pool.map(post, range(50)))
            if len(same) != 1:
                raise AssertionError(f"one key made {len(same)} jobs")
            ids += same
    return Sent(ids)


def send_and_cancel(service: Trial, jobs: int) -> Sent:
    """Every other job is cancelled while it may be ending."""
    with service.client() as client:

        def one(numbered: tuple[int, Json]) -> str:
            number, body = numbered
            job_id = submit(client, body)
            if number % 2:
                time.sleep((number % 40) / 20)
                answer = client.post(f"/v1/jobs/{job_id}/cancel")
                if answer.status_code != 409:  # it had ended: that is the race
                    answer.raise_for_status()
            return job_id

        with ThreadPoolExecutor(CLIENTS) as pool:
            return Sent(list(pool.map(one, enumerate(bodies(jobs)))))
