"""Measures how well `sor` reads statements that we wrote: `python -m bench.sor_statements`.

Prints a row for each file: the number of items that its texts state, the share of these that was
found (recall) and missed, and the share of found items that is false (1 - precision). For whole
statements it also prints the AUC of good statements against the others.

With `--commit C`, the code of that commit in the repository's history reads them.
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

from services.sor.metric import FEWEST_WORDS
from services.sor.report import ITEMS
from services.sor.words import words
from shared.statistics.agreement import roc_auc

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "tests" / "sor"
OTHER_AUTHORS = ROOT / "training" / "reader" / "test"  # who knew nothing of rules or reader
FILES = {
    **{file.stem: file for file in sorted(FOLDER.glob("*.jsonl"))},
    "sentences_en": OTHER_AUTHORS / "en_readings.jsonl",
    "sentences_de": OTHER_AUTHORS / "de.jsonl",
}
MEASURE = frozenset(("restriction", "territorial_scope", "duration"))
POSTS = {"en": "Cats can fly.", "de": "Katzen können fliegen."}  # beside a single sentence

# Runs with the code of any commit, in a process of its own.
SCORE = """
import json, sys
from pathlib import Path
from services.sor.contract import SorRequest
from services.sor.metric import SERVICE
from services.worker import local
from shared.models.catalogue.catalogue import load_catalogue
from shared.models.ports import bind
bind(local(load_catalogue(Path("models.toml"))))
requests = [SorRequest.model_validate(json.loads(line)) for line in sys.stdin]
parts = {"score", "items", "missing", "routes"}
reports = [one.model_dump(mode="json", include=parts) for one in SERVICE.score_batch(requests)]
print(json.dumps(reports))  # the last line: the log comes first
"""

Row = dict[str, Any]


@dataclass(frozen=True)
class Items:
    """Counts of the items of a file: `right` were stated and found, `missed` only stated, and
    `false` only found."""

    name: str
    right: int
    missed: int
    false: int
    auc: float | None = None

    @property
    def precision(self) -> float:
        return self.right / max(1, self.right + self.false)

    @property
    def recall(self) -> float:
        return self.right / max(1, self.right + self.missed)

    def line(self) -> str:
        stated = self.right + self.missed
        shares = (self.recall, 1 - self.recall, 1 - self.precision)
        auc = "" if self.auc is None else f"{self.auc:.2f}"
        cells = [self.name, str(stated), *(f"{share:.3f}" for share in shares), auc]
        return f"| {' | '.join(cells)} |"


def rows_of(name: str) -> list[Row]:
    """Return the rows of a file whose statements are long enough."""
    rows = [json.loads(line) for line in FILES[name].read_text("utf-8").splitlines()]
    if FILES[name].parent == FOLDER:
        return rows
    return [row for row in rows if row["kind"] == "sor" and len(words(row["text"])) >= FEWEST_WORDS]


def request_of(row: Row) -> Row:
    if "missing" in row:
        return {"text": row["text"], "statement": row["statement"]}
    said = row.get("sentence") or row["text"]
    language = row["language"]
    return {"text": POSTS[language], "statement": said, "language": language}


def count(name: str, rows: Sequence[Row], found: Sequence[Row]) -> Items:
    """Return the counts. `found` holds the report on each row, as JSON."""
    right = missed = false = 0
    for row, own in zip(rows, found, strict=True):
        if row.get("kind") == "boilerplate":  # what it states is not labelled
            continue
        stated, read = _labels(row, own)
        right += len(stated & read)
        missed += len(stated - read)
        false += len(read - stated)
    return Items(name, right, missed, false, _auc(rows, found))


def _labels(row: Row, found: Row) -> tuple[set[str], set[str]]:
    """Return the stated and the found items of a row, limited to items that people labelled."""
    every: set[str] = set(ITEMS)
    read = {item["name"] for item in found["items"]} - set(found["missing"])
    if "missing" in row:
        return every - {*row["missing"]}, read
    if "says" in row:
        return set() if row["says"] == "reported" else set(MEASURE), read & MEASURE
    return set(row["labels"]) - {"facts"}, read - {"facts", "redress"} | set(found["routes"])


def _auc(rows: Sequence[Row], found: Sequence[Row]) -> float | None:
    scores = [
        (own["score"], row["kind"] == "good")
        for row, own in zip(rows, found, strict=True)
        if "missing" in row
    ]
    return roc_auc(np.array(scores, np.float64)) if scores else None


def score(bodies: Sequence[Row], folder: Path) -> list[Row]:
    """Score requests by the code of this folder in a separate process."""
    run = subprocess.run(  # noqa: S603
        [sys.executable, "-c", SCORE],
        input="\n".join(map(json.dumps, bodies)), cwd=folder,
        env=os.environ | {"PYTHONPATH": str(folder)},
        stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    reports: list[Row] = json.loads(run.stdout.splitlines()[-1])
    return reports


def measure(folder: Path = ROOT) -> Iterator[Items]:
    """Yield the items of every file, read by the code of this folder."""
    rows = {name: rows_of(name) for name in FILES}
    found = iter(score([request_of(row) for own in rows.values() for row in own], folder))
    for name, own in rows.items():
        yield count(name, own, [next(found) for _ in own])


def measure_commit(commit: str) -> list[Items]:
    """Measure the code of a commit. Raises SystemExit if the history lacks it."""
    packed = subprocess.run(  # noqa: S603
        ["git", "archive", commit, "services", "shared", "models.toml"],  # noqa: S607
        cwd=ROOT, stdout=subprocess.PIPE, check=False,
    )  # fmt: skip
    if packed.returncode:
        sys.exit(f"{commit} is not in the history of this copy: fetch all of it")
    with TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
            archive.extractall(folder, filter="data")
        return list(measure(Path(folder)))


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--commit", help="read by the code of this commit")
    commit = parser.parse_args(arguments).commit
    lines = [
        "| file | items | right | missed | false | AUC |",
        "|---|---|---|---|---|---|",
        *(one.line() for one in (measure_commit(commit) if commit else measure())),
    ]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
