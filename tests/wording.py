"""Sentences that a parser must read, in JSONL files: one test per file, with a floor and a ceiling.

A row has what the parser is given and `expected`. The sentences are ours and mild.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

Row = dict[str, Any]
SHOWN = 10


def load(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def check(
    rows: Sequence[Row], read: Callable[[Row], Any], *, floor: float, inverted: float = 0
) -> None:
    """Compare what `read` returns with `expected` of each row.

    `floor` is the least share of rows that are read right. `inverted` is the greatest share of
    rows where the opposite was read: another label, or something where nothing is expected. A
    verdict that was missed (None, False, an empty list) is no inversion, nor is one where
    `expected` is None.
    """
    check_pairs(((row, row["expected"], read(row)) for row in rows), floor, inverted)


def check_pairs(
    readings: Iterable[tuple[Any, Any, Any]], floor: float, inverted: float = 0
) -> None:
    """As `check`, for triples of a row, what is expected of it, and what was read."""
    count, misses, opposite = 0, [], 0
    for row, expected, found in readings:
        count += 1
        if found != expected:
            opposite += bool(found) and expected is not None
            misses.append(f"expected {expected!r}, read {found!r}: {row}")
    right = 1 - len(misses) / count
    figures = f"{right:.4f} right of {count}, {opposite} inverted"
    assert right >= floor, "\n".join([f"{figures}, floor {floor}", *misses[:SHOWN]])
    assert opposite <= inverted * count, "\n".join([figures, *misses[:SHOWN]])
