"""Recent activity for the start page and the metrics: the number of jobs by state, and the last
result of each model."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, func, select, text

from shared.ledger.claim_order import EXPIRED
from shared.ledger.jobs import first_id
from shared.ledger.tables import FINAL, IS_OPEN, IS_QUEUED, jobs

LOOKED_AT = 50  # ended jobs, the newest, that are asked which models answered

MODELS = jobs.c.result["provenance"]["models"]


@dataclass(frozen=True)
class LastResponse:
    """The last result of a model: its job and time."""

    job_id: str
    at: datetime


@dataclass(frozen=True)
class ModelHistory:
    """The activity of models in the last day. `answered` maps each model to its last result. `away`
    counts jobs that failed because a model or server was unavailable, by (metric, requested model).
    None stands for the metric's default model."""

    answered: dict[str, LastResponse]
    away: dict[tuple[str, str | None], int]


class JobCounts(NamedTuple):
    """Numbers of jobs. `by_state` counts open jobs and the last day's ended jobs, by (metric,
    status). `lost` counts running jobs whose worker stopped responding. They will be retried."""

    by_state: dict[tuple[str, str], int]
    lost: int


def counts(connection: Connection, tenant: str) -> JobCounts:
    of_tenant = jobs.c.tenant == tenant
    ended = _counts(connection, of_tenant, jobs.c.id > _oldest(), jobs.c.status.in_(FINAL))
    unfinished = _counts(connection, of_tenant, IS_OPEN)
    return JobCounts(ended.by_state | unfinished.by_state, unfinished.lost)


def oldest_seconds(connection: Connection) -> dict[str, float]:
    """Return, for each metric, how many seconds its oldest queued job outside batches has been
    waiting. Jobs that wait for their model do not count."""
    since = func.extract("epoch", func.now() - func.min(jobs.c.created_at))
    rows = connection.execute(
        select(jobs.c.metric, since)
        .where(IS_QUEUED, jobs.c.batch_id.is_(None), jobs.c.waiting_for.is_(None))
        .group_by(jobs.c.metric)
    )
    return {metric: float(seconds) for metric, seconds in rows}


def backlog(connection: Connection) -> dict[str, int]:
    """Return the number of open jobs and unprocessed batch lines by service. Services with none are
    left out."""
    rows = connection.execute(text("SELECT service, jobs FROM touchstone_backlog()"))
    return {service: count for service, count in rows}


def model_history(connection: Connection, tenant: str) -> ModelHistory:
    """Return the activity of this tenant's models. This is slow, so cache it for some seconds."""
    of_tenant = (jobs.c.tenant == tenant, jobs.c.id > _oldest())
    newest = (  # first of all: no result is opened only to be sorted
        select(jobs.c.id)
        .where(*of_tenant, jobs.c.status == "succeeded")
        .order_by(jobs.c.id.desc())
        .limit(LOOKED_AT)
        .subquery()
    )
    rows = connection.execute(
        select(jobs.c.id, jobs.c.finished_at, MODELS)
        .join(newest, jobs.c.id == newest.c.id)
        .order_by(jobs.c.id.desc())
    )
    last: dict[str, LastResponse] = {}
    for job_id, at, models in rows:
        for model in models or ():
            last.setdefault(model["name"], LastResponse(job_id, at))
    return ModelHistory(last, _unavailable(connection, of_tenant))


def _counts(connection: Connection, *which: ColumnElement[bool]) -> JobCounts:
    rows = connection.execute(
        select(jobs.c.metric, jobs.c.status, func.count(), func.count().filter(*EXPIRED))
        .where(*which)
        .group_by(jobs.c.metric, jobs.c.status)
    ).all()
    by_state = {(metric, status): count for metric, status, count, _ in rows}
    return JobCounts(by_state, sum(row[-1] for row in rows))


def _oldest() -> str:
    """Return the lowest possible id of a job from the last 24 hours. Ids sort by time."""
    return first_id(datetime.now(UTC) - timedelta(days=1))


def _unavailable(
    connection: Connection, of_tenant: tuple[Any, ...]
) -> dict[tuple[str, str | None], int]:
    model_name = jobs.c.request["model"].as_string()
    rows = connection.execute(
        select(jobs.c.metric, model_name, func.count())
        .where(*of_tenant, jobs.c.status == "failed", jobs.c.error["status"].as_integer() == 503)
        .group_by(jobs.c.metric, model_name)
    )
    return {(metric, model): count for metric, model, count in rows}
