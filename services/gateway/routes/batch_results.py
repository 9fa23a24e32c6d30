"""The API routes for a batch's report (as JSON, plots or HTML) and its CSV file."""

from __future__ import annotations

import asyncio
import base64
import math
import time
from collections.abc import Iterable
from datetime import timedelta
from itertools import chain
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from sqlalchemy import Connection
from starlette.concurrency import run_in_threadpool

from services.gateway import batch_csv, views
from services.gateway.auth import Batcher
from services.gateway.http_requests import accepted, parse_wait
from services.gateway.pages.batch_report import (
    FILE_POLICY,
    WORST_LINES,
    FileLines,
    FileSelection,
    file_of,
)
from services.gateway.refusals import NoReport, UnknownPlot, problem_response
from services.gateway.results import result_pages
from services.gateway.results.result_pages import ResultFilter, ResultOrder
from services.gateway.routes.batches import find_batch
from services.gateway.routes.scores import (
    LOCATION,
    Prefer,
    get_report_job,
    retry_header,
    wait_for_job,
)
from services.gateway.state import Gateway, State
from services.registry import fact_plan, reported, surprising_rules
from shared.contracts.answers import shown_result
from shared.contracts.batches import Plot
from shared.ledger import batches, result_facts
from shared.ledger.batches import Batch
from shared.ledger.job_json import job_json
from shared.ledger.jobs import Accepted, Job, Owner
from shared.ledger.score_hours import edges_of
from shared.process.telemetry import JOBS_ACCEPTED

AT_ONCE = 500  # rows written in one transaction
LOOK_AGAIN_SECONDS, MOST_WAITED_SECONDS = 0.05, 10.0  # for another process, which may have died
router = APIRouter(prefix="/v1/batches", tags=["reports"])
WORST = 50  # lines in the HTML file
TEXT = {"schema": {"type": "string"}}
JSON, HTML, CSV = "application/json", "text/html", "text/csv"
SVG, PNG = "image/svg+xml", "image/png"
REPORT_JOB: dict[int | str, dict[str, Any]] = {
    200: views.schema_response("Job", "the report is complete", headers=LOCATION),
    202: views.schema_response(
        "Job", "the report is being created; poll `Location`", headers=LOCATION
    ),
}


@router.post(
    "/{batch_id}/report",
    operation_id="create_batch_report",
    summary="Create the report on a batch that has ended",
    status_code=202,
    response_model=None,
    responses={**REPORT_JOB, **views.error_responses(403, 404, 409)},
)
async def create_batch_report(
    batch_id: str, gateway: Gateway, caller: Batcher, prefer: Prefer = None
) -> JSONResponse:
    """Creates the report's job. A batch has one report; a second request returns the same job,
    unless lines of the batch were erased since."""
    batch = await find_batch(batch_id, gateway, caller.tenant)
    seconds = parse_wait(prefer)
    return job_response(await report_job(batch, gateway, seconds), seconds)


@router.get(
    "/{batch_id}/report",
    operation_id="get_batch_report",
    summary="The report on a batch, a chart of it, or its lines",
    response_model=None,
    responses={
        200: {
            "description": "the representation that `Accept` names",
            "content": {
                **views.schema_response("BatchReport", "")["content"],
                HTML: TEXT,
                CSV: TEXT,
                SVG: TEXT,
                PNG: {"schema": {"type": "string", "format": "binary"}},
            },
        },
        **views.error_responses(403, 404, 409, 422),
    },
)
async def get_batch_report(
    batch_id: str,
    request: Request,
    gateway: Gateway,
    caller: Batcher,
    plot: Annotated[str | None, Query(description="the name of one of the report's plots")] = None,
) -> Response:
    """Returns the finished report. HTML has tables, charts and the worst lines in one file, without
    texts except custom ids. CSV has one row of scores per line in input order, and needs no report.
    """
    batch = await find_batch(batch_id, gateway, caller.tenant)
    kind = accepted(request, JSON, HTML, CSV, SVG, PNG)
    if kind == CSV:
        return await as_csv(batch, gateway)
    job = await gateway.in_ledger(lambda connection: batches.find_report(connection, batch))
    if job is None:
        raise NoReport("the batch has no report yet; create one with POST to this address")
    if job.error is not None:
        return problem_response(job.error)
    if job.result is None:
        raise NoReport(f"the report is being created; wait for the job {job.id}")
    if plot is not None:
        return plot_response(job.result, plot, PNG if kind == PNG else SVG)
    if kind == HTML:
        return await as_html(batch, job.result, gateway)
    return JSONResponse(shown_result(job.result, details=True))


async def report_job(batch: Batch, gateway: State, seconds: int = 0) -> Job:
    """Return the job that computes the report on this batch, a new one if there is none. Wait up to
    `seconds` for its end. Raises NoReport."""
    check_reportable(batch)
    contract = reported()[batch.metric].batch
    resend_after = timedelta(seconds=gateway.settings.resend_seconds)
    accepted = await gateway.in_ledger(
        lambda connection: batches.report_of(connection, batch, contract.name, resend_after)
    )
    if not accepted.replayed:
        JOBS_ACCEPTED.labels(contract.name).inc()
    return await wait_for_job(accepted, gateway, seconds)


def check_reportable(batch: Batch) -> None:
    """Raise NoReport unless the batch has ended with scores."""
    if not batch.is_final:
        raise NoReport(
            f"the batch is {batch.status} and has no report yet; use POST /v1/reports for a report "
            "on its current results"
        )
    if batch.metric not in reported() or batch.total == 0:
        raise NoReport("the batch has no scores to report on")


async def view_report_job(
    batch: Batch,
    gateway: State,
    owner: Owner,
    selection: ResultFilter | None,
    *,
    create: bool,
    seconds: int = 0,
) -> Job | None:
    """Return the job that computes a report on these lines, or on the whole batch. If there is
    none, create it, or return None unless `create`. Wait up to `seconds` for its end. Raises
    NoReport if no line has a result, QuotaExceeded, TooCostly, Unavailable."""
    if selection is None:
        check_reportable(batch)
        if create:
            return await report_job(batch, gateway, seconds)
        job = await gateway.in_ledger(lambda connection: batches.find_report(connection, batch))
    else:
        chosen = selection
        ids = await gateway.in_ledger(lambda connection: result_pages.job_ids(connection, chosen))
        if batch.metric not in reported() or not ids:
            raise NoReport("no line of the batch has a result")
        contract = reported()[batch.metric].batch
        body = contract.request.model_validate({"jobs": ids})
        job = await get_report_job(contract, body, gateway, owner, create=create)
    return job and await wait_for_job(Accepted(job, replayed=True), gateway, seconds)


def job_response(job: Job, seconds: int) -> JSONResponse:
    """Return a response with the job. The status is 200 if the job has ended and 202 otherwise.
    `seconds` is how long the caller has waited."""
    headers = {"Location": f"/v1/jobs/{job.id}"}
    if seconds:
        headers["Preference-Applied"] = f"wait={seconds}"
    if job.is_final:
        return JSONResponse(job_json(job), 200, headers)
    return JSONResponse(job_json(job), 202, headers | retry_header(job))


def plot_response(report: dict[str, Any], name: str, kind: str) -> Response:
    """Return a chart of the report as a file. Raises UnknownPlot."""
    plot = find_plot(report, name)
    content = plot.svg if kind == SVG else base64.b64decode(plot.png_base64)
    return Response(content, media_type=kind)


def find_plot(report: dict[str, Any], name: str) -> Plot:
    """Return the chart of this name. Raises UnknownPlot."""
    plots = {plot["name"]: Plot.model_validate(plot) for plot in report.get("plots", ())}
    if name not in plots:
        raise unknown_plot(name, plots)
    return plots[name]


def unknown_plot(name: str, plots: Iterable[str]) -> UnknownPlot:
    """Return the error for an unknown plot. `plots` holds the valid names."""
    offered = ", ".join(sorted(plots)) or "none"
    return UnknownPlot(f"the report has no plot {name!r}; it has: {offered}", pointer="/plot")


async def as_html(
    batch: Batch,
    report: dict[str, Any],
    gateway: State,
    selection: ResultFilter | None = None,
    most: int = WORST,
    shown: FileSelection = WORST_LINES,
) -> Response:
    """Return the finished report as an HTML file. `selection` selects the lines to include, by
    default the most surprising ones. `shown` describes the selection."""
    await write_facts(gateway, batch)
    higher = surprising_rules(batch.metric).higher_is_better
    view = selection or ResultFilter(tenant=batch.tenant, batch_id=batch.id)

    def read(connection: Connection) -> FileLines:
        order = ResultOrder(higher_is_better=higher)
        edges = edges_of(reported().get(batch.metric))
        return FileLines(
            result_pages.rows_of(connection, view, order, most).rows,
            result_pages.counts_of(connection, view, edges),
            result_pages.provenance_of(connection, view),
        )

    lines = await gateway.in_ledger(read)
    html = await run_in_threadpool(file_of, batch, report, lines, shown)
    return HTMLResponse(
        html,
        headers=download_headers(f"{batch.id}.html") | {"Content-Security-Policy": FILE_POLICY},
    )


async def as_csv(batch: Batch, gateway: State) -> Response:
    """Return the batch's CSV file as a stream. Raises NoReport, Unavailable."""
    check_final(batch)
    pieces = batch_csv.csv_chunks(gateway.engine, batch, reported().get(batch.metric))
    first = await run_in_threadpool(lambda: [next(pieces, b""), next(pieces, b"")])
    return StreamingResponse(
        chain(first, pieces),
        media_type="text/csv; charset=utf-8",
        headers=download_headers(f"{batch.id}.csv"),
    )


def check_final(batch: Batch) -> None:
    """Raise NoReport unless the batch has ended."""
    if not batch.is_final:
        raise NoReport(f"the batch is {batch.status}; wait until all its results are complete")


async def write_facts(gateway: State, batch: Batch, seconds: float = math.inf) -> bool:
    """Add the missing results of a batch to the results table, for at most `seconds`. Return True
    if no result is missing at the end."""

    def step(connection: Connection) -> int:
        return result_facts.write_of_lines(connection, fact_plan, AT_ONCE, batch.id)

    def is_missing(connection: Connection) -> bool:
        return result_pages.has_missing_rows(connection, batch.id)

    until, waited = time.monotonic() + seconds, 0.0
    while await gateway.in_ledger(is_missing):
        if await gateway.in_ledger(step):
            waited = 0.0
        else:
            await asyncio.sleep(LOOK_AGAIN_SECONDS)
            waited += LOOK_AGAIN_SECONDS
        if time.monotonic() > until or waited > MOST_WAITED_SECONDS:
            return not await gateway.in_ledger(is_missing)
    return True


def download_headers(name: str) -> dict[str, str]:
    """Return headers that make the browser save the file under this name."""
    return {"Content-Disposition": f'attachment; filename="{name}"'}
