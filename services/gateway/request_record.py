"""Logging of requests: id, duration, caller, route and outcome. The id is the caller's if it has
the right form, otherwise a new one. It appears in every response, log line, trace and job of the
request. The log contains no query, body or key."""

from __future__ import annotations

import logging
import re
import time
from typing import Any

from fastapi import Request
from opentelemetry import trace
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from services.gateway.refusals import internal_error
from shared.contracts.redaction import PRIVATE, PRIVATE_BYTES, untold
from shared.process import telemetry
from shared.process.telemetry import REQUEST_SECONDS, new_request_id

OWN_FORM = re.compile(r"[A-Za-z0-9._-]{1,128}")
QUIET = frozenset({"/healthz", "/readyz", "/metrics"})  # asked every few seconds: debug
AGENT_CHARACTERS = 120
METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}

logger = telemetry.logger(__name__)


class Record:
    """The facts that are logged about one request."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._started = time.perf_counter()
        self._headers = Headers(scope=scope)
        sent_id = self._headers.get("x-request-id", "")
        self.id = sent_id if OWN_FORM.fullmatch(sent_id) else new_request_id()
        self.status: int | None = None  # None: not yet answered
        self._bytes_in = self._bytes_out = 0
        self._private = False
        self._last = b""  # of its body, too few to name the field

    def take(self, message: Message) -> None:
        """Count bytes of the body, and look for the privacy flag."""
        body = message.get("body", b"")
        self._bytes_in += len(body)
        self._private = self._private or bool(PRIVATE.search(self._last + body))
        self._last = (self._last + body)[1 - PRIVATE_BYTES :]

    def loggable(self, error: Exception) -> Exception:
        """Return the error as it may be logged. It has no texts if the request asked not to store
        them."""
        return untold(error) if self._private else error

    def on_send(self, message: Message) -> None:
        """Record status and bytes of the response, and add the request's id to its headers."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            MutableHeaders(scope=message)["x-request-id"] = self.id
        self._bytes_out += len(message.get("body", b""))

    def count(self) -> None:
        """Add the request to the histogram of response times."""
        method = self._scope["method"] if self._scope["method"] in METHODS else "other"
        labels = (method, self._route, str(self.status or 500))
        REQUEST_SECONDS.labels(*labels).observe(time.perf_counter() - self._started)

    def log(self) -> None:
        level = logging.DEBUG if self._scope["path"] in QUIET else logging.INFO
        if not logging.getLogger(__name__).isEnabledFor(level):
            return
        state: dict[str, Any] = self._scope.get("state", {})
        caller = state.get("caller")
        context = trace.get_current_span().get_span_context()
        logger.log(
            level,
            "http.request",
            method=self._scope["method"],
            route=self._route,
            status=self.status or 500,
            ms=round(1_000 * (time.perf_counter() - self._started), 1),
            bytes_in=self._bytes_in,
            bytes_out=self._bytes_out,
            tenant=None if caller is None else caller.tenant,
            key=None if caller is None or caller.key is None else caller.key.id,
            trace_id=f"{context.trace_id:032x}" if context.is_valid else None,
            agent=self._headers.get("user-agent", "")[:AGENT_CHARACTERS],
        )

    @property
    def _route(self) -> str:
        """Return the route's pattern, not the requested path."""
        return str(getattr(self._scope.get("route"), "path", "unmatched"))


class RequestLogMiddleware:
    """ASGI middleware that logs requests and answers crashes. A crash in the middle of a response
    closes the connection."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        scope.setdefault("state", {})
        record = Record(scope)

        async def receive_and_count() -> Message:
            message = await receive()
            record.take(message)
            return message

        async def send_and_count(message: Message) -> None:
            record.on_send(message)
            await send(message)

        with telemetry.of_request(record.id):
            try:
                await self._run_app(record, scope, receive_and_count, send_and_count)
            finally:
                record.count()
                record.log()

    async def _run_app(self, record: Record, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self.app(scope, receive, send)
        except Exception as error:
            logged = record.loggable(error)
            if record.status is not None:
                if logged is error:
                    raise
                raise logged from None
            trace.get_current_span().record_exception(logged)
            await internal_error(Request(scope), logged)(scope, receive, send)
