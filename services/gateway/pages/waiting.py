"""Why a job, or the lines of a batch, are not being scored yet. Each phrase follows "waiting"."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.concurrency import run_in_threadpool

from services.gateway.state import State
from shared.contracts.errors import Unavailable
from shared.queue import broker
from shared.queue.worker_board import NO_WORKER, READY


def obstacle(gateway: State, metric: str, waiting_for: Mapping[str, str] | None) -> str:
    """Return the model or worker that is not ready, or "" if jobs only wait for their turn.
    `waiting_for` is the model that a job waits for."""
    if waiting_for:
        return f"for the model {waiting_for['model']}: {waiting_for['detail']}"
    worker = gateway.models.workers.get(metric.removesuffix("-report"), READY)
    if worker == NO_WORKER:
        return "because no worker is running"
    return "" if worker == READY else f"because {worker}"


async def in_queue(metric: str) -> str:
    """Return how many requests of this metric wait for a worker."""
    try:
        lengths = await run_in_threadpool(broker.queue_lengths, [metric])
    except Unavailable:
        return "because the queue cannot be reached"
    return f"for a worker; requests in its queue: {sum(lengths.values()):,}"
