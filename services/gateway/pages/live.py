"""Server-sent events for pages: `changed` when a page should be looked at again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from fastapi.sse import EventSourceResponse, format_sse_event

from services.gateway.callers import Look
from services.gateway.refusals import Unauthenticated
from services.gateway.routes.events import HEADERS, KEEP_ALIVE_SECONDS, RETRY_MILLISECONDS
from shared.errors import Unavailable

LOOK_SECONDS = 2.0
LONGEST_SECONDS = 600.0  # then the browser comes back


def changes(look: Look[str], seen: str) -> EventSourceResponse:
    """look: a short string that differs when the page does; Unauthenticated ends the stream.

    seen: the one of the page as shown; empty: not known.
    """
    return EventSourceResponse(_told(look, seen), headers=HEADERS)


async def _told(look: Look[str], seen: str) -> AsyncIterator[bytes]:
    clock = asyncio.get_running_loop().time
    yield format_sse_event(retry=RETRY_MILLISECONDS)
    began = spoken = clock()
    while clock() - began < LONGEST_SECONDS:
        try:
            now = await look()
        except Unauthenticated:
            return
        except Unavailable:
            now = seen
        if now != seen:
            if seen:
                spoken = clock()
                yield format_sse_event(event="changed", data_str="{}")
            seen = now
        elif clock() - spoken > KEEP_ALIVE_SECONDS:
            spoken = clock()
            yield format_sse_event(comment="still here")
        await asyncio.sleep(LOOK_SECONDS)
