"""What an adapter learns from: a text or a pair of texts, its label, and what it belongs to."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Example:
    """One labelled text, or pair of texts. The last two are of HateCheck only."""

    id: str
    text: str
    label: int  # column of the true label
    target: tuple[float, ...]  # training target, the probability of each label
    text_pair: str | None = None  # what the model reads as its second sequence
    source: str = ""  # data set
    original_label: str = ""  # as the data set has it; each is held back in the same share
    family: str | None = None  # examples of one family are never parted
    group: str | None = None  # protected group that the case names
    functionality: str | None = None  # what the case tests


def json_lines(path: Path, columns: set[str], what: str) -> list[dict[str, Any]]:
    """The rows of this file. Raises ValueError where it has not these columns."""
    rows: list[dict[str, Any]] = [
        json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()
    ]
    if not rows or any(not columns <= row.keys() for row in rows):
        raise ValueError(f"{path}: not {what} by its columns")
    return rows


def certain(label: int, labels: int) -> tuple[float, ...]:
    """The target of a label that nobody doubts."""
    return tuple(float(column == label) for column in range(labels))


def wording(text: str) -> str:
    """Letters and digits in lower case: equal for texts that differ in spelling marks only."""
    return re.sub(r"[\W_]+", "", text.lower())
