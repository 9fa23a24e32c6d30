"""A secret at rest is unreadable without the key, and keys can be changed."""

from __future__ import annotations

import base64

import pytest
from standardwebhooks import Webhook

from shared.process.encryption import Sealer, Unreadable, new_key, new_secret


def test_a_secret_is_what_standard_webhooks_asks_for() -> None:
    secret = new_secret()
    assert secret.startswith("whsec_")
    assert len(base64.b64decode(secret.removeprefix("whsec_"), validate=True)) == 32
    Webhook(secret)
    assert new_secret() != secret


def test_what_is_sealed_shows_nothing_and_opens_again() -> None:
    sealer, secret = Sealer(new_key()), new_secret()
    sealed = sealer.seal(secret)
    assert secret.removeprefix("whsec_") not in sealed
    assert sealer.open(sealed) == secret
    assert sealer.seal(secret) != sealed


def test_the_first_key_seals_and_all_open() -> None:
    old, new = new_key(), new_key()
    sealed = Sealer(old).seal("whsec_x")
    both = Sealer(f"{new}, {old}")
    assert both.open(sealed) == "whsec_x"
    assert Sealer(new).open(both.seal("whsec_x")) == "whsec_x"
    with pytest.raises(Unreadable):
        Sealer(new).open(sealed)


@pytest.mark.parametrize("keys", ["", "x", "tooshort=", ","])
def test_what_is_no_key_is_refused(keys: str) -> None:
    with pytest.raises(ValueError, match=r"Fernet|padding|Incorrect|base64"):
        Sealer(keys)
