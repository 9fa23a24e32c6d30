"""How models and workers are, kept at hand by the gateway: no request waits to learn it.

A model that its workers call `failed` or `absent` is refused at posting: nobody queues for what
somebody has to mend first. A board that cannot be read refuses nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager

from starlette.concurrency import run_in_threadpool

from services.gateway.background import running
from services.registry import contracts
from shared import worker_board
from shared.errors import ModelUnusable
from shared.models.availability import UNUSABLE, Status, read_statuses
from shared.service_contract import ServiceContract

LOOK_SECONDS = 2.0


class ModelBoard:
    """The last that workers said of their models."""

    def __init__(self) -> None:
        self._statuses: Mapping[str, Status] = {}
        self._workers: Mapping[str, str] = {}

    @property
    def statuses(self) -> Mapping[str, Status]:
        """model → status, of those that a worker reports."""
        return self._statuses

    @property
    def workers(self) -> Mapping[str, str]:
        """service → `ready`, or why its jobs wait."""
        return self._workers

    def check_model(self, contract: ServiceContract, named: str | None) -> None:
        """Raises ModelUnusable where the model that a request names, or the service's own, is not
        to be had before somebody mends it."""
        if not contract.model_kinds or (name := named or contract.default_model) is None:
            return
        status = self._statuses.get(name)
        if status is not None and status.state in UNUSABLE:
            detail = f"{status.reason}. `touchstone models check {name}` says more"
            raise ModelUnusable(detail, pointer="/model")

    def watch(self) -> AbstractAsyncContextManager[None]:
        """Look now and then until the block is left."""
        return running(self._watch_forever(), "model-board")

    async def _watch_forever(self) -> None:
        while True:
            self._statuses = await run_in_threadpool(read_statuses)
            self._workers = await run_in_threadpool(worker_board.read, contracts())
            await asyncio.sleep(LOOK_SECONDS)
