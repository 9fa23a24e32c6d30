"""A periodic check of the file store, so that no request waits for one."""

from __future__ import annotations

import asyncio

from starlette.concurrency import run_in_threadpool

from shared.contracts.errors import ScoringError
from shared.ledger.file_store import FileStore

LOOK_SECONDS = 10.0
PATIENCE_SECONDS = 5.0
READY = "ready"


class FileStoreWatch:
    """One gateway's view of the file store."""

    def __init__(self, store: FileStore) -> None:
        self._store = store
        self.state = READY  # or why it is away

    async def run(self) -> None:
        """Check until the task is cancelled. A check that hangs delays all later ones."""
        while True:
            look = asyncio.ensure_future(run_in_threadpool(self.look))
            await asyncio.wait([look], timeout=PATIENCE_SECONDS)
            if not look.done():
                self.state = "the file store does not answer"
            await look
            await asyncio.sleep(LOOK_SECONDS)

    def look(self) -> None:
        """Check once. Blocks."""
        try:
            self._store.check()
        except ScoringError as error:
            self.state = error.detail
        else:
            self.state = READY
