"""Pages to log in with an API key, to log out, and to choose if texts are blurred."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request
from starlette.responses import RedirectResponse, Response

from services.gateway.auth import authenticate
from services.gateway.caller import SESSION_SECONDS
from services.gateway.pages import templates
from services.gateway.pages.page_route import KEPT_BYTES, page_router, resumed
from services.gateway.pages.templates import (
    REVEAL_COOKIE,
    SESSION_COOKIE,
    VISIT_COOKIE,
    checked_form,
    form_of,
    page,
)
from services.gateway.refusals import Forbidden, NotAuthenticated
from services.gateway.site_security import is_same_origin
from services.gateway.state import Gateway, requires_key

YEAR = 365 * 86_400
LOGIN_BYTES = 3 * KEPT_BYTES  # a form that waits is percent-encoded once more

router = page_router()


@router.get("/login")
async def login_form(
    request: Request, gateway: Gateway, next: Annotated[str, Query(max_length=2_000)] = "/"
) -> Response:
    """Show the log-in form, or redirect to `next` if no key is required."""
    if not await requires_key(gateway):
        return RedirectResponse(local(next), 303)
    return page(request, "login.html", next=local(next), wrong=None, kept="", action="")


@router.post("/login")
async def login(request: Request, gateway: Gateway) -> Response:
    """Log in with an API key. Then continue with the form that the log-in interrupted, if any."""
    form = await form_of(request, limit=LOGIN_BYTES)
    target = local(form.get("next", "/"))
    kept, action = form.get("kept", ""), local(form.get("action", "/"))
    try:
        templates.check_csrf(request, form)
    except Forbidden as error:  # another tab has logged in meanwhile; what was typed stays
        if not (kept and is_same_origin(request.headers)):
            raise
        shown = {"next": target, "wrong": str(error), "kept": kept, "action": action}
        return page(request, "login.html", 403, **shown)
    secret = form.get("key", "").strip()
    try:
        caller = await authenticate(gateway, secret)
    except NotAuthenticated as error:
        shown = {"next": target, "wrong": error.detail, "kept": kept, "action": action}
        return page(request, "login.html", 401, **shown)
    token = None if caller.key is None else await gateway.sessions.open(caller.key)
    if token is not None:
        request.state.session = token  # the form's own token is made for it
    response = _resumed(request, kept, action) or RedirectResponse(target, 303)
    if token is not None:
        templates.set_cookie(request, response, SESSION_COOKIE, token, SESSION_SECONDS)
    templates.drop_cookie(request, response, VISIT_COOKIE)
    return response


def _resumed(request: Request, kept: str, action: str) -> Response | None:
    """Return the form that was interrupted by the log-in. Return None if there is none or it cannot
    be read."""
    try:
        return resumed(request, kept, action) if kept else None
    except ValueError:
        return None


@router.post("/logout")
async def logout(request: Request, gateway: Gateway) -> Response:
    await checked_form(request)
    token = templates.get_cookie(request, SESSION_COOKIE)
    if token is not None:
        await gateway.sessions.end(token)
    response = RedirectResponse("/login", 303)
    templates.drop_cookie(request, response, SESSION_COOKIE)
    return response


@router.post("/settings")
async def settings(request: Request) -> Response:
    """Store the visitor's choice to show or blur texts."""
    form = await checked_form(request)
    reveal, target = form.get("reveal") == "always", local(form.get("next", "/"))
    response = RedirectResponse(target, 303)
    if reveal:
        templates.set_cookie(request, response, REVEAL_COOKIE, "always", YEAR)
    else:
        templates.drop_cookie(request, response, REVEAL_COOKIE)
    return response


def local(target: str) -> str:
    """Return `target` if it is an address on this service, otherwise the start page. This prevents
    open redirects."""
    inside = target.startswith("/") and not target.startswith(("//", "/\\"))
    return target if inside and target.isprintable() and "\\" not in target else "/"
