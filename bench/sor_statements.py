"""What the card of `sor` says of statements of our own writing: `python -m bench.sor_statements`.

Prints a row a set: AUC of good statements against the rest, how often what is missing is named, and
how many good ones have no false alarm. The last line is JSON.

With `--first`, also the first tries: what the rules gave of statements that they were not written
for. Those rules stand in the repository's history, at the commit before they were refined on the
set; they run in a process of their own. The German rules of their first tries are in no commit,
but for the statements that report what their post says, which the rules before met, too.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import subprocess
import sys
import tarfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from bench.environment import environment
from shared.statistics.agreement import roc_auc

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "tests" / "sor"
ENGLISH = {  # file → commit whose rules had not seen it
    "statements": "d53f1c25",
    "unseen_1": "7a4093c2",
    "unseen_2": "ca02c668",
    "unseen_3": "39f05136",
    "unseen_4": "ef8cdb66",
    "reported": "bdc2bcc4",
}
GERMAN = ("german", "german_unseen", "german_unseen_2", "german_reported")
FIRST = ENGLISH | {"german_reported": "bdc2bcc4"}
BEFORE = "00fb65d0"  # of reports nothing was known
REPORTED = ("reported", "german_reported")
WHEN_OLD = """
import json, sys
from services.sor.contract import SorRequest
from services.sor.metric import SERVICE
rows = [json.loads(line) for line in sys.stdin]
asked = [SorRequest(text=row["text"], statement=row["statement"]) for row in rows]
for row, found in zip(rows, SERVICE.score_batch(asked), strict=True):
    print(json.dumps({**row, "score": found.score, "found": list(found.missing)}))
"""

Row = dict[str, Any]


@dataclass(frozen=True)
class Tally:
    """A row of the card. auc: good ones against the rest."""

    name: str
    auc: float
    named: tuple[int, int]  # of those that lack something
    quiet: tuple[int, int]  # good ones without a false alarm
    kinds: tuple[int, int, int]

    def line(self) -> str:
        """Of a Markdown table."""
        counted = f"{sum(self.kinds)} ({', '.join(map(str, self.kinds))})"
        shares = (f"{some} of {of}" for some, of in (self.named, self.quiet))
        return f"| {self.name}: {counted} | {self.auc:.2f} | {' | '.join(shares)} |"


def tally(name: str, rows: Sequence[Row]) -> Tally:
    """rows: a statement each, with its score, what it lacks and what was found missing."""
    by_kind = {
        kind: [row for row in rows if row["kind"] == kind]
        for kind in ("good", "boilerplate", "missing")
    }
    good, boilerplate, lacking = by_kind.values()
    ours, others = ([row["score"] for row in some] for some in (good, boilerplate + lacking))
    named = sum(set(row["missing"]) <= set(row["found"]) for row in lacking)
    return Tally(
        name,
        roc_auc(np.array([(one, 1) for one in ours] + [(one, 0) for one in others], np.float64)),
        (named, len(lacking)),
        (sum(not row["found"] for row in good), len(good)),
        (len(good), len(boilerplate), len(lacking)),
    )


def scored(names: Sequence[str], folder: Path) -> list[Row]:
    """By the rules of this folder, in a process of its own."""
    lines = "".join((FOLDER / f"{name}.jsonl").read_text("utf-8") for name in names)
    ran = subprocess.run(  # noqa: S603
        [sys.executable, "-c", WHEN_OLD],
        input=lines, cwd=folder, env=os.environ | {"PYTHONPATH": str(folder)},
        stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    return [json.loads(line) for line in ran.stdout.splitlines()]


def first_tries() -> Iterator[Tally]:
    """Raises SystemExit where the history is not there."""
    for name in REPORTED:
        yield tally(f"{name}, before", scored_then(name, BEFORE))
    for name, commit in FIRST.items():
        yield tally(f"{name}, first try", scored_then(name, commit))


def scored_then(name: str, commit: str) -> list[Row]:
    """By the rules of this commit."""
    packed = subprocess.run(  # noqa: S603
        ["git", "archive", commit, "services", "shared"],  # noqa: S607
        cwd=ROOT, stdout=subprocess.PIPE, check=False,
    )  # fmt: skip
    if packed.returncode:
        sys.exit(f"{commit} is not in the history of this copy: fetch all of it")
    with TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
            archive.extractall(folder, filter="data")
        return scored([name], Path(folder))


def now() -> Iterator[Tally]:
    """The rules as they are."""
    for title, names in (("English", tuple(ENGLISH)), ("German", GERMAN)):
        for name in names:
            yield tally(name, scored([name], ROOT))
        yield tally(f"all, {title}", scored(names, ROOT))


def main(arguments: Sequence[str]) -> None:
    """Prints a table, then JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", action="store_true", help="the first tries, too")
    asked = parser.parse_args(arguments)
    found = [*(first_tries() if asked.first else ()), *now()]
    lines = [
        "| statements: all (good, boilerplate, missing) | AUC | missing item named | no alarm |",
        "|---|---|---|---|",
        *(one.line() for one in found),
    ]
    sys.stdout.write("\n".join(lines) + "\n")
    figures = {one.name: {"auc": one.auc, "named": one.named, "quiet": one.quiet} for one in found}
    told = {"bench": "sor_statements", "ratios": {}, "figures": figures}
    sys.stdout.write(json.dumps(told | {"environment": environment()}) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
