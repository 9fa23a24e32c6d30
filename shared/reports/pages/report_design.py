"""What a metric's batch report shows first: charts of counts, of values and of intervals, as data.

A metric's `page.py` makes them in its `design`, out of the stored report, which may be of another
version of the service: what is not there is left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from types import MappingProxyType
from typing import Any

from shared.contracts.reports import bin_edges
from shared.reports.pages.page_text import significant
from shared.reports.pages.report_summary import is_interval

MOST_BARS = 15
AT_ONCE = 4  # of many of a kind, whose charts would be too heavy for a page together
Bounds = tuple[float, float]
Pair = tuple[str, str]  # a filter of the results table, and its value
GOOD, NEUTRAL, BAD, NONE = "holds_up", "neutral", "problem_found", "not_tested"  # colours
NO_FILTERS: Mapping[str, Pair] = MappingProxyType({})
UNIT: Bounds = (0.0, 1.0)
Record = Mapping[str, Any]


@dataclass(frozen=True)
class CountBars:
    """Counts of one kind. bars: (name, count), the most frequent first, or in their own order.
    other: of those not shown. filters: name of a bar → what an address says of its lines, and
    within: of the results that the chart is about, where these are not all.
    stacked: whether they are shares of one whole, which one bar shows besides. tones: name of a bar
    → the verdict in whose colour it stands, where one is good or bad. number: of what it is about,
    among many of a kind, of which a page draws `AT_ONCE`."""

    title: str
    bars: Sequence[tuple[str, int]]
    note: str = ""
    other: int = 0
    filters: Mapping[str, Pair] = field(default_factory=dict)
    within: Sequence[Pair] = ()
    stacked: bool = False
    tones: Mapping[str, str] = field(default_factory=dict)
    number: int | None = None

    @property
    def most(self) -> int:
        return max((count for _, count in self.bars), default=0) or 1

    @property
    def whole(self) -> int:
        return sum(count for _, count in self.bars) + self.other

    @property
    def segments(self) -> list[tuple[str, int, float, float]]:
        """(name, count, where it begins, its share of the whole), side by side."""
        found, start = [], 0
        for name, count in self.bars:
            found.append((name, count, start / self.whole, count / self.whole))
            start += count
        return found

    @property
    def is_empty(self) -> bool:
        return not self.bars


@dataclass(frozen=True)
class HistogramBin:
    """low, high: its borders, as words. range: the borders that an address filters by."""

    low: str
    high: str
    count: int
    range: tuple[float, float]


@dataclass(frozen=True)
class HistogramBars:
    """Values in equal bins. unit: what lies in a bin. mark: a value with a line of its own, and
    what it is. expected: the height of every bin if all were chance. part: the number of a result
    that an address filters its lines by. number: as of `CountBars`."""

    title: str
    counts: Sequence[int]
    bounds: Bounds
    unit: str
    mark: tuple[float, str] | None = None
    expected: float | None = None
    part: str = ""
    note: str = ""
    number: int | None = None

    @property
    def bins(self) -> list[HistogramBin]:
        edges = bin_edges(*self.bounds, len(self.counts))
        return [
            HistogramBin(significant(low), significant(high), count, (low, high))
            for (low, high), count in zip(pairwise(edges), self.counts, strict=True)
        ]

    @property
    def most(self) -> float:
        """The height of the chart."""
        return max(max(self.counts), self.expected or 0) or 1

    @property
    def mark_place(self) -> float | None:
        """Where the mark lies, [0, 1]."""
        if self.mark is None:
            return None
        low, high = self.bounds
        return (self.mark[0] - low) / (high - low)

    @property
    def summary(self) -> str:
        """The chart in words."""
        fullest = max(self.bins, key=lambda one: one.count)
        said = f"{sum(self.counts):,} {self.unit}; most, {fullest.count:,}, from {fullest.low} to "
        said += f"{fullest.high}."
        if self.expected is not None:
            said += f" Chance alone would put {significant(self.expected)} in each bar."
        return said

    @property
    def is_empty(self) -> bool:
        return not sum(self.counts)


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

    @property
    def is_empty(self) -> bool:
        return not self.rows

    def place(self, value: float | None) -> float | None:
        """Where a value lies on the scale, [0, 1]."""
        if value is None:
            return None
        low, high = self.bounds
        return min(max((value - low) / (high - low), 0.0), 1.0)


Block = CountBars | HistogramBars | Forest


def count_bars(
    title: str, counted: Record, note: str = "", filters: Mapping[str, Pair] = NO_FILTERS
) -> CountBars:
    counts = _counts(counted)
    ordered = sorted((one for one in counts if one[1]), key=lambda one: (-one[1], one[0]))
    left = sum(count for _, count in ordered[MOST_BARS:])
    return CountBars(title, ordered[:MOST_BARS], note, left, filters)


def stacked_bar(
    title: str,
    counted: Record,
    note: str = "",
    filters: Mapping[str, Pair] = NO_FILTERS,
    **more: Any,
) -> CountBars:
    """Shares of one whole, in their own order. more: the other fields."""
    counts = [one for one in _counts(counted) if one[1]]
    return CountBars(title, counts, note, filters=filters, stacked=True, **more)


def histogram_bars(title: str, found: Record, unit: str, **more: Any) -> HistogramBars:
    """Of a report's histogram; without bars where it has none. more: the other fields."""
    counts, bounds = found.get("counts"), (found.get("low"), found.get("high"))
    told = isinstance(counts, list) and all(isinstance(one, int) for one in counts)
    low, high = (float(one) if isinstance(one, int | float) else None for one in bounds)
    if not told or low is None or high is None or low >= high:
        return HistogramBars(title, (0,), UNIT, unit)
    return HistogramBars(title, counts or (0,), (low, high), unit, **more)


def _counts(counted: Record) -> list[tuple[str, int]]:
    return [(str(name), count) for name, count in counted.items() if isinstance(count, int)]


def forest(
    title: str, found: Record, *, bounds: Bounds = UNIT, level: float | None = None, note: str = ""
) -> Forest:
    rows = [ForestRow(str(name), one, level) for name, one in found.items() if is_shown(one)]
    return Forest(title, rows, bounds, note)


def facet_filters(facet: str, words: Mapping[str, str]) -> dict[str, Pair]:
    """Of bars whose results have a word. words: name of a bar → word of this facet."""
    return {name: ("facet", f"{facet}={word}") for name, word in words.items()}


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
