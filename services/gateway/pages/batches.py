"""`/batches` lists batches; `/batches/{id}` shows progress, then the report and the worst lines.
The address of the results table is its view.

`batch_downloads` has its files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any
from urllib.parse import quote, urlencode

from fastapi import Depends, Query, Request
from sqlalchemy import Connection
from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response

from services.gateway.auth import Viewer, acquire_stream, check_scope, with_session_check
from services.gateway.caller import Caller
from services.gateway.pages.batch_outcome import MOST_REASONS, outcome_of, scale_of
from services.gateway.pages.batch_report import ReportSummary, charts_at_once, design_of, summary_of
from services.gateway.pages.batch_split import split_keys, split_of
from services.gateway.pages.gold_section import gold_section
from services.gateway.pages.job_texts import load_row_detail
from services.gateway.pages.page_route import page_router
from services.gateway.pages.result_query import (
    LARGEST,
    VERDICTS,
    ResultQuery,
    filled_pairs,
    parse_query,
)
from services.gateway.pages.review import batch_agreement
from services.gateway.pages.row_excerpts import fitted_rows
from services.gateway.pages.saved_views import saved_views
from services.gateway.pages.templates import checked_form, page
from services.gateway.refusals import NoReport
from services.gateway.results import result_pages
from services.gateway.results.result_pages import ResultCounts, ResultRow, ResultSummary
from services.gateway.routes.batch_results import report_job, write_facts
from services.gateway.routes.batches import BATCH_ID, find_batch, validate_id
from services.gateway.routes.events import stream
from services.gateway.state import Gateway, State
from services.gateway.views import batch_json
from services.registry import (
    contracts,
    metrics,
    reported,
    surprising_rules,
    surprising_words,
)
from shared.ledger import batches, files, judgements
from shared.ledger.batch_lines import STATUSES
from shared.ledger.batches import Batch
from shared.ledger.engine import Slice
from shared.ledger.jobs import Job
from shared.ledger.score_hours import edges_of

ON_A_PAGE = 50

router = page_router()


@router.get("/batches")
async def batch_list(
    request: Request,
    gateway: Gateway,
    caller: Viewer,
    after: Annotated[str | None, Query(pattern=f"^{BATCH_ID.pattern}$")] = None,
) -> Response:
    """A page of them."""
    check_scope(caller, "batch")
    wanted = Slice(ON_A_PAGE, after=after, tenant=caller.tenant)
    found, more = await gateway.in_ledger(lambda connection: batches.page_of(connection, wanted))
    called = await file_names(found, gateway, caller)
    return page(
        request,
        "batches.html",
        batches=[batch_json(batch) for batch in found],
        called=called,
        older=f"/batches?after={found[-1].id}" if more else None,
        first=after is None,
    )


async def file_names(found: Sequence[Batch], gateway: State, caller: Caller) -> dict[str, str]:
    """Batch → the name of the file that it came in, where that is known still."""
    ids = [batch.input_file_id for batch in found]
    names = await gateway.in_ledger(lambda one: files.names_of(one, ids, caller.tenant))
    known = {one.id: names.get(one.input_file_id, one.metadata.get("uploaded")) for one in found}
    return {batch_id: name for batch_id, name in known.items() if name}


FACT_SECONDS = 0.3  # of a first look at a large batch; the rest is read while the page says so


@dataclass(frozen=True)
class BatchReportState:
    """The batch's report: finished, or the job that makes it, or why there is none."""

    summary: ReportSummary | None = None
    report: dict[str, Any] | None = None
    job: Job | None = None
    why_not: str = ""

    @property
    def is_pending(self) -> bool:
        """Whether it is worth waiting for."""
        return self.job is not None and not self.job.is_final


@dataclass(frozen=True)
class Results:
    """What the page shows of the results. complete: whether every line has its row."""

    view: ResultQuery
    rows: list[ResultRow]
    count: int
    whole: ResultSummary
    judged: Mapping[str, Mapping[str, int]]  # job → opinion → people, of these rows
    next: str | None
    complete: bool
    parts: Sequence[tuple[int, str]] = ()  # (place in a row, name) of those that are shown
    explanations: Mapping[str, str] = field(default_factory=dict)  # job → its beginning

    @property
    def counts(self) -> ResultCounts:
        return self.whole.counts


@router.get("/batches/{batch_id}")
async def batch_page(
    request: Request,
    batch_id: str,
    gateway: Gateway,
    caller: Viewer,
    line: Annotated[int | None, Query(alias="open", ge=0, lt=LARGEST)] = None,
    charts: Annotated[int, Query(ge=0, lt=LARGEST)] = 0,
) -> Response:
    """The page of one batch, or the texts of a line of it: every row of its table leads there, so
    that the path is left out. charts: the first one to draw of many of a kind."""
    batch = await get_batch(batch_id, gateway, caller)
    sent = request.query_params.multi_items()
    if (filled := filled_pairs(sent)) != sent:
        query = urlencode(filled, quote_via=quote)
        return RedirectResponse(f"/batches/{batch.id}{'?' if query else ''}{query}", 303)
    if line is not None:
        opened = await load_row_detail(gateway, batch, line)
        return page(request, "line.html", batch_id=batch.id, opened=opened)
    ended = batch.is_final and batch.total > 0
    report = await _report(batch, gateway, caller) if ended else None
    results = await _results(batch, gateway, request) if ended else None
    found = report.report if report is not None else None
    shown = (
        NOT_ENDED
        if results is None
        else await _results_context(batch, gateway, caller, results, found)
    )
    return page(
        request,
        "batch.html",
        batch=batch_json(batch),
        waits=None if batch.is_final else batch.waits,
        contract=contracts().get(batch.metric),
        report=report,
        results=results,
        statuses=STATUSES,
        verdicts=VERDICTS,
        is_metric=batch.metric in metrics(),
        reasons=surprising_rules(batch.metric).names,
        words=surprising_words(batch.metric),
        charts_shown=None
        if results is None
        else charts_at_once(design_of(batch.metric, found), charts, results.view.charts_from),
        seconds=_elapsed_time(batch),
        **shown,
    )


NOT_ENDED: dict[str, Any] = {
    "finding": None, "scale": None, "split": None, "split_keys": {}, "tabs": [],
    "people": None, "gold": None,
}  # fmt: skip


async def _results_context(
    batch: Batch, gateway: State, caller: Caller, results: Results, report: dict[str, Any] | None
) -> dict[str, Any]:
    """What only a batch with results shows."""
    contract = reported().get(batch.metric)
    view, counts = results.view, results.counts
    return {
        "finding": outcome_of(view, contract, counts, results.whole.why, report),
        "scale": scale_of(contract),
        "split": await split_of(batch, gateway, caller, view),
        "split_keys": split_keys(view, results.whole.keys, counts.values)
        if batch.metric in metrics()
        else {},
        "tabs": await saved_views(gateway, caller.tenant, batch.metric),
        "people": await batch_agreement(batch, gateway, caller),
        "gold": gold_section(report),
    }


def _elapsed_time(batch: Batch) -> float | None:
    """That its lines took."""
    times = batch_json(batch)
    began, ended = times["in_progress_at"], times["completed_at"]
    return None if began is None or ended is None else float(ended - began)


@router.get("/batches/{batch_id}/live", dependencies=[Depends(acquire_stream)])
async def stream_batch(
    request: Request, batch_id: str, gateway: Gateway, caller: Viewer
) -> Response:
    """The batch's own events; they end when its page can show every line."""

    async def read() -> Batch:
        batch = await get_batch(batch_id, gateway, caller)
        if batch.is_final:
            await write_facts(gateway, batch)
        return batch

    watched = with_session_check(request, gateway, read)
    return await stream(watched, batch_id, gateway, request.headers.get("last-event-id"))


@router.post("/batches/{batch_id}/cancel")
async def batch_cancel(
    request: Request, batch_id: str, gateway: Gateway, caller: Viewer
) -> Response:
    """Cancel it; one that has ended meanwhile stays as it is."""
    check_scope(caller, "batch")
    await checked_form(request)
    await gateway.in_ledger(
        lambda connection: batches.cancel(connection, validate_id(batch_id), tenant=caller.tenant)
    )
    return RedirectResponse(f"/batches/{batch_id}", 303)


async def _report(batch: Batch, gateway: State, caller: Caller) -> BatchReportState:
    """Who only judges sees the report that there is, and makes none."""
    if batch.report_job_id is None and not caller.has_scope("batch"):
        return BatchReportState(why_not="this key makes no reports")
    try:
        job = await report_job(batch, gateway)
    except NoReport as error:
        return BatchReportState(why_not=error.detail)
    if job.error is not None:
        return BatchReportState(job=job, why_not=str(job.error.get("detail", "")))
    if job.result is None:
        return BatchReportState(
            job=job, why_not="" if not job.is_final else "its job was cancelled"
        )
    return BatchReportState(
        await run_in_threadpool(summary_of, batch, job.result, inside=False), job.result, job
    )


async def _results(batch: Batch, gateway: State, request: Request) -> Results:
    complete = await write_facts(gateway, batch, FACT_SECONDS)
    view = parse_query(batch, batch.tenant, request.query_params.multi_items())
    whole = await known_of(batch, gateway, complete=complete)

    def read(connection: Connection) -> Results:
        rows, key, count = result_pages.rows_of(connection, view.filter, view.order, ON_A_PAGE)
        ids = [row.job_id for row in rows if row.job_id is not None]
        return Results(
            view=view,
            rows=fitted_rows(rows, view),
            count=count,
            whole=whole,
            judged=judgements.count_by_job(connection, batch.tenant, ids),
            next=None if key is None else view.next(key),
            complete=complete,
            parts=_shown_parts(batch, view, rows),
            explanations={}  # the request of a metric has its explanation in it
            if batch.metric in metrics()
            else result_pages.explanations_of(connection, batch.tenant, ids),
        )

    return await gateway.in_ledger(read)


def _shown_parts(
    batch: Batch, view: ResultQuery, rows: Sequence[ResultRow]
) -> list[tuple[int, str]]:
    """All of a metric's. Of answers, the metrics that scored one of these rows, or are filtered or
    sorted by: most were never asked."""
    named = list(enumerate(view.filter.parts))
    if batch.metric in metrics():
        return named
    used = {*view.filter.ranges, view.order.by}
    return [
        (place, name)
        for place, name in named
        if name in used or any(row.parts[place : place + 1] != [None] for row in rows if row.parts)
    ]


async def known_of(batch: Batch, gateway: State, *, complete: bool) -> ResultSummary:
    """What is true of all its results, whatever is filtered. complete: whether each line has its
    row, so that it is true for a while."""
    wanted = parse_query(batch, batch.tenant, ()).filter
    edges = edges_of(reported().get(batch.metric))
    known = gateway.summaries.get(batch.id) if complete else None
    found = await gateway.in_ledger(
        lambda connection: result_pages.summary_of(connection, wanted, edges, MOST_REASONS, known)
    )
    if complete and found is not known:
        gateway.summaries[batch.id] = found
    return found


async def get_batch(batch_id: str, gateway: State, caller: Caller) -> Batch:
    """The viewer's batch. Raises UnknownBatch, Forbidden."""
    check_scope(caller, "batch", "review")
    return await find_batch(batch_id, gateway, caller.tenant)
