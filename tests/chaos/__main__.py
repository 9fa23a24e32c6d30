"""`python -m tests.chaos`: every fault of the list on real processes; the last line is JSON.

The table goes into `bench/RESULTS.md`.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from rich.console import Console

from bench.environment import environment
from tests.chaos.outcome import Outcome, Scenario, run
from tests.chaos.scenarios import CALM, SCENARIOS
from tests.chaos.sending import Json
from tests.chaos.trial import Trial, trying
from tests.end_to_end.service import ROOT

PAGE = ROOT / "bench" / "RESULTS.md"
BEGIN, END = "<!-- chaos: rewritten by `make chaos` -->", "<!-- end of chaos -->"
OPTIONS = ("--separate", "--services", "hatexscore", "inference", "similarity")


def main() -> int:
    """0 where every invariant held."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--jobs", type=int, default=1_000, help="in a scenario (default 1000)")
    parser.add_argument("--only", nargs="+", metavar="NUMBER", help="of the list")
    parser.add_argument("--nightly", action="store_true", help="the longest, too")
    parser.add_argument("--page", type=Path, default=PAGE, help="whose table is rewritten")
    asked = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # services and disks go, too
    chosen = [
        one
        for one in SCENARIOS
        if (one.number in asked.only if asked.only else asked.nightly or not one.is_nightly)
    ]
    console = Console(stderr=True)
    outcomes: dict[str, Outcome] = {}
    try:
        _run(chosen, asked.jobs, outcomes, console)
    finally:  # what was found stays, whatever became of the others
        rows = {one.number: _row(one, outcomes.get(one.number)) for one in (CALM, *chosen)}
        _write(asked.page, rows, asked.jobs)
    found = {
        number: {
            **asdict(one.findings),
            "seconds": round(one.seconds, 1),
            "others_p95_ms": one.others,
            "seen": one.seen,
            "broken": one.broken,
            "holds": one.holds,
        }
        for number, one in outcomes.items()
    }
    about = environment(jobs=asked.jobs)
    print(json.dumps({"chaos": found, "environment": about}))  # noqa: T201 - the answer
    ran = all(one.skipped or one.number in outcomes for one in chosen)
    return 0 if ran and all(one.holds for one in outcomes.values()) else 1


def _run(chosen: list[Scenario], jobs: int, outcomes: dict[str, Outcome], console: Console) -> None:
    """Those with the usual settings share a service: it has to survive them one after the other."""
    with tempfile.TemporaryDirectory() as folder, trying(Path(folder), *OPTIONS) as service:
        calm = _one(CALM, service, jobs, {}, console)
        if not calm.holds or calm.findings.succeeded != jobs:
            raise RuntimeError(f"not even undisturbed: {calm}")
        outcomes[CALM.number] = calm
        for one in chosen:
            if one.shares and not one.skipped:
                with _noted(console):
                    outcomes[one.number] = _one(one, service, jobs, calm.results, console)
    for one in chosen:
        if not one.shares and not one.skipped:
            with _noted(console):
                outcomes[one.number] = _apart(one, jobs, calm.results, console)


@contextmanager
def _noted(console: Console) -> Iterator[None]:
    """A scenario that cannot be played to its end leaves the others to be played."""
    try:
        yield
    except Exception:  # noqa: BLE001 - whatever it is, its row says that it did not end
        console.print_exception()


def _apart(scenario: Scenario, jobs: int, calm: dict[int, Json], console: Console) -> Outcome:
    """In a service of its own."""
    with (
        tempfile.TemporaryDirectory() as folder,
        scenario.place(Path(folder)) as more,
        trying(Path(folder), *OPTIONS, *scenario.services, **scenario.settings, **more) as service,
    ):
        return _one(scenario, service, jobs, calm, console)


def _one(
    scenario: Scenario, service: Trial, jobs: int, calm: dict[int, Json], console: Console
) -> Outcome:
    console.print(f"{scenario.number}: {scenario.claim} …")
    outcome = run(scenario, service, jobs, calm)
    said = "holds" if outcome.holds else "[bold red]DOES NOT HOLD[/bold red]"
    console.print(f"   {said} after {outcome.seconds:.0f} s: {outcome.findings}")
    console.print(f"   others' p95, ms: {outcome.others}")
    for seen in filter(None, (outcome.seen, *outcome.broken)):
        console.print(f"   {seen}")
    return outcome


def _row(scenario: Scenario, outcome: Outcome | None) -> str:
    if outcome is None:
        why = scenario.skipped or "it broke off"
        return f"| {scenario.number} | {scenario.claim} | not run: {why} ||||||||"
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
        outcome.others,
        f"{outcome.seconds:.0f}",
    ]
    return "| " + " | ".join(map(str, cells)) + " |"


def _write(page: Path, rows: dict[str, str], jobs: int) -> None:
    """The table with these rows; those of scenarios that were not chosen now stay as they are."""
    head = [
        BEGIN,
        "| # | fault | accepted | succeeded | failed | cancelled | lost | ended twice | same results | others' p95, ms: alone → beside | seconds | measured with |",  # noqa: E501
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    before, _, rest = page.read_text("utf-8").partition(BEGIN)
    table, _, after = rest.partition(END)
    stands = {line.split("|")[1].strip(): line for line in table.splitlines() if line[:1] == "|"}
    about = ", ".join(f"{key} {value}" for key, value in environment(jobs=jobs).items())
    found = {number: f"{row} {about} |" for number, row in rows.items()}
    all_rows = [(stands | found).get(one.number, "") for one in (CALM, *SCENARIOS)]
    text = "\n".join([*head, *filter(None, all_rows), "", END])
    page.write_text(before + text + after, "utf-8")


if __name__ == "__main__":
    sys.exit(main())
