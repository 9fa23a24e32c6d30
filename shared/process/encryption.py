"""What must not be read by whoever reads a store: encrypted under keys that no store holds.

Fernet (AES-128-CBC with HMAC-SHA256). `TOUCHSTONE_WEBHOOK_KEYS` encrypts the endpoints' secrets in
the ledger, since we must sign with them and cannot keep a hash only. `TOUCHSTONE_SECRET_KEYS`
encrypts texts that must not be stored while their job is open, calls to models and their replies on
their way through Redis, and the sessions of the pages; under the last of its keys texts are hashed
that results are told apart by. Several keys, separated by commas: the first
encrypts, all decrypt, so that keys can be changed (docs/guide/access.md).
"""

from __future__ import annotations

import base64
import hashlib
import secrets
from functools import lru_cache

from cryptography.fernet import Fernet, InvalidToken, MultiFernet

from shared.process.settings import Settings

SECRET_BYTES = 32  # Standard Webhooks asks for 24 to 64


class Unreadable(ValueError):
    """None of the keys opens this, it was changed, or it is too old."""


class Sealer:
    """Encrypts and decrypts. Raises ValueError where a key is no Fernet key."""

    def __init__(self, keys: str) -> None:
        self._fernet = MultiFernet([Fernet(key.strip()) for key in keys.split(",")])

    def seal(self, text: str) -> str:
        """Letters, digits, `-`, `_` and `=`: any store may keep them."""
        return self._fernet.encrypt(text.encode()).decode()

    def open(self, sealed: str | bytes, *, most_seconds: int | None = None) -> str:
        """The text; of this age at most, where one is named. Raises Unreadable."""
        try:
            return self._fernet.decrypt(sealed, ttl=most_seconds).decode()
        except InvalidToken:
            raise Unreadable("no key opens this") from None


@lru_cache(maxsize=16)
def _sealer(keys: str) -> Sealer:
    return Sealer(keys)


def sealer_of(chosen: Settings) -> Sealer | None:
    """For the secrets of webhook endpoints; None where no keys are configured: then there are no
    webhooks. Raises ValueError where a key is no Fernet key.
    """
    keys = chosen.webhook_keys
    return None if keys is None else _sealer(keys.get_secret_value())


def secret_sealer(chosen: Settings) -> Sealer | None:
    """For texts, calls and sessions; None where no keys are configured: then no request may ask
    that its text is not stored. Raises ValueError where a key is no Fernet key.
    """
    keys = chosen.secret_keys
    return None if keys is None else _sealer(keys.get_secret_value())


def text_key(text: str, chosen: Settings) -> str | None:
    """BLAKE2b of the text under a key of this installation, 32 hexadecimal digits; None without
    keys.

    The last key, so that a new one in front of it changes nothing: who has the stores alone cannot
    try texts out.
    """
    if chosen.secret_keys is None:
        return None
    key = hashlib.sha256(chosen.secret_keys.get_secret_value().split(",")[-1].strip().encode())
    content = text.encode("utf-8", "surrogatepass")
    found = hashlib.blake2b(content, digest_size=16, key=key.digest(), person=b"text key")
    return found.hexdigest()


def new_secret() -> str:
    """`whsec_` and 32 random bytes in base64."""
    return "whsec_" + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def new_key() -> str:
    """A fresh Fernet key for `TOUCHSTONE_WEBHOOK_KEYS` or `TOUCHSTONE_SECRET_KEYS`."""
    return Fernet.generate_key().decode()
