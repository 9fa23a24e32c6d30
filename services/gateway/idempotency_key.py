"""The Idempotency-Key header: a structured-header string, or the bare word that people send.

Source: draft-ietf-httpapi-idempotency-key-header-07, section 2.1.
"""

from __future__ import annotations

import re
from typing import Any

from fastapi import Header

from shared.errors import BadInput

MOST_CHARACTERS = 255
# Printable ASCII, in quotes or bare; a quote inside would need escapes that nobody writes.
FORM = re.compile(r'"[ !#-~]{1,255}"|[!#-~]([ !#-~]{0,253}[!#-~])?')


class InvalidKey(BadInput):
    """The header is not a usable key."""

    slug = "idempotency-key-invalid"
    title = "The Idempotency-Key is not valid"


def key_of(header: str | None) -> str | None:
    """The key that the header names, without its quotes; None where there is none."""
    if header is None:
        return None
    key = header.strip()
    if not FORM.fullmatch(key):
        raise InvalidKey(f"the Idempotency-Key must have 1 to {MOST_CHARACTERS} ASCII characters")
    return key.strip('"')


def key_header(what: str) -> Any:
    """The header's description. what: the key makes happen when it comes again."""
    return Header(description=what, json_schema_extra={"pattern": f"^({FORM.pattern})$"})
