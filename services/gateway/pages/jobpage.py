"""`/jobs/{id}`: why a score is what it is; or how far the job has come, or why it failed."""

from __future__ import annotations

from typing import Any

from fastapi import Depends, Request
from fastapi.sse import EventSourceResponse
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse, RedirectResponse, Response

from services.gateway import history
from services.gateway.keyring import Caller
from services.gateway.pages import forgery, reasons
from services.gateway.pages.address import base_url
from services.gateway.pages.forms import form_of
from services.gateway.pages.metrics.viewing import Viewed, asked, viewed
from services.gateway.pages.routing import pages
from services.gateway.pages.snippets import Snippets, snippets
from services.gateway.pages.templating import page, rendered
from services.gateway.pages.viewers import Viewer, stream_held, while_viewing
from services.gateway.routes.events import stream
from services.gateway.routes.jobs import known
from services.gateway.state import Gateway, State
from services.gateway.views import shown
from services.registry import every_contract
from shared.ledger import jobs
from shared.ledger.jobs import Job

MOST_PASTED = 50_000  # characters

router = pages()


@router.get("/jobs/{job_id}")
async def job_page(request: Request, job_id: str, gateway: Gateway, caller: Viewer) -> Response:
    """The page of one job."""
    job = await _found(job_id, gateway, caller)
    context = await run_in_threadpool(_context, job, request, with_key=caller.key is not None)
    return page(request, "job.html", **context)


@router.get("/jobs/{job_id}/result.json")
async def job_json(job_id: str, gateway: Gateway, caller: Viewer) -> Response:
    """The job as the API gives it."""
    job = await _found(job_id, gateway, caller)
    name = f'attachment; filename="{job.id}.json"'
    return JSONResponse(shown(job), headers={"Content-Disposition": name})


@router.get("/jobs/{job_id}/live", dependencies=[Depends(stream_held)])
async def job_live(
    request: Request, job_id: str, gateway: Gateway, caller: Viewer
) -> EventSourceResponse:
    """The job's own events, for a browser that cannot send a key."""
    return await stream(
        while_viewing(request, gateway, lambda: _found(job_id, gateway, caller)),
        job_id,
        gateway,
        request.headers.get("last-event-id"),
    )


@router.post("/jobs/{job_id}/cancel")
async def job_cancel(request: Request, job_id: str, gateway: Gateway, caller: Viewer) -> Response:
    """Cancel it; one that has ended meanwhile stays as it is."""
    forgery.demand(request, await form_of(request))
    await gateway.in_ledger(
        lambda connection: jobs.cancel(connection, known(job_id), tenant=caller.tenant)
    )
    return RedirectResponse(f"/jobs/{job_id}", 303)


async def _found(job_id: str, gateway: State, caller: Caller) -> Job:
    return await gateway.in_ledger(
        lambda connection: jobs.find(connection, known(job_id), tenant=caller.tenant)
    )


def _context(job: Job, request: Request, *, with_key: bool) -> dict[str, Any]:
    """What the template shows. Waits for pictures: not for the event loop."""
    found = viewed(job)
    return {
        "job": shown(job),
        "room": every_contract().get(job.metric),
        "steps": history.of_job(job),
        "seconds": _seconds(job),
        "warnings": reasons.warnings(job),
        "failed": reasons.failed(job),
        "body": None if found is None else _body(found, shown(job)),
        "snippets": _snippets(job, request, with_key=with_key),
    }


def _body(found: Viewed, job: dict[str, Any]) -> str:
    return rendered(found.template, view=found.view, job=job, report=found.report)


def _seconds(job: Job) -> float | None:
    if job.started_at is None or job.finished_at is None:
        return None
    return (job.finished_at - job.started_at).total_seconds()


def _snippets(job: Job, request: Request, *, with_key: bool) -> Snippets | None:
    """None where the text was not kept."""
    sent, room = asked(job), every_contract().get(job.metric)
    if sent is None or room is None:
        return None
    body = sent.model_dump(mode="json", exclude_defaults=True)
    if len(str(body)) > MOST_PASTED:
        return None
    return snippets(room, body, base_url(request), with_key=with_key)
