"""The routes of /v1/review-queues. A queue holds lines of a batch that people judge one by one."""

from __future__ import annotations

import re
from typing import Annotated, Any, cast
from urllib.parse import parse_qsl

from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse
from sqlalchemy import Connection

from services.gateway import http_requests, views
from services.gateway.auth import Batcher, Reader, Reviewer
from services.gateway.caller import Caller
from services.gateway.http_requests import (
    IdempotencyKey,
    Limit,
    key_of,
    list_json,
    page_after,
    parse_wait,
)
from services.gateway.judgement_views import (
    QUEUE_ID,
    LeaseRequest,
    NextReviewSchema,
    ReviewQueueList,
    ReviewQueueRequest,
    ReviewQueueSchema,
    next_item_json,
    origin_of,
    queue_json,
)
from services.gateway.pages.result_query import query_to_take
from services.gateway.refusals import NoReport
from services.gateway.results import review_progress, review_queues
from services.gateway.results.review_queues import ReviewQueue, UnknownQueue
from services.gateway.routes.batch_results import REPORT_JOB, job_response, write_facts
from services.gateway.routes.batches import find_batch
from services.gateway.routes.jobs import BATCH_ID
from services.gateway.routes.scores import Prefer, get_report_job, wait_for_job
from services.gateway.state import Gateway, State
from services.registry import metrics
from shared.contracts.batches import Judged
from shared.ledger import judgements
from shared.ledger.batches import Batch
from shared.ledger.jobs import Accepted, Job
from shared.ledger.judgements import JudgementFilter, JudgementState

ID = re.compile(QUEUE_ID)
router = APIRouter(prefix="/v1/review-queues", tags=["judgements"])


def validate_id(queue_id: str) -> str:
    """Return the id. Raises UnknownQueue if it is not a valid queue id."""
    if not ID.fullmatch(queue_id):
        raise UnknownQueue(f"there is no review queue {queue_id[:64]!r}")
    return queue_id


@router.post(
    "",
    operation_id="create_review_queue",
    summary="Let people judge lines of a batch",
    status_code=201,
    response_model=None,
    responses={
        201: {"model": ReviewQueueSchema},
        **views.error_responses(403, 404, 409, 413, 415, 422),
    },
    openapi_extra=views.body_schema(ReviewQueueRequest),
)
async def create_review_queue(
    request: Request,
    gateway: Gateway,
    caller: Batcher,
    idempotency_key: IdempotencyKey = None,
) -> JSONResponse:
    """Queues the lines that match the filter and have a result, in this order."""
    body = await http_requests.parse(
        request, ReviewQueueRequest, limit=gateway.settings.max_body_bytes
    )
    queue = await make(body, gateway, caller, key_of(idempotency_key))
    return JSONResponse(await with_progress(queue, gateway), 201)


async def make(
    body: ReviewQueueRequest, gateway: State, caller: Caller, key: str | None = None
) -> ReviewQueue:
    """Create the review queue, or return the one created with the same key. Raises UnknownBatch,
    NoReport, BadInput."""
    batch = await find_batch(body.batch, gateway, caller.tenant)
    if not batch.is_final or batch.metric not in metrics():
        raise NoReport("the batch has no results to judge yet; wait until it has ended")
    await write_facts(gateway, batch)
    view = query_to_take(
        batch, caller.tenant, [_as_filter(*parameter) for parameter in parse_qsl(body.query)]
    )
    names = {"name", "order", "per_line", "blind", "seed"}
    values: dict[str, Any] = body.model_dump(include=names) | {
        "metric": batch.metric,
        "most": body.lines,
        "key": key,
        "rubric": list(dict.fromkeys(body.rubric)),
        "query": [list(pair) for pair in view.filters],
    }
    return await gateway.in_ledger(
        lambda connection: review_queues.make(connection, view.filter, view.order, values)
    )


def _as_filter(name: str, value: str) -> tuple[str, str]:
    """Translate the filter `metadata.KEY=VALUE` of a comparison into the `meta=KEY=VALUE` of the
    results table."""
    key = name.removeprefix("metadata.")
    return (name, value) if key == name else ("meta", f"{key}={value}")


async def with_progress(queue: ReviewQueue, gateway: State) -> dict[str, Any]:
    """Return the queue as JSON, including its progress."""
    progress = await gateway.in_ledger(
        lambda connection: review_progress.progress(connection, queue)
    )
    return queue_json(queue, progress)


@router.get(
    "",
    operation_id="list_review_queues",
    summary="Review queues, newest first",
    response_model=None,
    responses={200: {"model": ReviewQueueList}, **views.error_responses(403, 422)},
)
async def list_review_queues(
    request: Request,
    gateway: Gateway,
    caller: Reader,
    batch: Annotated[str | None, Query(pattern=f"^{BATCH_ID.pattern}$")] = None,
    limit: Limit = 20,
    after: Annotated[str | None, page_after(ID)] = None,
) -> JSONResponse:
    """A page of queues."""

    def read(connection: Connection) -> tuple[list[dict[str, Any]], bool]:
        some, more = review_queues.page_of(connection, caller.tenant, limit, after, batch)
        progress = review_progress.progress_by_queue(connection, [queue.id for queue in some])
        return [queue_json(queue, progress[queue.id]) for queue in some], more

    data, more = await gateway.in_ledger(read)
    return JSONResponse(list_json(data, has_more=more))


@router.get(
    "/{queue_id}",
    operation_id="get_review_queue",
    summary="A review queue and its progress",
    response_model=None,
    responses={200: {"model": ReviewQueueSchema}, **views.error_responses(403, 404)},
)
async def get_review_queue(queue_id: str, gateway: Gateway, caller: Reader) -> JSONResponse:
    """The queue with this id. Queues of other tenants are not found."""
    return JSONResponse(await with_progress(await find_queue(queue_id, gateway, caller), gateway))


@router.post(
    "/{queue_id}/lease",
    operation_id="lease_review_item",
    summary="The next line to judge, reserved for ten minutes",
    response_model=None,
    responses={200: {"model": NextReviewSchema}, **views.error_responses(403, 404, 413, 415, 422)},
    openapi_extra=views.body_schema(LeaseRequest),
)
async def lease_review_item(
    queue_id: str, request: Request, gateway: Gateway, caller: Reviewer
) -> JSONResponse:
    """Reserves the next line for this person. `skip` is the position of a line that is left to
    other people."""
    body = await http_requests.parse(request, LeaseRequest, limit=gateway.settings.max_body_bytes)
    who = origin_of(request, caller, body.reviewer).reviewer
    queue = await find_queue(queue_id, gateway, caller)

    def take(connection: Connection) -> dict[str, Any]:
        if body.skip is not None:
            review_queues.skip(connection, queue, body.skip, who)
        item = review_queues.take(connection, queue, who)
        return next_item_json(item, review_progress.progress(connection, queue, who))

    return JSONResponse(await gateway.in_ledger(take))


@router.post(
    "/{queue_id}/close",
    operation_id="close_review_queue",
    summary="Close a review queue, so that it gives out no more lines",
    response_model=None,
    responses={200: {"model": ReviewQueueSchema}, **views.error_responses(403, 404)},
)
async def close_review_queue(queue_id: str, gateway: Gateway, caller: Batcher) -> JSONResponse:
    """Closes the queue and keeps its judgements. Closing twice is allowed."""
    queue = await gateway.in_ledger(
        lambda connection: review_queues.close(connection, validate_id(queue_id), caller.tenant)
    )
    return JSONResponse(await with_progress(queue, gateway))


@router.post(
    "/{queue_id}/agreement",
    operation_id="create_review_agreement",
    summary="Agreement of people with each other and with the metric",
    status_code=202,
    response_model=None,
    responses={**REPORT_JOB, **views.error_responses(403, 404, 409)},
)
async def create_review_agreement(
    queue_id: str, gateway: Gateway, caller: Reader, prefer: Prefer = None
) -> JSONResponse:
    """Returns the job that computes the reviewers' `agreement`. Until there is a new judgement, the
    same job is returned."""
    queue = await find_queue(queue_id, gateway, caller)
    seconds = parse_wait(prefer)
    job = cast("Job", await agreement_job(queue, gateway, caller, create=True))
    job = await wait_for_job(Accepted(job, replayed=True), gateway, seconds)
    return job_response(job, seconds)


async def find_queue(queue_id: str, gateway: State, caller: Caller) -> ReviewQueue:
    """Return the caller's queue. Raises UnknownQueue."""
    return await gateway.in_ledger(
        lambda connection: review_queues.find(connection, validate_id(queue_id), caller.tenant)
    )


async def agreement_job(
    queue: ReviewQueue, gateway: State, caller: Caller, *, create: bool
) -> Job | None:
    """Return the job that computes a report on the queue's judgements so far. If there is none,
    create it, or return None unless `create`. Raises NoReport."""
    ids = await gateway.in_ledger(lambda connection: review_queues.jobs_of(connection, queue))
    judged = Judged(queue=queue.id, random=queue.is_sample)
    selection = {"jobs": tuple(ids), "judged": judged}
    state = await judgement_state(JudgementFilter(caller.tenant, queue_id=queue.id), gateway)
    return await _report_job(queue.metric, selection, state, gateway, caller, create=create)


async def batch_agreement_job(
    batch: Batch, state: JudgementState, gateway: State, caller: Caller, *, create: bool
) -> Job | None:
    """Return the job that computes a report on all judgements of a batch. They are not a random
    sample. If there is none, create it, or return None unless `create`. Raises NoReport."""
    selection = {"batch": batch.id, "judged": Judged()}
    return await _report_job(batch.metric, selection, state, gateway, caller, create=create)


async def judgement_state(selection: JudgementFilter, gateway: State) -> JudgementState:
    return await gateway.in_ledger(lambda connection: judgements.state_of(connection, selection))


async def _report_job(
    metric: str,
    selection: dict[str, Any],
    judgements: JudgementState,
    gateway: State,
    caller: Caller,
    *,
    create: bool,
) -> Job | None:
    """Return the job that reports on these lines and judgements. Judgements that have changed need
    a new job."""
    if not judgements.number or metric not in metrics():
        raise NoReport("nobody has judged a line of this queue yet")
    contract = metrics()[metric].batch
    request = contract.request(**selection, mixed=True)
    key, owner = f"{judgements.number} {judgements.digest}", caller.owner(gateway.settings)
    return await get_report_job(contract, request, gateway, owner, key, create=create)
