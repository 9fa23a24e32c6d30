"""A batch that has ended, to be taken away: the lines as CSV, the report as one HTML file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, Response, StreamingResponse
from starlette.concurrency import run_in_threadpool

from services.gateway import spreadsheet, views
from services.gateway.batch_look import decode, demand_ended, look
from services.gateway.callers import Batcher
from services.gateway.pages.batchreport import FILE_POLICY, file_of
from services.gateway.preference import wait_seconds
from services.gateway.routes.batch_reports import report_job, unfinished
from services.gateway.routes.batches import found
from services.gateway.routes.scores import Prefer
from services.gateway.state import Gateway, State
from services.registry import metrics, surprising_rules
from shared.contracts import BatchReport
from shared.ledger.batches import Batch
from shared.ledger.items import Wanted

WORST = 50  # lines in the HTML file
TEXT = {"schema": {"type": "string"}}

router = APIRouter(prefix="/v1/batches", tags=["reports"])


@router.get(
    "/{batch_id}/report.html",
    operation_id="get_batch_report_html",
    summary="The report of a batch that has ended as one self-contained HTML file",
    response_class=Response,  # JSON where it is being made, or refused
    response_model=None,
    responses={
        200: {"content": {"text/html": TEXT}},
        202: {
            "model": views.JobView[BatchReport],
            "description": "being made; ask again, or poll `Location`",
            "headers": {"Location": {"schema": {"type": "string"}}},
        },
        **views.problems(403, 404, 409, 422),
    },
)
async def get_batch_report_html(
    batch_id: str, gateway: Gateway, caller: Batcher, prefer: Prefer = None
) -> Response:
    """Tables, plots and the worst lines; no text but the custom ids."""
    batch = await found(batch_id, gateway, caller.tenant)
    seconds = wait_seconds(prefer, most=gateway.settings.max_wait_seconds)
    job = await report_job(batch, gateway, seconds)
    if job.result is None:
        return unfinished(job)
    return await as_html(batch, job.result, gateway)


@router.get(
    "/{batch_id}/items.csv",
    operation_id="get_batch_items",
    summary="Every line of a batch that has ended with its scores, as CSV",
    response_class=StreamingResponse,
    response_model=None,
    responses={200: {"content": {"text/csv": TEXT}}, **views.problems(403, 404, 409)},
)
async def get_batch_items(batch_id: str, gateway: Gateway, caller: Batcher) -> Response:
    """A row a line, in the order of the input file."""
    return await as_csv(await found(batch_id, gateway, caller.tenant), gateway)


async def as_html(batch: Batch, report: dict[str, Any], gateway: State) -> Response:
    """The file. report: the finished one."""
    rules = surprising_rules(batch.metric)
    await decode(gateway, batch, rules)
    seen = await look(gateway, Wanted(batch.id, WORST), rules)
    html = await run_in_threadpool(file_of, batch, report, seen.items, seen.reasons)
    return HTMLResponse(
        html, headers=saved_as(f"{batch.id}.html") | {"Content-Security-Policy": FILE_POLICY}
    )


async def as_csv(batch: Batch, gateway: State) -> Response:
    """The file, as it is read from the ledger. Raises NothingToReport, Unavailable."""
    demand_ended(batch)
    pieces = spreadsheet.written(gateway.engine, batch, metrics().get(batch.metric))
    first = await run_in_threadpool(lambda: [next(pieces, b""), next(pieces, b"")])
    return StreamingResponse(
        _joined(first, pieces),
        media_type="text/csv; charset=utf-8",
        headers=saved_as(f"{batch.id}.csv"),
    )


def saved_as(name: str) -> dict[str, str]:
    """A file to be kept, under this name."""
    return {"Content-Disposition": f'attachment; filename="{name}"'}


def _joined(first: list[bytes], rest: Iterator[bytes]) -> Iterator[bytes]:
    yield from first
    yield from rest
