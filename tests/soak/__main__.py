"""`python -m tests.soak`: batches of three tenants, then while workers die; the last line is JSON.

Small jobs: HateXScore with probabilities of the caller's own, so that no model is called. Two
workers serve them; during the second half of the batches one of the two is killed every few
seconds, at random. The table goes into `bench/RESULTS.md`.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from rich.console import Console

from bench.environment import environment
from tests.chaos import audit
from tests.end_to_end.service import ROOT, WARM, serving
from tests.soak.memory import Memory
from tests.soak.story import Plan, Soaked, soak

PAGE = ROOT / "bench" / "RESULTS.md"
BEGIN, END = "<!-- soak: rewritten by `make soak` -->", "<!-- end of soak -->"
# two workers: the death of one is no silence
SERVED = ("hatexscore", "hatexscore", "inference", "similarity")
THREADS = {"TOUCHSTONE_WORKER_THREADS": "8"}  # jobs that only compute: more would queue inside
MOST_GROWTH = 0.10
MOST_DELAY = 3.0

Json = dict[str, Any]


def main() -> int:
    """0 where everything held."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--jobs", type=int, default=20_000, help="in all batches (20000)")
    parser.add_argument("--batches", type=int, default=20, help="(20)")
    parser.add_argument("--alone-seconds", type=float, default=60, help="interactive jobs only")
    parser.add_argument("--kill-seconds", type=float, default=15, help="mean time between deaths")
    parser.add_argument("--seed", type=int, default=0, help="of the deaths")
    parser.add_argument("--page", type=Path, default=PAGE, help="whose table is rewritten")
    asked = parser.parse_args()
    plan = Plan(
        jobs=asked.jobs,
        batches=asked.batches,
        alone_seconds=asked.alone_seconds,
        kill_seconds=asked.kill_seconds,
        seed=asked.seed,
    )
    with (
        tempfile.TemporaryDirectory() as folder,
        serving(Path(folder), "--separate", "--services", *SERVED, **THREADS, **WARM) as service,
    ):
        audit.install(service)
        with Memory.of(service).watching() as memory:
            soaked = soak(service, plan, memory, Console(stderr=True))
    said = _said(soaked, plan)
    _write(asked.page, said, plan)
    about = environment(jobs=plan.jobs, batches=plan.batches)
    print(json.dumps({"soak": said, "environment": about}))  # noqa: T201 - the answer
    return 0 if all(said["holds"].values()) else 1


def _said(soaked: Soaked, plan: Plan) -> Json:
    found, growth = soaked.findings, soaked.memory.growth
    alone, during, during_deaths = soaked.alone, soaked.during, soaked.during_deaths
    delay = during.p95 / alone.p95
    return {
        "accepted": found.accepted,
        "succeeded": found.succeeded,
        "lost": found.lost,
        "ended_twice": found.ended_twice + found.changed_after_the_end,
        "most_attempts": found.most_attempts,
        "lines_wrong": soaked.wrong,
        "deaths": soaked.deaths,
        "seconds": round(soaked.seconds, 1),
        "jobs_per_second": round(plan.jobs / soaked.seconds, 1),
        "rss_mib": soaked.memory.mebibytes,
        "rss_growth": {name: round(value, 4) for name, value in growth.items()},
        "interactive_alone": alone.figures,
        "interactive_during": during.figures,
        "interactive_during_deaths": during_deaths.figures,
        "p95_ratio": round(delay, 2),
        "p95_ratio_during_deaths": round(during_deaths.p95 / alone.p95, 2),
        "holds": {
            "nothing lost": found.succeeded == found.accepted and not soaked.wrong,
            "every job ended once": found.ended_twice == found.changed_after_the_end == 0,
            "workers were killed": soaked.deaths > 0,
            "memory flat": all(value < MOST_GROWTH for value in growth.values()),
            "interactive jobs all answered": not sum(
                one.refused + one.failed for one in (alone, during, during_deaths)
            ),
            "interactive p95 during batches": delay < MOST_DELAY,
        },
    }


def _write(page: Path, said: Json, plan: Plan) -> None:
    about = environment(jobs=plan.jobs, batches=plan.batches, kill_seconds=plan.kill_seconds)
    rows = [
        (
            f"{said['accepted']} jobs accepted: batches, warm-up, user",
            f"{said['succeeded']} succeeded, {said['lost']} lost",
        ),
        ("workers killed", said["deaths"]),
        ("ended twice, or changed after the end", said["ended_twice"]),
        ("lines of the output files wrong or missing", said["lines_wrong"]),
        ("seconds", f"{said['seconds']} ({said['jobs_per_second']} jobs of batches a second)"),
        ("highest RSS in MiB: warm-up, first half, second half", said["rss_mib"]),
        ("its growth from half to half, below 0.1", said["rss_growth"]),
        ("interactive jobs alone, ms", said["interactive_alone"]),
        ("during the first half of the batches, ms", said["interactive_during"]),
        ("ratio of their p95, below 3", said["p95_ratio"]),
        ("during the second half, while workers are killed, ms", said["interactive_during_deaths"]),
        ("ratio of its p95 to alone", said["p95_ratio_during_deaths"]),
        ("does not hold", ", ".join(k for k, held in said["holds"].items() if not held) or "-"),
    ]
    head = [
        BEGIN,
        "`python -m tests.soak`, " + ", ".join(f"{key} {value}" for key, value in about.items()),
        "",
        "| what | measured |",
        "|---|---|",
    ]
    table = [f"| {name} | {_cell(value)} |" for name, value in rows]
    before, _, rest = page.read_text("utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    page.write_text(before + "\n".join([*head, *table, "", END]) + after, "utf-8")


def _cell(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {one}" for name, one in value.items())
    return str(value)


if __name__ == "__main__":
    sys.exit(main())
