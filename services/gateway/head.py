"""HEAD wherever GET is: the same status and the same header fields, and no body.

Source: RFC 9110, sections 9.1 and 9.3.2. One ASGI middleware, so that no route can be forgotten. An
answer that would come piece by piece (an event stream, a file) ends with its head: whoever makes it
hears that nobody listens.
"""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send


class HeadAnswers:
    """Asks the application for GET, and keeps the body to itself."""

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
