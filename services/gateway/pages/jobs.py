"""The pages of jobs. `/jobs` lists jobs. `/jobs/{id}` shows a job's state, then its result.
Warnings and errors are blurred if they may repeat the caller's text."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pprint import pformat
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import Depends, Query, Request
from pydantic import ValidationError
from sqlalchemy import Connection
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse, RedirectResponse, Response

from services import registry
from services.gateway import views
from services.gateway.auth import Viewer, acquire_stream, check_scope, with_session_check
from services.gateway.pages import result_tables, reviewers, templates
from services.gateway.pages.job_texts import texts_of
from services.gateway.pages.job_versions import compared, other_results, version_history
from services.gateway.pages.page_route import page_router
from services.gateway.pages.templates import base_url, checked_form, page, render
from services.gateway.pages.waiting import in_queue, obstacle
from services.gateway.refusals import InvalidBody
from services.gateway.routes.events import stream
from services.gateway.routes.jobs import BATCH_ID, JOB_ID, find_job, validate_id
from services.gateway.routes.scores import check_request, find_or_commit, wait_for_job
from services.gateway.state import Gateway, State
from services.registry import all_contracts, metrics
from shared.contracts.errors import BadInput, UnknownJob
from shared.contracts.messages import EDITED, JobRequest, Message
from shared.contracts.problems import validation_problem
from shared.contracts.redaction import all_internal, repeats, sent
from shared.contracts.service import BatchReportContract, MetricContract, ServiceContract
from shared.ledger import jobs
from shared.ledger.batch_lines import JobLine, line_metadata, lines_of_job
from shared.ledger.job_json import job_json
from shared.ledger.jobs import Job, JobPage, JobStatus

ON_A_PAGE = 50
STATES: tuple[JobStatus, ...] = ("queued", "running", "succeeded", "failed", "cancelled")

router = page_router()


@router.get("/jobs")
async def job_list(
    request: Request,
    gateway: Gateway,
    caller: Viewer,
    status: Annotated[str, Query(max_length=20)] = "",
    metric: Annotated[str, Query(max_length=64)] = "",
    batch: Annotated[str, Query(pattern=f"^({BATCH_ID.pattern})?$")] = "",
    after: Annotated[str | None, Query(pattern=f"^{JOB_ID.pattern}$")] = None,
) -> Response:
    """Show a page of jobs. An unknown state or metric is ignored as a filter."""
    state = next((known for known in STATES if known == status), None)
    known_metric = metric if metric in all_contracts() else None
    wanted = JobPage(
        limit=ON_A_PAGE,
        tenant=caller.tenant,
        after=after,
        status=state,
        metric=known_metric,
        batch=batch or None,
    )
    rows, more = await gateway.in_ledger(lambda connection: jobs.summary_page(connection, wanted))
    filters = {"status": state or "", "metric": known_metric or "", "batch": batch}
    kept = {name: value for name, value in filters.items() if value}
    older = f"/jobs?{urlencode(kept | {'after': rows[-1].id})}" if more else None
    return page(
        request,
        "jobs.html",
        jobs=rows,
        filters=filters,
        states=STATES,
        metrics=sorted(all_contracts()),
        older=older,
        newest=None if after is None else f"/jobs?{urlencode(kept)}",
    )


MOST_LINES = 5  # of a batch that share a job, shown on its page
MOST_PASTED = 50_000  # characters
LENS_SECONDS = 10  # that a page waits for the model


@router.get("/jobs/{job_id}")
async def job_page(
    request: Request,
    job_id: str,
    gateway: Gateway,
    caller: Viewer,
    beside: Annotated[str, Query(alias="with", max_length=64)] = "",
    lens: Annotated[str, Query(max_length=64)] = "",
) -> Response:
    """Show the page of a job. `with` names another job of the same metric to compare it with.
    `lens` names a job that judged this job's text without some of its words."""
    job = await find_job(job_id, gateway, caller.tenant)
    lines = await _lines(job, gateway)

    def read(connection: Connection) -> dict[str, Any]:
        other_id = validate_id(beside) if beside else ""
        tenant = caller.tenant
        return {
            "family": version_history(connection, job, tenant),
            "others": other_results(connection, job, tenant),
            "compared": compared(connection, job, other_id, tenant) if other_id else None,
        }

    related = await gateway.in_ledger(read)
    context = await run_in_threadpool(_context, job, request, with_key=caller.key is not None)
    is_scored = job.result is not None and "range" in job.result
    context["judged"] = await reviewers.of_job(job, request, gateway, caller) if is_scored else None
    asked = await find_job(lens, gateway, caller.tenant) if lens else None
    if asked is not None and (asked.request.get("metadata") or {}).get(EDITED) != job.id:
        raise UnknownJob("this job does not test words of that job")
    context["lens"] = asked and {"job": asked, "answer": _lens(asked)}
    why = ""
    if job.status == "queued":
        why = obstacle(gateway, job.metric, job.waiting_for) or await in_queue(job.metric)
    context["waits"] = why
    return page(
        request, "job.html", lines=lines, metadata=_metadata(job, lines), **related, **context
    )


def _lens(asked: Job) -> Any:
    """Return probabilities with and without the words that the user selected, from the result of
    job `asked`. Return None if that result or the text is missing."""
    source, report = request_of(asked), report_of(asked)
    lens = getattr(registry.page(asked.metric), "lens", None)
    return None if lens is None or source is None or report is None else lens(source, report)


@router.post("/jobs/{job_id}/lens")
async def ask_lens(request: Request, job_id: str, gateway: Gateway, caller: Viewer) -> Response:
    """Start a job that asks the same model about the text without the words entered in the form.
    Raises UnknownJob if the text was not kept or the metric has no such test. Also raises BadInput,
    QuotaExceeded, Unavailable."""
    check_scope(caller, "score")
    form = await checked_form(request)
    job = await find_job(job_id, gateway, caller.tenant)
    contract, source, report = metrics().get(job.metric), request_of(job), report_of(job)
    lens_request = getattr(registry.page(job.metric), "lens_request", None)
    if contract is None or source is None or report is None or lens_request is None:
        raise UnknownJob(
            "the text of this job was not kept, or its metric cannot test single words"
        )
    words = form.get("words", "").replace("\0", "").strip()
    owner = caller.owner(gateway.settings)
    metadata = job.request.get("metadata") or {}
    for line in await _lines(job, gateway):  # so that a deletion by metadata finds the new job
        metadata = line_metadata(line.caller) | metadata
    if not words:
        raise BadInput("enter some words from the post", pointer="/words")
    for _ in range(2):  # again if the model decides otherwise: it is compared by its own decision
        body = lens_request(source, report, words)
        body["metadata"] = metadata | {EDITED: job.id}
        try:
            asked = caller.apply_defaults(contract.request.model_validate(body))
        except ValidationError as error:
            raise InvalidBody(validation_problem(error, body)) from None
        check_request(contract, asked, gateway)
        accepted = await find_or_commit(contract, asked, gateway, owner)
        found = await wait_for_job(accepted, gateway, LENS_SECONDS)
        if found.result is None or found.result.get("model_agrees") is not False:
            break
        report = report_of(found) or report
    return RedirectResponse(f"/jobs/{job.id}?lens={found.id}#lens", 303)


@router.get("/jobs/{job_id}/result.json")
async def result_json(job_id: str, gateway: Gateway, caller: Viewer) -> Response:
    """Return the job as the JSON that the API sends."""
    job = await find_job(job_id, gateway, caller.tenant)
    name = f'attachment; filename="{job.id}.json"'
    return JSONResponse(job_json(job, details=True), headers={"Content-Disposition": name})


@router.get("/jobs/{job_id}/live", dependencies=[Depends(acquire_stream)])
async def stream_job(request: Request, job_id: str, gateway: Gateway, caller: Viewer) -> Response:
    """Stream the job's events to a browser that is logged in."""
    return await stream(
        with_session_check(request, gateway, lambda: find_job(job_id, gateway, caller.tenant)),
        job_id,
        gateway,
        request.headers.get("last-event-id"),
    )


@router.post("/jobs/{job_id}/cancel")
async def job_cancel(request: Request, job_id: str, gateway: Gateway, caller: Viewer) -> Response:
    """Cancel the job. A job that has ended is not changed."""
    check_scope(caller, "score", "batch")
    await checked_form(request)
    await gateway.in_ledger(
        lambda connection: jobs.cancel(connection, validate_id(job_id), tenant=caller.tenant)
    )
    return RedirectResponse(f"/jobs/{job_id}", 303)


async def _lines(job: Job, gateway: State) -> list[JobLine]:
    if job.batch_id is None:
        return []
    return await gateway.in_ledger(lambda connection: lines_of_job(connection, job, MOST_LINES))


def _metadata(job: Job, lines: list[JobLine]) -> dict[str, str]:
    """Return the job's metadata. If the job belongs to exactly one batch line, return the metadata
    of the line."""
    if len(lines) > 1:
        return {}
    of_line = (lines[0].caller or {}).get("metadata") if lines else None
    metadata: dict[str, str] = of_line or job.request.get("metadata") or {}
    return metadata


def _context(job: Job, request: Request, *, with_key: bool) -> dict[str, Any]:
    """Return the template's context. It waits for plots to be drawn, so do not call it in the event
    loop."""
    return {
        "job": job_json(job) | {"result": job.result},
        "contract": all_contracts().get(job.metric),
        "steps": views.of_job(job),
        "seconds": (job.finished_at - job.started_at).total_seconds()
        if job.started_at and job.finished_at
        else None,
        "warnings": warnings(job),
        "failed": failed(job),
        "text_key": ((job.result or {}).get("provenance") or {}).get("text_key"),
        "may_edit": job.metric in metrics() and request_of(job) is not None,
        "has_lens": hasattr(registry.page(job.metric), "lens_request"),
        "models": ((job.result or {}).get("provenance") or {}).get("models") or [],
        "style": sheet if templates.style_sheet(sheet := f"{job.metric}.css") else None,
        "body": result_html(job),
        "texts": []
        if job.result is not None or job.request.get("do_not_store_text")
        else texts_of(job),
        "snippets": _code_samples(job, request, with_key=with_key),
    }


def _code_samples(job: Job, request: Request, *, with_key: bool) -> CodeSamples | None:
    """Return code samples for the job's request, or None if its text was not kept."""
    request_sent, contract = request_of(job), all_contracts().get(job.metric)
    if request_sent is None or contract is None:
        return None
    body = request_sent.model_dump(mode="json", exclude_defaults=True)
    return code_samples(contract, body, request, with_key=with_key)


SHORTEST = 4  # characters of a text that is looked for: shorter ones stand in every sentence


@dataclass(frozen=True, slots=True)
class Reason:
    """One sentence of a warning or error. `where` is a JSON pointer into the request, or empty."""

    text: str
    plain: bool  # else blurred
    where: str = ""


@dataclass(frozen=True, slots=True)
class Failed:
    """The reason for a job's failure, and its errors by field."""

    detail: Reason
    errors: tuple[Reason, ...]


def warnings(job: Job) -> tuple[Reason, ...]:
    """Return the warnings of a result in order."""
    sentences: list[str] = (job.result or {}).get("warnings") or []
    contract = all_contracts().get(job.metric)
    declared = None if contract is None else contract.report.model_fields.get("warnings")
    ours = declared is not None and all_internal(declared.annotation)
    texts = None if ours or not sentences else _texts(job)
    return tuple(Reason(warning, ours or _is_plain(warning, texts)) for warning in sentences)


def failed(job: Job) -> Failed | None:
    """Return why the job failed, or None if it did not fail."""
    if job.error is None:
        return None
    texts = _texts(job)
    errors = []
    for error in job.error.get("errors") or ():
        detail, where = error.get("detail", ""), error.get("pointer", "")
        is_plain = _is_plain(detail, texts) and _is_plain(where, texts)
        errors.append(Reason(detail, is_plain, where))
    detail = job.error.get("detail", "")
    return Failed(Reason(detail, _is_plain(detail, texts)), tuple(errors))


def _texts(job: Job) -> Sequence[str] | None:
    """Return the caller's texts, except very short ones. Return () if the request forbids storing
    them, or None if the request was deleted."""
    if job.request.get("do_not_store_text"):
        return ()
    request = request_of(job)
    if request is None:
        return None
    return [text for text in set(sent(request, names=False)) if len(text) >= SHORTEST]


def _is_plain(sentence: str, texts: Sequence[str] | None) -> bool:
    return texts is not None and not repeats(sentence, texts)


KEY = "$TOUCHSTONE_API_KEY"


@dataclass(frozen=True)
class CodeSamples:
    """The same request as code for several clients."""

    curl: str
    python: str


def code_samples(
    contract: ServiceContract, body: dict[str, Any], request: Request, *, with_key: bool
) -> CodeSamples | None:
    """Return code samples for sending this request. With `with_key`, they read the API key from an
    environment variable, so they never contain it. Return None for a body that is too long to
    paste."""
    if len(str(body)) > MOST_PASTED:
        return None
    url = f"{base_url(request)}{contract.path}"
    if isinstance(contract, BatchReportContract):
        body = {"metric": contract.metric} | body
    return CodeSamples(_curl(url, body, with_key=with_key), _python(url, body, with_key=with_key))


def _curl(url: str, body: dict[str, Any], *, with_key: bool) -> str:
    lines = [f"curl -sS {shlex.quote(url)}", "-H 'Content-Type: application/json'"]
    if with_key:
        lines.append(f'-H "Authorization: Bearer {KEY}"')
    lines += ["-H 'Prefer: wait=30'", f"-d {shlex.quote(json.dumps(body, ensure_ascii=False))}"]
    return " \\\n  ".join(lines)


def _python(url: str, body: dict[str, Any], *, with_key: bool) -> str:
    imports = "import os\n\nimport httpx\n" if with_key else "import httpx\n"
    headers = '    "Prefer": "wait=30",\n'
    if with_key:
        headers += '    "Authorization": f"Bearer {os.environ[\'TOUCHSTONE_API_KEY\']}",\n'
    written = pformat(body, width=88, sort_dicts=False)
    return (
        f"{imports}\nrequest = {written}\nheaders = {{\n{headers}}}\n"
        f"answer = httpx.post({url!r}, json=request, headers=headers, timeout=60)\n"
        'answer.raise_for_status()\nprint(answer.json()["result"])\n'
    )


def result_html(job: Job) -> str | None:
    """Return the HTML of a job's result, or None if this version cannot read it. It may wait for
    plots, so do not call it in the event loop."""
    contract, report = all_contracts().get(job.metric), report_of(job)
    if contract is None or report is None:
        return None
    own_page = registry.page(job.metric)
    page = result_tables if own_page is None or not hasattr(own_page, "TEMPLATE") else own_page
    request = request_of(job)
    if request is not None and isinstance(contract, MetricContract):
        request = contract.as_scored(request, report)  # with the elicited explanation
    return render(page.TEMPLATE, view=page.view(request, report), report=report)


def report_of(job: Job) -> Message | None:
    """Return the job's result as a message. Return None if there is no result, or if its format is
    that of another version of the service."""
    contract = all_contracts().get(job.metric)
    if contract is None or job.result is None:
        return None
    try:
        return contract.report.model_validate(job.result)
    except ValidationError:
        return None


def request_of(job: Job) -> JobRequest | None:
    """Return the job's request, or None if its text was not kept."""
    contract = all_contracts().get(job.metric)
    if contract is None:
        return None
    try:
        return contract.request.model_validate(job.request)
    except ValidationError:
        return None
