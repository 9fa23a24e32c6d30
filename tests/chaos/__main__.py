"""`python -m tests.chaos`: every fault of the list on real processes; the last line is JSON.

The table goes into `docs/operations.md`. Not produced on one machine, and so said here: a link
that drops packets (5 freezes Redis instead: connections stay open and nothing answers) and a clock
that differs between machines (10 shifts the clock of our processes against the ledger's).
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from rich.console import Console

from bench.environment import environment
from tests.chaos import audit
from tests.chaos.scenarios import SCENARIOS, Outcome, Scenario, results_of, run
from tests.chaos.sending import Json, send_all
from tests.end_to_end.service import ROOT, Service, serving

PAGE = ROOT / "docs" / "operations.md"
BEGIN, END = "<!-- chaos: rewritten by `make chaos` -->", "<!-- end of chaos -->"
OPTIONS = ("--apart", "--rooms", "hatexscore", "inference")


def main() -> int:
    """0 where every invariant held."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--jobs", type=int, default=1_000, help="in a scenario (default 1000)")
    parser.add_argument("--only", nargs="+", metavar="NUMBER", help="of the list")
    parser.add_argument("--page", type=Path, default=PAGE, help="whose table is rewritten")
    asked = parser.parse_args()
    chosen = [one for one in SCENARIOS if not asked.only or one.number in asked.only]
    console = Console(stderr=True)
    outcomes = _run(chosen, asked.jobs, console)
    rows = [_row(one, outcomes.get(one.number)) for one in chosen]
    _write(asked.page, rows, asked.jobs)
    found = {
        number: {
            **asdict(one.findings),
            "seconds": round(one.seconds, 1),
            "seen": one.seen,
            "broken": one.broken,
            "holds": one.holds,
        }
        for number, one in outcomes.items()
    }
    about = environment(jobs=asked.jobs)
    print(json.dumps({"chaos": found, "environment": about}))  # noqa: T201 - the answer
    return 0 if all(one.holds for one in outcomes.values()) else 1


def _run(chosen: list[Scenario], jobs: int, console: Console) -> dict[str, Outcome]:
    """Those with the usual settings share a service: it has to survive them one after the other."""
    outcomes: dict[str, Outcome] = {}
    usual = [one for one in chosen if not one.settings and not one.skipped]
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder), *OPTIONS) as service:
        audit.install(service)
        console.print(f"{jobs} jobs without a fault")
        calm = results_of(service, send_and_wait(service, jobs))
        for one in usual:
            outcomes[one.number] = _one(one, service, jobs, calm, console)
    for one in chosen:
        if one.settings and not one.skipped:
            with (
                tempfile.TemporaryDirectory() as folder,
                serving(Path(folder), *OPTIONS, *one.rooms, **one.settings) as service,
            ):
                audit.install(service)
                outcomes[one.number] = _one(one, service, jobs, calm, console)
    return outcomes


def send_and_wait(service: Service, jobs: int) -> list[str]:
    """The ids of jobs that have all succeeded."""
    sent = send_all(service, jobs)
    calm = Scenario("0", "nothing", sends=lambda _service, _jobs: sent)
    outcome = run(calm, service, jobs, {})
    if not outcome.holds or outcome.findings.succeeded != len(sent.ids):
        raise RuntimeError(f"not even undisturbed: {outcome}")
    return sent.ids


def _one(
    scenario: Scenario, service: Service, jobs: int, calm: dict[int, Json], console: Console
) -> Outcome:
    console.print(f"{scenario.number}: {scenario.claim} …")
    outcome = run(scenario, service, jobs, calm)
    said = "holds" if outcome.holds else "[bold red]DOES NOT HOLD[/bold red]"
    console.print(f"   {said} after {outcome.seconds:.0f} s: {outcome.findings}")
    for seen in (outcome.seen, *outcome.broken):
        console.print(f"   {seen}")
    return outcome


def _row(scenario: Scenario, outcome: Outcome | None) -> str:
    if outcome is None:
        return f"| {scenario.number} | {scenario.claim} | not run: {scenario.skipped} |||||||"
    found = outcome.findings
    cells = [
        scenario.number,
        f"{scenario.claim}: {outcome.seen}" if outcome.seen else scenario.claim,
        found.accepted,
        found.succeeded,
        found.failed,
        found.cancelled,
        found.lost,
        found.ended_twice + found.changed_after_the_end,
        "yes" if outcome.same_results else "NO",
        f"{outcome.seconds:.0f}",
    ]
    return "| " + " | ".join(map(str, cells)) + " |"


def _write(page: Path, rows: list[str], jobs: int) -> None:
    about = ", ".join(f"{key} {value}" for key, value in environment(jobs=jobs).items())
    head = [
        BEGIN,
        f"`python -m tests.chaos`, {about}",
        "",
        "| # | fault | accepted | succeeded | failed | cancelled | lost | ended twice | same results | seconds |",  # noqa: E501
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    before, _, rest = page.read_text("utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    page.write_text(before + "\n".join([*head, *rows, "", END]) + after, "utf-8")


if __name__ == "__main__":
    sys.exit(main())
