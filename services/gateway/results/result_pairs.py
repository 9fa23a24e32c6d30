"""Finds lines of two batches with the same text, to compare them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sqlalchemy import (
    ARRAY,
    CTE,
    Boolean,
    ColumnElement,
    Connection,
    Double,
    FromClause,
    Integer,
    Row,
    Select,
    Subquery,
    Text,
    and_,
    case,
    cast,
    column,
    exists,
    func,
    literal,
    or_,
    select,
    union_all,
)
from sqlalchemy.dialects.postgresql import array

from services.gateway.results.result_pages import Bounds, ResultFilter, filters, within
from shared.ledger.tables import jobs, result_facts

LEFT, RIGHT = result_facts.alias("left_facts"), result_facts  # so that a `ResultFilter` is of right
SIDES = LEFT, RIGHT
SIDE_NAMES = "first_side", "second_side"
HASHED, LOOPED = (
    select(
        func.set_config("enable_nestloop", value, True), func.set_config("work_mem", memory, True)
    )
    for value, memory in (("off", "64MB"), ("on", "4MB"))
)  # until the transaction ends; 50,000 texts are grouped in memory


@dataclass(frozen=True)
class PairFilter:
    """A filter for pairs of lines from two batches. `verdicts`, `scores`, `models` and
    `metadata` have one entry for the left and one for the right line, where None allows all
    values. `differences` are right minus left. `right` is a further filter for the right
    line. With `by_label`, both lines must also explain the same decision."""

    tenant: str
    batches: tuple[str, str]
    models: tuple[str | None, str | None] = (None, None)
    metadata: tuple[Mapping[str, str], Mapping[str, str]] = ({}, {})
    verdicts: tuple[str | None, str | None] = (None, None)
    scores: tuple[Bounds, Bounds] = ((None, None), (None, None))
    differences: Bounds = (None, None)
    top: float | None = None  # the greatest score there can be: it belongs to the last cell
    right: ResultFilter | None = None
    by_label: bool = False


class PairedLine(NamedTuple):
    """Two lines with the same text, one from each batch. If a batch has several results for a text,
    its first result is used with the mean score."""

    custom_id: str | None  # where both have it
    line: int  # of the right batch
    left_job: str
    right_job: str
    left_score: float | None
    right_score: float | None
    left_verdict: str | None
    right_verdict: str | None
    left_sentence: str
    right_sentence: str
    of: int  # pairs of the filter


def pairs_of(
    connection: Connection, selection: PairFilter, limit: int, *, all_named: bool = False
) -> list[PairedLine]:
    """Return the pairs, largest score difference first. Pairs without a difference come last. Lines
    are paired by custom_id if both have it and the text is the same, otherwise by text and label.
    `all_named` means that all pairs have a custom_id, so no pairs are searched by text."""
    query = _choose_pairs(connection, selection, limit, all_named=all_named)
    return _first_of([PairedLine(*row) for row in connection.execute(query)], limit)


def compared_pairs_of(
    connection: Connection, selection: PairFilter, limit: int, *, all_named: bool = False
) -> list[tuple[PairedLine, ComparedJob, ComparedJob]]:
    """Return the same pairs as `pairs_of`, each with its left and right job. `all_named` means that
    all pairs have a custom id."""
    query = _choose_pairs(connection, selection, limit, all_named=all_named)
    sides = jobs.alias("left_jobs"), jobs.alias("right_jobs")
    for side, facts in zip(sides, SIDES, strict=True):
        shown = (side.c.id, side.c.request, side.c.result)
        query = query.add_columns(*shown).where(
            side.c.id == facts.c.job_id, side.c.tenant == selection.tenant
        )
    width = len(PairedLine._fields)
    rows = connection.execute(query).all()
    by_pair = {PairedLine(*row[:width]): row[width:] for row in rows}
    return [
        (pair, ComparedJob(*by_pair[pair][:3]), ComparedJob(*by_pair[pair][3:]))
        for pair in _first_of(list(by_pair), limit)
    ]


def _choose_pairs(
    connection: Connection, selection: PairFilter, limit: int, *, all_named: bool
) -> Select[Any]:
    """Return the statement that selects the pairs that differ most, in any order."""
    # of two sides that a filter leaves, statistics expect a row each and get thousands: a loop over
    # both took a minute where a hash takes half a second
    connection.execute(HASHED)
    if all_named:
        parts = [
            _pairs_by_custom_id(selection, (_narrow(selection, 0), _narrow(selection, 1)), limit)
        ]
    else:
        sides = _side(selection, 0), _side(selection, 1)
        left, right = _free(sides[0], sides[1]), _free(sides[1], sides[0])
        same_result = and_(left.c.text_key == right.c.text_key, left.c.label == right.c.label)
        query = select(
            left.c.line.label("left_line"), right.c.line, left.c.score.label("left_score"),
            right.c.score.label("right_score"), literal(False).label("is_named"),
        ).join_from(left, right, same_result)  # fmt: skip
        parts = [
            _pairs_by_custom_id(selection, sides, limit),
            _top_pairs(query, selection, left.c, right.c, limit),
        ]
    rows = connection.execute(union_all(*(select(*part.c) for part in parts))).all()
    connection.execute(LOOPED)
    of = sum({row.is_named: row.of for row in rows}.values())
    return _select_pairs(selection, rows, of)


def _first_of(pairs: Sequence[PairedLine], limit: int) -> list[PairedLine]:
    """Return the first `limit` pairs in sorted order. Of several pairs with the same two jobs only
    one is returned."""
    alike = {(pair.left_job, pair.right_job): pair for pair in reversed(pairs)}
    return sorted(alike.values(), key=_sort_key)[:limit]


def _sort_key(pair: PairedLine) -> tuple[float, int]:
    if pair.left_score is None or pair.right_score is None:
        return 1.0, pair.line
    return -abs(pair.right_score - pair.left_score), pair.line


def lines_of(
    connection: Connection, tenant: str, batch_id: str, ids: Sequence[str]
) -> dict[str, int]:
    """Return, for each job, the first line of the batch that has its result."""
    facts = result_facts.c
    query = (
        select(facts.job_id, func.min(facts.line))
        .where(facts.tenant == tenant, facts.batch_id == batch_id, facts.job_id.in_(ids))
        .group_by(facts.job_id)
    )
    return {job_id: line for job_id, line in connection.execute(query)}


class UnpairedLine(NamedTuple):
    """A result that has no match in the other batch, with the reason.

    `conflicts`: the other batch has the custom_id with another text. `is_told`: the hash of the
    text is known. `is_taken`: the matching results are already paired by custom id.
    `is_decided_otherwise`: the other batch has the text only with another label.
    """

    line: int
    custom_id: str | None
    job_id: str
    conflicts: bool
    is_told: bool
    is_taken: bool
    is_decided_otherwise: bool


def unpaired_of(
    connection: Connection, selection: PairFilter, index: int, limit: int
) -> list[UnpairedLine]:
    """Return the results of one batch that have no match in the other. `index` is 0 for the left
    batch and 1 for the right one."""
    mine, theirs_side = _side(selection, index), _side(selection, 1 - index)
    free = _free(theirs_side, mine)
    one_text = free.c.text_key == mine.c.text_key, free.c.label == mine.c.label
    partners = (
        select(theirs_side.c.line).where(_is_named(mine, theirs_side)).correlate(mine),
        select(free.c.line).where(*one_text).correlate(mine),
    )
    namesake = (
        select(theirs_side.c.line)
        .where(theirs_side.c.custom_id == mine.c.custom_id)
        .correlate(mine)
    )
    theirs = (
        select(theirs_side.c.line).where(theirs_side.c.text_key == mine.c.text_key).correlate(mine)
    )
    same_label = theirs.where(theirs_side.c.label == mine.c.label)
    query = (
        select(mine.c.line, mine.c.custom_id, mine.c.job_id, exists(namesake))
        .add_columns(mine.c.text_key.is_not(None), exists(same_label), exists(theirs))
        .where(*(~exists(partner) for partner in partners))
        .order_by(mine.c.line)
        .limit(limit)
    )
    connection.execute(HASHED)
    rows = [UnpairedLine(*row) for row in connection.execute(query)]
    connection.execute(LOOPED)
    return rows


def _side(selection: PairFilter, index: int) -> CTE:
    """Return a materialised table expression with only the columns needed for pairing, because the
    rows of the table are wide."""
    side = _columns(selection, index).cte(SIDE_NAMES[index])
    return side.prefix_with("MATERIALIZED", dialect="postgresql")


def _narrow(selection: PairFilter, index: int) -> Subquery:
    """Return the selected columns of one side's results as a subquery. The database can merge it
    into the statement and then reads only the rows it needs."""
    return _columns(selection, index).subquery(SIDE_NAMES[index])


def _columns(selection: PairFilter, index: int) -> Select[Any]:
    facts = result_facts.alias()
    label = func.coalesce(facts.c.decision_sent, facts.c.decision_stated, "")
    names = ("line", "custom_id", "text_key", "job_id", "verdict", "score")
    query = select(*(facts.c[name] for name in names)).add_columns(
        (label if selection.by_label else literal("")).label("label")
    )
    return query.where(*_results(facts, selection, index))


def _pairs_by_custom_id(
    selection: PairFilter, sides: tuple[FromClause, FromClause], limit: int
) -> Subquery:
    """Return pairs of lines with the same custom_id, unless their texts are known to differ."""
    left, right = sides
    query = select(
        left.c.line.label("left_line"), right.c.line, left.c.score.label("left_score"),
        right.c.score.label("right_score"), literal(True).label("is_named"),
    ).join_from(left, right, _is_named(left, right))  # fmt: skip
    return _top_pairs(query, selection, left.c, right.c, limit)


def _top_pairs(
    query: Select[Any], selection: PairFilter, left: Any, right: Any, limit: int
) -> Subquery:
    """Return the lines of the pairs that differ most. `left` and `right` are the columns of the two
    sides."""
    if selection.right is not None:
        query = query.where(right.line.in_(select(RIGHT.c.line).where(*filters(selection.right))))
    difference = right.score - left.score
    for index, side in enumerate((left, right)):
        if (verdict := selection.verdicts[index]) is not None:
            query = query.where(side.verdict == verdict)
        query = query.where(*within(side.score, selection.scores[index], selection.top))
    query = query.where(*within(difference, selection.differences, None))
    largest = func.abs(difference).desc().nulls_last()
    query = query.add_columns(func.count().over().label("of")).order_by(largest, right.line)
    return query.limit(limit).subquery("chosen")


def _results(side: FromClause, selection: PairFilter, index: int) -> list[ColumnElement[bool]]:
    conditions = [
        side.c.tenant == selection.tenant,
        side.c.batch_id == selection.batches[index],
        side.c.status == "succeeded",
        side.c.job_id.is_not(None),
    ]
    if (model := selection.models[index]) is not None:
        conditions.append(side.c.model == model)
    if values := selection.metadata[index]:
        conditions.append(side.c.metadata.contains(dict(values)))
    return conditions


def _is_named(left: FromClause, right: FromClause) -> ColumnElement[bool]:
    keys = left.c.text_key, right.c.text_key
    one_text = or_(keys[0].is_(None), keys[1].is_(None), keys[0] == keys[1])
    return and_(left.c.custom_id == right.c.custom_id, one_text)


def _free(mine: CTE, partners: CTE) -> Subquery:
    """Select one result for each pair of text and label, among results without a partner of the
    same `custom_id`. It is the result with the lowest job id, with the mean score of them all."""
    facts = mine.c
    partner = select(partners.c.line).where(_is_named(mine, partners)).correlate(mine)
    # the least of rows that begin with the job: sorting all of them by text takes longer
    row = array([facts.job_id, cast(facts.line, Text), func.coalesce(facts.verdict, "")])
    grouped = (
        select(facts.text_key, facts.label, func.avg(facts.score).label("score"))
        .add_columns(func.min(row, type_=ARRAY(Text)).label("first"))
        .where(facts.text_key.is_not(None), ~exists(partner))
        .group_by(facts.text_key, facts.label)
        .subquery()
    )
    columns = grouped.c
    line = cast(columns.first[2], Integer).label("line")
    verdict = func.nullif(columns.first[3], "").label("verdict")
    return select(columns.text_key, columns.label, columns.score, line, verdict).subquery()


def _select_pairs(selection: PairFilter, rows: Sequence[Row[Any]], of: int) -> Select[Any]:
    """Return a statement that selects these pairs with the fields of their lines."""
    kinds = (Integer, Integer, Double, Double, Boolean)
    columns = list(zip(*(row[: len(kinds)] for row in rows), strict=True)) or [()] * len(kinds)
    arrays: list[Any] = [
        literal(list(values), ARRAY(kind)) for values, kind in zip(columns, kinds, strict=True)
    ]
    names = ("left_line", "line", "left_score", "right_score", "is_named")
    typed: list[Any] = [column(name, kind) for name, kind in zip(names, kinds, strict=True)]
    pairs = func.unnest(*arrays).table_valued(*typed).render_derived("pair")
    lines = [
        and_(
            side.c.tenant == selection.tenant,
            side.c.batch_id == selection.batches[index],
            side.c.line == (pairs.c.left_line, pairs.c.line)[index],
        )
        for index, side in enumerate(SIDES)
    ]
    return select(
        case((pairs.c.is_named, RIGHT.c.custom_id)), pairs.c.line, LEFT.c.job_id, RIGHT.c.job_id,
        pairs.c.left_score, pairs.c.right_score, LEFT.c.verdict, RIGHT.c.verdict,
        LEFT.c.sentence, RIGHT.c.sentence, literal(of),
    ).select_from(pairs.join(LEFT, lines[0]).join(RIGHT, lines[1]))  # fmt: skip


@dataclass(frozen=True)
class ComparedJob:
    """The job on one side of a pair. `request` holds the stored fields of the request."""

    id: str
    request: Mapping[str, Any] = field(default_factory=dict)
    result: Mapping[str, Any] = field(default_factory=dict)


def jobs_of(connection: Connection, tenant: str, ids: Sequence[str]) -> dict[str, ComparedJob]:
    """Return the tenant's jobs by id. Deleted jobs are left out."""
    query = select(jobs.c.id, jobs.c.request, jobs.c.result).where(
        jobs.c.id.in_(ids), jobs.c.tenant == tenant
    )
    rows = connection.execute(query)
    return {row.id: ComparedJob(row.id, row.request, row.result or {}) for row in rows}


def find_mixed(connection: Connection, tenant: str, batch_id: str) -> dict[str, list[str]]:
    """Return the different metric versions and variants in the batch."""
    facts = result_facts.c
    values: dict[str, list[str]] = {}
    for name in ("metric_version", "variant"):
        query = (
            select(facts[name])
            .where(facts.tenant == tenant, facts.batch_id == batch_id, facts[name].is_not(None))
            .distinct()
        )
        values[name] = sorted(connection.execute(query).scalars())
    return values
