"""The route class of all HTML pages. It shows errors as pages, asks visitors to log in, and blocks
content from other sites. Server-sent events tell an open page when to reload."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from fastapi.sse import EventSourceResponse, format_sse_event
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, RedirectResponse

from services.gateway.auth import Look
from services.gateway.pages.templates import FIELD, Pair, SentForm, form_of, page, pairs_of
from services.gateway.refusals import NotAuthenticated, http_error
from services.gateway.routes.events import KEEP_ALIVE_SECONDS, RETRY_MILLISECONDS, STREAM_HEADERS
from services.gateway.site_security import is_same_origin
from shared.contracts.errors import ScoringError, Unavailable

# nothing but our own files: no inline script, no inline style, no frame around us
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
PAGE_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
LEAST_COMPRESSED = 1_000  # bytes
NO_PAGE = "There is no such page", "No page has this address."

Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class PageRoute(APIRoute):
    """A route that shows errors as HTML pages instead of JSON."""

    def get_route_handler(self) -> Handler:
        """Return the request handler of FastAPI, extended to show errors as pages and to set the
        headers of pages."""
        inner = super().get_route_handler()

        async def handle(request: Request) -> Response:
            try:
                response = await inner(request)
            except NotAuthenticated as error:
                response = await _refused(request, error)
            except RequestValidationError:
                response = _problem(request, 422, *NO_PAGE)
            except HTTPException as error:
                response = _problem(request, error.status_code, str(error.detail), "")
            except ScoringError as error:
                response = _problem(request, error.status, error.title, error.detail)
                if error.retry_after is not None:
                    response.headers["Retry-After"] = str(error.retry_after)
            for name, value in PAGE_HEADERS.items():
                response.headers.setdefault(name, value)  # a picture has a policy of its own
            response.headers.setdefault("Cache-Control", "no-store")
            return _compressed(request, response)

        return handle


def _compressed(request: Request, response: Response) -> Response:
    """Return the page with gzip compression if the browser accepts it. Streams and small responses
    are not compressed."""
    accepted = request.headers.get("accept-encoding", "").lower()
    if not isinstance(response, HTMLResponse) or "gzip" not in accepted:
        return response
    if len(response.body) >= LEAST_COMPRESSED:
        response.body = gzip.compress(response.body, 5, mtime=0)
        response.headers["Content-Encoding"] = "gzip"
        response.headers["Content-Length"] = str(len(response.body))
    response.headers["Vary"] = "Accept-Encoding"
    return response


def page_router() -> APIRouter:
    """Return a router for pages. Its routes are not in the API's description."""
    return APIRouter(route_class=PageRoute, include_in_schema=False)


def page_or_problem(request: Request, error: Exception) -> Response:
    """Return the response for an unknown address: a page for a browser, and a JSON problem for
    other clients."""
    is_missing = isinstance(error, HTTPException) and error.status_code == 404
    if not is_missing or "text/html" not in request.headers.get("accept", "").lower():
        return http_error(request, error)
    response = _problem(request, 404, *NO_PAGE)
    response.headers.update(PAGE_HEADERS)
    return response


KEPT_BYTES = 65_536  # of a form that waits for a log-in: who has no session sends no more
KEPT_FIELDS = 2_000


async def _refused(request: Request, error: NotAuthenticated) -> Response:
    """Show the log-in form if a page is requested without a session. A request for a stream gets an
    error, because its script expects events and not a page."""
    if request.headers.get("accept", "").startswith("text/event-stream"):
        return _problem(request, error.status, error.title, error.detail)
    return await _login(request)


async def _login(request: Request) -> Response:
    """Redirect to the log-in, or, for a form whose session has ended, show the log-in with the
    form's input. The input is only in the page, never in an address, a log or storage."""
    form = await _unsent_form(request)
    kind = request.headers.get("content-type", "")
    if form is None and (request.method == "POST" and kind.startswith("multipart/form-data")):
        shown = {"next": request.url.path, "wrong": None, "kept": "", "action": "", "lost": True}
        return page(request, "login.html", 401, **shown)
    if form is None:
        return RedirectResponse(f"/login?next={quote(_url(request))}", 303)
    kept = urlencode([pair for pair in form.pairs if pair[0] != FIELD])
    action = _url(request, any_method=True)
    return page(request, "login.html", 401, next="/", wrong=None, kept=kept, action=action)


async def _unsent_form(request: Request) -> SentForm | None:
    """Return the submitted form, to be sent again after the log-in. Return None if it is missing,
    too large or contains a key, or if another site may have sent it."""
    if request.method != "POST" or not is_same_origin(request.headers):
        return None
    try:
        form = await form_of(request, limit=KEPT_BYTES, fields=KEPT_FIELDS)
    except ScoringError:
        return None
    return None if "key" in form else form


def resumed(request: Request, kept: str, action: str) -> Response:
    """Return a page that submits an interrupted form again. Raises ValueError for an unreadable
    form."""
    again = retry_form(pairs_of(kept), action)
    title, detail = "You are logged in", "Your session had ended when you sent the form."
    return page(request, "problem.html", title=title, detail=detail, again=again)


def _problem(request: Request, status: int, title: str, detail: str) -> Response:
    again = _retry_form(request)
    return page(request, "problem.html", status, title=title, detail=detail, again=again)


TYPED = {  # fields that people type into → what they are called
    "note": "Note",
    "human_label": "Label",
    "human_score": "Score, from 0 to 1",
    "spans": "Words that the decision rests on, one passage per line",
    "reviewer": "Your name",
    "name": "Name",
    "lines": "Maximum number of lines",
    "per_line": "People per line",
    "seed": "Seed",
    "query": "Filters",
    "keep": "Save this mapping as",
}


@dataclass(frozen=True)
class RetryForm:
    """A rejected form, shown again for correction. `typed` holds the visible inputs as (name,
    label, value). `kept` holds the hidden fields."""

    action: str
    typed: list[tuple[str, str, str]]
    kept: list[tuple[str, str]]


def _retry_form(request: Request) -> RetryForm | None:
    """Return the form to correct. Return None if the request had none, if it contains a key, or if
    another site may have sent it."""
    form: SentForm | None = getattr(request.state, "form", None)
    if form is None or "key" in form or not is_same_origin(request.headers):
        return None
    retry = retry_form(form.pairs, _url(request, any_method=True))
    return retry if retry.typed else None


def retry_form(pairs: Sequence[Pair], action: str) -> RetryForm:
    """Return a form with these fields, except the anti-forgery token. The page adds a new one."""
    fields = [pair for pair in pairs if pair[0] != FIELD]
    typed = [(name, TYPED[name], value) for name, value in fields if name in TYPED]
    return RetryForm(action, typed, [pair for pair in fields if pair[0] not in TYPED])


def _url(request: Request, *, any_method: bool = False) -> str:
    """Return the address to continue at after the log-in. Only GET addresses are kept unless
    `any_method`."""
    if request.method != "GET" and not any_method:
        return "/"
    query = f"?{request.url.query}" if request.url.query else ""
    return f"{request.url.path}{query}"


LOOK_SECONDS = 2.0
LONGEST_SECONDS = 600.0  # then the browser comes back


def changes(look: Look[str], seen: str) -> EventSourceResponse:
    """Return a stream that sends an event when the page has changed. `look` returns a string that
    changes whenever the page does. If it raises NotAuthenticated, the stream ends. `seen` is this
    string for the page as shown, or empty."""
    return EventSourceResponse(_changes(look, seen), headers=STREAM_HEADERS)


async def _changes(look: Look[str], seen: str) -> AsyncIterator[bytes]:
    clock = asyncio.get_running_loop().time
    yield format_sse_event(retry=RETRY_MILLISECONDS)
    began = spoken = clock()
    while clock() - began < LONGEST_SECONDS:
        try:
            now = await look()
        except NotAuthenticated:
            return
        except Unavailable:
            now = seen
        if now != seen:
            if seen:
                spoken = clock()
                yield format_sse_event(event="changed", data_str="{}")
            seen = now
        elif clock() - spoken > KEEP_ALIVE_SECONDS:
            spoken = clock()
            yield format_sse_event(comment="still here")
        await asyncio.sleep(LOOK_SECONDS)
