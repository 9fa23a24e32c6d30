"""Verification of signed webhooks: `event = webhooks.verify(body, headers, secret)`. The signatures
follow Standard Webhooks 1.0.0 (standardwebhooks.com). Only the standard library is used."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import time
from collections.abc import Mapping
from typing import TypeAlias

from pydantic import ValidationError

from touchstone_client._base import Message
from touchstone_client._messages import models
from touchstone_client.errors import InvalidSignature

TOLERANCE_SECONDS = 300
PREFIX = "whsec_"

Event: TypeAlias = (
    "models.JobWebhook | models.BatchWebhook | models.EndpointWebhook | models.JudgementWebhook"
)


class OtherEvent(Message):
    """An event whose type this version does not know."""

    type: str
    timestamp: str
    data: dict[str, object]


def verify(
    body: bytes | str,
    headers: Mapping[str, str],
    secret: str,
    *,
    tolerance: float = TOLERANCE_SECONDS,
) -> Event | OtherEvent:
    """Check the signature of a webhook and return its event. `body` is the raw body, before any
    parsing. `secret` has the form `whsec_…`. `tolerance` is how many seconds the two clocks may
    differ. Raises InvalidSignature."""
    by_name = {name.lower(): value for name, value in headers.items()}
    try:
        id, moment, signatures = (
            by_name[f"webhook-{name}"] for name in ("id", "timestamp", "signature")
        )
    except KeyError as error:
        raise InvalidSignature(f"the header {error.args[0]} is missing") from None
    _require_fresh(moment, tolerance)
    raw = body.encode() if isinstance(body, str) else body
    expected = sign(raw, id, moment, secret)
    listed = signatures.split(" ")
    if not any(hmac.compare_digest(signature.encode(), expected.encode()) for signature in listed):
        raise InvalidSignature("none of the signatures was made with this secret")
    try:
        event = OtherEvent.model_validate_json(raw)
    except ValidationError as error:
        raise InvalidSignature(
            f"the signature is valid, but the body is not an event: {error}"
        ) from None
    subject = event.type.partition(".")[0].capitalize()
    kind: type[Event] | None = getattr(models, f"{subject}Webhook", None)
    try:
        return event if kind is None else kind.model_validate_json(raw)
    except ValidationError:  # of another version of the service
        return event


def sign(body: bytes, id: str, timestamp: str, secret: str) -> str:
    """Return the signature of a webhook: the HMAC-SHA256 of its id, time and body."""
    try:
        key = base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except binascii.Error:
        raise InvalidSignature("the secret must be `whsec_` followed by base64") from None
    content = b".".join((id.encode(), timestamp.encode(), body))
    return "v1," + base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode()


def _require_fresh(moment: str, tolerance: float) -> None:
    if not (moment.isascii() and moment.isdigit()):
        raise InvalidSignature("the header webhook-timestamp is not a number of seconds")
    if abs(time.time() - int(moment)) > tolerance:
        raise InvalidSignature("the signature is too old, or one of the clocks is wrong")
