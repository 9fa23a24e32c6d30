"""Protection of a gateway without API keys. Only pages and programs on this machine may use it.

The gateway starts without keys only if no other machine can reach it, unless a setting allows it.
Requests from pages of other sites in a local browser are refused, also under a name that resolves
to this machine (DNS rebinding). Sources: Fetch Standard, `Origin`; W3C Fetch Metadata,
`Sec-Fetch-Site`; RFC 9110, 15.5.20.
"""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import ip_address

from fastapi import Request
from sqlalchemy import Engine
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from services.gateway.refusals import CrossOriginRequest, MisdirectedRequest, handle_error
from services.gateway.state import State, requires_key
from shared.contracts.errors import ScoringError, Unavailable
from shared.ledger import keys
from shared.ledger.engine import transaction
from shared.process.settings import Settings
from shared.process.telemetry import HTTP_REFUSED

READS = frozenset({"GET", "HEAD", "OPTIONS"})
OWN_SITES = frozenset({"same-origin", "none"})  # none: the visitor, by an address typed in


class SameOriginMiddleware:
    """ASGI middleware that refuses requests from other sites' pages if no keys are required."""

    def __init__(self, app: ASGIApp, gateway: State) -> None:
        self.app = app
        self._gateway = gateway

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            try:
                await self._check(scope)
            except ScoringError as error:
                refusal = handle_error(Request(scope), error)
                await refusal(scope, receive, send)
                return
        await self.app(scope, receive, send)

    async def _check(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        error = origin_error(scope["method"], headers, self._gateway.settings)
        if error is not None and not await requires_key(self._gateway):
            HTTP_REFUSED.labels("site").inc()
            raise error


def origin_error(method: str, headers: Headers, settings: Settings) -> ScoringError | None:
    """Return an error if another site may have sent this request, or None."""
    host = headers.get("host", "")
    is_ours = is_named(host, settings.host_names) or is_loopback(name_of(host))
    if not is_ours and (is_loopback(settings.host) or settings.host_names):
        return MisdirectedRequest(
            "without API keys the service accepts host names of this machine only; "
            "TOUCHSTONE_HOST_NAMES allows more"
        )
    if method in READS or is_same_origin(headers):
        return None
    return CrossOriginRequest(
        "a page of another site sent this request, which is not allowed without API keys"
    )


def is_same_origin(headers: Headers) -> bool:
    """Return True for requests from the site's own pages, and from programs other than browsers."""
    origin, site = headers.get("origin"), headers.get("sec-fetch-site")
    host = headers.get("host", "").lower()
    if origin is not None and origin.lower() not in (f"http://{host}", f"https://{host}"):
        return False
    return site is None or site in OWN_SITES


def name_of(host: str) -> str:
    """Return the name or address in a Host header in lower case, without port and brackets."""
    name, colon, port = host.lower().rpartition(":")
    if not colon or not (port.isdecimal() or not port):
        name = host.lower()
    return name.removeprefix("[").removesuffix("]").removesuffix(".")


def is_named(host: str, names: Sequence[str]) -> bool:
    """Return True if the host is in the list that the operator configured."""
    return name_of(host) in {name.lower() for name in names}


class KeyRequiredError(RuntimeError):
    """The gateway would serve other machines without requiring keys."""


def keys_needed(settings: Settings, engine: Engine) -> bool | None:
    """Return True if keys are required, False if not, and None if they are required once a key
    exists. If the database cannot be reached, they are required. Raises KeyRequiredError."""
    if settings.authentication != "auto":
        return settings.authentication == "keys"
    if is_loopback(settings.host):
        return None
    try:
        with transaction(engine) as connection:
            has_keys = keys.has_any(connection)
    except Unavailable:
        has_keys = True
    if not has_keys:
        raise KeyRequiredError(
            f"will not listen on {settings.host} without an API key, because anyone who can reach "
            "this address could use the service. Create a key with `python -m "
            "services.gateway.keys create`, listen on 127.0.0.1, or set "
            "TOUCHSTONE_AUTHENTICATION to `keys` or, to serve everybody, `none`."
        )
    return True


def is_loopback(host: str) -> bool:
    """Return True if only this machine can reach a socket on this host."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
