"""The routes of /v1/judgements, which are people's judgements of scores: create, list, withdraw,
export and import."""

from __future__ import annotations

import re
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse
from sqlalchemy import Connection

from services.gateway import http_requests, judgement_files, views
from services.gateway.auth import Judge, Reader, Reviewer, check_scope
from services.gateway.caller import Caller
from services.gateway.http_requests import Limit, list_json, page_after
from services.gateway.judgement_files import KINDS, FileFormat
from services.gateway.judgement_views import (
    ImportSchema,
    JudgementFields,
    JudgementList,
    JudgementRequest,
    ReviewerJudgementSchema,
    check_part,
    check_spans,
    judgement_json,
    origin_of,
    with_elicited,
)
from services.gateway.refusals import Forbidden
from services.gateway.results import review_queues
from services.gateway.routes.batch_results import download_headers
from services.gateway.routes.jobs import BATCH_ID, JOB_ID
from services.gateway.state import Gateway, State
from shared.contracts.errors import BadInput
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
IMPORT_BYTES = 4 * 1_048_576
LINES, BYTES = "application/jsonl", "application/octet-stream"  # some clients send no other bytes
CSV, TASKS = "text/csv", "application/vnd.label-studio+json"
FILES: dict[str, FileFormat] = {LINES: "jsonl", CSV: "csv", TASKS: "label-studio"}
AfterJudgement = Annotated[str | None, page_after(JUDGEMENT_ID)]
OfBatch = Annotated[str | None, Query(pattern=f"^{BATCH_ID.pattern}$")]
OfQueue = Annotated[str | None, Query(pattern=f"^{QUEUE_ID.pattern}$")]
OfReviewer = Annotated[str | None, Query(max_length=80, pattern=r"^[^\x00]*$")]
TEXT = {"schema": {"type": "string"}}
BINARY = {"schema": {"type": "string", "format": "binary"}}

router = APIRouter(prefix="/v1", tags=["judgements"])


@router.post(
    "/judgements",
    operation_id="create_judgements",
    summary="Judge a score, or import judgements",
    status_code=201,
    response_model=None,
    responses={
        200: {"model": ImportSchema, "description": "the lines were imported"},
        201: {"model": ReviewerJudgementSchema},
        **views.error_responses(403, 404, 413, 415, 422),
    },
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {
                **views.body_schema(JudgementRequest)["requestBody"]["content"],
                LINES: TEXT,
                BYTES: BINARY,
            },
        }
    },
)
async def create_judgements(
    request: Request,
    gateway: Gateway,
    caller: Judge,
    source: Annotated[
        str | None,
        Query(
            min_length=1, max_length=80, pattern=r"^[!-~]+$", description="source of the judgements"
        ),
    ] = None,
) -> JSONResponse:
    """Stores a judgement, which is JSON and needs the scope `review`. It replaces the person's
    earlier judgement, which is kept. An equal judgement returns the first.

    Up to 5,000 JSON Lines import judgements from another system, all or none. Each has `job_id` and
    `reviewer`. The call needs the scope `batch` and a `source`. Existing judgements stay.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind in (LINES, BYTES, "application/x-ndjson"):
        check_scope(caller, "batch")
        return await take_in(request, gateway, caller, source)
    check_scope(caller, "review")
    body = await http_requests.parse(
        request, JudgementRequest, limit=gateway.settings.max_body_bytes
    )
    origin = origin_of(request, caller, body.reviewer)
    judgement, replayed = await judge(gateway, body.job_id, body, origin)
    headers = {"Idempotent-Replayed": "true"} if replayed else {}
    return JSONResponse(judgement_json(judgement), 201, headers)


async def take_in(
    request: Request, gateway: State, caller: Caller, source: str | None
) -> JSONResponse:
    """Import the judgements in the body."""
    if source is None:
        raise BadInput(
            "`source` is missing; set it to the system that the judgements come from",
            pointer="/source",
        )
    lines = judgement_files.read(await http_requests.read_body(request, limit=IMPORT_BYTES))
    by = origin_of(request, caller, None if caller.key and caller.key.reviewer else source)
    new, unchanged = await gateway.in_ledger(
        lambda connection: judgement_files.store(connection, lines, source, by)
    )
    return JSONResponse({"object": "judgement_import", "imported": new, "unchanged": unchanged})


async def judge(
    gateway: State, job_id: str, fields: JudgementFields, origin: Origin
) -> tuple[ReviewerJudgement, bool]:
    """Store a judgement, and record it in its review queue. Return (judgement, True if it existed
    already). Raises UnknownJob, UnknownQueue, BadInput."""
    values = fields.model_dump(mode="json", exclude={"reviewer", "queue", "job_id"})
    values["queue_id"] = fields.queue

    def write(connection: Connection) -> tuple[ReviewerJudgement, bool]:
        job = jobs.find(connection, job_id, tenant=origin.tenant)
        check_part(job.metric, fields.about)
        check_spans(with_elicited(job.request, job.result), values["spans"])
        if fields.queue is not None:
            queue = review_queues.find(connection, fields.queue, origin.tenant)
            review_queues.finish(connection, queue, job_id, origin.reviewer)
        judgement, replayed = judgements.write(connection, job_id, values, origin)
        if not replayed:
            judgements.emit_event(connection, judgement, job.metric, origin.tenant)
        return judgement, replayed

    return await gateway.in_ledger(write)


@router.get(
    "/judgements",
    operation_id="list_judgements",
    summary="Judgements, newest first, or all of them as a file",
    response_model=None,
    responses={
        200: {
            "model": JudgementList,
            "description": "a page, or a file in the format of `Accept`",
            "content": {LINES: TEXT, CSV: TEXT, TASKS: {"schema": {}}},
        },
        **views.error_responses(403, 404, 422),
    },
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
    history: Annotated[
        bool, Query(description="include superseded and withdrawn judgements")
    ] = False,
    limit: Limit = 20,
    after: AfterJudgement = None,
) -> Response:
    """Lists judgements. Files have all matches, as JSON Lines, CSV or Label Studio tasks. A task
    has text, explanation, evidence as predictions and judgements as annotations. Tasks of a queue
    include lines without a judgement."""
    selection = JudgementFilter(
        caller.tenant, job, batch, queue, reviewer, verdict, history=history
    )
    kind = http_requests.accepted(request, "application/json", *FILES)
    if kind in FILES:
        return await as_file(gateway, selection, FILES[kind])
    rows, more = await gateway.in_ledger(
        lambda connection: judgements.page_of(connection, selection, limit, after)
    )
    is_admin = caller.has_scope("admin")
    data = [judgement_json(row, with_origin=is_admin) for row in rows]
    return JSONResponse(list_json(data, has_more=more))


@router.post(
    "/judgements/{judgement_id}/withdraw",
    operation_id="withdraw_judgement",
    summary="Withdraw a judgement",
    response_model=None,
    responses={200: {"model": ReviewerJudgementSchema}, **views.error_responses(403, 404)},
)
async def withdraw_judgement(
    judgement_id: str, request: Request, gateway: Gateway, caller: Reviewer
) -> JSONResponse:
    """Withdraws a judgement and its note. A reviewer's key can only withdraw that reviewer's
    judgements, an `admin` key all. Other keys can withdraw those sent without a reviewer's key."""
    if not JUDGEMENT_ID.fullmatch(judgement_id):
        raise UnknownJudgement(f"there is no judgement {judgement_id[:64]!r}")
    of_key = None if caller.key is None else caller.key.reviewer
    origin = origin_of(request, caller, of_key or "unnamed")

    def write(connection: Connection) -> ReviewerJudgement:
        old = judgements.find(connection, judgement_id, caller.tenant)
        if not caller.has_scope("admin") and (old.reviewer, old.verified) != (
            of_key or old.reviewer,
            of_key is not None,
        ):
            raise Forbidden("this key can only withdraw judgements of its own reviewer")
        return withdraw(connection, old, origin)

    return JSONResponse(judgement_json(await gateway.in_ledger(write)))


def withdraw(connection: Connection, old: ReviewerJudgement, origin: Origin) -> ReviewerJudgement:
    """Withdraw the judgement. Its line in the queue is reserved for the same reviewer again."""
    withdrawal = judgements.withdraw(connection, old.id, origin)
    if withdrawal.queue_id is not None:
        queue = review_queues.find(connection, withdrawal.queue_id, origin.tenant)
        review_queues.release(connection, queue, old.job_id, old.reviewer)
    return withdrawal


async def as_file(
    gateway: State, selection: JudgementFilter, form: FileFormat, *, texts: bool = False
) -> Response:
    """Return the judgements as a file. `texts` adds posts and explanations. Raises
    UnknownQueue."""

    def ids(connection: Connection) -> list[str]:
        if selection.queue_id is None:
            return judgements.find_job_ids(connection, selection)
        queue = review_queues.find(connection, selection.queue_id, selection.tenant)
        return list(review_queues.jobs_of(connection, queue))

    job_ids = await gateway.in_ledger(ids)
    pieces = (
        judgement_files.tasks(gateway.engine, selection, job_ids)
        if form == "label-studio"
        else judgement_files.file_chunks(gateway.engine, selection, form, texts=texts)
    )
    ending, kind = KINDS[form]
    headers = download_headers(f"judgements.{ending}")
    return StreamingResponse(pieces, media_type=kind, headers=headers)
