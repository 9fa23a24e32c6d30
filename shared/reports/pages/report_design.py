"""The charts of a metric's batch report, as data: counts, values and intervals. A metric's `design`
in `page.py` creates them from the stored report. The report may be from another version of the
service, so missing fields are left out."""

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
AT_ONCE = 4  # of many charts of a kind, which would be too heavy for a page
Bounds = tuple[float, float]
Pair = tuple[str, str]  # a filter of the results table, and its value
GOOD, NEUTRAL, BAD, NONE = "holds_up", "neutral", "problem_found", "not_tested"  # colours
NO_FILTERS: Mapping[str, Pair] = MappingProxyType({})
UNIT: Bounds = (0.0, 1.0)
Record = Mapping[str, Any]


@dataclass(frozen=True)
class CountBars:
    """A bar chart of counts of one kind."""

    title: str
    bars: Sequence[tuple[str, int]]  # (name, count), most frequent first or in their own order
    note: str = ""
    other: int = 0  # count of bars not shown
    filters: Mapping[str, Pair] = field(default_factory=dict)  # bar → filter of its lines
    within: Sequence[Pair] = ()  # filters of the results that the chart is about
    stacked: bool = False  # shares of one whole
    tones: Mapping[str, str] = field(default_factory=dict)  # bar → verdict, for its colour
    number: int | None = None  # among many of a kind, of which a page draws `AT_ONCE`

    @property
    def most(self) -> int:
        return max((count for _, count in self.bars), default=0) or 1

    @property
    def whole(self) -> int:
        return sum(count for _, count in self.bars) + self.other

    @property
    def segments(self) -> list[tuple[str, int, float, float]]:
        """Return (name, count, start, share of the whole) of each segment, side by side."""
        segments, start = [], 0
        for name, count in self.bars:
            segments.append((name, count, start / self.whole, count / self.whole))
            start += count
        return segments

    @property
    def is_empty(self) -> bool:
        return not self.bars


@dataclass(frozen=True)
class HistogramBin:
    low: str
    high: str
    count: int
    range: tuple[float, float]  # borders for a filter


@dataclass(frozen=True)
class HistogramBars:
    """A histogram with equal bins."""

    title: str
    counts: Sequence[int]
    bounds: Bounds
    unit: str
    mark: tuple[float, str] | None = None  # a value with a line, and its name
    expected: float | None = None  # height of every bin by chance
    part: str = ""  # number of a result, for filters of its lines
    note: str = ""
    number: int | None = None  # as in `CountBars`

    @property
    def bins(self) -> list[HistogramBin]:
        edges = bin_edges(*self.bounds, len(self.counts))
        return [
            HistogramBin(significant(low), significant(high), count, (low, high))
            for (low, high), count in zip(pairwise(edges), self.counts, strict=True)
        ]

    @property
    def most(self) -> float:
        return max(max(self.counts), self.expected or 0) or 1

    @property
    def mark_place(self) -> float | None:
        """Return where the marked value lies on the axis, in [0, 1], or None."""
        if self.mark is None:
            return None
        low, high = self.bounds
        return (self.mark[0] - low) / (high - low)

    @property
    def summary(self) -> str:
        fullest = max(self.bins, key=lambda item: item.count)
        text = f"{sum(self.counts):,} {self.unit}. The tallest bar has {fullest.count:,}, with "
        text += f"values from {fullest.low} to {fullest.high}."
        if self.expected is not None:
            text += f" Chance alone would put {significant(self.expected)} in each bar."
        return text

    @property
    def is_empty(self) -> bool:
        return not sum(self.counts)


@dataclass(frozen=True)
class ForestRow:
    """An estimate with its interval. `level` is the value expected by chance."""

    name: str
    interval: Record
    level: float | None = None
    note: str = ""


@dataclass(frozen=True)
class Forest:
    """Estimates on one scale, one per row (a forest plot)."""

    title: str
    rows: Sequence[ForestRow]
    bounds: Bounds = UNIT
    note: str = ""

    @property
    def is_empty(self) -> bool:
        return not self.rows

    def place(self, value: float | None) -> float | None:
        """Return the position of a value on the scale, [0, 1]."""
        if value is None:
            return None
        low, high = self.bounds
        return min(max((value - low) / (high - low), 0.0), 1.0)


Block = CountBars | HistogramBars | Forest


def count_bars(
    title: str, counts: Record, note: str = "", filters: Mapping[str, Pair] = NO_FILTERS
) -> CountBars:
    ordered = sorted(_counts(counts), key=lambda row: (-row[1], row[0]))
    other = sum(count for _, count in ordered[MOST_BARS:])
    return CountBars(title, ordered[:MOST_BARS], note, other, filters)


def stacked_bar(
    title: str,
    counts: Record,
    note: str = "",
    filters: Mapping[str, Pair] = NO_FILTERS,
    **fields: Any,
) -> CountBars:
    """Return a stacked bar that shows counts as shares of one whole, in the given order."""
    return CountBars(title, _counts(counts), note, filters=filters, stacked=True, **fields)


def histogram_bars(title: str, histogram: Record, unit: str, **fields: Any) -> HistogramBars:
    """Return the bars of a report's histogram, or an empty chart if the histogram is invalid."""
    counts, bounds = histogram.get("counts"), (histogram.get("low"), histogram.get("high"))
    is_valid = isinstance(counts, list) and all(isinstance(count, int) for count in counts)
    low, high = (float(end) if isinstance(end, int | float) else None for end in bounds)
    if not is_valid or low is None or high is None or low >= high:
        return HistogramBars(title, (0,), UNIT, unit)
    return HistogramBars(title, counts or (0,), (low, high), unit, **fields)


def _counts(counts: Record) -> list[tuple[str, int]]:
    return [(str(name), n) for name, n in counts.items() if isinstance(n, int) and n]


def forest(
    title: str, means: Record, *, bounds: Bounds = UNIT, level: float | None = None, note: str = ""
) -> Forest:
    rows = [ForestRow(str(name), mean, level) for name, mean in means.items() if is_shown(mean)]
    return Forest(title, rows, bounds, note)


def facet_filters(facet: str, words: Mapping[str, str]) -> dict[str, Pair]:
    """Return one table filter per bar of a chart. Each filter selects the results with a value of
    `words` in the property `facet`."""
    return {name: ("facet", f"{facet}={word}") for name, word in words.items()}


def is_shown(interval: Any) -> bool:
    return is_interval(interval) and interval["value"] is not None


def point(value: Any) -> Record:
    number = float(value) if isinstance(value, int | float) else None
    return {"value": number, "low": None, "high": None, "of": 0}


def record(report: Record, name: str) -> Record:
    value = report.get(name)
    return value if isinstance(value, Mapping) else {}


def records(report: Record, name: str) -> list[Any]:
    value = report.get(name)
    return [row for row in value if isinstance(row, Mapping)] if isinstance(value, list) else []


def integer(report: Record, name: str) -> int:
    value = report.get(name)
    return value if isinstance(value, int) else 0
