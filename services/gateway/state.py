"""The state that all routes share: database, file store, outgoing queue messages, notices of ended
jobs, and the states of models.

A separate thread puts messages into the queue, so that no request waits for it. A lost message does
no harm: the scheduler sends it again. PostgreSQL announces the end of each job. Since such a notice
may be lost, waiting requests also check the database from time to time.
"""

from __future__ import annotations

import asyncio
import threading
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    asynccontextmanager,
    contextmanager,
    suppress,
)
from dataclasses import dataclass, field
from queue import Empty, Full, Queue
from typing import Annotated, TypeVar, cast

import psycopg
from cachetools import TTLCache
from fastapi import Depends, Request
from sqlalchemy import Connection, Engine
from starlette.concurrency import run_in_threadpool

from services.gateway.caller import ConcurrentLimiter, KeyCache, Limiter, SessionStore
from services.gateway.file_store_watch import FileStoreWatch
from services.gateway.results.overview import ModelHistory
from services.gateway.results.result_pages import ResultSummary
from services.gateway.spool import Spool
from services.registry import contracts
from shared.contracts.errors import ModelUnusable, Unavailable
from shared.contracts.fields import value_at
from shared.contracts.messages import JobRequest
from shared.contracts.service import ServiceContract
from shared.ledger import keys
from shared.ledger.engine import transaction
from shared.ledger.file_store import FileStore
from shared.ledger.jobs import FINISHED_CHANNEL
from shared.models.catalogue.availability import UNUSABLE, Status, read_statuses
from shared.models.catalogue.catalogue import Catalogue
from shared.process import telemetry
from shared.process.encryption import Sealer
from shared.process.settings import Settings
from shared.process.telemetry import inject_trace
from shared.queue import broker, worker_board
from shared.queue.broker import JobMessage

AGAIN_SECONDS = 0.5
MOST_MESSAGES = 10_000  # messages that wait for a stuck broker; more are left to the scheduler
ONE_TRIP = 100  # of them in one trip to the broker: those that came while the last one travelled
PATIENCE_SECONDS = 5.0  # at the end, for what still waits
RECONNECT_SECONDS = 1.0
LOOK_SECONDS = 2.0  # at how models and workers are
SIGNS_SECONDS, MOST_TENANTS = 10.0, 1_000  # what results say of the models, remembered
SUMMARY_SECONDS, MOST_SUMMARIES = 60.0, 200  # what a table's page says of all its rows
T = TypeVar("T")
logger = telemetry.logger(__name__)


@asynccontextmanager
async def running(work: Coroutine[None, None, None], name: str) -> AsyncIterator[None]:
    """Run a task while the block runs, then cancel it."""
    task = asyncio.create_task(work, name=name)
    try:
        yield
    finally:
        while not task.done():
            task.cancel()
            await asyncio.wait([task], timeout=AGAIN_SECONDS)
        with suppress(asyncio.CancelledError):
            task.result()


class ModelBoard:
    """The cached states of models and workers. If a model is `failed` or `absent`, new jobs for it
    are refused, since somebody must repair it first."""

    def __init__(self) -> None:
        self._statuses: Mapping[str, Status] = {}  # by model
        self.workers: Mapping[str, str] = {}  # service → `ready`, or why its jobs wait

    def check_models(self, contract: ServiceContract, request: JobRequest) -> None:
        """Raise ModelUnusable if a requested or default model is in a state that only a repair can
        end."""
        for name, pointer in _named_models(contract, request):
            status = self._statuses.get(name)
            if status is not None and status.state in UNUSABLE:
                advice = f"See `touchstone models check {name}`. After the repair, run"
                detail = f"{status.reason}. {advice} `touchstone models reload`"
                raise ModelUnusable(detail, pointer=pointer)

    def watch(self, services: Sequence[str]) -> AbstractAsyncContextManager[None]:
        """Return a context manager. While its block runs, the states are read regularly."""
        return running(self._watch_forever(services), "model-board")

    async def _watch_forever(self, services: Sequence[str]) -> None:
        while True:
            self._statuses = await run_in_threadpool(read_statuses)
            self.workers = await run_in_threadpool(worker_board.read, services)
            await asyncio.sleep(LOOK_SECONDS)


def _named_models(contract: ServiceContract, request: JobRequest) -> Iterator[tuple[str, str]]:
    """Yield (model, pointer to its field) for each requested model, including those in `further`
    requests."""
    name = request.model or contract.default_model
    if contract.model_kinds and name is not None:
        yield name, "/model"
    for named_by in contract.writers:
        if (name := value_at(request, named_by)) is not None:
            yield name, f"/{named_by.replace('.', '/')}"
    for other in contract.further(request) if contract.further else ():
        for name, _ in _named_models(other.contract, other.request):
            yield name, other.pointer


@dataclass(frozen=True)
class State:
    """The state that all routes of one gateway process share."""

    settings: Settings
    engine: Engine
    catalogue: Catalogue
    job_watcher: JobWatcher
    messages: MessageSender
    key_cache: KeyCache
    limiter: Limiter
    streams: ConcurrentLimiter
    bulk_calls: ConcurrentLimiter
    previews: ConcurrentLimiter
    sessions: SessionStore
    sealer: Sealer | None  # None: no webhooks
    files: FileStore
    file_store: FileStoreWatch
    spool: Spool
    models: ModelBoard = field(default_factory=ModelBoard)
    signs: TTLCache[str, ModelHistory] = field(  # by tenant; for the event loop's thread
        default_factory=lambda: TTLCache(MOST_TENANTS, SIGNS_SECONDS)
    )
    summaries: TTLCache[str, ResultSummary] = field(  # by batch that has ended; likewise
        default_factory=lambda: TTLCache(MOST_SUMMARIES, SUMMARY_SECONDS)
    )
    outcomes: TTLCache[str, Mapping[str, int]] = field(  # results per verdict, likewise
        default_factory=lambda: TTLCache(MOST_TENANTS, SUMMARY_SECONDS)
    )

    def model_names(self, *kinds: str) -> list[str]:
        """Return the names of the configured models of these kinds."""
        return [entry.name for entry in self.catalogue.entries if entry.kind in kinds]

    @property
    def served(self) -> list[str]:
        """The names of the services that this installation runs, including the model services."""
        names = {*self.settings.serve.split(), "inference", "similarity"}
        return [name for name in contracts() if name in names or "metrics" in names]

    def check_served(self, contract: ServiceContract) -> None:
        """Raise Unavailable if no worker of this installation takes the service's jobs."""
        if contract.name.removesuffix("-report") not in self.served:
            offered = ", ".join(self.settings.serve.split())
            raise Unavailable(
                f"this service does not run {contract.name}; choose one of: {offered}"
            )

    async def in_ledger(self, work: Callable[[Connection], T]) -> T:
        """Run `work` in one database transaction, in a thread. Raises Unavailable."""

        def run() -> T:
            with transaction(self.engine) as connection:
                return work(connection)

        return await run_in_threadpool(run)


def state_of(request: Request) -> State:
    return cast(State, request.app.state.gateway)


Gateway = Annotated[State, Depends(state_of)]


async def requires_key(gateway: State) -> bool:
    """Return True if requests need a key. Raises Unavailable if the database cannot be reached."""
    demanded = gateway.key_cache.required
    if demanded is None:
        demanded = await gateway.in_ledger(keys.has_any)
        gateway.key_cache.update(any_made=demanded)
    return demanded


class MessageSender:
    """Sends messages to the queue in the background."""

    def __init__(self) -> None:
        self._waiting: Queue[JobMessage | None] = Queue(MOST_MESSAGES)

    def add(self, metric: str, job_id: str) -> None:
        """Send a message for this job soon. This never blocks."""
        self.add_all(metric, [job_id])

    def add_all(self, metric: str, job_ids: Sequence[str]) -> None:
        """Send messages for these jobs soon. This never blocks."""
        trace = inject_trace()
        for index, job_id in enumerate(job_ids):
            try:
                self._waiting.put_nowait(JobMessage(metric, job_id, trace=trace))
            except Full:
                left = len(job_ids) - index
                detail = "too many messages wait"
                logger.warning("job.not_sent", job=job_id, detail=detail, dropped_too=left - 1)
                return

    @contextmanager
    def run(self) -> Iterator[None]:
        """Send messages while the block runs. Messages that remain at its end are sent, too."""
        thread = threading.Thread(target=self._send_all, name="messages", daemon=True)
        thread.start()
        try:
            yield
        finally:
            try:
                self._waiting.put(None, timeout=PATIENCE_SECONDS)
            except Full:
                logger.warning("messages.left", waiting=self._waiting.qsize())
            thread.join(PATIENCE_SECONDS)

    def _send_all(self) -> None:
        while (first := self._waiting.get()) is not None:
            messages = [first, *self._more()]
            try:
                broker.send_all(messages)
            except Unavailable as error:
                dropped = len(messages) - 1 + self._drop()
                logger.warning(
                    "job.not_sent", job=first.job_id, detail=error.detail, dropped_too=dropped
                )

    def _more(self) -> list[JobMessage]:
        """Return more waiting messages, up to the maximum that is sent at once."""
        messages: list[JobMessage] = []
        with suppress(Empty):
            while len(messages) < ONE_TRIP - 1:
                message = self._waiting.get_nowait()
                if message is None:
                    self._waiting.put(None)  # the sign to end stays
                    break
                messages.append(message)
        return messages

    def _drop(self) -> int:
        """Drop all waiting messages and return their number. Each attempt would be slow while the
        broker is unavailable."""
        dropped = 0
        try:
            while (message := self._waiting.get_nowait()) is not None:
                dropped += 1
        except Empty:
            return dropped
        self._waiting.put(message)  # the sign to end stays
        return dropped


class JobWatcher:
    """Wakes requests that wait for a job when the database announces the job's end."""

    def __init__(self, database_url: str) -> None:
        self._url = database_url
        self._waiters: defaultdict[str, set[asyncio.Event]] = defaultdict(set)

    def listen(self) -> AbstractAsyncContextManager[None]:
        """Return a context manager. While its block runs, it listens to announcements of ended
        jobs."""
        return running(self._listen_forever(), "finishes")

    @asynccontextmanager
    async def watch(self, *job_ids: str) -> AsyncIterator[asyncio.Event]:
        """Yield an event that is set as soon as one of these jobs ends."""
        event = asyncio.Event()
        for job_id in job_ids:
            self._waiters[job_id].add(event)
        try:
            yield event
        finally:
            for job_id in set(job_ids):
                self._waiters[job_id].discard(event)
                if not self._waiters[job_id]:
                    del self._waiters[job_id]

    async def _listen_forever(self) -> None:
        while True:
            try:
                await self._receive()
            except (psycopg.Error, OSError) as error:
                logger.warning("listener.lost", error=type(error).__name__)
                for events in self._waiters.values():
                    for event in events:
                        event.set()
                await asyncio.sleep(RECONNECT_SECONDS)

    async def _receive(self) -> None:
        connection = await psycopg.AsyncConnection.connect(self._url, autocommit=True)
        async with connection:
            await connection.execute(f"LISTEN {FINISHED_CHANNEL}")
            async for notice in connection.notifies():
                for event in self._waiters.get(notice.payload, ()):
                    event.set()
