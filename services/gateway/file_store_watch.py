"""Calls the file store, and checks regularly that it responds. The calls run in separate threads,
so that a call that hangs blocks nothing else. A file store that does not respond gets no further
calls."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import ParamSpec, TypeVar

from anyio import CapacityLimiter, to_thread
from starlette.concurrency import run_in_threadpool

from shared.contracts.errors import FileStoreAway, ScoringError
from shared.ledger.file_store import FileStore
from shared.process import telemetry

LOOK_SECONDS = 10.0
PATIENCE_SECONDS = 5.0
THREADS = 16
READY = "ready"
HANGS = "the file store does not respond"
P = ParamSpec("P")
T = TypeVar("T")


class FileStoreWatch:
    """Checks regularly if the file store responds, and runs calls to the file store in threads."""

    def __init__(self, store: FileStore) -> None:
        self._store = store
        self._threads = CapacityLimiter(THREADS)
        self.state = READY  # or why it is away

    async def run(self) -> None:
        """Check the file store regularly until the task is cancelled."""
        while True:
            look = asyncio.ensure_future(run_in_threadpool(self.look))
            await asyncio.wait([look], timeout=PATIENCE_SECONDS)
            if not look.done():
                self.state = HANGS
                telemetry.FILE_STORE_READY.set(0)
            await look
            await asyncio.sleep(LOOK_SECONDS)

    def look(self) -> None:
        """Check the file store once. This blocks the thread."""
        try:
            self._store.check()
        except ScoringError as error:
            self.state = error.detail
        else:
            self.state = READY

    async def call(self, work: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> T:
        """Run `work`, which uses the file store, in a thread. Raises FileStoreAway if the file
        store fails or is known to hang."""
        if self.state == HANGS:
            raise FileStoreAway(HANGS)
        return await to_thread.run_sync(partial(work, *arguments, **options), limiter=self._threads)

    async def iterate(self, pieces: Iterator[bytes]) -> AsyncIterator[bytes]:
        """Yield the pieces of a stored file. Raises FileStoreAway if the file store fails."""
        while piece := await self.call(next, pieces, b""):
            yield piece

    async def remove(self, file_id: str) -> None:
        """Remove the content of a file that has no database entry. If this fails, the scheduler
        removes it later."""
        with suppress(FileStoreAway):
            await self.call(self._store.remove, file_id)
