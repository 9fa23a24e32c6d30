"""The files of a batch's page: its lines, its report, the pictures of the report."""

from __future__ import annotations

from typing import Any, Literal

from fastapi import Request
from starlette.responses import Response, StreamingResponse

from services.gateway.auth import Viewer
from services.gateway.batch_csv import filled_csv_chunks
from services.gateway.pages import result_export
from services.gateway.pages.batches import get_batch
from services.gateway.pages.page_route import page_router
from services.gateway.pages.result_query import query_to_take
from services.gateway.refusals import NoReport
from services.gateway.routes import batch_results
from services.gateway.routes.batch_results import find_plot, report_job, unknown_plot, write_facts
from services.gateway.routes.files import get_file_content
from services.gateway.state import Gateway, State
from services.registry import reported
from shared.contracts.errors import BadInput, UnknownFile
from shared.ledger.batches import Batch
from shared.reports.charts.engine import in_the_dark

MOST_IN_FILE = 1_000  # lines of a selection

router = page_router()


@router.get("/batches/{batch_id}/results.html")
async def results_html(
    request: Request, batch_id: str, gateway: Gateway, caller: Viewer
) -> Response:
    """The chosen lines in one file with the report, without anybody's text."""
    batch = await get_batch(batch_id, gateway, caller)
    view = query_to_take(batch, batch.tenant, request.query_params.multi_items())
    report = await _finished_report(batch, gateway)
    return await batch_results.as_html(batch, report, gateway, view.filter, MOST_IN_FILE)


@router.get("/batches/{batch_id}/results.{ending}")
async def batch_results_file(
    request: Request,
    batch_id: str,
    ending: Literal["jsonl", "csv"],
    gateway: Gateway,
    caller: Viewer,
) -> Response:
    """The chosen lines, or where none is chosen all that the filters leave."""
    batch = await get_batch(batch_id, gateway, caller)
    batch_results.check_final(batch)
    await write_facts(gateway, batch)
    view = query_to_take(batch, batch.tenant, request.query_params.multi_items())
    pieces = result_export.file_chunks(gateway.engine, batch, view, ending)
    kind = {"jsonl": "application/jsonl", "csv": "text/csv; charset=utf-8"}[ending]
    headers = batch_results.download_headers(f"{batch.id}-results.{ending}")
    return StreamingResponse(pieces, media_type=kind, headers=headers)


PICTURE_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
REPORT_SECONDS = 10  # that a download waits for a report which is still being made


@router.get("/batches/{batch_id}/plots/{name}.svg")
async def batch_plot(
    batch_id: str,
    name: str,
    gateway: Gateway,
    caller: Viewer,
    theme: Literal["light", "dark"] = "light",
) -> Response:
    """A picture of the report. One that no report of the metric has is not waited for."""
    batch = await get_batch(batch_id, gateway, caller)
    contract = reported().get(batch.metric)
    drawn = () if contract is None else contract.batch_plots
    seconds = REPORT_SECONDS if name in drawn else 0
    try:
        svg = find_plot(await _finished_report(batch, gateway, seconds), name).svg
    except NoReport:
        if name in drawn:
            raise
        raise unknown_plot(name, drawn) from None
    return Response(
        in_the_dark(svg) if theme == "dark" else svg,
        media_type="image/svg+xml",
        headers={"Content-Security-Policy": PICTURE_POLICY},
    )


@router.get("/batches/{batch_id}/items.csv")
async def batch_csv(request: Request, batch_id: str, gateway: Gateway, caller: Viewer) -> Response:
    """All lines as CSV, without columns that none of them fills. Raises BadInput for filters."""
    batch = await get_batch(batch_id, gateway, caller)
    if request.query_params:
        raise BadInput("this file holds all lines; results.csv takes the filters of the table")
    return await batch_results.as_csv(batch, gateway, filled_csv_chunks)


@router.get("/batches/{batch_id}/report.html")
async def batch_html(batch_id: str, gateway: Gateway, caller: Viewer) -> Response:
    """The report as one file."""
    batch = await get_batch(batch_id, gateway, caller)
    return await batch_results.as_html(batch, await _finished_report(batch, gateway), gateway)


@router.get("/batches/{batch_id}/{kind}.jsonl")
async def batch_output(
    batch_id: str,
    kind: Literal["output", "errors"],
    gateway: Gateway,
    caller: Viewer,
) -> Response:
    """The output or the error file as it is."""
    batch = await get_batch(batch_id, gateway, caller)
    file_id = batch.output_file_id if kind == "output" else batch.error_file_id
    if file_id is None:
        raise UnknownFile(f"this batch has no file of {kind}")
    return await get_file_content(file_id, gateway, caller)


async def _finished_report(
    batch: Batch, gateway: State, seconds: int = REPORT_SECONDS
) -> dict[str, Any]:
    """The finished report. Raises NoReport."""
    job = await report_job(batch, gateway, seconds)
    if job.error is not None:
        raise NoReport(str(job.error.get("detail", "the report failed")))
    if job.result is None:
        raise NoReport("the report is still being made; ask again in a moment")
    return job.result or {}
