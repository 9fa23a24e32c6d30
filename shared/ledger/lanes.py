"""A metric's two queues, as the ledger sees them."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import ColumnElement, func

from shared.ledger.tables import jobs

EXPIRED = (jobs.c.status == "running", jobs.c.lease_expires_at < func.now())


class Lane(NamedTuple):
    """One of a metric's two lanes."""

    metric: str
    batch: bool

    @property
    def its_jobs(self) -> tuple[ColumnElement[bool], ...]:
        """The jobs that travel in it."""
        return (jobs.c.metric == self.metric, jobs.c.batch_id.is_not(None) == self.batch)
