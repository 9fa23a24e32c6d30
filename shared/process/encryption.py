"""Encrypts data that must not be readable in a store, under keys that no store holds.

Uses Fernet (AES-128-CBC with HMAC-SHA256). `TOUCHSTONE_WEBHOOK_KEYS` encrypts endpoint secrets in
the ledger: signing needs the secret itself, so a hash is not enough. `TOUCHSTONE_SECRET_KEYS`
encrypts private texts while their job is open, calls to models and their replies in Redis, and page
sessions. Its last key also hashes texts for `text_key`. Keys are separated by commas. The first key
encrypts and all keys decrypt, so keys can be rotated (docs/guide/access.md).
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
    """No key decrypts this value, it was changed, or it is too old."""


class Sealer:
    """Encrypts and decrypts. Raises ValueError if a key is not a Fernet key."""

    def __init__(self, keys: str) -> None:
        self._fernet = MultiFernet([Fernet(key.strip()) for key in keys.split(",")])

    def seal(self, text: str) -> str:
        """Encrypt the text. The result has only letters, digits, `-`, `_` and `=`, which any store
        can hold."""
        return self._fernet.encrypt(text.encode()).decode()

    def open(self, sealed: str | bytes, *, most_seconds: int | None = None) -> str:
        """Decrypt the text, if it is at most `most_seconds` old. Raises Unreadable."""
        try:
            return self._fernet.decrypt(sealed, ttl=most_seconds).decode()
        except InvalidToken:
            raise Unreadable("none of the keys can decrypt this value") from None


@lru_cache(maxsize=16)
def _sealer(keys: str) -> Sealer:
    return Sealer(keys)


def sealer_of(settings: Settings) -> Sealer | None:
    """Return the object that encrypts webhook secrets. It is None if no key is configured, which
    turns webhooks off. Raises ValueError if a key is not a Fernet key."""
    keys = settings.webhook_keys
    return None if keys is None else _sealer(keys.get_secret_value())


def secret_sealer(settings: Settings) -> Sealer | None:
    """Return the object that encrypts texts, calls and sessions. It is None if no key is
    configured; then no request may set `do_not_store_text`. Raises ValueError if a key is not a
    Fernet key."""
    keys = settings.secret_keys
    return None if keys is None else _sealer(keys.get_secret_value())


def text_key(text: str, settings: Settings) -> str | None:
    """Return a keyed BLAKE2b hash of the text, 32 hexadecimal digits, or None if no key is
    configured. It uses the last configured key, so adding a new first key changes no hash. Without
    the key, nobody can test whether a guessed text has this hash."""
    if settings.secret_keys is None:
        return None
    key = hashlib.sha256(settings.secret_keys.get_secret_value().split(",")[-1].strip().encode())
    content = text.encode("utf-8", "surrogatepass")
    digest = hashlib.blake2b(content, digest_size=16, key=key.digest(), person=b"text key")
    return digest.hexdigest()


def new_secret() -> str:
    """Return `whsec_` and 32 random bytes in base64."""
    return "whsec_" + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def new_key() -> str:
    """Return a new Fernet key for `TOUCHSTONE_WEBHOOK_KEYS` or `TOUCHSTONE_SECRET_KEYS`."""
    return Fernet.generate_key().decode()
