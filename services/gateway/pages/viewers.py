"""Who looks at a page: the session's tenant, or everybody where no keys are asked for."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from services.gateway.callers import keys_are_asked_for
from services.gateway.keyring import ANYBODY, Caller
from services.gateway.pages.forgery import SESSION_COOKIE, held
from services.gateway.refusals import Forbidden, Unauthenticated
from services.gateway.state import Gateway, State
from shared.ledger import keys
from shared.ledger.keys import Scope


async def viewer(request: Request, gateway: Gateway) -> Caller:
    """The caller of this session; may read jobs. Raises Unauthenticated, QuotaExceeded."""
    caller = await _known(request, gateway)
    request.state.viewer = caller
    return caller


async def _known(request: Request, gateway: State) -> Caller:
    if not await keys_are_asked_for(gateway):
        return ANYBODY
    token = held(request, SESSION_COOKIE)
    key_id = None if token is None else await gateway.sessions.key_of(token)
    if key_id is None:
        raise Unauthenticated("log in to see this page")
    key = await gateway.in_ledger(lambda connection: keys.valid(connection, key_id))
    if key is None:
        raise Unauthenticated("the key of this session was revoked or has expired")
    grant = await gateway.limiter.take(key)
    gateway.limiter.demand(grant)
    return Caller(key.tenant, frozenset(key.scopes), key)


def demand_scope(caller: Caller, *scopes: Scope) -> None:
    """Raises Forbidden where the viewer's key lacks all of these."""
    if not caller.may(*scopes):
        raise Forbidden(f"your key lacks the scope {' or '.join(scopes)}")


Viewer = Annotated[Caller, Depends(viewer)]
