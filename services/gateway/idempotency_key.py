"""The Idempotency-Key header: a structured-header string, or the bare word that people send.

Source: draft-ietf-httpapi-idempotency-key-header-07, section 2.1.
"""

from __future__ import annotations

from shared.errors import BadInput

MOST_CHARACTERS = 255


class InvalidKey(BadInput):
    """The header is not a usable key."""

    slug = "idempotency-key-invalid"
    title = "The Idempotency-Key is not valid"


def key_of(header: str | None) -> str | None:
    """The key that the header names, without its quotes; None where there is none."""
    if header is None:
        return None
    key = header.strip()
    if len(key) >= 2 and key[0] == key[-1] == '"':
        key = key[1:-1]
    if not 1 <= len(key) <= MOST_CHARACTERS or not key.isprintable():
        raise InvalidKey(f"the Idempotency-Key must have 1 to {MOST_CHARACTERS} characters")
    return key
