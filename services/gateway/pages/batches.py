"""`/batches` lists batches; `/batches/{id}` shows progress, then the report and the worst lines.

Beside it stand its downloads and the pictures of its report.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from fastapi import Depends, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response

from services.gateway.auth import Viewer, require_scope, stream_held, while_viewing
from services.gateway.caller import Caller
from services.gateway.pages import templates
from services.gateway.pages.batch_report import ReportSummary, summary_of
from services.gateway.pages.page_route import pages
from services.gateway.pages.templates import form_of, page
from services.gateway.refusals import NothingToReport
from services.gateway.routes import batch_results
from services.gateway.routes.batch_results import Look, decode, look, picture, report_job
from services.gateway.routes.batches import BATCH_ID, found, known
from services.gateway.routes.events import stream
from services.gateway.routes.files import get_file_content
from services.gateway.state import Gateway, State
from services.gateway.views import batch_view
from services.registry import contracts, surprising_rules, surprising_words
from shared.errors import UnknownFile
from shared.ledger import batches
from shared.ledger.batch_lines import STATUSES, LineFilter
from shared.ledger.batches import Batch
from shared.ledger.engine import Slice
from shared.ledger.jobs import Job

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
    require_scope(caller, "batch")
    wanted = Slice(ON_A_PAGE, after=after, tenant=caller.tenant)
    found, more = await gateway.in_ledger(lambda connection: batches.page_of(connection, wanted))
    return page(
        request,
        "batches.html",
        batches=[batch_view(batch) for batch in found],
        older=f"/batches?after={found[-1].id}" if more else None,
        first=after is None,
    )


MOST_PAGES = 1_000
DECODE_SECONDS = 0.4  # of a first look at a large batch; the rest is read while the page says so

Text = Annotated[str, Query(max_length=200)]


@dataclass(frozen=True)
class BatchReportState:
    """The batch's report: finished, or the job that makes it, or why there is none."""

    summary: ReportSummary | None = None
    job: Job | None = None
    why_not: str = ""

    @property
    def is_pending(self) -> bool:
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
        batch=batch_view(batch),
        contract=contracts().get(batch.metric),
        report=await _report(batch, gateway) if ended else None,
        lines=await _lines(batch, gateway, filters, place) if ended else None,
        statuses=STATUSES,
        reasons=surprising_rules(batch.metric).names,
        words=surprising_words(batch.metric),
    )


@router.get("/batches/{batch_id}/live", dependencies=[Depends(stream_held)])
async def batch_live(request: Request, batch_id: str, gateway: Gateway, caller: Viewer) -> Response:
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
    require_scope(caller, "batch")
    templates.demand(request, await form_of(request))
    await gateway.in_ledger(
        lambda connection: batches.cancel(connection, known(batch_id), tenant=caller.tenant)
    )
    return RedirectResponse(f"/batches/{batch_id}", 303)


async def _report(batch: Batch, gateway: State) -> BatchReportState:
    try:
        job = await report_job(batch, gateway)
    except NothingToReport as error:
        return BatchReportState(why_not=error.detail)
    if job.error is not None:
        return BatchReportState(job=job, why_not=str(job.error.get("detail", "")))
    if job.result is None:
        return BatchReportState(
            job=job, why_not="" if not job.is_final else "its job was cancelled"
        )
    return BatchReportState(
        await run_in_threadpool(summary_of, batch, job.result, inside=False), job
    )


async def _lines(batch: Batch, gateway: State, filters: dict[str, str], place: int) -> Lines:
    rules = surprising_rules(batch.metric)
    complete = await decode(gateway, batch, rules, DECODE_SECONDS)
    wanted = LineFilter(
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


PICTURE_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
REPORT_SECONDS = 10  # that a download waits for a report which is still being made


@router.get("/batches/{batch_id}/plots/{name}.svg")
async def batch_plot(batch_id: str, name: str, gateway: Gateway, caller: Viewer) -> Response:
    """A picture of the report."""
    batch = await owned(batch_id, gateway, caller)
    response = picture(await _finished_report(batch, gateway), name, "svg")
    response.headers["Content-Security-Policy"] = PICTURE_POLICY
    return response


@router.get("/batches/{batch_id}/items.csv")
async def batch_csv(batch_id: str, gateway: Gateway, caller: Viewer) -> Response:
    """The lines as CSV."""
    return await batch_results.as_csv(await owned(batch_id, gateway, caller), gateway)


@router.get("/batches/{batch_id}/report.html")
async def batch_html(batch_id: str, gateway: Gateway, caller: Viewer) -> Response:
    """The report as one file."""
    batch = await owned(batch_id, gateway, caller)
    return await batch_results.as_html(batch, await _finished_report(batch, gateway), gateway)


@router.get("/batches/{batch_id}/{kind}.jsonl")
async def batch_jsonl(
    batch_id: str,
    kind: Literal["output", "errors"],
    gateway: Gateway,
    caller: Viewer,
) -> Response:
    """The output or the error file as it is."""
    batch = await owned(batch_id, gateway, caller)
    file_id = batch.output_file_id if kind == "output" else batch.error_file_id
    if file_id is None:
        raise UnknownFile(f"this batch has no file of {kind}")
    return await get_file_content(file_id, gateway, caller)


async def owned(batch_id: str, gateway: State, caller: Caller) -> Batch:
    """The viewer's batch. Raises UnknownBatch, Forbidden."""
    require_scope(caller, "batch")
    return await found(batch_id, gateway, caller.tenant)


async def _finished_report(batch: Batch, gateway: State) -> dict[str, Any]:
    """The finished report. Raises NothingToReport."""
    job = await report_job(batch, gateway, REPORT_SECONDS)
    if job.error is not None:
        raise NothingToReport(str(job.error.get("detail", "the report failed")))
    if job.result is None:
        raise NothingToReport("the report is still being made; ask again in a moment")
    return job.result
