"""Lines of two batches that have one custom id and one text, for the page that compares them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, func, or_, select

from shared.ledger.result_pages import Bounds
from shared.ledger.tables import jobs, result_facts

LEFT, RIGHT = result_facts.alias("left_facts"), result_facts.alias("right_facts")


@dataclass(frozen=True)
class PairFilter:
    """Which pairs. verdicts, scores: of the left side and the right; models: None: any."""

    tenant: str
    batches: tuple[str, str]
    models: tuple[str | None, str | None] = (None, None)
    verdicts: tuple[str | None, str | None] = (None, None)
    scores: tuple[Bounds, Bounds] = ((None, None), (None, None))
    top: float | None = None  # the greatest score there can be: it belongs to the last cell


class PairedLine(NamedTuple):
    """A line of both batches."""

    custom_id: str
    line: int  # of the right batch
    left_job: str
    right_job: str


def pairs_of(connection: Connection, wanted: PairFilter, limit: int) -> list[PairedLine]:
    """Those whose scores differ most first; pairs with an undefined score last."""
    difference = func.abs(RIGHT.c.score - LEFT.c.score)
    query = (
        select(RIGHT.c.custom_id, RIGHT.c.line, LEFT.c.job_id, RIGHT.c.job_id)
        .select_from(LEFT.join(RIGHT, LEFT.c.custom_id == RIGHT.c.custom_id))
        .where(*_conditions(wanted))
        .order_by(difference.desc().nulls_last(), RIGHT.c.line)
        .limit(limit)
    )
    return [PairedLine(*row) for row in connection.execute(query)]


def _conditions(wanted: PairFilter) -> list[ColumnElement[bool]]:
    keys = (LEFT.c.text_key, RIGHT.c.text_key)
    found = [or_(keys[0].is_(None), keys[1].is_(None), keys[0] == keys[1])]
    for place, side in enumerate((LEFT, RIGHT)):
        found += [side.c.tenant == wanted.tenant, side.c.batch_id == wanted.batches[place]]
        found += [side.c.status == "succeeded", side.c.job_id.is_not(None)]
        for name, chosen in (("model", wanted.models), ("verdict", wanted.verdicts)):
            if (value := chosen[place]) is not None:
                found.append(side.c[name] == value)
        low, high = wanted.scores[place]
        if low is not None:
            found.append(side.c.score >= low)
        if high is not None:
            is_top = high == wanted.top
            found.append(side.c.score <= high if is_top else side.c.score < high)
    return found


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


def unlike(connection: Connection, tenant: str, batch_id: str) -> dict[str, list[str]]:
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
