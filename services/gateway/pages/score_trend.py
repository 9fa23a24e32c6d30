"""A chart of scores over time, with one line per metric and model. It shows daily means with
intervals, and the share without a score. New versions, variants and models are marked."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import NormalDist

from sqlalchemy import Connection

from services.gateway.pages.drift import LEVEL, DriftRow, drift_rows, variance
from services.registry import metrics
from shared.ledger import score_hours
from shared.ledger.score_hours import ScoreSums, edges_of
from shared.reports.pages.page_text import percent

MOST_LINES = 12
MUCH, ENOUGH = 0.3, 50  # an undefined share that needs eyes, and of how many results
WIDTH, HEIGHT = 600.0, 90.0


@dataclass(frozen=True)
class TrendDay:
    """A day with results. `x`, `y`, `low` and `high` are coordinates in the chart from its upper
    left corner. They are None without a mean or interval."""

    day: datetime
    x: float
    sums: ScoreSums
    y: float | None
    low: float | None
    high: float | None

    @property
    def undefined(self) -> float:
        return self.sums.undefined / self.sums.results


@dataclass(frozen=True)
class TrendLine:
    """The line of one metric and model in the chart. `width` is the width of a day."""

    metric: str
    model: str
    days: Sequence[TrendDay]
    marks: Sequence[tuple[float, str]]
    width: float
    low: float
    high: float

    @property
    def line(self) -> str:
        """The points of the trend line in the syntax of an SVG polyline."""
        return " ".join(f"{day.x:.1f},{day.y:.1f}" for day in self.days if day.y is not None)

    @property
    def band(self) -> str:
        """The outline of the interval around the line, for SVG."""
        known = [day for day in self.days if day.low is not None and day.high is not None]
        upper = [f"{day.x:.1f},{day.high:.1f}" for day in known]
        return " ".join(upper + [f"{day.x:.1f},{day.low:.1f}" for day in reversed(known)])


@dataclass(frozen=True)
class ScoreTrend:
    """The chart of scores on the start page. `eyes` holds its warnings as (subject, sentence).
    Results of edited requests are left out; `edited` is the number of these results."""

    days: int
    lines: Sequence[TrendLine]
    eyes: Sequence[tuple[str, str]]
    edited: int = 0


def trend_of(connection: Connection, tenant: str, days: int, now: datetime) -> ScoreTrend:
    """Return the chart of the last `days` days. Its warnings compare the last day with the 28 days
    before."""
    until = now.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)
    first = until.replace(hour=0) - timedelta(days=days - 1)
    hours = score_hours.days_of(connection, tenant, first, until)
    edited = sum(sums.edited for own in hours.values() for sums in own.values())
    by_key = {
        key: of_day
        for key, days_of in hours.items()
        if (of_day := {day: sums for day, sums in days_of.items() if sums.results})
    }
    begins = score_hours.first_days(connection, tenant, first)
    lines = [_line(key, own, first, days, begins) for key, own in list(by_key.items())[:MOST_LINES]]
    since = until - timedelta(days=1)
    earlier = score_hours.sums_of(connection, tenant, since - timedelta(days=28), since)
    later = score_hours.sums_of(connection, tenant, since, until)
    return ScoreTrend(days, lines, list(_warnings(drift_rows(earlier, later))), edited)


def _line(
    key: tuple[str, str],
    sums_of: Mapping[datetime, ScoreSums],
    first: datetime,
    days: int,
    begins: Mapping[tuple[str, str], Mapping[datetime, str]],
) -> TrendLine:
    edges, width = edges_of(metrics().get(key[0])), WIDTH / days
    low, high = edges[0], edges[-1]
    marks = [
        ((day - first).days * width + width / 2, what) for day, what in begins.get(key, {}).items()
    ]
    shown = [_day(day, sums, first, width, (low, high)) for day, sums in sums_of.items()]
    return TrendLine(*key, shown, marks, width, low, high)


def _day(
    day: datetime, sums: ScoreSums, first: datetime, width: float, bounds: tuple[float, float]
) -> TrendDay:
    x = (day - first).days * width + width / 2
    mean = sums.mean
    if mean is None:
        return TrendDay(day, x, sums, None, None, None)
    low, high = bounds

    def y_position(value: float) -> float:
        return HEIGHT * (1 - min(max((value - low) / (high - low), 0.0), 1.0))

    if sums.scored < 2:
        return TrendDay(day, x, sums, y_position(mean), None, None)
    reach = NormalDist().inv_cdf((1 + LEVEL) / 2) * math.sqrt(variance(sums) / sums.scored)
    return TrendDay(day, x, sums, *map(y_position, (mean, mean - reach, mean + reach)))


def _warnings(rows: Sequence[DriftRow]) -> Iterator[tuple[str, str]]:
    """Yield a (subject, sentence) tuple for each warning."""
    for row in rows:
        later = row.found.later
        what = f"{row.metric} {row.model}".strip()
        if later.results > ENOUGH and later.undefined > MUCH * later.results:
            share = later.undefined / later.results
            share_words = f"{percent(share)} of {later.results:,} results of the last day"
            yield what, f"{share_words} have no score."
        elif row.found.has_shift:
            yield what, row.sentence
