"""What the tests of a whole run have met: every success of every operation, every kind of problem.

Each process of a run writes what it met into the folder that `ANSWERS_MET` names, so that it adds
up over workers and phases; `python -m tests.answers_met FOLDER`, which `make met` is, says what is
missing. A run of some tests names no folder and is asked for nothing.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from cli.generators.reference import errors
from tests.answers import MET, PROBLEMS, description

VARIABLE = "ANSWERS_MET"
# problems that no client of the API meets in an ordinary run, each with its reason
UNSEEN = {
    "job-stopped": "it ends a computation whose result nobody waits for any more",
    "not-http": "read as bytes from a socket, not by a client (test_strangers.py)",
    "request-header-fields-too-large": "likewise",
    "http": "the client that it is meant for has hung up",
    "request-timeout": "as bytes from a socket, by a client that is too slow (test_strangers.py)",
    "busy": "likewise, by more connections than are taken on at a time",
    "spool-full": "two uploads would have to race for the last bytes (test_quotas.py)",
}


def write() -> None:
    """What this process has met, where somebody wants to know."""
    folder = os.environ.get(VARIABLE)
    if folder and (MET or PROBLEMS):
        Path(folder).mkdir(parents=True, exist_ok=True)
        found = {"answers": sorted(MET), "problems": sorted(PROBLEMS)}
        Path(folder, f"{os.getpid()}.json").write_text(json.dumps(found), "utf-8")


def successes() -> set[tuple[str, str]]:
    """Every operation of the description with each of its 2xx statuses."""
    return {
        (operation["operationId"], status)
        for methods in description()["paths"].values()
        for operation in methods.values()
        for status in operation["responses"]
        if status.startswith("2")
    }


def missing(folder: Path) -> list[str]:
    """A line for each answer that no process has met."""
    found = [json.loads(file.read_text("utf-8")) for file in sorted(folder.glob("*.json"))]
    answers = {(name, status) for one in found for name, status in one["answers"]}
    problems = {slug for one in found for slug in one["problems"]}
    return [
        *(f"no test met {name} {status}" for name, status in sorted(successes() - answers)),
        *(f"no test met the problem {slug}" for slug in sorted(unseen(problems))),
    ]


def unseen(problems: set[str]) -> set[str]:
    """Slugs that a client could have met and none did."""
    return errors().keys() - problems - UNSEEN.keys()


def main(folder: str) -> int:
    """1: something is missing."""
    lines = missing(Path(folder))
    sys.stderr.write("".join(f"{line}\n" for line in lines))
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
