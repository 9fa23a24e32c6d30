"""Rendering of HTML templates, and protection of forms.

Output is escaped by default, and templates contain no scripts. A form is accepted only with the
token from its page, so other sites cannot forge it. The token is derived from a random cookie
(OWASP, "Signed Double-Submit Cookie"). Each page masks the token differently, to prevent the BREACH
attack. If a proxy terminates TLS, its header shows if the visitor uses HTTPS."""

from __future__ import annotations

import hashlib
import hmac
import math
import re
import secrets
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from fastapi import Request
from jinja2 import ChoiceLoader, Environment, FunctionLoader, PackageLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.responses import HTMLResponse, Response

from services import registry
from services.gateway.http_requests import OWN_KEY, read_body
from services.gateway.pages.problem_steps import problem_steps
from services.gateway.pages.result_query import value_name
from services.gateway.pages.row_excerpts import excerpt, offered
from services.gateway.pages.terms import terms
from services.gateway.refusals import Forbidden, InvalidBody, UnsupportedMediaType
from services.gateway.site_security import is_same_origin
from shared.contracts.checks import route_of
from shared.ledger.judgements import OPINIONS
from shared.ledger.keys import Scope
from shared.process.settings import SERVICE_VERSION
from shared.reports.pages.page_text import (
    MarkedText,
    language_of,
    moment,
    p_value,
    significant,
    span,
    thousands,
)
from shared.reports.pages.report_summary import fold_alike, verdict_phrase

STATIC = Path(__file__).with_name("static")
REVEAL_COOKIE = "touchstone_reveal"
DIGEST_CHARACTERS = 12
PLACES: tuple[tuple[str, str, tuple[Scope, ...]], ...] = (  # address, name, scopes: one of them
    ("/", "Overview", ()),
    ("/try", "Try", ("score",)),
    ("/jobs", "Jobs", ()),
    ("/batches", "Batches", ("batch",)),
    ("/compare", "Compare", ("batch",)),
    ("/queues", "Judge", ("batch", "review")),
    ("/drift", "Drift", ("score",)),
)


def decimals(value: float | int | str | None, digits: int = 3) -> str:
    """Format a number with `digits` decimals, or as an integer if it is one. Very small numbers use
    scientific notation."""
    if isinstance(value, int) and not isinstance(value, bool):
        return thousands(value)
    if not isinstance(value, float) or not math.isfinite(value):
        return significant(value)
    if value and abs(value) < 0.5 * 10**-digits:
        return f"{value:.1e}"
    return f"{value or 0.0:,.{digits}f}".replace(",", "\u202f")


def coded(message: str) -> Markup:
    """Return a message as escaped HTML, with text in backticks as code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(message))))  # noqa: S704


@lru_cache(maxsize=1)
def environment() -> Environment:
    """Return the template environment of the site. Templates of single services are
    `<name>/page.html`."""
    new = Environment(
        loader=ChoiceLoader(
            [PackageLoader("services.gateway.pages"), FunctionLoader(_page_of_service)]
        ),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    new.globals |= {
        "answers": dict(zip(OPINIONS, "✓✗?", strict=True)),
        "asset": asset,
        "once": once,
        "terms": terms(),
        "version": SERVICE_VERSION,
    }
    new.filters |= {
        "coded": coded,
        "decimals": decimals,
        "language": language,
        "value_name": value_name,
        "excerpt": excerpt,
        "moment": moment,
        "offered": offered,
        "p_value": p_value,
        "problem_steps": problem_steps,
        "route_of": route_of,
        "significant": significant,
        "fold_alike": fold_alike,
        "span": span,
        "thousands": thousands,
        "verdict_phrase": verdict_phrase,
    }
    return new


def _page_of_service(template: str) -> str | None:
    name, _, file = template.partition("/")
    path = registry.page_file(name, "page.html") if file == "page.html" else None
    return None if path is None else path.read_text("utf-8")


def render(template: str, **context: Any) -> str:
    return environment().get_template(template).render(**context)


def page(request: Request, template: str, status: int = 200, **context: Any) -> HTMLResponse:
    """Return a whole HTML page. `revealed` in the context shows texts even if the visitor chose to
    blur them."""
    viewer = getattr(request.state, "viewer", None)
    shown = context.pop("revealed", False)
    html = render(
        template,
        request=request,
        csrf=token_of(request),
        revealed=shown or get_cookie(request, REVEAL_COOKIE) is not None,
        logged_in=get_cookie(request, SESSION_COOKIE) is not None and viewer is not None,
        guide=any(getattr(route, "name", "") == "guide" for route in request.app.routes),
        tenant=None if viewer is None or viewer.key is None else viewer.tenant,
        places=[
            (path, name)
            for path, name, scopes in PLACES
            if viewer is None or not scopes or viewer.has_scope(*scopes)
        ],
        **context,
    )
    response = HTMLResponse(html, status)
    visit: str | None = getattr(request.state, "visit", None)
    if visit is not None:
        set_cookie(request, response, VISIT_COOKIE, visit)
    return response


def style_sheet(name: str) -> Path | None:
    """Return the style sheet for `/static/<service>.css`, or None if there is none."""
    service, dot, ending = name.rpartition(".")
    return registry.page_file(service, "page.css") if dot and ending == "css" else None


@lru_cache
def asset(name: str) -> str:
    """Return the address of a static file. It changes with the content, so that browsers can cache
    the file."""
    content = (style_sheet(name) or STATIC / name).read_bytes()
    return f"/static/{name}?v={hashlib.sha256(content).hexdigest()[:DIGEST_CHARACTERS]}"


ONCE = re.compile("[0-9a-f]{32}")


def once() -> str:
    """Return a random one-time token for a form. A second submission with the same token has no
    effect."""
    return secrets.token_hex(16)


def once_key(form: Mapping[str, str], what: str, contents: str | None = None) -> str | None:
    """Return a key that identifies a submitted form, so that submitting it twice has no further
    effect. Return None if the form has no one-time token. `what` is the kind of request. `contents`
    is the part of the form that must be equal, or None for the whole form."""
    token = form.get("once", "")
    if not ONCE.fullmatch(token):
        return None
    pairs = sorted((name, value) for name, value in form.items() if name not in (FIELD, "once"))
    digest = hashlib.sha256(repr(pairs if contents is None else contents).encode()).hexdigest()
    return f"{OWN_KEY} {what} {token} {digest}"


def language(text: Iterable[MarkedText] | str | None) -> str:
    """Return the language that a text's letters indicate, or an empty string if unknown."""
    if text is None:
        return ""
    return language_of(text if isinstance(text, str) else "".join(piece.text for piece in text))


SESSION_COOKIE = "touchstone_session"
VISIT_COOKIE = "touchstone_visit"
FIELD = "csrf"
TOKEN_BYTES = 32
HEADER = "x-csrf-token"  # htmx sends it, from the page's head


def get_cookie(request: Request, name: str) -> str | None:
    """Return the value of one of our cookies. Over HTTPS the cookie's name begins with
    `__Host-`, so browsers accept it only from this host."""
    return request.cookies.get(_cookie_name(request, name))


def _cookie_name(request: Request, name: str) -> str:
    return f"__Host-{name}" if is_https(request) else name


def drop_cookie(request: Request, response: Response, name: str) -> None:
    """Delete the cookie."""
    response.delete_cookie(_cookie_name(request, name), secure=is_https(request), httponly=True)


def token_of(request: Request) -> str:
    """Return the anti-forgery token for forms on the page that answers this request."""
    opened: str | None = getattr(request.state, "session", None)  # by this very request
    secret = opened or get_cookie(request, SESSION_COOKIE) or get_cookie(request, VISIT_COOKIE)
    if secret is None:
        if not hasattr(request.state, "visit"):
            request.state.visit = secrets.token_urlsafe(32)
        secret = str(request.state.visit)
    token, mask = _derive_token(secret), secrets.token_bytes(TOKEN_BYTES)
    return mask.hex() + _mask(token, mask).hex()  # another text each time: pages are compressed


def _mask(token: bytes, mask: bytes) -> bytes:
    return bytes(byte ^ other for byte, other in zip(token, mask, strict=True))


def _unmasked(sent: str) -> bytes:
    """Return the token without its mask. The result is empty if the sent token is invalid."""
    try:
        raw = bytes.fromhex(sent)
    except ValueError:
        return b""
    if len(raw) != 2 * TOKEN_BYTES:
        return b""
    return _mask(raw[TOKEN_BYTES:], raw[:TOKEN_BYTES])


def check_csrf(request: Request, form: Mapping[str, str]) -> None:
    """Raise Forbidden if another site may have sent this form."""
    secret = get_cookie(request, SESSION_COOKIE) or get_cookie(request, VISIT_COOKIE)
    sent = form.get(FIELD) or request.headers.get(HEADER)
    if (
        secret is None
        or sent is None
        or not hmac.compare_digest(_derive_token(secret), _unmasked(sent))
        or not is_same_origin(request.headers)
    ):
        raise Forbidden("this form is out of date. Reload the page and try again")


def set_cookie(
    request: Request, response: Response, name: str, value: str, seconds: int | None = None
) -> None:
    """Set a cookie that scripts cannot read and that browsers do not send with forms of other
    sites."""
    response.set_cookie(
        _cookie_name(request, name),
        value,
        max_age=seconds,
        httponly=True,
        samesite="lax",
        secure=is_https(request),
    )


def _derive_token(secret: str) -> bytes:
    return hmac.new(secret.encode(), b"touchstone form", "sha256").digest()


def is_https(request: Request) -> bool:
    """Return True if the visitor's connection is encrypted."""
    forwarded = request.headers.get("x-forwarded-proto", "").partition(",")[0].strip().lower()
    return (forwarded or request.url.scheme) == "https"


def base_url(request: Request) -> str:
    """Return this service's address without a final slash."""
    scheme = "https" if is_https(request) else "http"
    return str(request.base_url.replace(scheme=scheme)).rstrip("/")


Pair = tuple[str, str]


class SentForm(dict[str, str]):
    """The fields of a submitted form. The last value of a repeated name counts. `pairs` holds all
    fields in order."""

    def __init__(self, pairs: Iterable[Pair] = ()) -> None:
        self.pairs = list(pairs)
        super().__init__(self.pairs)


MEDIA_TYPE = "application/x-www-form-urlencoded"
FORM_BYTES = 8_192  # a key, a token, an address to go back to
MOST_FIELDS = 20


async def form_of(
    request: Request, *, limit: int = FORM_BYTES, fields: int = MOST_FIELDS
) -> SentForm:
    """Read a submitted form. `limit` is its maximum size in bytes and `fields` its maximum number
    of fields. Raises BodyTooLarge, InvalidBody, UnsupportedMediaType, RequestTimeout."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in ("", MEDIA_TYPE):  # none: no body either
        raise UnsupportedMediaType(f"send the form as {MEDIA_TYPE}")
    raw = await read_body(request, limit=limit)
    if raw.count(b"&") >= fields:
        raise InvalidBody.at_root(f"the form may have {fields} fields")
    try:
        pairs = pairs_of(raw.decode("ascii"))
    except ValueError:
        raise InvalidBody.at_root(f"the body is not {MEDIA_TYPE}") from None
    if any("\0" in text for pair in pairs for text in pair):
        raise InvalidBody.at_root("the form contains the character U+0000, which cannot be stored")
    form = SentForm(pairs)
    request.state.form = form  # to be shown again where it is refused
    return form


async def checked_form(
    request: Request, *, limit: int = FORM_BYTES, fields: int = MOST_FIELDS
) -> SentForm:
    """Read a form of one of our pages and check its anti-forgery token. Raises Forbidden if the
    token is wrong, and the same errors as `form_of`."""
    form = await form_of(request, limit=limit, fields=fields)
    check_csrf(request, form)
    return form


def pairs_of(query: str) -> list[Pair]:
    """Return the parameters of a query string in order, as (name, value). Raises ValueError."""
    return parse_qsl(query, keep_blank_values=True, errors="strict")
