"""What a request names must be its tenant's: a webhook endpoint, a batch, the jobs of a report."""

from __future__ import annotations

from sqlalchemy import Connection

from shared.contracts import BatchReportRequest, JobRequest
from shared.errors import BadInput
from shared.ledger import results
from shared.ledger.webhooks import endpoints
from shared.ledger.webhooks.endpoints import UnknownEndpoint


def demand_owned(connection: Connection, asked: JobRequest, tenant: str) -> None:
    """Raises BadInput where it names what this tenant does not have: as if it were not there."""
    if asked.webhook is not None:
        try:
            endpoints.find(connection, asked.webhook, tenant)
        except UnknownEndpoint as error:
            raise BadInput(error.detail, pointer="/webhook") from None
    if isinstance(asked, BatchReportRequest):
        results.demand_owned(connection, tenant, asked.batch, asked.jobs or ())
