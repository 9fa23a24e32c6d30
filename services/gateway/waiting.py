"""Waiting for a job's end without asking the ledger over and over: PostgreSQL tells us.

The notice comes in the transaction that ends the job. It is a hint like every message: a waiter
looks at the ledger when it wakes, and wakes by itself now and then in case a notice was lost.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import psycopg

from shared import log
from shared.ledger.jobs import FINISHED_CHANNEL

RECONNECT_SECONDS = 1.0

logger = log.logger(__name__)


class Finishes:
    """Who waits for which job."""

    def __init__(self, database_url: str) -> None:
        self._url = database_url
        self._waiters: defaultdict[str, set[asyncio.Event]] = defaultdict(set)

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[None]:
        """Hear the notices until the block is left."""
        task = asyncio.create_task(self._listen(), name="finishes")
        try:
            yield
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    @asynccontextmanager
    async def expecting(self, job_id: str) -> AsyncIterator[asyncio.Event]:
        """An event that is set when the job ends, from now on."""
        event = asyncio.Event()
        self._waiters[job_id].add(event)
        try:
            yield event
        finally:
            self._waiters[job_id].discard(event)
            if not self._waiters[job_id]:
                del self._waiters[job_id]

    async def _listen(self) -> None:
        while True:
            try:
                await self._hear()
            except (psycopg.Error, OSError) as error:
                logger.warning("finishes.deaf", error=type(error).__name__)
                self._wake_all()
                await asyncio.sleep(RECONNECT_SECONDS)

    async def _hear(self) -> None:
        connection = await psycopg.AsyncConnection.connect(self._url, autocommit=True)
        async with connection:
            await connection.execute(f"LISTEN {FINISHED_CHANNEL}")
            async for notice in connection.notifies():
                for event in self._waiters.get(notice.payload, ()):
                    event.set()

    def _wake_all(self) -> None:
        for events in self._waiters.values():
            for event in events:
                event.set()
