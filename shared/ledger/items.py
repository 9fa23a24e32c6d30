"""The lines of a batch as somebody looks at them: the most surprising and the worst first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from sqlalchemy import (
    ARRAY,
    ColumnElement,
    Connection,
    Select,
    String,
    case,
    cast,
    func,
    literal,
    select,
    type_coerce,
)

from shared.ledger.batch_tables import batch_items, batch_lines
from shared.ledger.judging import FAILED, ITEM, Rules
from shared.ledger.tables import jobs

LineStatus = Literal["waiting", "open", "succeeded", "failed", "cancelled", "expired"]
STATUSES: tuple[LineStatus, ...] = ("succeeded", "failed", "cancelled", "expired")  # at the end


@dataclass(frozen=True)
class Wanted:
    """Which lines. reason, status: any where empty; text: what the custom_id contains."""

    batch_id: str
    limit: int
    offset: int = 0
    status: str = ""
    reason: str = ""
    text: str = ""


class Item(NamedTuple):
    """A line. score: null where there is none. reasons: why it is surprising."""

    number: int
    custom_id: str
    status: str
    job_id: str | None
    score: float | None
    reasons: list[str]


class Ended(NamedTuple):
    """A line with what its job answered."""

    number: int
    custom_id: str
    status: str
    job_id: str | None
    result: dict[str, Any] | None
    error: dict[str, Any] | None


def page_of(connection: Connection, wanted: Wanted, rules: Rules) -> tuple[list[Item], bool]:
    """These lines, and whether others follow: by their first reason in the order of the rules,
    then the worst score first, then in the order of the file."""
    line = _lines(wanted.batch_id).subquery("line")
    place = func.array_position(literal(rules.names, ARRAY(String)), line.c.reasons[1])
    worst = line.c.score if rules.higher_is_better else line.c.score.desc()
    found = connection.execute(
        select(*(line.c[name] for name in Item._fields))
        .where(*_conditions(wanted, line.c))
        .order_by(place.nulls_last(), worst.nulls_last(), line.c.number)
        .limit(wanted.limit + 1)
        .offset(wanted.offset)
    ).all()
    return [Item(*row) for row in found[: wanted.limit]], len(found) > wanted.limit


def reasons_of(connection: Connection, batch_id: str) -> dict[str, int]:
    """reason → lines that have it."""
    line = _lines(batch_id).subquery("line")
    each = select(func.unnest(line.c.reasons).label("reason")).subquery("each")
    rows = connection.execute(select(each.c.reason, func.count()).group_by(each.c.reason))
    return {reason: count for reason, count in rows}


def _lines(batch_id: str) -> Select[Any]:
    """Every line; failing is a reason, too."""
    none = cast(literal([], ARRAY(String)), ARRAY(String))
    reasons = case(
        (batch_lines.c.status == FAILED, literal([FAILED], ARRAY(String))),
        else_=func.coalesce(batch_items.c.reasons, none),
    )
    return (
        select(
            batch_lines.c.number,
            batch_lines.c.custom_id,
            batch_lines.c.status,
            batch_lines.c.job_id,
            batch_items.c.score,
            type_coerce(reasons, ARRAY(String)).label("reasons"),
        )
        .select_from(batch_lines.outerjoin(batch_items, ITEM))
        .where(batch_lines.c.batch_id == batch_id)
    )


def _conditions(wanted: Wanted, line: Any) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if wanted.status:
        conditions.append(line.status == wanted.status)
    if wanted.reason:
        conditions.append(literal(wanted.reason) == func.any(line.reasons))
    if wanted.text:
        sought = func.lower(literal(wanted.text))
        conditions.append(func.strpos(func.lower(line.custom_id), sought) > 0)
    return conditions


def ended_after(connection: Connection, batch_id: str, number: int, limit: int) -> list[Ended]:
    """The next lines of a batch after this one, in the order of its file."""
    rows = connection.execute(
        select(
            batch_lines.c.number,
            batch_lines.c.custom_id,
            batch_lines.c.status,
            batch_lines.c.job_id,
            jobs.c.result,
            jobs.c.error,
        )
        .select_from(batch_lines.outerjoin(jobs, jobs.c.id == batch_lines.c.job_id))
        .where(batch_lines.c.batch_id == batch_id, batch_lines.c.number > number)
        .order_by(batch_lines.c.number)
        .limit(limit)
    )
    return [Ended(*row) for row in rows]
