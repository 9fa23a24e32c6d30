"""Without keys, on this machine: only pages and programs of this machine may use the service.

A page from elsewhere, open in a browser here, can make the browser send requests to a loopback
address: by a name of its own that is made to resolve to it (DNS rebinding), or across origins.
Sources: Fetch Standard, `Origin`; W3C Fetch Metadata, `Sec-Fetch-Site`; RFC 9110, section 15.5.20.
"""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import Request
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from services.gateway.callers import keys_are_asked_for
from services.gateway.exposure import is_loopback
from services.gateway.refusals import ForeignSite, MisdirectedRequest, scoring_error
from services.gateway.state import State
from shared.errors import ScoringError
from shared.metrics import HTTP_REFUSED
from shared.settings import Settings

READS = frozenset({"GET", "HEAD", "OPTIONS"})
OWN_SITES = frozenset({"same-origin", "none"})  # none: the visitor, by an address typed in


class SameSite:
    """ASGI middleware: asks only where a request looks foreign whether keys are asked for."""

    def __init__(self, app: ASGIApp, gateway: State) -> None:
        self.app = app
        self._gateway = gateway

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, or refuse."""
        if scope["type"] == "http":
            try:
                await self._check(scope)
            except ScoringError as error:
                refusal = scoring_error(Request(scope), error)
                await refusal(scope, receive, send)
                return
        await self.app(scope, receive, send)

    async def _check(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        error = foreign(scope["method"], headers, self._gateway.settings)
        if error is not None and not await keys_are_asked_for(self._gateway):
            HTTP_REFUSED.labels("site").inc()
            raise error


def foreign(method: str, headers: Headers, settings: Settings) -> ScoringError | None:
    """Why this request may be another site's."""
    host = headers.get("host", "")
    is_ours = is_named(host, settings.host_names) or is_loopback(name_of(host))
    if not is_ours and (is_loopback(settings.host) or settings.host_names):
        return MisdirectedRequest(
            "without API keys the service answers to names of this machine only; "
            "TOUCHSTONE_HOST_NAMES allows more"
        )
    if method in READS or is_same_origin(headers):
        return None
    return ForeignSite("without API keys no other site may write")


def is_same_origin(headers: Headers) -> bool:
    """Whether a browser says that our own page sent this; or nothing, as programs do."""
    origin, site = headers.get("origin"), headers.get("sec-fetch-site")
    if origin is not None and origin.partition("://")[2].lower() != headers.get("host", "").lower():
        return False
    return site is None or site in OWN_SITES


def name_of(host: str) -> str:
    """The Host header's name or address, without port, brackets and a last dot; lower case."""
    name, colon, port = host.lower().rpartition(":")
    if not colon or not (port.isdecimal() or not port):
        name = host.lower()
    return name.removeprefix("[").removesuffix("]").removesuffix(".")


def is_named(host: str, names: Sequence[str]) -> bool:
    """Whether the operator named this host."""
    return name_of(host) in {name.lower() for name in names}
