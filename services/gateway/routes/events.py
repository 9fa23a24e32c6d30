"""The routes GET /v1/jobs/{id}/events and /v1/batches/{id}/events, which report progress as
server-sent events (HTML Standard, section 9.2). After an `end` event, no more events follow. A
browser that reconnects then gets status 204, which stops it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Response
from fastapi.sse import EventSourceResponse, format_sse_event

from services.gateway import views
from services.gateway.auth import Batcher, Reader, with_key_check
from services.gateway.refusals import NotAuthenticated
from services.gateway.routes.batches import find_batch
from services.gateway.routes.jobs import find_job
from services.gateway.routes.scores import LOOK_AGAIN_SECONDS, set_within
from services.gateway.state import Gateway, State
from services.gateway.views import TEMPLATE, ProgressEvent
from shared.contracts.errors import NotThere, Unavailable
from shared.ledger.batches import Batch
from shared.ledger.jobs import Job

KEEP_ALIVE_SECONDS = 15.0
RETRY_MILLISECONDS = 2_000
LONGEST_SECONDS = 3_600.0  # then the browser comes back, with the last id that it saw
STREAM_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
LAST_ID_DIGITS = 9

Look = Callable[[], Awaitable[Job]] | Callable[[], Awaitable[Batch]]
LastEventId = Annotated[
    str | None,
    Header(description="id of the last event that you received; only later events are sent"),
]


def responses(event: str) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI responses for a stream of these events."""
    events = {"type": "array", "items": {"$ref": TEMPLATE.format(model=event)}}
    stream = {"type": "string", "contentMediaType": "text/event-stream", "contentSchema": events}
    return {
        200: {"description": "the events", "content": {"text/event-stream": {"schema": stream}}},
        **ENDINGS,
    }


ENDINGS: dict[int | str, dict[str, Any]] = {
    204: {"description": "`Last-Event-ID` is the final event: do not reconnect"},
    **views.error_responses(404),
}

router = APIRouter()


async def _job_stream(gateway: Gateway, caller: Reader) -> AsyncIterator[None]:
    with gateway.streams.acquire(caller):
        yield


async def _batch_stream(gateway: Gateway, caller: Batcher) -> AsyncIterator[None]:
    with gateway.streams.acquire(caller):
        yield


@router.get(
    "/v1/jobs/{job_id}/events",
    operation_id="get_job_events",
    summary="A job's progress as server-sent events, until it ends",
    tags=["jobs"],
    response_model=None,
    dependencies=[Depends(_job_stream)],
    responses=responses("JobEvent"),
)
async def job_events(
    job_id: str, gateway: Gateway, caller: Reader, last_event_id: LastEventId = None
) -> Response:
    """Streams events: `job.queued`, `job.running`, `job.succeeded` or similar, then `end`."""
    look = with_key_check(caller, gateway, lambda: find_job(job_id, gateway, caller.tenant))
    return await stream(look, job_id, gateway, last_event_id)


@router.get(
    "/v1/batches/{batch_id}/events",
    operation_id="get_batch_events",
    summary="A batch's progress as server-sent events, until it ends",
    tags=["batches"],
    response_model=None,
    dependencies=[Depends(_batch_stream)],
    responses=responses("BatchEvent") | views.error_responses(403),
)
async def batch_events(
    batch_id: str, gateway: Gateway, caller: Batcher, last_event_id: LastEventId = None
) -> Response:
    """Sends events such as `batch.in_progress` with the batch and its counts, then `end`."""
    look = with_key_check(caller, gateway, lambda: find_batch(batch_id, gateway, caller.tenant))
    return await stream(look, batch_id, gateway, last_event_id)


async def stream(look: Look, watched: str, gateway: State, last_event_id: str | None) -> Response:
    """Return a stream of the events after this id. The status is 204 if there can be no more
    events. Raises NotThere, Unavailable."""
    state = await look()  # what is not there is a 404, not an empty stream
    last_id = last_event_id or ""
    last = (
        int(last_id)
        if last_id.isascii() and last_id.isdigit() and len(last_id) <= LAST_ID_DIGITS
        else 0
    )
    if last and state.is_final and not _after(last, state):
        return Response(status_code=204)
    return EventSourceResponse(_events(look, watched, gateway, last), headers=STREAM_HEADERS)


async def _events(look: Look, watched: str, gateway: State, last: int) -> AsyncIterator[bytes]:
    clock = asyncio.get_running_loop().time
    yield format_sse_event(retry=RETRY_MILLISECONDS)
    began = spoken = clock()
    async with gateway.job_watcher.watch(watched) as event:
        while clock() - began < LONGEST_SECONDS:
            event.clear()
            try:
                state = await look()
            except Unavailable:
                await asyncio.sleep(LOOK_AGAIN_SECONDS)
                continue
            except NotAuthenticated:  # the session has ended, or the key
                return
            except NotThere:  # purged meanwhile
                break
            for happened in _after(last, state):
                last, spoken = happened.number, clock()
                data = json.dumps(happened.data, ensure_ascii=False, separators=(",", ":"))
                yield format_sse_event(event=happened.name, id=str(happened.number), data_str=data)
            if state.is_final:
                break
            if clock() - spoken > KEEP_ALIVE_SECONDS:
                spoken = clock()
                yield format_sse_event(comment="still here")
            await set_within(event, LOOK_AGAIN_SECONDS)
        else:
            return
    yield format_sse_event(event="end", data_str="{}")


def _after(last: int, state: Job | Batch) -> list[ProgressEvent]:
    happened = views.of_job(state) if isinstance(state, Job) else views.of_batch(state)
    return [event for event in happened if event.number > last]
