"""Selects the next job of a queue. Tenants take turns, and each tenant's oldest job comes first.

A message only says that a job waits in its queue. This module decides which job the worker takes.
Ten thousand jobs of one tenant thus delay another tenant's job by one turn. A job that was tried
before needs its own message, because it waits for its back-off or gets its last attempt alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import (
    ARRAY,
    ColumnElement,
    Connection,
    Integer,
    ScalarSelect,
    Select,
    String,
    Subquery,
    and_,
    any_,
    bindparam,
    exists,
    func,
    lateral,
    literal_column,
    select,
    true,
)
from sqlalchemy.sql.expression import CTE

from shared.ledger.clock import IS_STEADY
from shared.ledger.tables import IS_QUEUED, IS_RUNNING, jobs

EXPIRED = (IS_RUNNING, jobs.c.lease_expires_at < func.now(), IS_STEADY)
JOB_ID = bindparam("job_id", type_=String)  # the job of the message
JOB_IDS = bindparam("job_ids", type_=ARRAY(String))  # the jobs of several messages
COUNT = bindparam("count", type_=Integer)  # number of messages
SERVED = bindparam("served", type_=ARRAY(String))
FULL = bindparam("full", type_=ARRAY(String))


class MetricQueue(NamedTuple):
    metric: str
    batch: bool

    @property
    def job_filters(self) -> tuple[ColumnElement[bool], ...]:
        return (jobs.c.metric == self.metric, jobs.c.batch_id.is_not(None) == self.batch)


@dataclass(frozen=True)
class ClaimOrder:
    """The facts about a worker that decide which job of a queue it gets next.

    `again` is True if the message was sent again, for a job that may have been tried. `served`
    lists tenants, least recently served first; tenants not listed go before them. `full` lists
    tenants that use their whole share of the worker and get no more now.
    """

    queue: MetricQueue
    again: bool = False
    served: Sequence[str] = ()
    full: Sequence[str] = ()


def next_job(queue: MetricQueue, *, again: bool) -> ColumnElement[Any]:
    """Select the id of the job that a worker takes after a message about the job `JOB_ID`, or
    null. After a message that the scheduler repeated (`again`), `JOB_ID` itself is taken first
    if it was tried before. Otherwise the next job of the queue comes first, unless the lease of
    `JOB_ID` has expired."""
    lost, gone_back = (_tried(free) for free in (and_(*EXPIRED), IS_QUEUED))
    fair = _fair(queue).scalar_subquery()
    if again:
        return func.coalesce(lost, gone_back, fair)
    return func.coalesce(lost, fair, gone_back)


def next_jobs(queue: MetricQueue) -> ColumnElement[Any]:
    """Select the ids of at most `COUNT` jobs to take after messages about the jobs `JOB_IDS`. Jobs
    in `JOB_IDS` whose lease has expired come first. Untried jobs follow in equal shares per tenant,
    oldest first."""
    lost = select(jobs.c.id).where(jobs.c.id == any_(JOB_IDS), jobs.c.attempts > 0, *EXPIRED)
    waiting = _tenants(queue)
    order = _turns(waiting)
    tenants = select(func.count(waiting.c.tenant)).scalar_subquery()
    share = func.greatest(1, func.div(COUNT, func.greatest(1, tenants)).cast(Integer))
    of_tenant = (
        select(jobs.c.id)
        .where(*_fresh(queue), jobs.c.tenant == order.c.tenant)
        .order_by(jobs.c.id)
        .limit(share)
        .with_for_update(skip_locked=True)
    )
    fresh = lateral(of_tenant, name="next_jobs")
    fair = select(fresh.c.id).select_from(order.join(fresh, true())).limit(COUNT)
    expired = lost.limit(COUNT).with_for_update(skip_locked=True).subquery("lost")
    either = select(expired.c.id).union_all(select(fair.subquery("fair").c.id)).limit(COUNT)
    return func.array(either.scalar_subquery())


def waits(connection: Connection, queue: MetricQueue) -> bool:
    return bool(connection.execute(select(exists().where(*_fresh(queue)))).scalar())


def fresh_count(connection: Connection, queue: MetricQueue) -> int:
    return connection.execute(select(func.count()).where(*_fresh(queue))).scalar_one()


def oldest(connection: Connection, queue: MetricQueue, count: int) -> list[str]:
    if count <= 0:
        return []
    query = select(jobs.c.id).where(*_fresh(queue)).order_by(jobs.c.id).limit(count)
    return list(connection.execute(query).scalars())


def _tried(free: ColumnElement[bool]) -> ScalarSelect[Any]:
    """Select the job `JOB_ID` if it was tried before and meets the condition `free`."""
    return select(jobs.c.id).where(jobs.c.id == JOB_ID, jobs.c.attempts > 0, free).scalar_subquery()


def _fair(queue: MetricQueue) -> Select[Any]:
    """Select the oldest untried job of the tenant whose turn it is. Rows locked by other workers
    are skipped."""
    order = _turns(_tenants(queue))
    job = lateral(
        select(jobs.c.id)
        .where(*_fresh(queue), jobs.c.tenant == order.c.tenant)
        .order_by(jobs.c.id)
        .limit(1)
        .with_for_update(skip_locked=True),
        name="next_job",
    )
    return select(job.c.id).select_from(order.join(job, true())).limit(1)


def _turns(waiting: CTE) -> Subquery:
    """Select the tenants with waiting jobs that may get another job now, in the order in which they
    are served next."""
    tenant = waiting.c.tenant
    return (
        select(tenant)
        .where(tenant.is_not(None), tenant != func.all(FULL))
        .order_by(func.array_position(SERVED, tenant).nulls_first(), tenant)
        .offset(0)  # sort before locking, so that one job is locked and not one per tenant
        .subquery("next_tenant")
    )


def _tenants(queue: MetricQueue) -> CTE:
    """Select the tenants with an untried job in this queue, with one index lookup each."""
    tenants = select(_first_tenant(queue).label("tenant")).cte("waiting", recursive=True)
    after = _first_tenant(queue, jobs.c.tenant > tenants.c.tenant)
    return tenants.union_all(select(after).where(tenants.c.tenant.is_not(None)))


def _first_tenant(queue: MetricQueue, *after: ColumnElement[bool]) -> ScalarSelect[Any]:
    """Select the tenant of the first untried job in the index order. The query reads a single row
    of the index."""
    fresh = select(jobs.c.tenant).where(*_fresh(queue), *after)
    return fresh.order_by(jobs.c.tenant, jobs.c.id).limit(1).scalar_subquery()


def _fresh(queue: MetricQueue) -> tuple[ColumnElement[bool], ...]:
    """Return the conditions for untried jobs. They use literals, so that the planner can use the
    partial index."""
    return (
        jobs.c.metric == queue.metric,
        IS_QUEUED,
        jobs.c.attempts == literal_column("0"),
        jobs.c.batch_id.is_not(None) if queue.batch else jobs.c.batch_id.is_(None),
    )
