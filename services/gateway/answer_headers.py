"""Middleware for default response headers, for redirects, and for HEAD requests. The default
headers forbid caching and content sniffing. A HEAD request gets the status and headers of GET
without a body (RFC 9110, sections 9.1 and 9.3.2)."""

from __future__ import annotations

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from shared.process.settings import SERVICE_VERSION

VERSION = {"x-touchstone-version": SERVICE_VERSION}  # of what answers under /v1
DEFAULTS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}


class DefaultHeadersMiddleware:
    """ASGI middleware that adds default headers to every response. Static files set their own cache
    policy."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        defaults = DEFAULTS | VERSION if scope.get("path", "").startswith("/v1/") else DEFAULTS

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in defaults.items():
                    headers.setdefault(name, value)
                if "location" in headers:
                    headers["location"] = without_host(headers["location"])
            await send(message)

        await self.app(scope, receive, send_with_headers)


def without_host(location: str) -> str:
    """Return the path of a redirect without its host. Otherwise a forged Host header could send
    other clients to another site through a cache."""
    scheme, mark, rest = location.partition("://")
    if not mark or not scheme.isalpha():
        return location
    return "/" + rest.partition("/")[2].lstrip("/")


class HeadMiddleware:
    """ASGI middleware that answers HEAD requests. It calls the application with GET and drops the
    body. A stream ends right after its headers."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self.app(scope, receive, send)
            return
        is_answered = False
        as_get = {**scope, "method": "GET"}

        async def head_only(message: Message) -> None:
            nonlocal is_answered
            if is_answered:
                return
            await send(message)
            if message["type"] == "http.response.start":
                is_answered = True  # from here on `receive` says that the client is gone
                await send({"type": "http.response.body", "body": b"", "more_body": False})

        try:
            await self.app(as_get, receive, head_only)
        finally:
            if "route" in as_get:
                scope["route"] = as_get["route"]  # for whoever counts
