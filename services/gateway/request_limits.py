"""ASGI middleware that limits the number of requests, and the time to send a body. Health probes
are always answered."""

from __future__ import annotations

import asyncio
import time

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from services.gateway.refusals import Busy, RequestTimeout, problem_response
from shared.contracts.problems import problem
from shared.process.telemetry import HTTP_REFUSED

PROBES = frozenset({"/healthz", "/readyz"})
CONCURRENT_REQUESTS = 500  # of one gateway, without event streams and probes
BODY_SECONDS = 1_800.0  # for a whole body
BODY_BYTES_PER_SECOND = 4_096  # on the average, after the first seconds
BODY_GRACE_SECONDS = 10.0
UNREAD_BYTES = 65_536  # of a body that nobody wants: cheaper to read than to open a connection


class Body:
    """Tracks how much of a request's body has arrived, and whether the rest is late."""

    def __init__(self, headers: Headers) -> None:
        self._started = time.monotonic()
        self._received = 0
        self._is_chunked = "transfer-encoding" in headers
        length = headers.get("content-length", "0")
        self._length = int(length) if length.isdecimal() else 0
        self.is_complete = not self._is_chunked and not self._length
        self.is_late = False

    @property
    def should_close(self) -> bool:
        """Return True if the connection should be closed, because the rest of the body is too long
        or too late to be read."""
        rest = self._length - self._received
        is_long = self._is_chunked or rest > UNREAD_BYTES
        return not self.is_complete and (is_long or self.is_late)

    @property
    def time_left(self) -> float:
        """Return the seconds within which more bytes must arrive, or 0 if they are late."""
        in_pace = BODY_GRACE_SECONDS + self._received / BODY_BYTES_PER_SECOND
        allowed = min(BODY_SECONDS, in_pace)
        return max(0.0, self._started + allowed - time.monotonic())

    def take(self, message: Message) -> None:
        self._received += len(message.get("body", b""))
        self.is_complete = message["type"] != "http.request" or not message.get("more_body", False)


class BodyTimeoutMiddleware:
    """ASGI middleware that answers 408 if a client sends its body too slowly. It closes the
    connection if a long body was not read."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        body = Body(Headers(scope=scope))

        async def receive_in_time() -> Message:
            if body.is_complete:
                return await receive()
            try:
                async with asyncio.timeout(body.time_left):
                    message = await receive()
            except TimeoutError:
                body.is_late = True
                HTTP_REFUSED.labels("body").inc()
                raise RequestTimeout("the body did not arrive in time") from None
            body.take(message)
            return message

        async def send_and_end(message: Message) -> None:
            if message["type"] == "http.response.start" and body.should_close:
                MutableHeaders(scope=message)["Connection"] = "close"
            await send(message)

        await self.app(scope, receive_in_time, send_and_end)


class RequestLimitMiddleware:
    """ASGI middleware that limits the number of requests handled at once. Event streams do not
    count."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._count = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in PROBES:
            await self.app(scope, receive, send)
            return
        is_spare = scope.get("state", {}).get("spare_connection", False)
        if is_spare or self._count >= CONCURRENT_REQUESTS:
            HTTP_REFUSED.labels("busy").inc()
            error = Busy(
                "there are too many connections or requests at the moment; try again later"
            )
            refusal = problem_response(problem(error), {"Retry-After": str(error.retry_after)})
            await refusal(scope, receive, send)
            return
        await self._count_and_run(scope, receive, send)

    async def _count_and_run(self, scope: Scope, receive: Receive, send: Send) -> None:
        held = 1

        async def watch(message: Message) -> None:
            nonlocal held
            if message["type"] == "http.response.start" and held:
                kind = Headers(raw=message.get("headers", [])).get("content-type", "")
                if kind.startswith("text/event-stream"):
                    self._count -= held
                    held = 0
            await send(message)

        self._count += held
        try:
            await self.app(scope, receive, watch)
        finally:
            self._count -= held
