"""The lines of a batch: listed with the most surprising first, or read with their jobs' results.

What is surprising of a result is decoded once and kept in a small row beside the line: to decode
50,000 results at every look would take seconds.
"""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from sqlalchemy import (
    ARRAY,
    ColumnElement,
    Connection,
    Double,
    Row,
    Select,
    String,
    Text,
    and_,
    case,
    cast,
    exists,
    func,
    literal,
    select,
    type_coerce,
)
from sqlalchemy.dialects.postgresql import JSONB, JSONPATH, insert

from shared.errors import BadInput
from shared.ledger.jobs import Job
from shared.ledger.tables import batch_items, batch_lines, batches, jobs
from shared.service_contract import SurprisingRule

LineStatus = Literal["waiting", "open", "succeeded", "failed", "cancelled", "expired"]
STATUSES: tuple[LineStatus, ...] = ("succeeded", "failed", "cancelled", "expired")  # at the end
FAILED = "failed"  # a reason that the line's own state gives
ITEM = and_(
    batch_items.c.batch_id == batch_lines.c.batch_id, batch_items.c.number == batch_lines.c.number
)

# jsonb has no U+0000, which JSON allows: `\u0000` becomes `\ufffd`, but `\\u0000` stays
RAW = cast(jobs.c.result, Text)
WITHOUT_NUL = func.regexp_replace(RAW, r"(?<!\\)((?:\\\\)*)\\u0000", r"\1\\ufffd", "g")
DOCUMENT = cast(case((func.strpos(RAW, r"\u0000") > 0, WITHOUT_NUL), else_=RAW), JSONB)
ROWS_AT_ONCE = 200  # fetched; a result can have some 100 kB


@dataclass(frozen=True)
class LineFilter:
    """Which lines. reason, status: any where empty; text: what the custom_id contains."""

    batch_id: str
    limit: int
    offset: int = 0
    status: str = ""
    reason: str = ""
    text: str = ""


class LineSummary(NamedTuple):
    """A line. score: null where there is none. reasons: why it is surprising."""

    number: int
    custom_id: str
    status: str
    job_id: str | None
    score: float | None
    reasons: list[str]


class EndedLine(NamedTuple):
    """A line with what its job answered."""

    number: int
    custom_id: str
    status: str
    job_id: str | None
    result: dict[str, Any] | None
    error: dict[str, Any] | None


class AskingLine(NamedTuple):
    """A line that asked for a job. caller: its own metadata and context; None: the job's."""

    number: int
    custom_id: str
    caller: dict[str, Any] | None


@dataclass(frozen=True)
class SurprisingRules:
    """Of one metric, the most surprising first."""

    listed: tuple[SurprisingRule, ...]
    higher_is_better: bool = True

    @property
    def fingerprint(self) -> str:
        """Differs when the rules do."""
        return hashlib.sha256(
            repr([(rule.name, rule.path) for rule in self.listed]).encode()
        ).hexdigest()

    @property
    def names(self) -> list[str]:
        """Every reason that a line may have, in order."""
        return [*(rule.name for rule in self.listed), FAILED]


class JobOutcome(NamedTuple):
    """A job or a batch's line, with its status, and with its result where it has one."""

    job_id: str | None
    custom_id: str | None
    status: str
    request: dict[str, Any] | None
    result: dict[str, Any] | None


def page_of(
    connection: Connection, wanted: LineFilter, rules: SurprisingRules
) -> tuple[list[LineSummary], bool]:
    """These lines, and whether others follow: by their first reason in the order of the rules,
    then the worst score first, then in the order of the file."""
    line = _lines_of(wanted.batch_id).subquery("line")
    place = func.array_position(literal(rules.names, ARRAY(String)), line.c.reasons[1])
    worst = line.c.score if rules.higher_is_better else line.c.score.desc()
    found = connection.execute(
        select(*(line.c[name] for name in LineSummary._fields))
        .where(*_conditions(wanted, line.c))
        .order_by(place.nulls_last(), worst.nulls_last(), line.c.number)
        .limit(wanted.limit + 1)
        .offset(wanted.offset)
    ).all()
    return [LineSummary(*row) for row in found[: wanted.limit]], len(found) > wanted.limit


def reasons_of(connection: Connection, batch_id: str) -> dict[str, int]:
    """reason → lines that have it; the most frequent first, then by name."""
    line = _lines_of(batch_id).subquery("line")
    each = select(func.unnest(line.c.reasons).label("reason")).subquery("each")
    rows = connection.execute(select(each.c.reason, func.count()).group_by(each.c.reason))
    counted = [(reason, count) for reason, count in rows]
    return dict(sorted(counted, key=lambda one: (-one[1], one[0])))


def _lines_of(batch_id: str) -> Select[Any]:
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


def _conditions(wanted: LineFilter, line: Any) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if wanted.status:
        conditions.append(line.status == wanted.status)
    if wanted.reason:
        conditions.append(literal(wanted.reason) == func.any(line.reasons))
    if wanted.text:
        sought = func.lower(literal(wanted.text))
        conditions.append(func.strpos(func.lower(line.custom_id), sought) > 0)
    return conditions


def lines_of_job(connection: Connection, job: Job, most: int) -> list[AskingLine]:
    """The first lines of its batch that asked for this job."""
    rows = connection.execute(
        select(batch_lines.c.number, batch_lines.c.custom_id, batch_lines.c.caller)
        .where(batch_lines.c.batch_id == job.batch_id, batch_lines.c.job_id == job.id)
        .order_by(batch_lines.c.number)
        .limit(most)
    )
    return [AskingLine(*row) for row in rows]


def ended_after(connection: Connection, batch_id: str, number: int, limit: int) -> list[EndedLine]:
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
    return [EndedLine(*row) for row in rows]


def decode_next(connection: Connection, batch_id: str, rules: SurprisingRules, most: int) -> int:
    """Decode the next results that nobody has looked at under these rules; how many there were."""
    unread = _unread(batch_id, rules, most).subquery("unread")
    rule = (
        func.unnest(
            literal([rule.name for rule in rules.listed], ARRAY(String)),
            literal([rule.path for rule in rules.listed], ARRAY(String)),
        )
        .table_valued("name", "path", with_ordinality="place")
        .render_derived("rule")
    )
    fits = func.jsonb_path_exists(unread.c.document, cast(rule.c.path, JSONPATH))
    reasons = select(rule.c.name).where(fits).order_by(rule.c.place).scalar_subquery()
    looked_at = select(
        unread.c.batch_id,
        unread.c.number,
        literal(rules.fingerprint),
        cast(unread.c.document["score"].astext, Double),
        func.array(reasons),
    )
    names = ["batch_id", "number", "rules", "score", "reasons"]
    making = insert(batch_items).from_select(names, looked_at)
    changed = {name: making.excluded[name] for name in names[2:]}
    made = making.on_conflict_do_update(index_elements=["batch_id", "number"], set_=changed)
    return len(connection.execute(made.returning(batch_items.c.number)).all())


def _unread(batch_id: str, rules: SurprisingRules, most: int) -> Select[Any]:
    current = exists().where(ITEM, batch_items.c.rules == rules.fingerprint)
    return (
        select(batch_lines.c.batch_id, batch_lines.c.number, DOCUMENT.label("document"))
        .join(jobs, jobs.c.id == batch_lines.c.job_id)
        .where(
            batch_lines.c.batch_id == batch_id,
            batch_lines.c.status == "succeeded",
            jobs.c.result.is_not(None),
            ~current,
        )
        .order_by(batch_lines.c.number)
        .limit(most)
    )


def outcomes_of_batch(connection: Connection, metric: str, batch_id: str) -> Iterator[JobOutcome]:
    """Every line of this batch, in the order of its file. Raises BadInput for one of another
    metric or one that nobody knows."""
    found = connection.execute(
        select(batches.c.metric).where(batches.c.id == batch_id)
    ).one_or_none()
    if found is None:
        raise BadInput(f"there is no batch {batch_id!r}", pointer="/batch")
    if found.metric != metric:
        raise BadInput(f"the batch is of {found.metric}, not of {metric}", pointer="/batch")
    return (_outcome(row) for row in _streamed(connection, _outcomes_of(batch_id)))


def outcomes_of_jobs(
    connection: Connection, metric: str, ids: Sequence[str]
) -> Iterator[JobOutcome]:
    """These jobs, in this order. Raises BadInput for one of another metric, or unknown."""
    listed = (
        func.unnest(literal(list(ids), ARRAY(String)))
        .table_valued("id", with_ordinality="place")
        .render_derived("listed")
    )
    query = (
        select(
            listed.c.id.label("job_id"),
            literal(None).label("custom_id"),
            jobs.c.status,
            jobs.c.request,
            jobs.c.result,
            jobs.c.metric,
            listed.c.place,
        )
        .select_from(listed.outerjoin(jobs, jobs.c.id == listed.c.id))
        .order_by(listed.c.place)
    )
    with closing(_streamed(connection, query)) as rows:
        for row in rows:
            if row.metric != metric:
                reason = f"is of {row.metric}, not of {metric}" if row.metric else "does not exist"
                raise BadInput(f"the job {row.job_id!r} {reason}", pointer=f"/jobs/{row.place - 1}")
            yield _outcome(row)


def answered(connection: Connection, batch_id: str) -> int:
    """How many lines of a batch have a result by now; 0 for a batch that nobody knows."""
    counted = select(batches.c.completed).where(batches.c.id == batch_id)
    return connection.execute(counted).scalar_one_or_none() or 0


def require_owned(
    connection: Connection,
    tenant: str,
    batch_id: str | None,
    ids: Sequence[str],
    *,
    place: str = "",
) -> None:
    """Raises BadInput where the batch or one of these jobs is another tenant's. place: JSON pointer
    to what names them in the request.

    What is nobody's is left to the worker, which says so in the same words.
    """
    if batch_id is not None:
        owners = select(batches.c.tenant).where(batches.c.id == batch_id)
        if connection.execute(owners).scalar_one_or_none() not in (None, tenant):
            raise BadInput(f"there is no batch {batch_id!r}", pointer=f"{place}/batch")
    if not ids:
        return
    listed = literal(list(ids), ARRAY(String))
    theirs = select(jobs.c.id).where(jobs.c.id == func.any(listed), jobs.c.tenant != tenant)
    foreign = connection.execute(theirs.limit(1)).scalar_one_or_none()
    if foreign is not None:
        pointer = f"{place}/jobs/{ids.index(foreign)}"
        raise BadInput(f"the job {foreign!r} does not exist", pointer=pointer)


def _outcomes_of(batch_id: str) -> Select[Any]:
    return (
        select(
            batch_lines.c.job_id,
            batch_lines.c.custom_id,
            func.coalesce(jobs.c.status, batch_lines.c.status).label("status"),
            jobs.c.request,
            jobs.c.result,
        )
        .select_from(batch_lines.outerjoin(jobs, jobs.c.id == batch_lines.c.job_id))
        .where(batch_lines.c.batch_id == batch_id)
        .order_by(batch_lines.c.number)
    )


def _streamed(connection: Connection, query: Select[Any]) -> Generator[Row[Any], None, None]:
    """The rows through a server-side cursor: never all in memory."""
    with connection.execute(query, execution_options={"yield_per": ROWS_AT_ONCE}) as rows:
        yield from rows


def _outcome(row: Row[Any]) -> JobOutcome:
    return JobOutcome(row.job_id, row.custom_id, row.status, row.request, row.result)
