"""What a metric's batch report shows first: charts of counts and of intervals, as data.

A metric's `page.py` makes them in its `design`, out of the stored report, which may be of another
version of the service: what is not there is left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shared.report_summary import is_interval

MOST_BARS = 15
Bounds = tuple[float, float]
UNIT: Bounds = (0.0, 1.0)
Record = Mapping[str, Any]


@dataclass(frozen=True)
class CountBars:
    """Counts of one kind. bars: (name, count), the most frequent first. other: of those not
    shown."""

    title: str
    bars: Sequence[tuple[str, int]]
    note: str = ""
    other: int = 0

    @property
    def most(self) -> int:
        return max((count for _, count in self.bars), default=0) or 1


@dataclass(frozen=True)
class ForestRow:
    """An estimate. level: what chance, or whoever does not look, has."""

    name: str
    interval: Record
    level: float | None = None
    note: str = ""


@dataclass(frozen=True)
class Forest:
    """Estimates on one scale, a row each."""

    title: str
    rows: Sequence[ForestRow]
    bounds: Bounds = UNIT
    note: str = ""

    def place(self, value: float | None) -> float | None:
        """Where a value lies on the scale, [0, 1]."""
        if value is None:
            return None
        low, high = self.bounds
        return min(max((value - low) / (high - low), 0.0), 1.0)


Block = CountBars | Forest


def count_bars(title: str, counted: Record, note: str = "") -> CountBars:
    counts = [(str(name), count) for name, count in counted.items() if isinstance(count, int)]
    ordered = sorted((one for one in counts if one[1]), key=lambda one: (-one[1], one[0]))
    left = sum(count for _, count in ordered[MOST_BARS:])
    return CountBars(title, ordered[:MOST_BARS], note, left)


def forest(
    title: str, found: Record, *, bounds: Bounds = UNIT, level: float | None = None, note: str = ""
) -> Forest:
    rows = [ForestRow(str(name), one, level) for name, one in found.items() if is_shown(one)]
    return Forest(title, rows, bounds, note)


def is_shown(interval: Any) -> bool:
    return is_interval(interval) and interval["value"] is not None


def point(value: Any) -> Record:
    """A value without an interval."""
    found = float(value) if isinstance(value, int | float) else None
    return {"value": found, "low": None, "high": None, "of": 0}


def record(report: Record, name: str) -> Record:
    """The object in this field; empty where there is none."""
    found = report.get(name)
    return found if isinstance(found, Mapping) else {}


def records(report: Record, name: str) -> list[Any]:
    """The objects in this list; none where there is no list."""
    found = report.get(name)
    return [one for one in found if isinstance(one, Mapping)] if isinstance(found, list) else []


def integer(report: Record, name: str) -> int:
    """The number of this field; 0 where there is none."""
    found = report.get(name)
    return found if isinstance(found, int) else 0
