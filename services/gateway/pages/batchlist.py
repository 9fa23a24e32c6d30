"""`/batches`: the batches, newest first."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request
from starlette.responses import Response

from services.gateway.batch_views import batch_shown
from services.gateway.pages.routing import pages
from services.gateway.pages.templating import page
from services.gateway.pages.viewers import Viewer, demand_scope
from services.gateway.routes.batches import BATCH_ID
from services.gateway.state import Gateway
from shared.ledger import batches
from shared.ledger.pagination import Slice

ON_A_PAGE = 50

router = pages()


@router.get("/batches")
async def batch_list(
    request: Request,
    gateway: Gateway,
    caller: Viewer,
    after: Annotated[str | None, Query(pattern=f"^{BATCH_ID.pattern}$")] = None,
) -> Response:
    """A page of them."""
    demand_scope(caller, "batch")
    wanted = Slice(ON_A_PAGE, after=after, tenant=caller.tenant)
    found, more = await gateway.in_ledger(lambda connection: batches.page_of(connection, wanted))
    return page(
        request,
        "batches.html",
        batches=[batch_shown(batch) for batch in found],
        older=f"/batches?after={found[-1].id}" if more else None,
        first=after is None,
    )
