"""Cross-site request forgery: a form is ours only if it carries what its own page gave it.

The token is derived from a random cookie that other sites cannot read: the session's, or, before
anybody has logged in, the visit's. Source: OWASP, "Signed Double-Submit Cookie".
"""

from __future__ import annotations

import hmac
import secrets

from fastapi import Request
from starlette.responses import Response

from services.gateway.pages.address import is_https
from services.gateway.pages.forms import Form
from services.gateway.refusals import Forbidden
from services.gateway.same_site import is_same_origin

SESSION_COOKIE = "touchstone_session"
VISIT_COOKIE = "touchstone_visit"
FIELD = "csrf"


def held(request: Request, name: str) -> str | None:
    """A cookie of ours. Over HTTPS its name says that no other host may have set it."""
    return request.cookies.get(_named(request, name))


def _named(request: Request, name: str) -> str:
    return f"__Host-{name}" if is_https(request) else name


def drop_cookie(request: Request, response: Response, name: str) -> None:
    """Take it back."""
    response.delete_cookie(_named(request, name), secure=is_https(request), httponly=True)


def token_of(request: Request) -> str:
    """The token that forms of the answer to this request carry."""
    return _derived(_secret(request))


def demand(request: Request, form: Form) -> None:
    """Raises Forbidden where another page may have sent this form."""
    secret = held(request, SESSION_COOKIE) or held(request, VISIT_COOKIE)
    sent = form.get(FIELD)
    if (
        secret is None
        or sent is None
        or not hmac.compare_digest(_derived(secret).encode(), sent.encode())
        or not is_same_origin(request.headers)
    ):
        raise Forbidden("this form is out of date; load the page again and repeat")


def remember(request: Request, response: Response) -> None:
    """Give a visitor without any cookie the one that its forms were made for."""
    made: str | None = getattr(request.state, "visit", None)
    if made is not None:
        set_cookie(request, response, VISIT_COOKIE, made)


def set_cookie(
    request: Request, response: Response, name: str, value: str, seconds: int | None = None
) -> None:
    """A cookie that scripts cannot read, and that other sites' forms do not carry."""
    response.set_cookie(
        _named(request, name),
        value,
        max_age=seconds,
        httponly=True,
        samesite="lax",
        secure=is_https(request),
    )


def _secret(request: Request) -> str:
    known = held(request, SESSION_COOKIE) or held(request, VISIT_COOKIE)
    if known is not None:
        return known
    if not hasattr(request.state, "visit"):
        request.state.visit = secrets.token_urlsafe(32)
    made: str = request.state.visit
    return made


def _derived(secret: str) -> str:
    return hmac.new(secret.encode(), b"touchstone form", "sha256").hexdigest()
