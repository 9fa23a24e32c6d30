"""GET /v1/batches/{id}/report: what the results of a batch say together, made at the first ask."""

from __future__ import annotations

import base64
from datetime import timedelta
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from fastapi.responses import JSONResponse, Response

from services.gateway import views
from services.gateway.callers import Batcher
from services.gateway.preference import wait_seconds
from services.gateway.refusals import NothingToReport, UnknownPlot, answer
from services.gateway.routes.batches import found
from services.gateway.routes.scores import Prefer, ended
from services.gateway.state import Gateway, State
from services.registry import metrics
from shared.contracts import BatchReport, Plot
from shared.ledger import batches
from shared.ledger.batches import Batch
from shared.ledger.idempotency import Accepted
from shared.ledger.jobs import Job
from shared.metrics import JOBS_ACCEPTED

Format = Literal["svg", "png"]

router = APIRouter(prefix="/v1/batches", tags=["reports"])


@router.get(
    "/{batch_id}/report",
    operation_id="get_batch_report",
    summary="Aggregates over a batch that has ended, with intervals; or one picture of them",
    response_model=None,
    responses={
        200: {
            "model": BatchReport,
            "description": "the metric's own report, or with `plot` a picture",
            "content": {"image/svg+xml": {}, "image/png": {}},
        },
        202: {
            "model": views.JobView[BatchReport],
            "description": "being made; ask again, or poll `Location`",
            "headers": {"Location": {"schema": {"type": "string"}}},
        },
        **views.problems(403, 404, 409, 422),
    },
)
async def get_batch_report(
    batch_id: str,
    gateway: Gateway,
    caller: Batcher,
    plot: Annotated[str | None, Query(description="the name of one of the report's plots")] = None,
    format: Annotated[Format, Query(description="of the plot")] = "svg",
    prefer: Prefer = None,
) -> Response:
    """The finished report; the first ask makes its job, and later ones find it."""
    batch = await found(batch_id, gateway, caller.tenant)
    seconds = wait_seconds(prefer, most=gateway.settings.max_wait_seconds)
    job = await report_job(batch, gateway, seconds)
    if job.result is None:
        return unfinished(job)
    return JSONResponse(job.result) if plot is None else picture(job.result, plot, format)


async def report_job(batch: Batch, gateway: State, seconds: int = 0) -> Job:
    """The job that reports on this batch, its end waited for so long. Raises NothingToReport."""
    return await ended(await _asked(batch, gateway), gateway, seconds)


def unfinished(job: Job) -> JSONResponse:
    """Where the report is being made, or why there is none."""
    if job.error is not None:
        return answer(job.error)
    headers = {"Location": f"/v1/jobs/{job.id}", "Retry-After": "1"}
    return JSONResponse(views.shown(job), 202, headers)


async def _asked(batch: Batch, gateway: State) -> Accepted:
    """The batch's report job. Raises NothingToReport."""
    if not batch.is_final:
        raise NothingToReport(
            f"the batch is {batch.status}; a report on what it has is POST /v1/reports/{{metric}}"
        )
    if batch.metric not in metrics() or batch.total == 0:
        raise NothingToReport("the batch has no scores")
    room = metrics()[batch.metric].batch
    resend_after = timedelta(seconds=gateway.settings.resend_seconds)
    accepted = await gateway.in_ledger(
        lambda connection: batches.report_of(connection, batch, room.name, resend_after)
    )
    if not accepted.replayed:
        JOBS_ACCEPTED.labels(room.name).inc()
    return accepted


def picture(report: dict[str, Any], name: str, format: Format) -> Response:
    """One of the report's plots. Raises UnknownPlot."""
    plots = {found["name"]: Plot.model_validate(found) for found in report.get("plots", ())}
    if name not in plots:
        offered = ", ".join(sorted(plots)) or "none"
        raise UnknownPlot(f"the report has no plot {name!r}; it has: {offered}", pointer="/plot")
    if format == "svg":
        return Response(plots[name].svg, media_type="image/svg+xml")
    return Response(base64.b64decode(plots[name].png_base64), media_type="image/png")
