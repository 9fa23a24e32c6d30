"""The gateway, and the whole dispatch, against the least that does the same.

`python -m bench.gateway`: the last line is JSON.
`accept`: accepted jobs per second of `POST /v1/scores/hatexscore`, as a share of a FastAPI app that
validates the same body, inserts one row into the same database and pushes one Redis message
(target 0.6). `dispatch_cpu`: CPU of gateway, ledger, queue and worker for a job of a room that does
nothing, over that of the same app with a bare Celery task (target at most 3; less is better).
Paired: in every round both take their turn; medians over rounds.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from bench.environment import environment
from bench.gateway_processes import Side, Sides, both
from bench.http_load import Loaded, closed, paced

SCORES, NOOP = "/v1/scores/hatexscore", "/v1/noop"
ACCEPT_CLIENTS, DISPATCH_CLIENTS = 32, 8

Json = dict[str, Any]


def score_bodies(number: int) -> list[Json]:
    """Posts of about 80 characters with explanations of about 120."""
    text = "We lost the match again and the referee of the other town was to blame for it"
    reason = f'It says "{text[:30]}", which is a complaint. The text is not hateful, in short.'
    return [{"text": f"{text} {place}", "explanation": reason} for place in range(number)]


def noop_bodies(number: int) -> list[Json]:
    """Posts of about 80 characters."""
    return [{"text": f"{body['text']}"} for body in score_bodies(number)]


def accepted(sides: Sides, requests: int, rounds: int) -> tuple[float, Json]:
    """(share of the minimal app's rate, figures); then our latency at half our rate."""
    turns: dict[str, list[Loaded]] = {"ours": [], "minimal": []}
    for number in range(rounds + 1):
        for name, side in sides.named():
            loaded = closed(side.url, SCORES, score_bodies(requests), ACCEPT_CLIENTS)
            if number:
                turns[name].append(loaded)
    rates = {name: statistics.median(one.rate for one in some) for name, some in turns.items()}
    share = statistics.median(
        ours.rate / least.rate for ours, least in zip(*turns.values(), strict=True)
    )
    half = paced(sides.ours.url, SCORES, score_bodies(requests), rates["ours"] / 2, ACCEPT_CLIENTS)
    figures: Json = {f"{name}_per_second": round(rate, 1) for name, rate in rates.items()}
    figures["at_half_that_load"] = {
        f"p{percent}_ms": round(1_000 * half.quantile(percent / 100), 1) for percent in (50, 95, 99)
    }
    return round(share, 3), figures


def dispatched(sides: Sides, jobs: int, rounds: int) -> tuple[float, Json]:
    """(our CPU a job over the minimal way's, milliseconds a job by process)."""
    spent: dict[str, list[dict[str, float]]] = {"ours": [], "minimal": []}
    for number in range(rounds + 1):
        for name, side in sides.named():
            turn = cpu_of(side, partial(run_through, side, jobs), jobs)
            if number:
                spent[name].append(turn)
    ratio = statistics.median(
        sum(ours.values()) / sum(least.values())
        for ours, least in zip(*spent.values(), strict=True)
    )
    figures: Json = {}
    for name, turns in spent.items():
        table = {who: statistics.median(turn[who] for turn in turns) for who in turns[0]}
        table["all"] = sum(table.values())
        figures[name] = {f"{who}_ms": round(ms, 3) for who, ms in table.items()}
    return round(ratio, 2), figures


def run_through(side: Side, jobs: int) -> None:
    """Post the jobs, and wait until the last one has ended."""
    before = side.ended()
    closed(side.url, NOOP, noop_bodies(jobs), DISPATCH_CLIENTS)
    side.await_ended(before + jobs)


def cpu_of(side: Side, work: Callable[[], None], jobs: int) -> dict[str, float]:
    """Milliseconds of CPU a job that each process of this side, and each server, took."""
    before = side.cpu_seconds()
    work()
    after = side.cpu_seconds()
    return {who: 1_000 * (after[who] - before[who]) / jobs for who in after}


def main() -> None:
    """Start both sides on the same servers, measure, print."""
    parser = argparse.ArgumentParser(prog="python -m bench.gateway", description=__doc__)
    parser.add_argument("--requests", type=int, default=1_500, help="in a turn (default 1500)")
    parser.add_argument("--rounds", type=int, default=3, help="after a warm-up (default 3)")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, both(Path(folder)) as sides:
        dispatch, processes = dispatched(sides, asked.requests, asked.rounds)
        sides.stop_workers()
        accept, rates = accepted(sides, asked.requests, asked.rounds)
    found = {
        "bench": "gateway",
        "ratios": {"accept": accept, "dispatch_cpu": dispatch},
        "figures": {"accept": rates, "dispatch_cpu_per_job": processes},
        "environment": environment(requests=asked.requests, rounds=asked.rounds),
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
