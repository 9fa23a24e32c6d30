"""A decision in a table whose head names the key: `| Text | Hateful? |` over `| A post. | No |`.

Of one row below its head, since a second one may be another text's. A table whose rows begin with
their key is read line by line (`structured_answer`). Source: our own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_RULE = re.compile(r"^[\s|:]*-[\s|:-]*$")  # "|---|---|"
_CELL = re.compile(r"[^|\n]+")
MOST_COLUMNS = 20

Cell = tuple[int, int]


def columns(answer: str) -> Iterator[tuple[Cell, Cell]]:
    """Spans of (head, cell) of each table that has one row below its head."""
    lines, place = answer.split("\n"), 0
    starts = [place := (place + len(lines[at - 1]) + 1 if at else 0) for at in range(len(lines))]
    for at in range(len(lines) - 2):
        if not (_is_rule(lines[at + 1]) and "|" in lines[at]) or _is_row(lines, at + 3):
            continue
        heads, cells = (list(_cells(lines[row], starts[row])) for row in (at, at + 2))
        if len(heads) == len(cells) <= MOST_COLUMNS:
            yield from zip(heads, cells, strict=True)


def _is_rule(line: str) -> bool:
    return "|" in line and _RULE.match(line) is not None


def _is_row(lines: list[str], at: int) -> bool:
    return at < len(lines) and "|" in lines[at]


def _cells(line: str, start: int) -> Iterator[Cell]:
    for match in _CELL.finditer(line):
        if match.group().strip():
            yield start + match.start(), start + match.end()
