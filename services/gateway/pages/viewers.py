"""Who looks at a page: the session's tenant, or everybody where no keys are asked for."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import Depends, Request

from services.gateway.callers import ASKED_AGAIN_SECONDS, Look, T, keys_are_asked_for
from services.gateway.keyring import ANYBODY, Caller
from services.gateway.pages.forgery import SESSION_COOKIE, held
from services.gateway.refusals import Forbidden, Unauthenticated
from services.gateway.state import Gateway, State
from shared.ledger import keys
from shared.ledger.keys import Key, Scope


async def viewer(request: Request, gateway: Gateway) -> Caller:
    """The caller of this session; may read jobs. Raises Unauthenticated, QuotaExceeded."""
    caller = await _known(request, gateway)
    request.state.viewer = caller
    return caller


async def _known(request: Request, gateway: State) -> Caller:
    key = await _key_of_session(request, gateway)
    if key is None:
        return ANYBODY
    grant = await gateway.limiter.take(key)
    gateway.limiter.demand(grant)
    return Caller(key.tenant, frozenset(key.scopes), key)


async def _key_of_session(request: Request, gateway: State) -> Key | None:
    """None where keys are not asked for."""
    if not await keys_are_asked_for(gateway):
        return None
    token = held(request, SESSION_COOKIE)
    key_id = None if token is None else await gateway.sessions.key_of(token)
    if key_id is None:
        raise Unauthenticated("log in to see this page")
    key = await gateway.in_ledger(lambda connection: keys.valid(connection, key_id))
    if key is None:
        raise Unauthenticated("the key of this session was revoked or has expired")
    return key


def while_viewing(request: Request, gateway: State, look: Look[T]) -> Look[T]:
    """The same look for a page that stays open; the session is asked after now and then.

    It raises Unauthenticated once the session or its key has ended, and takes nothing of the quota.
    """
    asked = time.monotonic()

    async def again() -> T:
        nonlocal asked
        if time.monotonic() - asked >= ASKED_AGAIN_SECONDS:
            await _key_of_session(request, gateway)
            asked = time.monotonic()
        return await look()

    return again


def demand_scope(caller: Caller, *scopes: Scope) -> None:
    """Raises Forbidden where the viewer's key lacks all of these."""
    if not caller.may(*scopes):
        raise Forbidden(f"your key lacks the scope {' or '.join(scopes)}")


Viewer = Annotated[Caller, Depends(viewer)]


async def stream_held(gateway: Gateway, caller: Viewer) -> AsyncIterator[None]:
    """A dependency of routes that stream. Raises QuotaExceeded where too many are open."""
    with gateway.streams.another(caller):
        yield
