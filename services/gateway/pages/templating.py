"""The templates: escaped by default, strict about names, no line of script or style inside."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from fastapi import Request
from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse

from services.gateway.pages import forgery
from services.gateway.pages.forgery import SESSION_COOKIE
from services.gateway.pages.languages import language_of
from services.gateway.pages.marks import Piece
from shared.version import SERVICE_VERSION

STATIC = Path(__file__).with_name("static")
REVEAL_COOKIE = "touchstone_reveal"
DIGEST_CHARACTERS = 12


@lru_cache(maxsize=1)
def environment() -> Environment:
    """The house's templates."""
    made = Environment(
        loader=PackageLoader("services.gateway.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals |= {"asset": asset, "has_asset": has_asset, "version": SERVICE_VERSION}
    made.filters |= {
        "language": language,
        "moment": moment,
        "significant": significant,
        "span": span,
    }
    return made


def rendered(template: str, **context: Any) -> str:
    """The template's text."""
    return environment().get_template(template).render(**context)


def page(request: Request, template: str, status: int = 200, **context: Any) -> HTMLResponse:
    """A whole page for this visitor."""
    viewer = getattr(request.state, "viewer", None)
    html = rendered(
        template,
        request=request,
        csrf=forgery.token_of(request),
        revealed=forgery.held(request, REVEAL_COOKIE) is not None,
        logged_in=forgery.held(request, SESSION_COOKIE) is not None and viewer is not None,
        tenant=None if viewer is None or viewer.key is None else viewer.tenant,
        **context,
    )
    response = HTMLResponse(html, status)
    forgery.remember(request, response)
    return response


def has_asset(name: str) -> bool:
    """Whether there is such a file beside our own."""
    return (STATIC / name).is_file()


@lru_cache
def asset(name: str) -> str:
    """The address of one of our files: it changes with the file, so it may be kept for ever."""
    digest = hashlib.sha256((STATIC / name).read_bytes()).hexdigest()[:DIGEST_CHARACTERS]
    return f"/static/{name}?v={digest}"


def language(said: Iterable[Piece] | str | None) -> str:
    """What language a text is in as far as its script tells; else empty, which is `not known`."""
    if said is None:
        return ""
    return language_of(said if isinstance(said, str) else "".join(piece.text for piece in said))


def moment(unix_seconds: float | None) -> str:
    """A time as people read it, in UTC."""
    if unix_seconds is None:
        return "–"
    return datetime.fromtimestamp(unix_seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def span(seconds: float | None) -> str:
    """A length of time."""
    if seconds is None:
        return "–"
    if seconds < 1:
        return f"{seconds * 1_000:.0f} ms"
    return f"{seconds:.1f} s" if seconds < 120 else f"{seconds / 60:.1f} min"


def significant(value: float | int | str | None, digits: int = 3) -> str:
    """A number with so many decimals, shorter where they are zeros; what is no number as it is."""
    if value is None:
        return "–"
    if isinstance(value, bool | str | int):
        return str(value)
    if value and abs(value) < 10**-digits:
        return f"{value:.1e}"
    rounded = f"{value:.{digits}f}".rstrip("0").rstrip(".") if math.isfinite(value) else "–"
    return "0" if rounded == "-0" else rounded
