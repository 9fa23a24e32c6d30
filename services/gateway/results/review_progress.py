"""Progress of review queues (results that people judge one by one)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    ARRAY,
    ColumnElement,
    Connection,
    ScalarSelect,
    String,
    and_,
    any_,
    func,
    literal,
    select,
)

from services.gateway.results.review_queues import ITEMS, ReviewQueue, finished_positions, is_free
from shared.ledger.judgements import judgements


@dataclass(frozen=True)
class ReviewProgress:
    """The progress of one reviewer, or of all together. `left` is the number of lines that can
    still be assigned. `seconds` is the median time per judgement."""

    done: int
    skipped: int
    left: int
    seconds: float | None


def progress(
    connection: Connection, queue: ReviewQueue, reviewer: str | None = None
) -> ReviewProgress:
    if reviewer is None:
        return progress_by_queue(connection, [queue.id])[queue.id]
    is_done = ITEMS.done_at.is_not(None)
    open_to = and_(~is_done, is_free(reviewer))
    open_to = and_(open_to, ITEMS.position.not_in(finished_positions(queue.id, reviewer)))
    counts = _counts(
        done=and_(is_done, ITEMS.who == reviewer),
        skipped=literal(reviewer) == any_(ITEMS.skipped_by),
        left=func.count(ITEMS.position.distinct()).filter(open_to),
    )
    median = _median_time(literal(queue.id))
    query = select(*counts, median.label("seconds")).where(ITEMS.queue_id == queue.id)
    return ReviewProgress(**connection.execute(query).one()._asdict())


def progress_by_queue(connection: Connection, ids: Sequence[str]) -> dict[str, ReviewProgress]:
    is_done = ITEMS.done_at.is_not(None)
    counts = _counts(
        done=is_done,
        skipped=and_(~is_done, func.cardinality(ITEMS.skipped_by) > 0),
        left=func.count().filter(~is_done),
    )
    query = (
        select(ITEMS.queue_id, *counts, _median_time(ITEMS.queue_id).label("seconds"))
        .where(ITEMS.queue_id == any_(literal(list(ids), ARRAY(String))))
        .group_by(ITEMS.queue_id)
    )
    progress = {
        row.queue_id: ReviewProgress(row.done, row.skipped, row.left, row.seconds)
        for row in connection.execute(query)
    }
    return {queue_id: progress.get(queue_id) or ReviewProgress(0, 0, 0, None) for queue_id in ids}


def _counts(
    *, done: ColumnElement[bool], skipped: ColumnElement[bool], left: ColumnElement[Any]
) -> tuple[ColumnElement[Any], ...]:
    return (
        func.count(ITEMS.position).filter(done).label("done"),
        func.count(ITEMS.position.distinct()).filter(skipped).label("skipped"),
        left.label("left"),
    )


def _median_time(queue_id: ColumnElement[str]) -> ScalarSelect[Any]:
    """Return an expression for the median seconds per judgement of the queue."""
    median = func.percentile_cont(0.5).within_group(judgements.c.seconds)
    return select(median).where(judgements.c.queue_id == queue_id).scalar_subquery()
