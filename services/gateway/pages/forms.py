"""A form as a browser sends it: counted while it comes, and small before anybody looks into it."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import parse_qsl

from fastapi import Request

from services.gateway.body import read_bounded
from services.gateway.refusals import InvalidBody, UnsupportedMediaType

Form = Mapping[str, str]

MEDIA_TYPE = "application/x-www-form-urlencoded"
FORM_BYTES = 8_192  # a key, a token, an address to go back to
MOST_FIELDS = 20


async def form_of(request: Request, *, limit: int = FORM_BYTES) -> Form:
    """The form's fields; of a name that comes twice the last. limit: bytes.

    Raises BodyTooLarge, InvalidBody, UnsupportedMediaType, RequestTimeout.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in ("", MEDIA_TYPE):  # none: no body either
        raise UnsupportedMediaType(f"send the form as {MEDIA_TYPE}")
    raw = await read_bounded(request, limit=limit)
    if raw.count(b"&") >= MOST_FIELDS:
        raise InvalidBody.at_root(f"the form may have {MOST_FIELDS} fields")
    try:
        text = raw.decode("ascii")
        return dict(parse_qsl(text, keep_blank_values=True, errors="strict"))
    except ValueError:
        raise InvalidBody.at_root(f"the body is not {MEDIA_TYPE}") from None
