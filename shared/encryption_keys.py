"""Which strings are keys: known when a process starts, not when it first encrypts."""

from __future__ import annotations

import base64

from pydantic import SecretStr

KEY_BYTES = 32  # of a Fernet key


def require_keys(keys: SecretStr | None) -> SecretStr | None:
    """The same Fernet keys, separated by commas; None for an empty variable, as compose files leave
    it. Raises ValueError where one is no key."""
    if keys is None or not keys.get_secret_value().strip():
        return None
    for key in keys.get_secret_value().split(","):
        try:
            length = len(base64.urlsafe_b64decode(key.strip()))
        except ValueError:
            length = 0
        if length != KEY_BYTES:
            raise ValueError(
                f"must be {KEY_BYTES} bytes each in url-safe base64, set off by commas"
            )
    return keys
