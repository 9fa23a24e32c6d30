"""An endpoint's secret at rest: sealed, since we must sign with it and cannot keep a hash only.

Fernet (AES-128-CBC with HMAC-SHA256) under `TOUCHSTONE_WEBHOOK_KEYS`, which the ledger does not
hold: who reads the ledger, or a backup of it, cannot sign. Several keys: the first seals, all open,
so that keys can be changed (docs/operations.md).
"""

from __future__ import annotations

import base64
import secrets

from cryptography.fernet import Fernet, InvalidToken, MultiFernet

from shared.settings import Settings

SECRET_BYTES = 32  # Standard Webhooks asks for 24 to 64


class Unreadable(ValueError):
    """None of the keys opens this secret."""


class Sealer:
    """Seals and opens secrets. Raises ValueError where a key is no Fernet key."""

    def __init__(self, keys: str) -> None:
        self._fernet = MultiFernet([Fernet(key.strip()) for key in keys.split(",")])

    def seal(self, secret: str) -> str:
        """What the ledger keeps."""
        return self._fernet.encrypt(secret.encode()).decode()

    def open(self, sealed: str) -> str:
        """The secret. Raises Unreadable."""
        try:
            return self._fernet.decrypt(sealed.encode()).decode()
        except InvalidToken:
            raise Unreadable("no key opens this secret") from None


def sealer_of(chosen: Settings) -> Sealer | None:
    """The sealer of these settings; None where no keys are configured: then there are no webhooks.

    Raises ValueError where a key is no Fernet key.
    """
    keys = chosen.webhook_keys
    return None if keys is None else Sealer(keys.get_secret_value())


def new_secret() -> str:
    """`whsec_` and 32 random bytes in base64."""
    return "whsec_" + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def new_key() -> str:
    """A fresh Fernet key for `TOUCHSTONE_WEBHOOK_KEYS`."""
    return Fernet.generate_key().decode()
