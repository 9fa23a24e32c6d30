"""Review queues: results that people judge, one line at a time. The lines are fixed when the queue
is created. A line is reserved for a reviewer for ten minutes. It may need judgements by several
people. Nobody judges a line twice."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, get_args

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    and_,
    any_,
    case,
    func,
    insert,
    literal,
    or_,
    select,
    update,
)

from services.gateway.results.result_pages import (
    FACTS,
    ResultFilter,
    ResultOrder,
    filters,
    sort_columns,
)
from shared.contracts.errors import BadInput, NotThere, QuotaExceeded
from shared.ledger.request_keys import KeyReused
from shared.ledger.tables import review_items, review_queues

QueueOrder = Literal["random", "surprising", "uncertain"]
Question = Literal["agree", "score", "label", "spans", "note"]
QUESTIONS: tuple[Question, ...] = get_args(Question)
LEASE = timedelta(minutes=10)
MOST_LINES = 5_000
MOST_OPEN = 100  # of one tenant
POLICY = "review-queues"

ITEMS = review_items.c


@dataclass(frozen=True)
class ReviewQueue:
    """A review queue and its settings."""

    id: str
    tenant: str
    name: str
    metric: str
    batch_id: str
    query: list[list[str]]
    order: QueueOrder
    per_line: int
    blind: bool
    seed: int
    rubric: list[Question]
    lines: int
    closed_at: datetime | None
    created_at: datetime

    @property
    def is_sample(self) -> bool:
        """Return True if the queue is a random sample of the lines in its filter."""
        return self.order == "random"


SHOWN = tuple(review_queues.c[name] for name in ReviewQueue.__dataclass_fields__)


@dataclass(frozen=True)
class ReviewItem:
    """A line that is reserved for a reviewer."""

    position: int
    place: int
    line: int
    job_id: str
    leased_until: datetime


class UnknownQueue(NotThere):
    """No review queue has this id."""

    slug = "unknown-review-queue"
    title = "No such review queue"
    cure = "Check the id with `GET /v1/review-queues`; queues are deleted with their batch."


def make(
    connection: Connection, selection: ResultFilter, order: ResultOrder, values: Mapping[str, Any]
) -> ReviewQueue:
    """Create a review queue from the filtered results, or return the existing queue with the same
    `key`. `values` holds the queue's fields, its `key`, and the number of lines, `most`. Raises
    BadInput if no result is left, KeyReused if the key belongs to a different queue, QuotaExceeded.
    """
    fields = dict(values)
    most, key = fields.pop("most"), fields.get("key")
    if key is not None:  # a second request at the same time waits here for the first
        turn = func.hashtextextended(f"review-queue {selection.tenant} {key}", 0)
        connection.execute(select(func.pg_advisory_xact_lock(turn)))
        has_key = review_queues.c.tenant == selection.tenant, review_queues.c.key == key
        existing = connection.execute(select(*SHOWN).where(*has_key)).one_or_none()
        if existing is not None:
            expected = fields | {"batch_id": selection.batch_id}
            if any(
                getattr(existing, name) != value
                for name, value in expected.items()
                if name != "key"
            ):
                raise KeyReused(
                    "another request was already sent with this Idempotency-Key; use a new key",
                    pointer="",
                )
            return ReviewQueue(**existing._asdict())
    opened = select(func.count()).where(
        review_queues.c.tenant == selection.tenant, review_queues.c.closed_at.is_(None)
    )
    if connection.execute(opened).scalar_one() >= MOST_OPEN:
        detail = f"you have {MOST_OPEN} open review queues, the most allowed; close one first"
        raise QuotaExceeded(detail, policy=POLICY, retry_after=None)
    queue_id = new_id()
    lines = connection.execute(_select_lines(selection, order, fields, most)).all()
    if not lines:
        raise BadInput("no result of the batch is left to judge", pointer="/query")
    row = {**fields, "id": queue_id, "tenant": selection.tenant, "batch_id": selection.batch_id}
    connection.execute(insert(review_queues).values(**row, lines=len(lines)))
    connection.execute(
        insert(review_items),
        [
            {"queue_id": queue_id, "position": position, "place": number, **line._asdict()}
            for position, line in enumerate(lines, 1)
            for number in range(1, fields["per_line"] + 1)
        ],
    )
    return find(connection, queue_id, selection.tenant)


def _select_lines(
    selection: ResultFilter, order: ResultOrder, values: Mapping[str, Any], most: int
) -> Select[Any]:
    """Return a statement that selects (line, job_id) in the order of the queue. Lines that share a
    job appear once."""
    facts = (*filters(selection), FACTS.status == "succeeded", FACTS.job_id.is_not(None))
    first = select(func.min(FACTS.line)).where(*facts).group_by(FACTS.job_id).correlate(None)
    query = select(FACTS.line, FACTS.job_id).where(*facts, FACTS.line.in_(first))
    if values["order"] == "random":
        drawn = func.md5(func.concat(literal(str(values["seed"])), ":", FACTS.line))
        query = query.order_by(drawn, FACTS.line)
    elif values["order"] == "uncertain":
        distance = func.abs(FACTS.score - _border(selection))
        unscored, tested = FACTS.score.is_(None), FACTS.verdict != "not_tested"
        query = query.order_by(unscored, tested, distance, FACTS.line)
    else:
        query = query.order_by(*(column.value for column in sort_columns(selection, order)))
    return query.limit(most)


def _border(selection: ResultFilter) -> ColumnElement[Any]:
    """Return an SQL expression for a score that separates results with a problem from results
    without. It is the midpoint between the mean scores of both groups, or else the median. A
    metric's threshold depends on chance, so it is not a fixed number."""
    facts = filters(selection.batch_filter)
    holding, failing = (
        func.avg(FACTS.score).filter(FACTS.verdict == verdict)
        for verdict in ("holds_up", "problem_found")
    )
    median = func.percentile_cont(0.5).within_group(FACTS.score)
    half_way = func.coalesce((holding + failing) / 2, median)
    return select(half_way).where(*facts).correlate(None).scalar_subquery()


def find(connection: Connection, queue_id: str, tenant: str) -> ReviewQueue:
    query = select(*SHOWN).where(review_queues.c.id == queue_id, review_queues.c.tenant == tenant)
    row = connection.execute(query).one_or_none()
    if row is None:
        raise UnknownQueue(f"there is no review queue {queue_id[:64]!r}")
    return ReviewQueue(**row._asdict())


def check_tenant(connection: Connection, tenant: str, queue_id: str) -> None:
    """Raise BadInput if this tenant has no such queue."""
    try:
        find(connection, queue_id, tenant)
    except UnknownQueue as error:
        raise BadInput(error.detail, pointer="/judged/queue") from None


def page_of(
    connection: Connection,
    tenant: str,
    limit: int,
    after: str | None = None,
    batch_id: str | None = None,
) -> tuple[list[ReviewQueue], bool]:
    """Return a page of queues, newest first, and True if more follow."""
    query = select(*SHOWN).where(review_queues.c.tenant == tenant)
    if batch_id is not None:
        query = query.where(review_queues.c.batch_id == batch_id)
    if after is not None:
        query = query.where(review_queues.c.id < after)
    rows = connection.execute(query.order_by(review_queues.c.id.desc()).limit(limit + 1)).all()
    return [ReviewQueue(**row._asdict()) for row in rows[:limit]], len(rows) > limit


def take(connection: Connection, queue: ReviewQueue, reviewer: str) -> ReviewItem | None:
    """Return the line that is reserved for this reviewer, or reserve the next free line. Return
    None if no line is left."""
    take_turn(connection, queue, reviewer)
    if queue.closed_at is not None:
        return None
    free = (
        select(ITEMS.position, ITEMS.place)
        .where(ITEMS.queue_id == queue.id, ITEMS.done_at.is_(None), is_free(reviewer))
        .where(ITEMS.position.not_in(finished_positions(queue.id, reviewer)))
        .order_by(ITEMS.who.is_distinct_from(reviewer), ITEMS.position, ITEMS.place)
        .limit(1)
        .with_for_update(skip_locked=True)
        .cte("free")
        .prefix_with("MATERIALIZED", dialect="postgresql")  # looked for once
    )
    statement = (
        update(review_items)
        .where(ITEMS.queue_id == queue.id)
        .where(ITEMS.position == free.c.position, ITEMS.place == free.c.place)
        .values(who=reviewer, leased_until=func.now() + LEASE)
        .returning(*(ITEMS[name] for name in ReviewItem.__dataclass_fields__))
    )
    row = connection.execute(statement).one_or_none()
    return None if row is None else ReviewItem(**row._asdict())


def reserved(connection: Connection, queue: ReviewQueue, reviewer: str) -> ReviewItem | None:
    """Return the line that is reserved for this reviewer, or None."""
    if queue.closed_at is not None:
        return None
    query = (
        select(*(ITEMS[name] for name in ReviewItem.__dataclass_fields__))
        .where(ITEMS.queue_id == queue.id, ITEMS.who == reviewer, ITEMS.done_at.is_(None))
        .where(ITEMS.position.not_in(finished_positions(queue.id, reviewer)))
        .order_by(ITEMS.position, ITEMS.place)
        .limit(1)
    )
    row = connection.execute(query).one_or_none()
    return None if row is None else ReviewItem(**row._asdict())


def is_free(reviewer: str) -> ColumnElement[bool]:
    return or_(ITEMS.who.is_(None), ITEMS.who == reviewer, ITEMS.leased_until < func.now())


def finished_positions(queue_id: str, reviewer: str) -> Select[Any]:
    """Return an SQL statement that selects the lines of a queue that this reviewer has judged or
    skipped."""
    other = review_items.alias("other")
    return select(other.c.position).where(
        other.c.queue_id == queue_id,
        or_(
            and_(other.c.who == reviewer, other.c.done_at.is_not(None)),
            literal(reviewer) == any_(other.c.skipped_by),
        ),
    )


def take_turn(connection: Connection, queue: ReviewQueue, reviewer: str) -> None:
    """Lock the queue for this reviewer until the transaction ends. The reviewer's requests to one
    queue are therefore handled one at a time."""
    turn = func.pg_advisory_xact_lock(func.hashtextextended(f"{queue.id} {reviewer}", 0))
    connection.execute(select(turn))


def finish(connection: Connection, queue: ReviewQueue, job_id: str, reviewer: str) -> bool:
    """Record that the reviewer has judged this line. Return False if the reservation expired and
    others have judged the line instead. Raises BadInput if the queue has no such line."""
    take_turn(connection, queue, reviewer)  # or a double click would take two places
    mine = (ITEMS.queue_id == queue.id, ITEMS.job_id == job_id)
    again = select(ITEMS.place).where(*mine, ITEMS.who == reviewer, ITEMS.done_at.is_not(None))
    if connection.execute(again).first() is not None:
        return True
    query = (
        select(ITEMS.position, ITEMS.place)
        .where(*mine, ITEMS.done_at.is_(None), is_free(reviewer))
        .order_by(ITEMS.who.is_distinct_from(reviewer), ITEMS.place)
        .limit(1)
        .with_for_update()
    )
    item = connection.execute(query).one_or_none()
    if item is None:
        if connection.execute(select(ITEMS.place).where(*mine)).first() is None:
            raise BadInput("this line is not in the queue", pointer="/queue")
        return False
    connection.execute(
        update(review_items)
        .where(*mine, ITEMS.place == item.place)
        .values(who=reviewer, leased_until=None, done_at=func.now())
    )
    return True


def release(connection: Connection, queue: ReviewQueue, job_id: str, reviewer: str) -> None:
    """Reserve the line for the reviewer again, after the judgement was withdrawn."""
    connection.execute(
        update(review_items)
        .where(ITEMS.queue_id == queue.id, ITEMS.job_id == job_id, ITEMS.who == reviewer)
        .values(done_at=None, leased_until=func.now() + LEASE)
    )


def skip(connection: Connection, queue: ReviewQueue, position: int, reviewer: str) -> None:
    """Record that this reviewer must not get the line again. Raises BadInput if the queue has no
    such line."""
    held = update(review_items).where(
        ITEMS.queue_id == queue.id, ITEMS.position == position, ITEMS.done_at.is_(None)
    )
    skipped = func.array_append(func.array_remove(ITEMS.skipped_by, reviewer), reviewer)
    free = {"who": case((ITEMS.who == reviewer, None), else_=ITEMS.who)}
    if not connection.execute(held.values(skipped_by=skipped, **free)).rowcount:
        raise BadInput("the queue has no open line at this position", pointer="/position")


def close(connection: Connection, queue_id: str, tenant: str) -> ReviewQueue:
    """Close the queue. Closing it twice has no further effect. Raises UnknownQueue."""
    connection.execute(
        update(review_queues)
        .where(review_queues.c.id == queue_id, review_queues.c.tenant == tenant)
        .values(closed_at=func.coalesce(review_queues.c.closed_at, func.now()))
    )
    return find(connection, queue_id, tenant)


def jobs_of(connection: Connection, queue: ReviewQueue) -> Sequence[str]:
    query = select(ITEMS.job_id).where(ITEMS.queue_id == queue.id, ITEMS.place == 1)
    return connection.execute(query.order_by(ITEMS.position)).scalars().all()


def new_id() -> str:
    """Return a new id of `rq_` and 32 hex digits. Ids sort by time."""
    return f"rq_{time.time_ns() // 1_000_000:012x}{secrets.token_hex(10)}"
