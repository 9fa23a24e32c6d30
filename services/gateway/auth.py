"""Authentication of API requests. The header `Authorization: Bearer tsk_…` identifies a tenant and
its permissions (scopes). Otherwise the response is 401, 403 or 429.

With `authentication = auto`, every caller is the tenant `default` until a key is created. HTML
pages use a session cookie in place of the key. A request may only refer to objects of its own
tenant.
"""

from __future__ import annotations

import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from sqlalchemy import Connection

from services.gateway.caller import ANYBODY, Caller
from services.gateway.pages.templates import SESSION_COOKIE, get_cookie
from services.gateway.refusals import Forbidden, NotAuthenticated
from services.gateway.results import review_queues
from services.gateway.state import Gateway, State, requires_key
from shared.contracts.batches import BatchReportRequest
from shared.contracts.errors import BadInput
from shared.contracts.messages import JobRequest
from shared.ledger import batch_lines, keys, webhooks
from shared.ledger.keys import Key, Scope
from shared.ledger.webhooks import UnknownEndpoint

ASKED_AGAIN_SECONDS = 5.0  # a look comes every 2 s: a revoked key sees nothing ten seconds later

SCOPES: dict[Callable[..., Any], tuple[Scope, ...]] = {}  # of each dependency made by `needs`

T = TypeVar("T")
Look = Callable[[], Awaitable[T]]

BEARER = HTTPBearer(
    auto_error=False,
    scheme_name="key",
    bearerFormat="tsk_…",
    description="an API key, created by `python -m services.gateway.keys create`",
)
Credentials = Annotated[HTTPAuthorizationCredentials | None, Security(BEARER)]


def needs(*scopes: Scope) -> Callable[..., Awaitable[Caller]]:
    """Return a FastAPI dependency that accepts only callers with one of these scopes. It also
    enforces their rate limit. It raises NotAuthenticated, Forbidden, QuotaExceeded or Unavailable.
    """

    async def caller_of(request: Request, gateway: Gateway, credentials: Credentials) -> Caller:
        if not await requires_key(gateway):
            request.state.caller = ANYBODY
            return ANYBODY
        if credentials is None:
            raise NotAuthenticated("send your API key as Authorization: Bearer tsk_…")
        request.state.caller = caller = await authenticate(gateway, credentials.credentials)
        if caller.key is not None:
            grant = await gateway.limiter.take(caller.key)
            request.state.rate_limit = grant
            gateway.limiter.check(grant)
        if not caller.has_scope(*scopes):
            raise Forbidden(f"this key lacks the scope {' or '.join(scopes)}")
        return caller

    SCOPES[caller_of] = scopes
    return caller_of


async def authenticate(gateway: State, secret: str) -> Caller:
    """Return the caller with this key. Raises NotAuthenticated, Unavailable."""
    if not keys.FORM.fullmatch(secret):
        raise NotAuthenticated(
            "the value of the Authorization header is not an API key; send "
            "`Bearer` and a key that begins with tsk_",
            wrong=True,
        )
    cached = gateway.key_cache.get(secret)
    if cached is not None:
        return cached
    key = await gateway.in_ledger(lambda connection: keys.authenticate(connection, secret))
    if key is None:
        raise NotAuthenticated(
            "this API key is unknown, expired or revoked; send a valid key", wrong=True
        )
    return gateway.key_cache.store(secret, key)


def with_key_check(caller: Caller, gateway: State, look: Look[T]) -> Look[T]:
    """Wrap the read function of a long stream so that it checks the caller's key from time to time.
    The wrapped function raises NotAuthenticated once the key is revoked or expired, or once keys
    become required."""
    key = caller.key

    async def check() -> None:
        if key is None:
            is_valid = not await requires_key(gateway)
        else:
            is_valid = (
                await gateway.in_ledger(lambda connection: keys.valid(connection, key.id))
                is not None
            )
        if not is_valid:
            raise NotAuthenticated(
                "this API key is expired or revoked; send a valid key", wrong=True
            )

    return _with_check(check, look, -math.inf)


def _with_check(check: Callable[[], Awaitable[object]], look: Look[T], checked: float) -> Look[T]:
    """Wrap the read function `look` so that `check` runs first if the last check is too old.
    `checked` is the time of the last check on the monotonic clock."""

    async def check_and_read() -> T:
        nonlocal checked
        if time.monotonic() - checked >= ASKED_AGAIN_SECONDS:
            await check()
            checked = time.monotonic()
        return await look()

    return check_and_read


Scorer = Annotated[Caller, Depends(needs("score"))]
Reader = Annotated[Caller, Depends(needs("score", "batch", "review"))]
Canceller = Annotated[Caller, Depends(needs("score", "batch"))]
Reviewer = Annotated[Caller, Depends(needs("review"))]
Judge = Annotated[Caller, Depends(needs("review", "batch"))]
Batcher = Annotated[Caller, Depends(needs("batch"))]
Administrator = Annotated[Caller, Depends(needs("admin"))]


def check_access(connection: Connection, request: JobRequest, tenant: str) -> None:
    """Raise BadInput if the request refers to another tenant's objects. The error is the same as
    for objects that do not exist."""
    if request.webhook is not None:
        try:
            webhooks.find_endpoint(connection, request.webhook, tenant)
        except UnknownEndpoint as error:
            raise BadInput(error.detail, pointer="/webhook") from None
    if isinstance(request, BatchReportRequest):
        batch_lines.check_tenant(connection, tenant, request.batch, request.jobs or ())
        selections = [] if request.against is None else [("/against", request.against)]
        selections += [
            (f"/further/{pointer}", selection) for pointer, selection in enumerate(request.further)
        ]
        for pointer, other in selections:
            batch_lines.check_tenant(
                connection, tenant, other.batch, other.jobs or (), prefix=pointer
            )
        if request.judged is not None and request.judged.queue is not None:
            review_queues.check_tenant(connection, tenant, request.judged.queue)


async def session_caller(request: Request, gateway: Gateway) -> Caller:
    """Return the caller that is logged in to this browser session. Raises NotAuthenticated,
    QuotaExceeded."""
    caller = ANYBODY
    key = await _key_of_session(request, gateway)
    if key is not None:
        request.state.caller = caller = Caller(key.tenant, frozenset(key.scopes), key)
        gateway.limiter.check(await gateway.limiter.take(key))
    request.state.viewer = caller
    return caller


async def _key_of_session(request: Request, gateway: State) -> Key | None:
    if not await requires_key(gateway):
        return None
    token = get_cookie(request, SESSION_COOKIE)
    key_id = None if token is None else await gateway.sessions.key_of(token)
    if key_id is None:
        raise NotAuthenticated("log in to see this page")
    key = await gateway.in_ledger(lambda connection: keys.valid(connection, key_id))
    if key is None:
        raise NotAuthenticated("the key of this session was revoked or has expired")
    return key


def with_session_check(request: Request, gateway: State, look: Look[T]) -> Look[T]:
    """Wrap the read function of an open page so that it checks the session from time to time. The
    wrapped function raises NotAuthenticated once the session or its key has ended. The checks use
    no quota."""
    return _with_check(lambda: _key_of_session(request, gateway), look, time.monotonic())


def check_scope(caller: Caller, *scopes: Scope) -> None:
    """Raise Forbidden unless the caller has one of these scopes."""
    if not caller.has_scope(*scopes):
        raise Forbidden(f"your key lacks the scope {' or '.join(scopes)}")


Viewer = Annotated[Caller, Depends(session_caller)]


async def acquire_stream(gateway: Gateway, caller: Viewer) -> AsyncIterator[None]:
    """Count an open stream of this caller, as a FastAPI dependency of streaming routes. Raises
    QuotaExceeded if too many streams are open."""
    with gateway.streams.acquire(caller):
        yield
