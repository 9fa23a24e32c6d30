"""The page `/views`: a tenant's saved views of results tables, saved column mappings, and shared
links.

A view stores filters, order and columns for a metric, and appears on the page of each of its
batches. A shared link shows selected lines of a batch, without texts, to visitors without a key.
"""

from __future__ import annotations

import secrets
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import parse_qsl, urlencode

from fastapi import Request
from sqlalchemy import Connection, delete, func, select
from sqlalchemy.dialects.postgresql import insert
from starlette.responses import RedirectResponse, Response

from services.gateway.auth import Viewer, check_scope
from services.gateway.pages.login import local
from services.gateway.pages.page_route import page_router
from services.gateway.pages.result_query import query_to_take
from services.gateway.pages.templates import base_url, checked_form, page
from services.gateway.refusals import InvalidBody, NoReport
from services.gateway.routes.batch_results import view_report_job, write_facts
from services.gateway.routes.batches import find_batch
from services.gateway.state import Gateway, State
from services.registry import metrics
from shared.contracts.errors import QuotaExceeded
from shared.ledger import tables

LONGEST_NAME = 60
MOST = 50  # of one kind
POLICY = "saved-views"
LONGEST_QUERY = 2_000
MOST_TABS = 20  # over a table; a page has 150 kB
KINDS = {"results": "view", "columns": "mapping", "shared": "link"}  # as stored → as shown
SHARED_DAYS = 30
VIEWS = tables.saved_views

router = page_router()


@dataclass(frozen=True)
class SavedEntry:
    """A saved view, column mapping or shared link. `kind` is one of `KINDS`. Only a link has an
    `address`, and `until`, the Unix time when it expires."""

    kind: str
    metric: str
    name: str
    summary: str
    address: str = ""
    until: float | None = None


def is_name(name: str) -> bool:
    """Return True if the text is allowed as the name of a view."""
    return 0 < len(name) <= LONGEST_NAME and name.isprintable()


def save_view(connection: Connection, tenant: str, kind: str, name: str, value: Any) -> None:
    """Save a view. A view of the same name is replaced. Raises QuotaExceeded."""
    statement = insert(VIEWS).values(tenant=tenant, kind=kind, name=name, value=value)
    key = ["tenant", "kind", "name"]
    connection.execute(statement.on_conflict_do_update(index_elements=key, set_={"value": value}))
    count = select(func.count()).where(*_of(tenant, kind))
    if connection.execute(count).scalar_one() > MOST:
        raise QuotaExceeded(
            f"you have {MOST} saved entries of this kind, which is the maximum; delete one first",
            policy=POLICY,
            retry_after=None,
        )


def list_views(connection: Connection, tenant: str, kind: str) -> dict[str, Any]:
    """Return the saved views by name, sorted."""
    query = select(VIEWS.c.name, VIEWS.c.value).where(*_of(tenant, kind)).order_by(VIEWS.c.name)
    return {name: value for name, value in connection.execute(query)}


def delete_view(connection: Connection, tenant: str, kind: str, name: str) -> None:
    connection.execute(delete(VIEWS).where(*_of(tenant, kind), VIEWS.c.name == name))


def _of(tenant: str, kind: str) -> tuple[Any, Any]:
    return VIEWS.c.tenant == tenant, VIEWS.c.kind == kind


async def saved_views(gateway: State, tenant: str, metric: str) -> dict[str, str]:
    """Return the tenant's first saved views of a metric's results, as a mapping from name to
    address parameters."""
    kind = f"results {metric}"
    views = await gateway.in_ledger(lambda connection: list_views(connection, tenant, kind))
    return dict(list(views.items())[:MOST_TABS])


@router.get("/views")
async def view_list(request: Request, gateway: Gateway, caller: Viewer) -> Response:
    """List the saved views, each with a button to delete it."""
    check_scope(caller, "batch")

    def read(connection: Connection) -> list[SavedEntry]:
        return [
            SavedEntry(kind, metric, name, *_summary(value, f"/shared/{caller.tenant}/{metric}"))
            for metric in metrics()
            for kind in KINDS
            for name, value in list_views(connection, caller.tenant, f"{kind} {metric}").items()
        ]

    saved = await gateway.in_ledger(read)
    return page(request, "views.html", saved=saved, kinds=KINDS, site=base_url(request))


def _summary(value: Any, shared: str) -> tuple[Any, ...]:
    """Return (description,), or (description, address, expiry time) of a shared link. The
    description of a mapping is a list of field=column."""
    if isinstance(value, str):
        return (value,)
    if isinstance(value, dict):
        address = f"{shared}/{value['token']}.html"
        return f"{value['batch']} {value['query']}", address, value["until"]
    pairs = (f"{name[2:] or 'metadata'}={column}" for name, column in value if column)
    return (", ".join(pairs),)


@router.post("/views")
async def save(request: Request, gateway: Gateway, caller: Viewer) -> Response:
    """Save the view and return to the table. If the form asks to share its lines, show the link
    instead. Raises BadInput for filters that a link could not
    show, InvalidBody, QuotaExceeded, UnknownBatch."""
    check_scope(caller, "batch")
    form = await checked_form(request)
    name, metric = form.get("name", "").strip(), form.get("metric", "")
    query = urlencode(parse_qsl(form.get("query", "")))
    if not is_name(name):
        raise InvalidBody.at_root(f"a view needs a name of at most {LONGEST_NAME} characters")
    if metric not in metrics() or len(query) > LONGEST_QUERY:
        raise InvalidBody.at_root("there is no such results table, or its address is too long")

    kind, target, value = "results", form.get("next", "/views"), cast("Any", query)
    if form.get("share"):
        batch = await find_batch(form["share"], gateway, caller.tenant)
        if batch.metric != metric:
            raise InvalidBody.at_root(f"the batch is of {batch.metric}, not of {metric}")
        view = query_to_take(batch, caller.tenant, parse_qsl(query))
        with suppress(NoReport):  # a link may be made before the batch has results
            if view.is_whole:
                await write_facts(gateway, batch)
                owner = caller.owner(gateway.settings)
                await view_report_job(batch, gateway, owner, None, create=True)
        until, token = int(time.time()) + SHARED_DAYS * 86_400, secrets.token_hex(16)
        value = {"batch": batch.id, "query": query, "until": until, "token": token}
        kind, target = "shared", "/views"

    def write(connection: Connection) -> None:
        save_view(connection, caller.tenant, f"{kind} {metric}", name, value)

    await gateway.in_ledger(write)
    return RedirectResponse(local(target), 303)


@router.post("/views/delete")
async def delete_saved(request: Request, gateway: Gateway, caller: Viewer) -> Response:
    """Delete the view if it exists."""
    check_scope(caller, "batch")
    form = await checked_form(request)
    kind = form.get("kind", "results")
    if kind not in KINDS:
        raise InvalidBody.at_root("the service does not save items of this kind")
    kind, name = f"{kind} {form.get('metric', '')}", form.get("name", "")
    await gateway.in_ledger(lambda connection: delete_view(connection, caller.tenant, kind, name))
    return RedirectResponse("/views", 303)
