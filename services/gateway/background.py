"""Tasks that run beside the requests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress

AGAIN_SECONDS = 0.5


@asynccontextmanager
async def running(work: Coroutine[None, None, None], name: str) -> AsyncIterator[None]:
    """A task that ends with the block.

    It is told so until it does: `asyncio.wait_for` of Python 3.11 forgets that its task was
    cancelled where what it waits for comes at the same moment.
    """
    task = asyncio.create_task(work, name=name)
    try:
        yield
    finally:
        while not task.done():
            task.cancel()
            await asyncio.wait([task], timeout=AGAIN_SECONDS)
        with suppress(asyncio.CancelledError):
            task.result()
