"""What a batch's page offers to take away, and the pictures that it shows."""

from __future__ import annotations

from typing import Any, Literal

from starlette.responses import Response

from services.gateway.keyring import Caller
from services.gateway.pages.routing import pages
from services.gateway.pages.viewers import Viewer, demand_scope
from services.gateway.refusals import NothingToReport
from services.gateway.routes import batch_downloads
from services.gateway.routes.batch_reports import picture, report_job
from services.gateway.routes.batches import found
from services.gateway.routes.files import get_file_content
from services.gateway.state import Gateway, State
from shared.errors import UnknownFile
from shared.ledger.batches import Batch

PICTURE_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
REPORT_SECONDS = 10  # that a download waits for a report which is still being made

router = pages()


@router.get("/batches/{batch_id}/plots/{name}.svg")
async def batch_plot(batch_id: str, name: str, gateway: Gateway, caller: Viewer) -> Response:
    """A picture of the report."""
    batch = await owned(batch_id, gateway, caller)
    response = picture(await _report(batch, gateway), name, "svg")
    response.headers["Content-Security-Policy"] = PICTURE_POLICY
    return response


@router.get("/batches/{batch_id}/items.csv")
async def batch_csv(batch_id: str, gateway: Gateway, caller: Viewer) -> Response:
    """The lines as CSV."""
    return await batch_downloads.as_csv(await owned(batch_id, gateway, caller), gateway)


@router.get("/batches/{batch_id}/report.html")
async def batch_html(batch_id: str, gateway: Gateway, caller: Viewer) -> Response:
    """The report as one file."""
    batch = await owned(batch_id, gateway, caller)
    return await batch_downloads.as_html(batch, await _report(batch, gateway), gateway)


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
    demand_scope(caller, "batch")
    return await found(batch_id, gateway, caller.tenant)


async def _report(batch: Batch, gateway: State) -> dict[str, Any]:
    """The finished report. Raises NothingToReport."""
    job = await report_job(batch, gateway, REPORT_SECONDS)
    if job.error is not None:
        raise NothingToReport(str(job.error.get("detail", "the report failed")))
    if job.result is None:
        raise NothingToReport("the report is still being made; ask again in a moment")
    return job.result
