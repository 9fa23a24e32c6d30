"""Encrypts requests with `do_not_store_text` while their line waits or their job is open.

PostgreSQL writes each version of a row to its write-ahead log and keeps old versions until vacuum.
Plain text would stay in files after the job has ended. Therefore only the fields that are kept
anyway are written as plain text, and the whole request is encrypted. The trigger `forget_text`
drops the encrypted part when the job ends.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import JSON, Dialect
from sqlalchemy.types import TypeDecorator

from shared.contracts.errors import BadInput, Unavailable
from shared.contracts.messages import JobRequest
from shared.process.encryption import Unreadable, secret_sealer
from shared.process.settings import settings

PLAIN = ("model", "variant", "seed", "metadata", "context", "webhook", "trace", "do_not_store_text")
ENCRYPTED = "encrypted"  # the field of a stored request that holds all of it


class RequestJson(TypeDecorator[Any]):
    """A request as JSON. If private, it is encrypted in the database and decrypted for the
    reader."""

    impl = JSON(none_as_null=True)
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> Any:
        return encrypted(value) if isinstance(value, Mapping) else value

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:
        return decrypted(value) if isinstance(value, Mapping) else value

    def coerce_compared_value(self, op: Any, value: Any) -> Any:
        """Convert a value that is compared with `request["model"]`, as for plain JSON."""
        return self.impl_instance.coerce_compared_value(op, value)


def encrypted(request: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the request in the form to be stored. Raises Unavailable if there is no encryption
    key."""
    if not request.get("do_not_store_text"):
        return request
    sealer = secret_sealer(settings())
    if sealer is None:
        raise Unavailable(
            "`do_not_store_text` needs TOUCHSTONE_SECRET_KEYS, which is not set; ask the "
            "operator to set it"
        )
    fields = {name: request[name] for name in PLAIN if name in request}
    return fields | {ENCRYPTED: sealer.seal(json.dumps(dict(request)))}


def check_encryption_key(request: JobRequest) -> None:
    """Raise BadInput if the request is private and no encryption key is configured."""
    if request.do_not_store_text and secret_sealer(settings()) is None:
        raise BadInput(
            "`do_not_store_text` is not available, because TOUCHSTONE_SECRET_KEYS is "
            "not set; ask the operator to set it",
            pointer="/do_not_store_text",
        )


def decrypted(stored: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the original request, or the stored one if no key decrypts it or its job ended."""
    sealer = secret_sealer(settings()) if ENCRYPTED in stored else None
    if sealer is None:
        return stored
    try:
        opened: dict[str, Any] = json.loads(sealer.open(stored[ENCRYPTED]))
    except Unreadable:
        return stored
    return opened


def check_readable(request: Mapping[str, Any]) -> None:
    """Raise Unavailable if this process has no key for the request's encrypted part."""
    if ENCRYPTED in request:
        raise Unavailable(
            "no key in TOUCHSTONE_SECRET_KEYS decrypts the request; add the key that it "
            "was encrypted with"
        )
