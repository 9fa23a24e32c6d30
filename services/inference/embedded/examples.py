"""The posts that `embedded-hate` learns from, and what "hateful" means in them.

Sources: HateXplain (Mathew et al., AAAI 2021) and HateCheck (Röttger et al., ACL 2021).
A post is hateful if most of its three annotators called it hate speech: "offensive" is not hateful.
That is HateCheck's line too (abuse of no protected group is not hateful) and HateXScore's, which
asks for the protected group. The training target is the share of annotators who said hate speech.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

NON_HATEFUL, HATEFUL = LABELS = ("non-hateful", "hateful")
FILES = ("hatexplain.jsonl", "hatecheck.jsonl")


@dataclass(frozen=True)
class Example:
    """One labelled text. The last three are of HateCheck only."""

    id: str
    text: str
    source: Literal["hatexplain", "hatecheck"]
    hateful: bool
    target: float  # training target, probability of hateful, [0, 1]
    original_label: str
    family: str | None = None  # template that the case's template was derived from
    group: str | None = None  # protected group that the case names
    functionality: str | None = None  # what the case tests


def read(paths: Iterable[Path]) -> list[Example]:
    """The examples of these JSONL files, told apart by their columns."""
    examples: list[Example] = []
    for path in paths:
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        if rows and "annotator_labels" in rows[0]:
            examples += [_post(row) for row in rows]
        elif rows and "functionality" in rows[0]:
            examples += _cases(rows)
        else:
            raise ValueError(f"{path}: neither HateXplain nor HateCheck by its columns")
    return examples


def _post(row: dict[str, Any]) -> Example:
    votes = row["annotator_labels"]
    return Example(
        id=row["id"],
        text=row["text"],
        source="hatexplain",
        hateful=row["label"] == "hatespeech",
        target=votes.count("hatespeech") / len(votes),
        original_label=row["label"],
    )


def _cases(rows: list[dict[str, Any]]) -> list[Example]:
    by_number = {row["id"].rpartition("-")[2]: row for row in rows}

    def family(row: dict[str, Any]) -> str:
        while row["ref_case_id"]:
            row = by_number[row["ref_case_id"]]
        return str(row["templ_id"])

    return [
        Example(
            id=row["id"],
            text=row["text"],
            source="hatecheck",
            hateful=row["label"] == HATEFUL,
            target=float(row["label"] == HATEFUL),
            original_label=row["label"],
            family=family(row),
            group=row["target_group"],
            functionality=row["functionality"],
        )
        for row in rows
    ]
