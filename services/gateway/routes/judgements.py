"""/v1/judgements: people's judgements of scores: give, list, withdraw, export and import."""

from __future__ import annotations

import re
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse
from sqlalchemy import Connection

from services.gateway import http_requests, judgement_files, views
from services.gateway.auth import Administrator, Batcher, Reader, Reviewer
from services.gateway.http_requests import Limit, list_json, page_after
from services.gateway.judgement_files import KINDS, FileFormat
from services.gateway.judgement_views import (
    AuditList,
    ImportSchema,
    JudgementList,
    JudgementRequest,
    ReviewerJudgementSchema,
    audit_json,
    check_part,
    check_spans,
    judgement_json,
    origin_of,
    with_elicited,
)
from services.gateway.refusals import Forbidden, UnsupportedMediaType
from services.gateway.results import review_queues
from services.gateway.routes.batch_results import download_headers
from services.gateway.routes.jobs import BATCH_ID, JOB_ID
from services.gateway.routes.jobs import validate_id as known_job
from services.gateway.state import Gateway, State
from shared.ledger import jobs, judgements
from shared.ledger.judgements import (
    JudgementFilter,
    Opinion,
    Origin,
    ReviewerJudgement,
    UnknownJudgement,
)

JUDGEMENT_ID = re.compile(r"jdg_[0-9a-f]{32}")
QUEUE_ID = re.compile(r"rq_[0-9a-f]{32}")
MOST_ON_A_PAGE = 100
IMPORT_BYTES = 4 * 1_048_576
LINES, BYTES = "application/jsonl", "application/octet-stream"  # some clients send no other bytes
AfterJudgement = Annotated[str | None, page_after(JUDGEMENT_ID)]
OfBatch = Annotated[str | None, Query(pattern=f"^{BATCH_ID.pattern}$")]
OfQueue = Annotated[str | None, Query(pattern=f"^{QUEUE_ID.pattern}$")]
OfReviewer = Annotated[str | None, Query(max_length=80, pattern=r"^[^\x00]*$")]
TEXT = {"schema": {"type": "string"}}
BINARY = {"schema": {"type": "string", "format": "binary"}}

router = APIRouter(prefix="/v1", tags=["judgements"])


@router.post(
    "/jobs/{job_id}/judgements",
    operation_id="create_judgement",
    summary="Say what you think of a score",
    status_code=201,
    response_model=None,
    responses={
        201: {"model": ReviewerJudgementSchema},
        **views.error_responses(403, 404, 413, 415, 422),
    },
    openapi_extra=views.body_schema(JudgementRequest),
)
async def create_judgement(
    job_id: str, request: Request, gateway: Gateway, caller: Reviewer
) -> JSONResponse:
    """A second judgement of the same person on the same subject supersedes the first, which is
    kept. An equal one returns the first."""
    asked = await http_requests.parse(
        request, JudgementRequest, limit=gateway.settings.max_body_bytes
    )
    origin = origin_of(request, caller, asked.reviewer)
    made, replayed = await judge(gateway, known_job(job_id), asked, origin)
    headers = {"Idempotent-Replayed": "true"} if replayed else {}
    return JSONResponse(judgement_json(made), 201, headers)


async def judge(
    gateway: State, job_id: str, asked: JudgementRequest, origin: Origin
) -> tuple[ReviewerJudgement, bool]:
    """Write the judgement and finish its queue's line; return it, and whether it existed already.

    Raises UnknownJob, UnknownQueue, BadInput.
    """
    values = asked.model_dump(mode="json", exclude={"reviewer", "queue"})
    values["queue_id"] = asked.queue

    def write(connection: Connection) -> tuple[ReviewerJudgement, bool]:
        job = jobs.find(connection, job_id, tenant=origin.tenant)
        check_part(job.metric, asked.about)
        check_spans(with_elicited(job.request, job.result), values["spans"])
        if asked.queue is not None:
            queue = review_queues.find(connection, asked.queue, origin.tenant)
            review_queues.finish(connection, queue, job_id, origin.reviewer)
        made, replayed = judgements.write(connection, job_id, values, origin)
        if not replayed:
            judgements.emit_event(connection, made, job.metric, origin.tenant)
        return made, replayed

    return await gateway.in_ledger(write)


@router.get(
    "/judgements",
    operation_id="list_judgements",
    summary="Judgements, newest first",
    response_model=None,
    responses={200: {"model": JudgementList}, **views.error_responses(403, 422)},
)
async def list_judgements(
    request: Request,
    gateway: Gateway,
    caller: Reader,
    job: Annotated[str | None, Query(pattern=f"^{JOB_ID.pattern}$")] = None,
    batch: OfBatch = None,
    queue: OfQueue = None,
    reviewer: OfReviewer = None,
    verdict: Opinion | None = None,
    history: Annotated[bool, Query(description="superseded and withdrawn ones as well")] = False,
    limit: Limit = 20,
    after: AfterJudgement = None,
) -> JSONResponse:
    """A page of judgements."""
    known = {"job", "batch", "queue", "reviewer", "verdict", "history", "limit", "after"}
    http_requests.check_filters(request, known)
    wanted = JudgementFilter(caller.tenant, job, batch, queue, reviewer, verdict, history=history)
    most = min(limit, MOST_ON_A_PAGE)
    found, more = await gateway.in_ledger(
        lambda connection: judgements.page_of(connection, wanted, most, after)
    )
    return JSONResponse(list_json([judgement_json(one) for one in found], has_more=more))


@router.post(
    "/judgements/{judgement_id}/withdraw",
    operation_id="withdraw_judgement",
    summary="Take a judgement back",
    response_model=None,
    responses={200: {"model": ReviewerJudgementSchema}, **views.error_responses(403, 404)},
)
async def withdraw_judgement(
    judgement_id: str, request: Request, gateway: Gateway, caller: Reviewer
) -> JSONResponse:
    """Deletes its note. A key with a reviewer withdraws that reviewer's judgements only, another
    key those that no such key gave, and a key of scope `admin` all."""
    if not JUDGEMENT_ID.fullmatch(judgement_id):
        raise UnknownJudgement(f"there is no judgement {judgement_id[:64]!r}")
    own = None if caller.key is None else caller.key.reviewer
    origin = origin_of(request, caller, own or "unnamed")

    def write(connection: Connection) -> ReviewerJudgement:
        old = judgements.find(connection, judgement_id, caller.tenant)
        if not caller.has_scope("admin") and (old.reviewer, old.verified) != (
            own or old.reviewer,
            own is not None,
        ):
            raise Forbidden("this key withdraws the judgements of its own reviewer alone")
        return withdraw(connection, old, origin)

    return JSONResponse(judgement_json(await gateway.in_ledger(write)))


def withdraw(connection: Connection, old: ReviewerJudgement, origin: Origin) -> ReviewerJudgement:
    """Withdraw the judgement; its queue's line is open again for the same person."""
    made = judgements.withdraw(connection, old.id, origin)
    if made.queue_id is not None:
        queue = review_queues.find(connection, made.queue_id, origin.tenant)
        review_queues.release(connection, queue, old.job_id, old.reviewer)
    return made


@router.get(
    "/judgements/export",
    operation_id="export_judgements",
    summary="Judgements as a file",
    response_class=StreamingResponse,
    response_model=None,
    responses={
        200: {"content": {LINES: TEXT, "text/csv": TEXT, "application/json": {"schema": {}}}},
        **views.error_responses(403, 404, 422),
    },
)
async def export_judgements(
    gateway: Gateway,
    caller: Reader,
    format: FileFormat = "jsonl",
    batch: OfBatch = None,
    queue: OfQueue = None,
    reviewer: OfReviewer = None,
) -> Response:
    """JSON Lines, CSV, or tasks for Label Studio: text, explanation, our spans as predictions,
    and the judgements as annotations. Tasks of a queue include lines that nobody has judged yet."""
    wanted = JudgementFilter(caller.tenant, None, batch, queue, reviewer)
    return await as_file(gateway, wanted, format)


async def as_file(gateway: State, wanted: JudgementFilter, form: FileFormat) -> Response:
    """Return the file, streamed from the ledger. Raises UnknownQueue."""

    def ids(connection: Connection) -> list[str]:
        if wanted.queue_id is None:
            return judgements.find_job_ids(connection, wanted)
        queue = review_queues.find(connection, wanted.queue_id, wanted.tenant)
        return list(review_queues.jobs_of(connection, queue))

    found = await gateway.in_ledger(ids)
    pieces = (
        judgement_files.tasks(gateway.engine, wanted, found)
        if form == "label-studio"
        else judgement_files.file_chunks(gateway.engine, wanted, form)
    )
    ending, kind = KINDS[form]
    headers = download_headers(f"judgements.{ending}")
    return StreamingResponse(pieces, media_type=kind, headers=headers)


@router.post(
    "/judgements/import",
    operation_id="import_judgements",
    summary="Take in judgements that were made elsewhere",
    response_model=None,
    responses={200: {"model": ImportSchema}, **views.error_responses(403, 413, 415, 422)},
    openapi_extra={"requestBody": {"required": True, "content": {LINES: TEXT, BYTES: BINARY}}},
)
async def import_judgements(
    request: Request,
    gateway: Gateway,
    caller: Batcher,
    source: Annotated[
        str,
        Query(min_length=1, max_length=80, pattern=r"^[!-~]+$", description="where they are from"),
    ],
) -> JSONResponse:
    """JSON Lines, up to 5,000: one judgement each, with its `job_id` and `reviewer`. All or none
    are imported. Existing judgements are unchanged."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in (LINES, BYTES, "application/x-ndjson"):
        raise UnsupportedMediaType(f"send the lines as Content-Type: {LINES}")
    lines = judgement_files.read(await http_requests.read_body(request, limit=IMPORT_BYTES))
    by = origin_of(request, caller, None if caller.key and caller.key.reviewer else source)
    new, same = await gateway.in_ledger(
        lambda connection: judgement_files.store(connection, lines, source, by)
    )
    return JSONResponse({"object": "judgement_import", "imported": new, "unchanged": same})


@router.get(
    "/judgements/audit",
    operation_id="list_judgement_audit",
    summary="Who judged, withdrew and took in, newest first",
    response_model=None,
    responses={200: {"model": AuditList}, **views.error_responses(403, 422)},
)
async def list_judgement_audit(
    request: Request,
    gateway: Gateway,
    caller: Administrator,
    limit: Limit = 20,
    after: AfterJudgement = None,
) -> JSONResponse:
    """The key, the address family and the request of each written row; of its content only the
    verdict."""
    http_requests.check_filters(request, {"limit", "after"})
    most = min(limit, MOST_ON_A_PAGE)
    found, more = await gateway.in_ledger(
        lambda connection: judgements.audit(connection, caller.tenant, most, after)
    )
    return JSONResponse(list_json([audit_json(one) for one in found], has_more=more))
