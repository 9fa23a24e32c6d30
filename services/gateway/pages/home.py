"""The start page `/`: running jobs and batches, and the state of the models."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import Depends, Query, Request
from fastapi.sse import EventSourceResponse
from sqlalchemy import Connection
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from services.gateway.auth import Viewer, acquire_stream, with_session_check
from services.gateway.caller import Caller
from services.gateway.http_requests import InDigits
from services.gateway.pages import page_route
from services.gateway.pages.page_route import page_router
from services.gateway.pages.score_trend import trend_of
from services.gateway.pages.templates import page
from services.gateway.results import overview
from services.gateway.results.overview import ModelHistory
from services.gateway.state import Gateway, State
from services.gateway.views import batch_json
from services.registry import all_contracts
from shared.contracts.errors import Unavailable
from shared.ledger import batches, jobs
from shared.ledger.engine import Slice
from shared.ledger.jobs import JobPage, JobSummary
from shared.models.catalogue.availability import Status, read_statuses
from shared.queue import broker, worker_board

RECENT_JOBS, RECENT_BATCHES = 10, 5
SPANS = (7, 30, 90)  # days of the scores over time
LATE_SECONDS = 60.0  # that a job waits before it needs eyes
STATES = ("queued", "running", "succeeded", "failed", "cancelled")

UNUSABLE_WORDS = {"failed": "cannot be loaded", "absent": "is missing"}
WAITING_WORDS = {
    "loading": "is being loaded",
    "waiting": "waits for memory",
    "downloading": "is being downloaded",
    "away": "its server does not respond",
}

router = page_router()


@dataclass(frozen=True)
class QueueDepth:
    """The number of messages waiting in a service's two queues, or None if unknown."""

    service: str
    interactive: int | None
    batch: int | None


@dataclass(frozen=True)
class Overview:
    """The data of the start page."""

    counts: dict[tuple[str, str], int]
    signs: ModelHistory
    queues: list[QueueDepth]
    jobs: list[JobSummary]
    batches: list[dict[str, Any]]
    models: dict[str, Status] = field(default_factory=dict)  # of those that a worker reports
    workers: dict[str, str] = field(default_factory=dict)  # service → `ready`, or why jobs wait
    lost: int = 0  # running jobs whose worker is gone
    late: dict[str, float] = field(default_factory=dict)  # service → seconds that a job has waited

    @property
    def states(self) -> dict[str, int]:
        """Return the number of jobs in each state over the last day."""
        return {
            state: sum(count for (_, status), count in self.counts.items() if status == state)
            for state in STATES
        }

    @property
    def away(self) -> dict[str, int]:
        """Return, for each model, the number of jobs that failed in the last day because the model
        was unavailable."""
        counts: Counter[str] = Counter()
        for (metric, named), count in self.signs.away.items():
            contract = all_contracts().get(metric)
            model = named or (contract.default_model if contract else None)
            if model is not None:
                counts[model] += count
        return counts

    @property
    def queue_size(self) -> int:
        """Return the number of waiting messages in all queues."""
        return sum((queue.interactive or 0) + (queue.batch or 0) for queue in self.queues)

    @property
    def digest(self) -> str:
        """A hash that changes whenever a job, batch or queue changes. Pages use it to see if they
        are out of date."""
        shown = (
            sorted(self.counts.items()),
            sorted(self.away.items()),
            self.queues,
            sorted(self.workers.items()),
            self.lost,
            sorted(self.late),
            [(name, model.state, model.reason) for name, model in self.models.items()],
            [(job.id, job.status) for job in self.jobs],
            [(batch["id"], batch["status"], batch["request_counts"]) for batch in self.batches],
        )
        return hashlib.sha256(repr(shown).encode()).hexdigest()


@router.get("/")
async def index_page(
    request: Request,
    gateway: Gateway,
    caller: Viewer,
    days: Annotated[int, Query(ge=1, le=90), InDigits] = 30,
) -> Response:
    overview = await load_overview(gateway, caller)
    now = datetime.now(UTC)
    trend = await gateway.in_ledger(lambda one: trend_of(one, caller.tenant, days, now))
    return page(
        request,
        "home.html",
        overview=overview,
        trend=trend,
        spans=SPANS,
        models=gateway.catalogue.describe(hashed=False),
        unusable=UNUSABLE_WORDS,
        waiting=WAITING_WORDS,
    )


@router.get("/live", dependencies=[Depends(acquire_stream)])
async def index_events(
    request: Request,
    gateway: Gateway,
    caller: Viewer,
    seen: Annotated[str, Query(max_length=64)] = "",
) -> EventSourceResponse:
    """Send an event as soon as the start page has changed since the digest `seen`."""

    async def read_digest() -> str:
        return (await load_overview(gateway, caller)).digest

    return page_route.changes(with_session_check(request, gateway, read_digest), seen)


async def load_overview(gateway: State, caller: Caller) -> Overview:
    """Return the data of the start page for this caller. Raises Unavailable if the jobs database
    cannot be reached."""
    known = gateway.signs.get(caller.tenant)
    queues = await run_in_threadpool(_queue_depths)
    statuses = await run_in_threadpool(read_statuses)
    workers = await run_in_threadpool(worker_board.read, gateway.served)

    def read(connection: Connection) -> Overview:
        recent, _ = jobs.summary_page(connection, JobPage(limit=RECENT_JOBS, tenant=caller.tenant))
        newest, _ = batches.page_of(connection, Slice(RECENT_BATCHES, tenant=caller.tenant))
        counts = overview.counts(connection, caller.tenant)
        waited = overview.oldest_seconds(connection)
        return Overview(
            counts.by_state,
            known or overview.model_history(connection, caller.tenant),
            queues,
            recent,
            [batch_json(batch) for batch in newest],
            statuses,
            workers,
            counts.lost,
            {name: seconds for name, seconds in sorted(waited.items()) if seconds > LATE_SECONDS},
        )

    numbers = await gateway.in_ledger(read)
    if known is None:
        gateway.signs[caller.tenant] = numbers.signs
    return numbers


def _queue_depths() -> list[QueueDepth]:
    names = sorted(all_contracts())
    try:
        depths = broker.queue_lengths(names)
    except Unavailable:
        depths = {}
    return [QueueDepth(name, depths.get((name, False)), depths.get((name, True))) for name in names]
