"""Scores by hour, metric, version, model and variant. These numbers are kept longer than the jobs.

A score belongs to the hour in which its job ended. A request that was changed on a page and scored
again is an experiment, so it is counted separately. A score is counted when its row of
`result_facts` is first written. Later changes of the row do not change the counts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, get_args

from sqlalchemy import ColumnElement, Connection, Row, Select, delete, func, select
from sqlalchemy.dialects.postgresql import aggregate_order_by, insert

from shared.contracts.messages import EDITED, VerdictWord
from shared.contracts.reports import bin_edges
from shared.contracts.service import ReportedContract
from shared.ledger.tables import score_hours

BINS = 20
VERDICTS: tuple[str, ...] = get_args(VerdictWord)
UNBOUNDED = (-2.0, 2.0)  # HLV's range depends on its gain
KEY = ("tenant", "metric", "metric_version", "model", "variant", "hour")
KNOWN_BEFORE = timedelta(days=90)  # a source that was away for longer is new
KEPT_DAYS = 400  # 13 months
NUMBERS = ("results", "undefined", "total", "squares", "edited")
HOURS = score_hours.c
JOB_ID = re.compile("job_[0-9a-f]{32}")


def edges_of(contract: ReportedContract | None) -> list[float]:
    """Return the `BINS` + 1 ascending edges of the bins of a metric's score."""
    low, high = (None if contract is None else contract.score_range) or UNBOUNDED
    return bin_edges(low, high, BINS)


@dataclass
class ScoreSums:
    """Sums over several results. `bins` counts scores in equal bins of the metric's range.
    `verdicts` has one count per verdict in the order of `VERDICTS`. `edited` counts results of
    edited requests, which are not in the other sums."""

    results: int = 0
    undefined: int = 0
    total: float = 0.0
    squares: float = 0.0
    edited: int = 0
    bins: list[int] = field(default_factory=lambda: [0] * BINS)
    verdicts: list[int] = field(default_factory=lambda: [0] * len(VERDICTS))

    @property
    def scored(self) -> int:
        return self.results - self.undefined

    @property
    def mean(self) -> float | None:
        return self.total / self.scored if self.scored else None

    def add(self, other: ScoreSums) -> None:
        self.results += other.results
        self.undefined += other.undefined
        self.total += other.total
        self.squares += other.squares
        self.edited += other.edited
        self.bins = [a + b for a, b in zip(self.bins, other.bins, strict=True)]
        self.verdicts = [a + b for a, b in zip(self.verdicts, other.verdicts, strict=True)]

    def see(self, score: float | None, verdict: str | None, edges: Sequence[float]) -> None:
        self.results += 1
        if verdict in VERDICTS:
            self.verdicts[VERDICTS.index(verdict)] += 1
        if score is None:
            self.undefined += 1
            return
        low, high = edges[0], edges[-1]
        position = int((score - low) / (high - low) * BINS)
        self.bins[min(max(position, 0), BINS - 1)] += 1
        self.total += score
        self.squares += score * score


def add_results(
    connection: Connection, rows: Sequence[Mapping[str, Any]], contract: ReportedContract | None
) -> None:
    """Add new rows of `result_facts`, all of one metric, to the hourly sums. Rows without a result
    are not counted."""
    edges = edges_of(contract)
    by_hour: dict[tuple[Any, ...], ScoreSums] = {}
    for row in rows:
        if row["status"] == "succeeded" and row["finished_at"] is not None:
            hour = row["finished_at"].astimezone(UTC).replace(minute=0, second=0, microsecond=0)
            values = (row.get(name) or "" for name in KEY[:-1])
            sums = by_hour.setdefault((*values, hour), ScoreSums())
            if _is_edited(row):
                sums.edited += 1
            else:
                sums.see(row["score"], row["verdict"], edges)
    for key in sorted(by_hour):  # in one order everywhere: two writers do not wait for each other
        _add(connection, dict(zip(KEY, key, strict=True)), by_hour[key])


def _is_edited(row: Mapping[str, Any]) -> bool:
    """Return True for a request that was changed on a page. A caller's own metadata with the same
    key does not count."""
    return JOB_ID.fullmatch((row.get("metadata") or {}).get(EDITED) or "") is not None


def _add(connection: Connection, key: Mapping[str, Any], sums: ScoreSums) -> None:
    statement = insert(score_hours).values(**key, **vars(sums))
    changed: dict[str, Any] = {name: HOURS[name] + statement.excluded[name] for name in NUMBERS}
    changed |= {
        name: _added(HOURS[name], statement.excluded[name]) for name in ("bins", "verdicts")
    }
    connection.execute(statement.on_conflict_do_update(index_elements=KEY, set_=changed))


def _added(old: Any, new: Any) -> Any:
    pair = func.unnest(old, new).table_valued("a", "b", with_ordinality="i").render_derived("pair")
    summed = func.array_agg(aggregate_order_by(pair.c.a + pair.c.b, pair.c.i))
    return select(summed).select_from(pair).scalar_subquery()


@dataclass(frozen=True, order=True)
class ScoreSource:
    metric: str
    model: str
    variant: str
    metric_version: str


def last_hour(connection: Connection, tenant: str, metric: str = "") -> datetime | None:
    """Return the latest hour with a counted result, of one metric or of any, or None."""
    query = select(func.max(HOURS.hour)).where(HOURS.tenant == tenant, HOURS.results > 0)
    if metric:
        query = query.where(HOURS.metric == metric)
    hour: datetime | None = connection.execute(query).scalar_one()
    return hour


def sums_of(
    connection: Connection, tenant: str, since: datetime, until: datetime
) -> dict[ScoreSource, ScoreSums]:
    """Return the sums over the hours [since, until) by metric, version, model and variant."""
    source = [HOURS[name] for name in ScoreSource.__dataclass_fields__]
    rows = connection.execute(_summed(source, tenant, since, until))
    return dict(sorted((ScoreSource(*row[: len(source)]), _read(row)) for row in rows))


def days_of(
    connection: Connection, tenant: str, since: datetime, until: datetime
) -> dict[tuple[str, str], dict[datetime, ScoreSums]]:
    """Return the results of each day by (metric, model), in ascending order of days. They are
    summed over versions and variants."""
    day = func.date_trunc("day", HOURS.hour, "UTC").label("day")
    rows = connection.execute(_summed([HOURS.metric, HOURS.model, day], tenant, since, until))
    by_group: dict[tuple[str, str], dict[datetime, ScoreSums]] = {}
    for row in rows:
        by_group.setdefault((row.metric, row.model), {})[row.day.astimezone(UTC)] = _read(row)
    return {key: dict(sorted(days.items())) for key, days in sorted(by_group.items())}


def _summed(
    by: Sequence[ColumnElement[Any]], tenant: str, since: datetime, until: datetime
) -> Select[Any]:
    """Return a query that sums the hourly rows for each value of `by`. The database computes the
    sums, because five models have 3,600 hourly rows a month, each with 25 counts."""
    numbers = [func.sum(HOURS[name]).label(name) for name in NUMBERS]
    bins = [func.sum(HOURS.bins[number]) for number in range(1, BINS + 1)]
    verdicts = [func.sum(HOURS.verdicts[number]) for number in range(1, len(VERDICTS) + 1)]
    return (
        select(*by, *numbers, *bins, *verdicts)
        .where(HOURS.tenant == tenant, HOURS.hour >= since, HOURS.hour < until)
        .group_by(*by)
    )


def _read(row: Row[Any]) -> ScoreSums:
    counts = [int(count) for count in row[-BINS - len(VERDICTS) :]]
    return ScoreSums(
        int(row.results),
        int(row.undefined),
        row.total,
        row.squares,
        int(row.edited),
        counts[:BINS],
        counts[BINS:],
    )


def delete_before(connection: Connection, days: int = KEPT_DAYS) -> int:
    """Delete hours older than `days`; return the number of rows."""
    old = HOURS.hour < func.now() - timedelta(days=days)
    return connection.execute(delete(score_hours).where(old)).rowcount


def first_days(
    connection: Connection, tenant: str, since: datetime
) -> dict[tuple[str, str], dict[datetime, str]]:
    """Return, for each (metric, model), the days since `since` on which a new version or variant
    first scored. Each day maps to the name of that variant and version."""
    first = func.min(HOURS.hour).label("first")
    key = HOURS.metric, HOURS.model, HOURS.metric_version, HOURS.variant
    rows = connection.execute(
        select(*key, first)
        .where(HOURS.tenant == tenant, HOURS.hour >= since - KNOWN_BEFORE, HOURS.results > 0)
        .group_by(*key)
        .order_by(first)
    ).all()
    by_group: dict[tuple[str, str], dict[datetime, str]] = {}
    met: set[tuple[str, str]] = set()
    for metric, model, version, variant, hour in rows:
        if (metric, model) in met and hour >= since:
            day = hour.astimezone(UTC).replace(hour=0)
            by_group.setdefault((metric, model), {})[day] = f"{variant} {version}".strip()
        met.add((metric, model))
    return by_group
