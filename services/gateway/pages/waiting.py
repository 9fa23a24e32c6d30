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
    """Return what jobs of this metric wait for while their workers are ready."""
    try:
        lengths = await run_in_threadpool(broker.queue_lengths, [metric])
    except Unavailable:
        return "because the queue cannot be reached"
    count = sum(lengths.values())
    return f"for a free worker{f', with {count:,} jobs in the queue' if count > 1 else ''}"
