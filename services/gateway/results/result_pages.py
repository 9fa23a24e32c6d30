"""The results table of a batch: filtering, sorting, counting, and pages. A page begins after the
last row of the previous page (keyset pagination), because OFFSET would be slow for large batches.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sqlalchemy import (
    ARRAY,
    ColumnElement,
    Connection,
    Double,
    Float,
    String,
    Text,
    and_,
    cast,
    false,
    func,
    literal,
    literal_column,
    or_,
    select,
    true,
    type_coerce,
    union_all,
)

from shared.ledger.judgements import SCORE, JudgementFilter, is_judged, opinions_of
from shared.ledger.result_facts import SNIPPET
from shared.ledger.tables import batch_lines, jobs, result_facts

FACTS = result_facts.c
INFINITE = literal_column("'Infinity'::float8", Double)
COUNTED = ("verdict", "status", "decision_sent", "decision_stated", "model", "language", "variant")
UNTESTED = "untested="  # facets of results that could not be tested
ROUTE = "route="
MOST_VALUES = 50  # of a column that are offered as filters
MOST_CELLS = 1_000  # different ones of a metadata key whose values are counted
SEPARATORS = r"\s*[,;|]\s*"  # of several values in one cell of metadata
MOST_SIGNS = 8  # in a pair, which may end its key
FIRST_LINES = 100  # of which one tells what answered

Bounds = tuple[float | None, float | None]


class ResultRow(NamedTuple):
    line: int
    custom_id: str
    job_id: str | None
    status: str
    verdict: str | None
    score: float | None
    chance: float | None
    parts: list[float | None]
    sentence: str
    reasons: list[str]
    snippet: str | None
    language: str | None
    model: str | None
    decision_sent: str | None
    decision_stated: str | None
    metadata: dict[str, str]
    warnings: int
    surprise: int


@dataclass(frozen=True, kw_only=True)
class ResultFilter:
    """A filter for the results of a batch. Empty fields do not filter.

    `equal` maps columns of `COUNTED` to values. `reasons` are problems and `untested` reasons for
    no test, of which a row has one. `facets` are words that a row must all have. `judged` tells if
    people have judged the score, with the values of `judgement` (fields of a JudgementFilter).
    `contains` is a part of the custom id, and `text` a part of the excerpt. `pairs` are values of
    metadata, as `key=value`. `ranges` maps `score`,
    `chance` or another number to its bounds. The upper bound is exclusive unless it equals
    `top`, the greatest possible score."""

    tenant: str
    batch_id: str
    parts: Sequence[str] = ()
    top: float | None = None  # the greatest score there can be
    equal: Mapping[str, str] = field(default_factory=dict)
    reasons: Sequence[str] = ()
    untested: Sequence[str] = ()
    facets: Sequence[str] = ()
    without: Sequence[str] = ()  # words of the result, of which a row has none
    contains: str = ""
    text: str = ""
    pairs: Sequence[str] = ()
    ranges: Mapping[str, Bounds] = field(default_factory=dict)
    lines: Sequence[int] = ()
    judged: bool | None = None
    judgement: Mapping[str, Any] = field(default_factory=dict)

    @property
    def batch_filter(self) -> ResultFilter:
        return ResultFilter(tenant=self.tenant, batch_id=self.batch_id, parts=self.parts)


@dataclass(frozen=True)
class ResultOrder:
    """The sort order of results. `by` is `surprise`, `why` (problem, then verdict), `text`,
    `judged` (people's judgements), a column, a number in the result, or `metadata.<key>`.
    `after` is the sort key of the last row already shown."""

    by: str = "surprise"
    descending: bool = False
    higher_is_better: bool = True
    after: Sequence[str | float | int] = ()


@dataclass(frozen=True)
class SortColumn:
    """An SQL expression to sort by. It is never null: undefined values are replaced so that they
    come last. If `is_private`, its values must not appear in a URL."""

    value: ColumnElement[Any]
    descending: bool = False
    is_text: bool = False
    is_private: bool = False

    def after(self, last: Any) -> ColumnElement[bool]:
        beyond: ColumnElement[bool] = self.value < last if self.descending else self.value > last
        return beyond


class ResultPage(NamedTuple):
    """One page of results. It also has the sort key of its last row if more follow, and the number
    of all rows."""

    rows: list[ResultRow]
    key: list[Any] | None
    of: int


def rows_of(
    connection: Connection, selection: ResultFilter, order: ResultOrder, limit: int
) -> ResultPage:
    """Return one page of results."""
    columns = sort_columns(selection, order)
    keyed = [sort_column for sort_column in columns if not sort_column.is_private]
    shown = select(func.count()).where(*filters(selection)).correlate(None).scalar_subquery()
    query = (
        select(
            shown,
            *(FACTS[name] for name in ResultRow._fields),
            *(sort_column.value for sort_column in keyed),
        )
        .where(*filters(selection))
        .order_by(
            *(
                sort_column.value.desc() if sort_column.descending else sort_column.value
                for sort_column in columns
            )
        )
        .limit(limit + 1)
    )
    if is_later := len(order.after) == len(keyed) and all(  # the key comes from an address
        isinstance(value, str) == column.is_text
        for column, value in zip(keyed, order.after, strict=True)
    ):
        query = query.where(_after_row(columns, _last_values(selection, columns, order.after)))
    width = len(ResultRow._fields) + 1
    records = connection.execute(query).all()
    rows = [ResultRow(*row[1:width]) for row in records[:limit]]
    if not records:
        return ResultPage([], None, count_of(connection, selection) if is_later else 0)
    key = list(records[limit - 1][width:]) if len(records) > limit else None
    return ResultPage(rows, key, records[0][0])


def sort_columns(selection: ResultFilter, order: ResultOrder) -> list[SortColumn]:
    """Return the columns to sort by. The last one is the line number, which makes the order
    unique."""
    line = SortColumn(FACTS.line)
    if order.by == "line":
        return [SortColumn(FACTS.line, order.descending)]
    if order.by == "surprise":
        score = FACTS.score if order.higher_is_better else -FACTS.score
        worst = func.coalesce(score, INFINITE)
        return [SortColumn(FACTS.surprise), SortColumn(worst), line]
    number = _numbers(selection.parts).get(order.by)
    if number is not None:
        signed = -number if order.descending else number
        return [SortColumn(func.coalesce(signed, INFINITE)), line]
    if order.by == "judged":
        of_batch = JudgementFilter(selection.tenant, batch_id=selection.batch_id, about=SCORE)
        opinions = opinions_of(FACTS.job_id, of_batch)
        return [SortColumn(opinions, order.descending), line]
    if order.by == "text":
        return [SortColumn(_word("snippet"), order.descending, is_text=True, is_private=True), line]
    value = _reason() if order.by == "why" else _word(order.by)
    return [SortColumn(value, order.descending, is_text=True), line]


def _reason() -> ColumnElement[Any]:
    """Return an SQL expression for sorting by reason: a row's problem codes, then its verdict
    sentence. The expression contains no text that a caller sent."""
    problems = func.array_to_string(FACTS.reasons, " ")
    return func.concat(problems, " ", FACTS.sentence, type_=Text).collate("C")


def _word(name: str) -> ColumnElement[Any]:
    """Return an expression to sort by: the value in lower case, compared by code point, so that
    `Zebra` follows `apple`. No language-specific order is used, because the embedded PostgreSQL has
    no ICU. Pages of a batch must not depend on the database."""
    key = name.partition(".")[2]
    value = FACTS.metadata[key].astext if name.startswith("metadata.") else FACTS[name]
    return func.lower(func.coalesce(value, ""), type_=Text).collate("C")


def _numbers(parts: Sequence[str]) -> dict[str, ColumnElement[Any]]:
    parts_by_name: dict[str, ColumnElement[Any]] = {
        name: FACTS.parts[number] for number, name in enumerate(parts, 1)
    }
    return parts_by_name | {"score": FACTS.score, "chance": FACTS.chance}


def _last_values(
    selection: ResultFilter, columns: Sequence[SortColumn], key: Sequence[Any]
) -> list[ColumnElement[Any]]:
    """Return the sort values of the last row shown, as SQL expressions. `key` is that row's sort
    key, which ends with the line number."""
    key_values = iter(key)
    values: list[ColumnElement[Any]] = []
    row = (
        FACTS.tenant == selection.tenant,
        FACTS.batch_id == selection.batch_id,
        FACTS.line == key[-1],
    )
    for column in columns:
        if column.is_private:
            current = select(column.value).where(*row).correlate(None).scalar_subquery()
            values.append(func.coalesce(current, ""))  # a row that has gone: from the beginning
        else:
            value = next(key_values)
            values.append(cast(literal(value), Float) if value == math.inf else literal(value))
    return values


def _after_row(
    columns: Sequence[SortColumn], last: Sequence[ColumnElement[Any]]
) -> ColumnElement[bool]:
    """Return the condition that a row comes after the row with the sort values `last`."""
    condition: ColumnElement[bool] = false()
    for column, value in zip(reversed(columns), reversed(last), strict=True):
        condition = or_(column.after(value), and_(column.value == value, condition))
    return condition


def filters(selection: ResultFilter) -> list[ColumnElement[bool]]:
    conditions = [FACTS.tenant == selection.tenant, FACTS.batch_id == selection.batch_id]
    conditions += [
        FACTS[name] == value for name, value in selection.equal.items() if name in COUNTED
    ]
    for column, words in (
        (FACTS.reasons, selection.reasons),
        (FACTS.facets, [f"{UNTESTED}{reason}" for reason in selection.untested]),
    ):
        if words:
            conditions.append(column.op("&&")(literal(words, ARRAY(String))))
    conditions += [literal(facet) == func.any(FACTS.facets) for facet in selection.facets]
    conditions += [literal(facet) != func.all(FACTS.facets) for facet in selection.without]
    for column, sought in ((FACTS.custom_id, selection.contains), (FACTS.snippet, selection.text)):
        if sought:
            conditions.append(func.strpos(func.lower(column), func.lower(literal(sought))) > 0)
    conditions += [or_(false(), *_has_pair(pair)) for pair in selection.pairs]
    for name, bounds in selection.ranges.items():
        conditions += within(_numbers(selection.parts)[name], bounds, selection.top)
    if selection.lines:
        conditions.append(FACTS.line.in_(selection.lines))
    if selection.judged is not None or selection.judgement:
        given = JudgementFilter(
            selection.tenant, batch_id=selection.batch_id, about=SCORE, **selection.judgement
        )
        judged = is_judged(FACTS.job_id, given)
        conditions.append(~judged if selection.judged is False else judged)
    return conditions


def _has_pair(pair: str) -> Iterator[ColumnElement[bool]]:
    """Yield alternative conditions for `key=value`: the metadata cell equals the value, or lists
    it. A key may contain an equals sign, so there are conditions for each possible reading."""
    for key, value in readings_of(pair):
        yield FACTS.metadata.contains({key: value})
        yield literal(value) == func.any(
            func.regexp_split_to_array(FACTS.metadata[key].astext, SEPARATORS)
        )


def readings_of(pair: str) -> list[tuple[str, str]]:
    """Return all ways to split `key=value` into (key, value), shortest key first. Only the value
    may be empty."""
    pieces = pair.split("=")
    ends = range(1, min(len(pieces), MOST_SIGNS + 1))
    return [(key, "=".join(pieces[end:])) for end in ends if (key := "=".join(pieces[:end]))]


def within(
    value: ColumnElement[Any], bounds: Bounds, top: float | None
) -> list[ColumnElement[bool]]:
    """Return the SQL conditions for a value within `bounds`. The lower bound is inclusive. The
    upper bound is exclusive, unless it equals `top`, the highest possible value."""
    low, high = bounds
    conditions: list[ColumnElement[bool]] = [] if low is None else [value >= low]
    if high is not None:
        conditions.append(value <= high if high == top else value < high)
    return conditions


def count_of(connection: Connection, selection: ResultFilter) -> int:
    counted = select(func.count()).where(*filters(selection))
    return int(connection.execute(counted).scalar_one())


def job_ids(connection: Connection, selection: ResultFilter) -> list[str]:
    """Return the jobs with a result, in the order of their first lines."""
    of_result = (FACTS.status == "succeeded", FACTS.job_id.is_not(None))
    query = select(FACTS.job_id).where(*filters(selection), *of_result).group_by(FACTS.job_id)
    return list(connection.execute(query.order_by(func.min(FACTS.line))).scalars())


class CardCounts(NamedTuple):
    """Counts of the filtered results by verdict, by state, by problem, by the reason why checks
    were not done, and by route."""

    verdicts: Mapping[str, int]
    states: Mapping[str, int]
    problems: Mapping[str, int]
    untested: Mapping[str, int]
    routes: Mapping[str, int] = {}


def card_counts(connection: Connection, selection: ResultFilter) -> CardCounts:
    """Count the filtered results, most frequent value first."""
    columns: tuple[ColumnElement[Any], ...] = (
        FACTS.verdict, FACTS.status, func.unnest(FACTS.reasons), func.unnest(FACTS.facets),
    )  # fmt: skip
    each = union_all(
        *(
            select(literal(number).label("kind"), value.label("value")).where(*filters(selection))
            for number, value in enumerate(columns)
        )
    ).subquery("each")
    rows = connection.execute(
        select(each.c.kind, each.c.value, func.count())
        .where(or_(each.c.kind < 3, *(each.c.value.startswith(name) for name in (UNTESTED, ROUTE))))
        .where(each.c.value.is_not(None))
        .group_by(each.c.kind, each.c.value)
        .order_by(func.count().desc(), each.c.value)
    )
    counts: list[dict[str, int]] = [{} for _ in CardCounts._fields]
    for kind, value, count in rows:
        is_route = kind == 3 and value.startswith(ROUTE)
        counts[kind + is_route][value.removeprefix(ROUTE if is_route else UNTESTED)] = count
    return CardCounts(*counts)


@dataclass(frozen=True)
class ResultCounts:
    """Counts of the filtered results. `values` counts rows per column and value, most frequent
    first. `bins` counts rows per bin of the score, lowest first. `numbers` maps the name of each
    number to the count of rows that have the number."""

    rows: int
    scored: int
    values: Mapping[str, Mapping[str, int]]
    bins: Sequence[int]
    card: CardCounts
    numbers: Mapping[str, int] = field(default_factory=dict)


def counts_of(
    connection: Connection, selection: ResultFilter, edges: Sequence[float]
) -> ResultCounts:
    """Count the filtered results. `edges` are the bounds of the score's bins, ascending."""
    inner = type_coerce(literal(list(edges[:-1]), ARRAY(Double)), ARRAY(Double))
    bucket = func.width_bucket(FACTS.score, inner).label("bucket")
    numbers = _numbers(selection.parts)
    labels = [number.label(f"number {name}") for name, number in numbers.items()]
    some = select(*(FACTS[name] for name in COUNTED), bucket, *labels)
    facts = some.where(*filters(selection)).subquery("facts")
    names = (*COUNTED, "bucket")
    grouped = select(
        func.grouping(*(facts.c[name] for name in names)).label("by"),
        *(facts.c[name] for name in names),
        func.count().label("rows"),
        *(func.count(facts.c[label.name]) for label in labels),
    ).group_by(func.grouping_sets(*(facts.c[name] for name in names)))
    values: dict[str, dict[str, int]] = {name: {} for name in COUNTED}
    bins, rows, having = [0] * (len(edges) - 1), 0, Counter[str]()
    for row in connection.execute(grouped):
        # the column by which the row is grouped is the one whose bit is not set
        unset = ~row.by & ((1 << len(names)) - 1)
        name = names[len(names) - unset.bit_length()]
        value = getattr(row, name)
        if name == "bucket" and value is not None:
            bins[min(max(value, 1), len(bins)) - 1] += row.rows
        elif name == "status":
            rows += row.rows
            having.update(dict(zip(numbers, row[-len(numbers) :], strict=True)))
            values[name][value] = row.rows
        elif name != "bucket" and value is not None:
            values[name][value] = row.rows
    return ResultCounts(
        rows,
        having["score"],
        {name: _most_common(by_value) for name, by_value in values.items()},
        bins,
        card_counts(connection, selection),
        having,
    )


def _most_common(counted: Mapping[str, int]) -> dict[str, int]:
    ordered = sorted(counted.items(), key=lambda pair: (-pair[1], pair[0]))
    return dict(ordered[:MOST_VALUES])


def metadata_keys(connection: Connection, selection: ResultFilter) -> dict[str, int]:
    """Return the metadata keys of these results, each with its number of different values."""
    pair = func.jsonb_each_text(FACTS.metadata).table_valued("key", "value").lateral("pair")
    each = select(pair.c.key, pair.c.value).select_from(result_facts.join(pair, true()))
    distinct = each.where(*filters(selection)).distinct().subquery("each")
    counted = select(distinct.c.key, func.count()).group_by(distinct.c.key)
    rows = connection.execute(counted.order_by(distinct.c.key).limit(MOST_VALUES))
    return {str(key): int(values) for key, values in rows}


def metadata_values(
    connection: Connection, selection: ResultFilter, keys: Mapping[str, int]
) -> dict[str, dict[str, int]]:
    """Count the results per metadata key and value, for keys with 2 to 50 values. A cell may list
    several values, such as `women, migrants`. Each counts separately."""
    some = [key for key, values in keys.items() if 1 < values <= MOST_CELLS]
    pair = func.jsonb_each_text(FACTS.metadata).table_valued("key", "value").lateral("pair")
    parts = func.regexp_split_to_table(pair.c.value, SEPARATORS).label("part")
    each = (
        select(pair.c.key, parts)
        .select_from(result_facts.join(pair, true()))
        .where(*filters(selection), pair.c.key.in_(some))
        .subquery("each")
    )
    both = each.c.key, each.c.part
    by_key: dict[str, dict[str, int]] = {}
    for key, value, rows in connection.execute(select(*both, func.count()).group_by(*both)):
        by_key.setdefault(key, {})[value] = rows
    return {
        key: _most_common(by_key[key])
        for key in some
        if 1 < len(by_key.get(key, ())) <= MOST_VALUES
    }


class SplitCount(NamedTuple):
    """The number of results with one value of a column. None stands for no value. `mean` is the
    mean score."""

    value: str | None
    rows: int
    scored: int
    mean: float | None


def split_counts(connection: Connection, selection: ResultFilter, by: str) -> list[SplitCount]:
    """Count the results per value, lowest mean score first. `by` is `metadata.<key>` or a column of
    `COUNTED`."""
    key = by.removeprefix("metadata.")
    value = (FACTS[by] if key == by else FACTS.metadata[key].astext).label("value")
    mean = func.avg(FACTS.score).label("mean")
    rows = connection.execute(
        select(value, func.count(), func.count(FACTS.score), mean)
        .where(*filters(selection))
        .group_by(value)
        .order_by(mean.asc().nulls_last(), value)
        .limit(MOST_VALUES + 1)
    )
    return [SplitCount(*row) for row in rows]


def verdict_counts(
    connection: Connection, tenant: str, batch_ids: Sequence[str]
) -> dict[str, dict[str, int]]:
    """Count the results of each batch by verdict."""
    group = FACTS.batch_id, FACTS.verdict
    rows = connection.execute(
        select(*group, func.count())
        .where(FACTS.tenant == tenant, FACTS.batch_id.in_(batch_ids), FACTS.verdict.is_not(None))
        .group_by(*group)
    )
    counts: dict[str, dict[str, int]] = {}
    for batch_id, verdict, count in rows:
        counts.setdefault(batch_id, {})[verdict] = count
    return counts


def provenance_of(connection: Connection, selection: ResultFilter) -> dict[str, Any]:
    """Return how the first result was made (its models and versions), preferably one that used a
    model. The dictionary is empty if there is none. Only the first `FIRST_LINES` results are
    searched."""
    provenance = jobs.c.result["provenance"]
    query = (
        select(
            provenance.label("provenance"),
            provenance["models"][0].is_(None).label("alone"),
            FACTS.line,
        )
        .join(result_facts, FACTS.job_id == jobs.c.id)
        .where(*filters(selection), FACTS.status == "succeeded")
        .order_by(FACTS.line)
        .limit(FIRST_LINES)
        .subquery()
    )
    first = select(query.c.provenance).order_by(query.c.alone, query.c.line).limit(1)
    return dict(connection.execute(first).scalar_one_or_none() or {})


@dataclass(frozen=True)
class ResultSummary:
    """A summary of the filtered results. `keys` counts the values of each metadata key.
    `provenance` is that of the first result. `choices` counts results by metadata key and value,
    for the filters."""

    counts: ResultCounts
    keys: Mapping[str, int]
    provenance: Mapping[str, Any]
    choices: Mapping[str, Mapping[str, int]]


def summary_of(
    connection: Connection,
    selection: ResultFilter,
    edges: Sequence[float],
    previous: ResultSummary | None = None,
) -> ResultSummary:
    """Return the summary of the filtered results. This is slow. `previous` is an earlier summary,
    which is reused if the number of rows has not changed."""
    if previous is not None and previous.counts.rows == count_of(connection, selection):
        return previous
    keys = metadata_keys(connection, selection)
    return ResultSummary(
        counts_of(connection, selection, edges),
        keys,
        provenance_of(connection, selection),
        metadata_values(connection, selection, keys),
    )


def explanation_start(length: int) -> ColumnElement[Any]:
    """Return the beginning of a job's explanation: of the request, of one of its fields, or of a
    model."""
    sent = jobs.c.request["explanation"]
    fields = sent["text"], sent["reasons"][0], sent["quotes"][0], sent
    elicited = jobs.c.result["elicitation"]["explanation"].as_string()
    texts = (func.nullif(one.as_string(), "") for one in fields)
    return func.left(func.coalesce(*texts, elicited), length)


def explanations_of(connection: Connection, tenant: str, ids: Sequence[str]) -> dict[str, str]:
    """Return the beginning of each job's explanation."""
    query = select(jobs.c.id, explanation_start(SNIPPET)).where(
        jobs.c.id.in_(list(ids)), jobs.c.tenant == tenant
    )
    return {job: explanation for job, explanation in connection.execute(query) if explanation}


def has_missing_rows(connection: Connection, batch_id: str) -> bool:
    """Return True if the results table still lacks a line of this batch that has ended."""
    missing = select(literal(1)).where(
        batch_lines.c.batch_id == batch_id,
        ~batch_lines.c.has_facts,
        batch_lines.c.status.in_(("succeeded", "failed", "cancelled", "expired")),
    )
    return connection.execute(missing.limit(1)).first() is not None
