"""Sentences that report and sentences of the platform, and whole statements: what `sor` finds.

`python -m tests.sor.speech_figures speech_2 unseen_5` prints how many rows of a file are read as
their labels say; with `wrong` also each of the others.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from services.sor.contract import SorRequest
from services.sor.metric import SERVICE

FOLDER = Path(__file__).parent
MEASURE = {"restriction", "territorial_scope", "duration"}


def missing_of(row: dict[str, Any]) -> tuple[set[str], set[str]]:
    """What a row lacks by its label, and what it was found to lack."""
    if "sentence" not in row:
        request = SorRequest(text=row["text"], statement=row["statement"])
        return set(row["missing"]), set(SERVICE.score(request).missing)
    text = "Cats can fly." if row["language"] == "en" else "Katzen können fliegen."
    request = SorRequest(text=text, statement=row["sentence"], language=row["language"])
    lacks = MEASURE if row["says"] == "reported" else set()
    return lacks, MEASURE & set(SERVICE.score(request).missing)


def figures(name: str) -> list[tuple[dict[str, Any], set[str], set[str]]]:
    """Of every row of a file: what it lacks, and what it was found to lack."""
    rows = map(json.loads, (FOLDER / f"{name}.jsonl").read_text("utf-8").splitlines())
    return [(row, *missing_of(row)) for row in rows]


def main(arguments: Sequence[str]) -> None:
    """Prints a line a kind of row."""
    for name in arguments:
        if name == "wrong":
            continue
        counted: dict[str, list[bool]] = {}
        for row, told, found in figures(name):
            kind = f"{row.get('language', '')} {row.get('says') or row['kind']}"
            counted.setdefault(kind.strip(), []).append(told == found)
            if "wrong" in arguments and told != found:
                shown = row.get("sentence") or row["id"]
                sys.stdout.write(f"lacks {sorted(told)}, found {sorted(found)}: {shown}\n")
        for kind, right in counted.items():
            sys.stdout.write(f"{name}, {kind}: {sum(right)} of {len(right)}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
