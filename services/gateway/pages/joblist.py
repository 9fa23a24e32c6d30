"""`/jobs`: the jobs, newest first, by state, metric or batch."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlencode

from fastapi import Query, Request
from starlette.responses import Response

from services.gateway.pages.routing import pages
from services.gateway.pages.templating import page
from services.gateway.pages.viewers import Viewer
from services.gateway.routes.jobs import BATCH_ID, JOB_ID
from services.gateway.state import Gateway
from services.registry import every_contract
from shared.ledger import jobs
from shared.ledger.jobs import JobStatus, Page

ON_A_PAGE = 50
STATES: tuple[JobStatus, ...] = ("queued", "running", "succeeded", "failed", "cancelled")

router = pages()


@router.get("/jobs")
async def job_list(
    request: Request,
    gateway: Gateway,
    caller: Viewer,
    status: Annotated[str, Query(max_length=20)] = "",
    metric: Annotated[str, Query(max_length=64)] = "",
    batch: Annotated[str, Query(pattern=f"^({BATCH_ID.pattern})?$")] = "",
    after: Annotated[str | None, Query(pattern=f"^{JOB_ID.pattern}$")] = None,
) -> Response:
    """A page of them; what is no state and no metric filters nothing."""
    state = next((known for known in STATES if known == status), None)
    room = metric if metric in every_contract() else None
    wanted = Page(
        limit=ON_A_PAGE,
        tenant=caller.tenant,
        after=after,
        status=state,
        metric=room,
        batch=batch or None,
    )
    found, more = await gateway.in_ledger(lambda connection: jobs.summaries(connection, wanted))
    filters = {"status": state or "", "metric": room or "", "batch": batch}
    kept = {name: value for name, value in filters.items() if value}
    older = f"/jobs?{urlencode(kept | {'after': found[-1].id})}" if more else None
    return page(
        request,
        "jobs.html",
        jobs=found,
        filters=filters,
        states=STATES,
        metrics=sorted(every_contract()),
        older=older,
        newest=None if after is None else f"/jobs?{urlencode(kept)}",
    )
