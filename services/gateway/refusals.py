"""Errors that only occur over HTTP, and the handlers that turn every error into a problem document
(RFC 9457)."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from typing import Self

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.routing import compile_path

from services.gateway.answer_headers import DEFAULTS
from shared.contracts.errors import BadInput, NotThere, ScoringError
from shared.contracts.problems import (
    Problem,
    can_retry,
    internal,
    invalid,
    make,
    problem,
    to_public,
)
from shared.contracts.validation_messages import plain
from shared.process import telemetry

MEDIA_TYPE = "application/problem+json"

logger = telemetry.logger(__name__)


class InvalidBody(BadInput):
    """The request body is not valid. The error carries the complete problem document."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem["detail"])
        self.problem = problem

    @classmethod
    def at_root(cls, detail: str) -> Self:
        """Return an error about the body as a whole."""
        return cls(invalid([{"loc": (), "type": "json", "msg": detail}], None))


class BodyTooLarge(ScoringError):
    """The body has more bytes than allowed."""

    status = 413
    slug = "body-too-large"
    title = "The body is too large"
    cure = (
        "Send a smaller body; `detail` names the limit. To send many requests, upload them as a "
        "file with `POST /v1/files` and create a batch."
    )


class UnsupportedMediaType(ScoringError):
    """The route does not read this media type."""

    status = 415
    slug = "unsupported-media-type"
    title = "The body's type is not supported"
    cure = (
        "Send JSON as `Content-Type: application/json` and files as `multipart/form-data`, "
        "without `Content-Encoding`."
    )


class NotAuthenticated(ScoringError):
    """The request has no key or an invalid one."""

    status = 401
    slug = "unauthenticated"
    title = "A valid API key is needed"
    cure = (
        "Send `Authorization: Bearer KEY` with a key that is neither revoked nor expired. The "
        "operator creates keys."
    )

    def __init__(self, detail: str, *, wrong: bool = False) -> None:
        super().__init__(detail)
        self.challenge = 'Bearer realm="touchstone"' + (', error="invalid_token"' if wrong else "")


class Forbidden(ScoringError):
    """The key is valid but lacks the required permission (scope)."""

    status = 403
    slug = "forbidden"
    title = "The key lacks a scope"
    cure = "Use a key with the scope named in `detail`."


class MethodNotAllowed(ScoringError):
    """The address exists, but does not support this method."""

    status = 405
    slug = "method-not-allowed"
    title = "Method Not Allowed"
    cure = "Use one of the methods in the header `Allow`."


class NotHttp(ScoringError):
    """The input of the connection is not HTTP."""

    status = 400
    slug = "not-http"
    title = "This is not HTTP"
    cure = "Use an HTTP client, with the same http:// or https:// as in the service's address."


class HeaderFieldsTooLarge(ScoringError):
    """The request has too many header fields, or too long ones."""

    status = 431
    slug = "request-header-fields-too-large"
    title = "Too many header fields"
    cure = "Send fewer and shorter header fields; the usual cause is cookies of other sites."


class BadRequest(ScoringError):
    """The request was incomplete, or uses unsupported HTTP features."""

    status = 400
    slug = "http"
    title = "The request cannot be read"
    cure = (
        "Send the request again. If you wrote the request by hand, check its first line and its "
        "headers."
    )


class RequestTimeout(ScoringError):
    """Raised if the client sends the request body too slowly."""

    status = 408
    slug = "request-timeout"
    title = "The request took too long"
    cure = "Send the request again over a faster connection, or in smaller parts."


class Busy(ScoringError):
    """The process already handles the maximum number of requests."""

    status = 503
    slug = "busy"
    title = "The service is busy"
    cure = (
        "Wait the seconds of `Retry-After`, then send the request again. Open fewer "
        "connections at a time."
    )
    retry_after = 2


class CrossOriginRequest(ScoringError):
    """A page of another site made the browser send this request."""

    status = 403
    slug = "foreign-site"
    title = "The request came from another site's page"
    cure = (
        "Call the API from a program or from the service's own pages. If the service requires"
        " keys, other sites can call it with a key."
    )


class MisdirectedRequest(ScoringError):
    """The Host header names a host that the service does not accept."""

    status = 421
    slug = "misdirected-request"
    title = "The service does not accept this host name"
    cure = (
        "Use the service's own host name, or ask the operator to add this name to "
        "`TOUCHSTONE_HOST_NAMES`."
    )


class WebhooksOff(ScoringError):
    """The service cannot store webhook secrets because it has no encryption key."""

    status = 503
    slug = "webhooks-off"
    title = "Webhooks are not configured"
    cure = (
        "Ask the operator to set `TOUCHSTONE_WEBHOOK_KEYS`. Until then, poll or use event streams."
    )


class UnknownMetric(ScoringError):
    """No metric has this name."""

    status = 404
    slug = "unknown-metric"
    title = "No such metric"
    cure = "Use one of the metrics listed in `detail`."


class FileInUse(ScoringError):
    """An open batch reads this file."""

    status = 409
    slug = "file-in-use"
    title = "The file is in use"
    cure = "Wait until the batches that read the file have ended, or cancel them."


class NoReport(ScoringError):
    """There is no report, because the batch has no results or not all of them yet."""

    status = 409
    slug = "nothing-to-report"
    title = "There is nothing to report"
    cure = "Wait until the batch has ended; a batch without results has no report."


class UnknownPlot(NotThere):
    """The report has no such chart."""

    slug = "unknown-plot"
    title = "No such plot"
    cure = "Use one of the plots shown on the report's page."


class AlreadyFinal(ScoringError):
    """The job has ended and can no longer be cancelled."""

    status = 409
    slug = "already-final"
    title = "The job has already ended"
    cure = "Nothing needs to be done: the job has ended, and its state is final."


ROUTER_SLUGS = {404: NotThere.slug, 405: MethodNotAllowed.slug}


def problem_response(problem: Problem, headers: dict[str, str] | None = None) -> JSONResponse:
    all_headers = DEFAULTS | (headers or {})
    helps = can_retry(problem)
    if helps is not None:
        all_headers["x-should-retry"] = str(helps).lower()
    body = to_public(problem, telemetry.request_id())
    return JSONResponse(body, problem["status"], headers=all_headers, media_type=MEDIA_TYPE)


def handle_error(_request: Request, error: Exception) -> JSONResponse:
    if isinstance(error, InvalidBody):
        return problem_response(error.problem)
    if not isinstance(error, ScoringError):
        raise error
    headers = {}
    if error.retry_after is not None:
        headers["Retry-After"] = str(error.retry_after)
    if isinstance(error, NotAuthenticated):
        headers["WWW-Authenticate"] = error.challenge
    return problem_response(problem(error), headers)


def invalid_parameters(_request: Request, error: Exception) -> JSONResponse:
    """Return the problem document for a path or query parameter that FastAPI rejected."""
    if not isinstance(error, RequestValidationError):
        raise error
    # no body to look the place up in: "missing" lets the parameter's own name stand
    errors = [
        {"loc": entry["loc"][1:], "type": "missing", "msg": plain(entry)}
        for entry in error.errors()
    ]
    return problem_response(invalid(errors, None))


def http_error(request: Request, error: Exception) -> JSONResponse:
    """Return the problem document for an unknown path or a wrong method."""
    if not isinstance(error, HTTPException):
        raise error
    slug = ROUTER_SLUGS.get(error.status_code, BadRequest.slug)
    document = make(slug, str(error.detail), error.status_code, str(error.detail))
    headers = {name.lower(): value for name, value in (error.headers or {}).items()}
    if error.status_code == 405:
        methods = methods_of(request) or with_head(headers.get("allow", "").split(", "))
        headers["allow"] = ", ".join(methods)
    return problem_response(document, headers)


def methods_of(request: Request) -> list[str]:
    """Return all HTTP methods of this path."""
    methods = {
        method.upper()
        for template, operations in request.app.openapi()["paths"].items()
        if compile_path(template)[0].match(request.url.path)
        for method in operations
    }
    return with_head(methods)


def with_head(methods: Iterable[str]) -> list[str]:
    names = set(methods) - {""}
    return sorted(names | {"HEAD"} if "GET" in names else names)


def client_disconnect(_request: Request, _error: Exception) -> JSONResponse:
    """Return the problem document for a client that disconnected while it was sending."""
    return problem_response(problem(BadRequest("the client disconnected")))


def internal_error(request: Request, error: Exception) -> JSONResponse:
    """Return the problem document for an unexpected error. The caller gets an id, and the log gets
    the traceback."""
    error_id = f"err_{secrets.token_hex(8)}"
    logger.error("request.crashed", error_id=error_id, path=request.url.path, exc_info=error)
    return problem_response(internal(error_id))


def install(app: FastAPI) -> None:
    """Install handlers that answer every error with a problem document (RFC 9457)."""
    app.add_exception_handler(ScoringError, handle_error)
    app.add_exception_handler(RequestValidationError, invalid_parameters)
    app.add_exception_handler(HTTPException, http_error)
    app.add_exception_handler(ClientDisconnect, client_disconnect)
