"""Lines of two batches about one text, for the page that compares them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    FromClause,
    Select,
    Subquery,
    and_,
    case,
    exists,
    func,
    literal,
    or_,
    select,
)

from shared.ledger.result_pages import Bounds, ResultFilter, filters, within
from shared.ledger.tables import jobs, result_facts

LEFT, RIGHT = result_facts.alias("left_facts"), result_facts  # so that a `ResultFilter` is of right
SIDES = LEFT, RIGHT
HASHED, LOOPED = (
    select(func.set_config("enable_nestloop", value, True)) for value in ("off", "on")
)  # until the transaction ends


@dataclass(frozen=True)
class PairFilter:
    """Which pairs. verdicts, scores: of the left side and the right; models: None: any.

    differences: right - left. right: what is true of the right line. by_label: whether a text is
    paired only with itself under one explained label.
    """

    tenant: str
    batches: tuple[str, str]
    models: tuple[str | None, str | None] = (None, None)
    verdicts: tuple[str | None, str | None] = (None, None)
    scores: tuple[Bounds, Bounds] = ((None, None), (None, None))
    differences: Bounds = (None, None)
    top: float | None = None  # the greatest score there can be: it belongs to the last cell
    right: ResultFilter | None = None
    by_label: bool = False


class PairedLine(NamedTuple):
    """A line of both batches. Of several results of one text the first, with their mean score."""

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


def pairs_of(connection: Connection, wanted: PairFilter, limit: int) -> list[PairedLine]:
    """Those whose scores differ most first; pairs with an undefined score last. Paired as a report
    pairs them: by custom_id where both have it, about one text; the rest by text and label."""
    # of two sides that a filter leaves, statistics expect a row each and get thousands: a loop over
    # both took a minute where a hash takes half a second
    connection.execute(HASHED)
    found = [
        PairedLine(*row)
        for chosen in (_named(wanted, limit), _of_one_text(wanted, limit))
        for row in connection.execute(_select_pairs(wanted, chosen))
    ]
    connection.execute(LOOPED)
    of = sum({bool(one.custom_id): one.of for one in found}.values())
    alike = {(one.left_job, one.right_job): one for one in reversed(found)}  # lines may share jobs
    ordered = sorted(alike.values(), key=_sort_key)
    return [one._replace(of=of) for one in ordered[:limit]]


def _sort_key(pair: PairedLine) -> tuple[float, int]:
    if pair.left_score is None or pair.right_score is None:
        return 1.0, pair.line
    return -abs(pair.right_score - pair.left_score), pair.line


def lines_of(
    connection: Connection, tenant: str, batch_id: str, ids: Sequence[str]
) -> dict[str, int]:
    """job → the first line of a batch that it answered."""
    facts = result_facts.c
    query = (
        select(facts.job_id, func.min(facts.line))
        .where(facts.tenant == tenant, facts.batch_id == batch_id, facts.job_id.in_(ids))
        .group_by(facts.job_id)
    )
    return {job_id: line for job_id, line in connection.execute(query)}


def _named(wanted: PairFilter, limit: int) -> Subquery:
    """Lines with one custom_id, about one text as far as is known."""
    own = [one for place in (0, 1) for one in _results(SIDES[place], wanted, place)]
    query = select(
        LEFT.c.line.label("left_line"), RIGHT.c.line, LEFT.c.score.label("left_score"),
        RIGHT.c.score.label("right_score"), literal(True).label("is_named"),
    ).join_from(LEFT, RIGHT, _is_named(LEFT, RIGHT)).where(*own)  # fmt: skip
    if wanted.right is not None:
        query = query.where(*filters(wanted.right))
    return _top_pairs(query, wanted, LEFT.c, RIGHT.c, limit)


def _of_one_text(wanted: PairFilter, limit: int) -> Subquery:
    """Of what has no such partner, the first result of each text and label."""
    left, right = _free(wanted, 0), _free(wanted, 1)
    place = and_(left.c.text_key == right.c.text_key, left.c.label == right.c.label)
    query = select(
        left.c.line.label("left_line"), right.c.line, left.c.score.label("left_score"),
        right.c.score.label("right_score"), literal(False).label("is_named"),
    ).join_from(left, right, place)  # fmt: skip
    if wanted.right is not None:
        query = query.where(right.c.line.in_(select(RIGHT.c.line).where(*filters(wanted.right))))
    return _top_pairs(query, wanted, left.c, right.c, limit)


def _top_pairs(
    query: Select[Any], wanted: PairFilter, left: Any, right: Any, limit: int
) -> Subquery:
    """The lines of the pairs that differ most. left, right: columns of the sides."""
    difference = right.score - left.score
    for place, side in enumerate((left, right)):
        if (verdict := wanted.verdicts[place]) is not None:
            query = query.where(side.verdict == verdict)
        query = query.where(*within(side.score, wanted.scores[place], wanted.top))
    query = query.where(*within(difference, wanted.differences, None))
    largest = func.abs(difference).desc().nulls_last()
    query = query.add_columns(func.count().over().label("of")).order_by(largest, right.line)
    return query.limit(limit).subquery("chosen")


def _results(side: FromClause, wanted: PairFilter, place: int) -> list[ColumnElement[bool]]:
    """Conditions on the results of a side."""
    found = [
        side.c.tenant == wanted.tenant,
        side.c.batch_id == wanted.batches[place],
        side.c.status == "succeeded",
        side.c.job_id.is_not(None),
    ]
    model = wanted.models[place]
    return found if model is None else [*found, side.c.model == model]


def _is_named(left: FromClause, right: FromClause) -> ColumnElement[bool]:
    keys = left.c.text_key, right.c.text_key
    one_text = or_(keys[0].is_(None), keys[1].is_(None), keys[0] == keys[1])
    return and_(left.c.custom_id == right.c.custom_id, one_text)


def _free(wanted: PairFilter, place: int) -> Subquery:
    """The first result of each text and label that has no partner by its custom_id; its score is
    the mean of them all."""
    mine, others = result_facts.alias(), result_facts.alias()
    facts = mine.c
    stated = func.coalesce(facts.label_sent, facts.label_stated, "")
    label = stated if wanted.by_label else literal("")
    partner = select(others.c.line).where(
        *_results(others, wanted, 1 - place), _is_named(mine, others)
    )
    group = facts.text_key, label
    ranked = (
        select(
            facts.line, facts.text_key, label.label("label"), facts.verdict,
            func.avg(facts.score).over(partition_by=group).label("score"),
            func.row_number().over(partition_by=group, order_by=facts.job_id).label("rank"),
        )
        .where(*_results(mine, wanted, place), facts.text_key.is_not(None), ~exists(partner))
        .subquery()
    )  # fmt: skip
    return select(*ranked.c).where(ranked.c.rank == 1).subquery()


def _select_pairs(wanted: PairFilter, chosen: Subquery) -> Select[Any]:
    """These pairs with what their lines say."""
    lines = [
        and_(
            side.c.tenant == wanted.tenant,
            side.c.batch_id == wanted.batches[place],
            side.c.line == (chosen.c.left_line, chosen.c.line)[place],
        )
        for place, side in enumerate(SIDES)
    ]
    return select(
        case((chosen.c.is_named, RIGHT.c.custom_id)), chosen.c.line, LEFT.c.job_id, RIGHT.c.job_id,
        chosen.c.left_score, chosen.c.right_score, LEFT.c.verdict, RIGHT.c.verdict,
        LEFT.c.sentence, RIGHT.c.sentence, chosen.c.of,
    ).select_from(chosen.join(LEFT, lines[0]).join(RIGHT, lines[1]))  # fmt: skip


@dataclass(frozen=True)
class ComparedJob:
    """A side of a pair. request: what is kept of it."""

    id: str
    request: Mapping[str, Any] = field(default_factory=dict)
    result: Mapping[str, Any] = field(default_factory=dict)


def jobs_of(connection: Connection, tenant: str, ids: Sequence[str]) -> dict[str, ComparedJob]:
    """By id, those of this tenant that there are."""
    query = select(jobs.c.id, jobs.c.request, jobs.c.result).where(
        jobs.c.id.in_(ids), jobs.c.tenant == tenant
    )
    rows = connection.execute(query)
    return {row.id: ComparedJob(row.id, row.request, row.result or {}) for row in rows}


def find_mixed(connection: Connection, tenant: str, batch_id: str) -> dict[str, list[str]]:
    """metric_version and variant → those that the batch's results have."""
    facts = result_facts.c
    found: dict[str, list[str]] = {}
    for name in ("metric_version", "variant"):
        query = (
            select(facts[name])
            .where(facts.tenant == tenant, facts.batch_id == batch_id, facts[name].is_not(None))
            .distinct()
        )
        found[name] = sorted(connection.execute(query).scalars())
    return found
