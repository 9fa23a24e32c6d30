"""Who calls: `Authorization: Bearer tsk_…` becomes a tenant with scopes, or a 401, 403 or 429.

Where no key was ever made (`authentication = auto`), everybody is the tenant `default`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Awaitable, Callable
from typing import Annotated, TypeVar

from fastapi import Depends, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from sqlalchemy import Connection

from services.gateway.keyring import ANYBODY, Caller
from services.gateway.refusals import Forbidden, Unauthenticated
from services.gateway.state import Gateway, State
from shared.ledger import keys
from shared.ledger.keys import Key, Scope

ASKED_AGAIN_SECONDS = 5.0  # a look comes every 2 s: a revoked key sees nothing ten seconds later

T = TypeVar("T")
Look = Callable[[], Awaitable[T]]

BEARER = HTTPBearer(
    auto_error=False,
    scheme_name="key",
    bearerFormat="tsk_…",
    description="an API key; made by `python -m services.gateway.keys create`",
)
Credentials = Annotated[HTTPAuthorizationCredentials | None, Security(BEARER)]


def needs(*scopes: Scope) -> Callable[..., Awaitable[Caller]]:
    """A dependency: the caller, who has one of these scopes and calls no more often than allowed.

    Raises Unauthenticated, Forbidden, QuotaExceeded, Unavailable.
    """

    async def caller_of(request: Request, gateway: Gateway, credentials: Credentials) -> Caller:
        if not await keys_are_asked_for(gateway):
            return ANYBODY
        if credentials is None:
            raise Unauthenticated("send your API key as Authorization: Bearer tsk_…")
        caller = await known(gateway, credentials.credentials)
        if caller.key is not None:
            grant = await gateway.limiter.take(caller.key)
            request.state.rate_limit = grant
            gateway.limiter.demand(grant)
        if not caller.may(*scopes):
            raise Forbidden(f"this key lacks the scope {' or '.join(scopes)}")
        return caller

    return caller_of


async def keys_are_asked_for(gateway: State) -> bool:
    """Whether this request needs a key. Raises Unavailable where the ledger must say and cannot."""
    demanded = gateway.keyring.demanded
    if demanded is None:
        demanded = await gateway.in_ledger(keys.any_made)
        gateway.keyring.learn(any_made=demanded)
    return demanded


async def known(gateway: State, secret: str) -> Caller:
    """The caller with this key. Raises Unauthenticated, Unavailable."""
    if not keys.FORM.fullmatch(secret):
        raise Unauthenticated("this is not an API key", wrong=True)
    found = gateway.keyring.remembered(secret)
    if found is not None:
        return found

    def look(connection: Connection) -> Key | None:
        return keys.presented(connection, secret)

    key = await gateway.in_ledger(look)
    if key is None:
        raise Unauthenticated("this API key is unknown, expired or revoked", wrong=True)
    return gateway.keyring.remember(secret, key)


def while_known(caller: Caller, gateway: State, look: Look[T]) -> Look[T]:
    """The same look for a stream that lasts; the ledger is asked for the key again now and then.

    It raises Unauthenticated once the key is revoked or has expired, or where keys are asked for
    meanwhile and the stream was opened without one.
    """
    asked = -math.inf

    async def again() -> T:
        nonlocal asked
        if time.monotonic() - asked >= ASKED_AGAIN_SECONDS:
            if not await _is_still_known(caller, gateway):
                raise Unauthenticated("this API key is expired or revoked", wrong=True)
            asked = time.monotonic()
        return await look()

    return again


async def _is_still_known(caller: Caller, gateway: State) -> bool:
    key = caller.key
    if key is None:
        return not await keys_are_asked_for(gateway)
    return await gateway.in_ledger(lambda connection: keys.valid(connection, key.id)) is not None


Scorer = Annotated[Caller, Depends(needs("score"))]
Reader = Annotated[Caller, Depends(needs("score", "batch"))]
Batcher = Annotated[Caller, Depends(needs("batch"))]
Administrator = Annotated[Caller, Depends(needs("admin"))]
