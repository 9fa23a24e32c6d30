"""`/batches/{id}`: how far a batch has come; then what its results say, the worst lines first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import Depends, Query, Request
from fastapi.sse import EventSourceResponse
from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response

from services.gateway.batch_look import Look, decode, look
from services.gateway.batch_views import batch_shown
from services.gateway.pages import forgery
from services.gateway.pages.batchfiles import owned
from services.gateway.pages.batchreport import Summary, summary_of
from services.gateway.pages.forms import form_of
from services.gateway.pages.routing import pages
from services.gateway.pages.templating import page
from services.gateway.pages.viewers import Viewer, demand_scope, stream_held, while_viewing
from services.gateway.refusals import NothingToReport
from services.gateway.routes.batch_reports import report_job
from services.gateway.routes.batches import known
from services.gateway.routes.events import stream
from services.gateway.state import Gateway, State
from services.registry import contracts, surprising_rules, surprising_words
from shared.ledger import batches
from shared.ledger.batches import Batch
from shared.ledger.items import STATUSES, Wanted
from shared.ledger.jobs import Job

ON_A_PAGE = 50
MOST_PAGES = 1_000
DECODE_SECONDS = 0.4  # of a first look at a large batch; the rest is read while the page says so

Text = Annotated[str, Query(max_length=200)]

router = pages()


@dataclass(frozen=True)
class Report:
    """The batch's report: finished, or the job that makes it, or why there is none."""

    summary: Summary | None = None
    job: Job | None = None
    why_not: str = ""

    @property
    def is_being_made(self) -> bool:
        """Whether it is worth waiting for."""
        return self.job is not None and not self.job.is_final


@dataclass(frozen=True)
class Lines:
    """The lines that the page shows. complete: whether every result was looked at."""

    look: Look
    complete: bool
    filters: dict[str, str]
    place: int
    newer: str | None
    older: str | None


@router.get("/batches/{batch_id}")
async def batch_page(
    request: Request,
    batch_id: str,
    gateway: Gateway,
    caller: Viewer,
    status: Text = "",
    reason: Text = "",
    contains: Text = "",
    place: Annotated[int, Query(alias="page", ge=1, le=MOST_PAGES)] = 1,
) -> Response:
    """The page of one batch."""
    batch = await owned(batch_id, gateway, caller)
    filters = {"status": status, "reason": reason, "contains": contains.replace("\x00", "")}
    ended = batch.is_final and batch.total > 0
    return page(
        request,
        "batch.html",
        batch=batch_shown(batch),
        room=contracts().get(batch.metric),
        report=await _report(batch, gateway) if ended else None,
        lines=await _lines(batch, gateway, filters, place) if ended else None,
        statuses=STATUSES,
        reasons=surprising_rules(batch.metric).names,
        words=surprising_words(batch.metric),
    )


@router.get("/batches/{batch_id}/live", dependencies=[Depends(stream_held)])
async def batch_live(
    request: Request, batch_id: str, gateway: Gateway, caller: Viewer
) -> EventSourceResponse:
    """The batch's own events; they end when its page can show every line."""

    async def see() -> Batch:
        batch = await owned(batch_id, gateway, caller)
        if batch.is_final:
            await decode(gateway, batch, surprising_rules(batch.metric))
        return batch

    watched = while_viewing(request, gateway, see)
    return await stream(watched, batch_id, gateway, request.headers.get("last-event-id"))


@router.post("/batches/{batch_id}/cancel")
async def batch_cancel(
    request: Request, batch_id: str, gateway: Gateway, caller: Viewer
) -> Response:
    """Cancel it; one that has ended meanwhile stays as it is."""
    demand_scope(caller, "batch")
    forgery.demand(request, await form_of(request))
    await gateway.in_ledger(
        lambda connection: batches.cancel(connection, known(batch_id), tenant=caller.tenant)
    )
    return RedirectResponse(f"/batches/{batch_id}", 303)


async def _report(batch: Batch, gateway: State) -> Report:
    try:
        job = await report_job(batch, gateway)
    except NothingToReport as error:
        return Report(why_not=error.detail)
    if job.error is not None:
        return Report(job=job, why_not=str(job.error.get("detail", "")))
    if job.result is None:
        return Report(job=job, why_not="" if not job.is_final else "its job was cancelled")
    return Report(await run_in_threadpool(summary_of, batch, job.result, inside=False), job)


async def _lines(batch: Batch, gateway: State, filters: dict[str, str], place: int) -> Lines:
    rules = surprising_rules(batch.metric)
    complete = await decode(gateway, batch, rules, DECODE_SECONDS)
    wanted = Wanted(
        batch.id,
        ON_A_PAGE,
        (place - 1) * ON_A_PAGE,
        filters["status"] if filters["status"] in STATUSES else "",
        filters["reason"] if filters["reason"] in rules.names else "",
        filters["contains"],
    )
    seen = await look(gateway, wanted, rules)

    def address(number: int) -> str:
        kept: dict[str, Any] = {name: value for name, value in filters.items() if value}
        return f"/batches/{batch.id}?{urlencode(kept | {'page': number})}#items"

    return Lines(
        look=seen,
        complete=complete,
        filters=filters,
        place=place,
        newer=address(place - 1) if place > 1 else None,
        older=address(place + 1) if seen.more else None,
    )
