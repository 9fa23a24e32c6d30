"""`/views`: filters, order and columns of results tables that a tenant keeps under a name.

A view is a metric's: it is a tab over the results of every batch of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode

from fastapi import Request
from sqlalchemy import Connection
from starlette.responses import RedirectResponse, Response

from services.gateway.auth import Viewer, require_scope
from services.gateway.pages import templates
from services.gateway.pages.login import local
from services.gateway.pages.page_route import pages
from services.gateway.pages.templates import form_of, page
from services.gateway.refusals import InvalidBody
from services.gateway.state import Gateway, State
from services.registry import metrics
from shared.ledger import saved_views as ledger

LONGEST_NAME = 60
LONGEST_QUERY = 4_000

router = pages()


@dataclass(frozen=True)
class SavedView:
    """query: of an address, without the question mark."""

    metric: str
    name: str
    query: str


async def saved_views(gateway: State, tenant: str, metric: str) -> list[SavedView]:
    """The tenant's views of a metric's results."""
    kind = f"results {metric}"
    found = await gateway.in_ledger(lambda connection: ledger.kept(connection, tenant, kind))
    return [SavedView(metric, name, str(value)) for name, value in found.items()]


@router.get("/views")
async def view_list(request: Request, gateway: Gateway, caller: Viewer) -> Response:
    """Every saved view, and a button to delete it."""
    require_scope(caller, "batch")
    found = [
        view for metric in metrics() for view in await saved_views(gateway, caller.tenant, metric)
    ]
    return page(request, "views.html", views=found)


@router.post("/views")
async def keep_view(request: Request, gateway: Gateway, caller: Viewer) -> Response:
    """Keep it, and go back to the table. Raises InvalidBody, QuotaExceeded."""
    require_scope(caller, "batch")
    form = await form_of(request)
    templates.demand(request, form)
    name, metric = form.get("name", "").strip(), form.get("metric", "")
    query = urlencode(parse_qsl(form.get("query", "")))
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise InvalidBody.at_root(f"a view needs a name of at most {LONGEST_NAME} characters")
    if metric not in metrics() or len(query) > LONGEST_QUERY:
        raise InvalidBody.at_root("there is no such table of results, or its address is too long")

    def keep(connection: Connection) -> None:
        ledger.keep(connection, caller.tenant, f"results {metric}", name, query)

    await gateway.in_ledger(keep)
    return RedirectResponse(local(form.get("next", "/views")), 303)


@router.post("/views/delete")
async def delete_view(request: Request, gateway: Gateway, caller: Viewer) -> Response:
    """Delete it, if it is there."""
    require_scope(caller, "batch")
    form = await form_of(request)
    templates.demand(request, form)
    kind, name = f"results {form.get('metric', '')}", form.get("name", "")
    await gateway.in_ledger(lambda connection: ledger.forget(connection, caller.tenant, kind, name))
    return RedirectResponse("/views", 303)
