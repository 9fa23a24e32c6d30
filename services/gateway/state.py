"""What the routes share: the ledger, the models that may be named, who waits for what."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, TypeVar, cast

from cachetools import TTLCache
from fastapi import Depends, Request
from sqlalchemy import Connection, Engine
from starlette.concurrency import run_in_threadpool

from services.gateway.hints import Hints
from services.gateway.keyring import Keyring
from services.gateway.pages.sessions import Sessions
from services.gateway.rate_limit import Limiter
from services.gateway.spool import Spool
from services.gateway.streams import Streams
from services.gateway.waiting import Finishes
from shared.catalogue import Catalogue
from shared.encryption import Sealer
from shared.files import FileStore
from shared.ledger.engine import transaction
from shared.ledger.overview import Signs
from shared.settings import Settings

SIGNS_SECONDS, MOST_TENANTS = 10.0, 1_000  # what results say of the models, remembered

T = TypeVar("T")


@dataclass(frozen=True)
class State:
    """One gateway process's belongings."""

    settings: Settings
    engine: Engine
    catalogue: Catalogue
    finishes: Finishes
    hints: Hints
    keyring: Keyring
    limiter: Limiter
    streams: Streams
    sessions: Sessions
    sealer: Sealer | None  # None: no webhooks
    files: FileStore
    spool: Spool
    signs: TTLCache[str, Signs] = field(  # by tenant; for the event loop's thread
        default_factory=lambda: TTLCache(MOST_TENANTS, SIGNS_SECONDS)
    )

    async def in_ledger(self, work: Callable[[Connection], T]) -> T:
        """Do this in one transaction, off the event loop. Raises Unavailable."""

        def run() -> T:
            with transaction(self.engine) as connection:
                return work(connection)

        return await run_in_threadpool(run)


def state_of(request: Request) -> State:
    """The running gateway's state."""
    return cast(State, request.app.state.gateway)


Gateway = Annotated[State, Depends(state_of)]
