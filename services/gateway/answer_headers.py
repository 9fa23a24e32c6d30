"""Headers of every answer that says nothing else: kept by nobody, and what its type says it is."""

from __future__ import annotations

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from shared.settings import SERVICE_VERSION

VERSION = {"x-touchstone-version": SERVICE_VERSION}  # of what answers under /v1
DEFAULTS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}


class AnswerHeaders:
    """ASGI middleware around everything; our own assets name a policy of theirs."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        wanted = DEFAULTS | VERSION if scope.get("path", "").startswith("/v1/") else DEFAULTS

        async def say(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in wanted.items():
                    headers.setdefault(name, value)
            await send(message)

        await self.app(scope, receive, say)
